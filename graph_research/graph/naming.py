"""The nearest known name to a wrong one, for "did you mean"."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rapidfuzz.distance import OSA

__all__ = ["meant", "nearest", "suggestion"]

_LEAST_SIMILARITY = 0.6
_MOST_LISTED = 8


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a slip of (letters swapped, left out, doubled), or None."""
    scored = [(OSA.normalized_similarity(name[:100], other), other) for other in sorted(known)]
    best, match = max(scored, default=(0.0, ""), key=lambda pair: pair[0])
    return match if best >= _LEAST_SIMILARITY else None


def meant(names: Iterable[str], known: Collection[str]) -> frozenset[str]:
    """The known names, and for each other one the known name that it is most likely a slip of."""
    return frozenset(found for name in names if (found := name if name in known else nearest(name, known)))


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean "gather"?`, or the known names where none is near and they are few."""
    names = sorted(known)
    if match := nearest(name, names):
        return f'did you mean "{match}"?'
    if 0 < len(names) <= _MOST_LISTED:
        return "known: " + ", ".join(names)
    return ""
