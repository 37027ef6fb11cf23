"""The nearest known name to a wrong one, for "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["nearest", "suggestion"]

_MOST_LISTED = 8


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a slip of, or None."""
    matches = get_close_matches(name[:100], sorted(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean "gather"?`, or the known names where none is near and they are few."""
    names = sorted(known)
    if match := nearest(name, names):
        return f'did you mean "{match}"?'
    if 0 < len(names) <= _MOST_LISTED:
        return "known are " + ", ".join(names)
    return ""
