"""Values in the words of messages: what kind of JSON they are, and themselves, made short."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from rapidfuzz.distance import OSA

__all__ = ["json_kind", "meant", "nearest", "shortened", "shown", "suggestion"]


def json_kind(value: Any) -> str:
    """What a JSON value is, in words for a message: `null`, `a number`, `a text` …"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {int: "a number", float: "a number", str: "a text", list: "a list", tuple: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")


def shown(value: Any, most_chars: int = 80) -> str:
    """A value as short JSON for a message; what is no JSON is shown by its type."""
    if isinstance(value, (list, dict)) and len(value) > most_chars:
        return f"{json_kind(value)} of {len(value)} entries"
    if isinstance(value, str):
        value = value[: most_chars + 1]
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = json_kind(value)
    return shortened(text, most_chars)


def shortened(text: str, most_chars: int) -> str:
    """`text`, cut to `most_chars` with an ellipsis at the end."""
    return text if len(text) <= most_chars else text[: most_chars - 1] + "…"


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
