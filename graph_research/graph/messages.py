"""Parts of messages: "did you mean", a value shortened, the name of its JSON type, and what an exception says."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

_TYPE_NAMES = {
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    tuple: "an array",
    dict: "an object",
}


def type_name(value: Any) -> str:
    """The JSON type of a value with its article: `null`, `a number`, `a string` …"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    name = type(value).__name__
    return _TYPE_NAMES.get(type(value), f"{'an' if name[0] in 'aeiou' else 'a'} {name}")


def show_value(value: Any, most_chars: int = 80) -> str:
    """A value as JSON of at most `most_chars`; a value that is not JSON is shown as its type."""
    if isinstance(value, (list, dict)) and len(value) > most_chars:
        return f"{type_name(value)} of {len(value)} entries"
    if isinstance(value, str):
        value = value[: most_chars + 1]
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = type_name(value)
    return truncate(text, most_chars)


def error_message(problem: BaseException) -> str:
    """What an exception says, as a text that can be stored; of a group also the types and texts of its first parts."""
    try:
        message = str(problem)
    except Exception as failed:  # noqa: BLE001 -- the `__str__` of any exception may raise anything
        message = f"its message cannot be read: {type(failed).__name__}"
    if isinstance(problem, BaseExceptionGroup):
        parts = [f"{type(part).__name__}: {error_message(part)}" for part in problem.exceptions[:_MOST_PARTS]]
        message = f"{message}: {'; '.join(parts)}"
    return message.encode("utf-8", "replace").decode()


def truncate(text: str, most_chars: int = 80) -> str:
    """`text`, cut to `most_chars` with an ellipsis at the end."""
    return text if len(text) <= most_chars else text[: most_chars - 1] + "…"


_LEAST_SIMILARITY = 0.6
_MOST_PARTS = 3
_MOST_LISTED = 24


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name most similar to `name` (optimal string alignment, at least 0.6), or None."""
    from rapidfuzz.distance import OSA  # only a mistake needs it

    scored = [(OSA.normalized_similarity(name[:100], other), other) for other in sorted(known)]
    best, match = max(scored, default=(0.0, ""), key=lambda pair: pair[0])
    return match if best >= _LEAST_SIMILARITY else None


def known_or_closest(names: Iterable[str], known: Collection[str]) -> frozenset[str]:
    """Those of `names` that are known, and the closest known name of each that is not."""
    return frozenset(found for name in names if (found := name if name in known else closest(name, known)))


def unknown_name_help(name: str, known: Iterable[str]) -> str:
    """What to write in an expression for a name that it does not know."""
    word = {"true": "True", "false": "False", "null": "None", "none": "None"}.get(name)
    return f"write {word}" if word else did_you_mean(name, known)


def did_you_mean(name: str, known: Iterable[str], new: str = "") -> str:
    """`did you mean "gather"?`; where none is near, the known names and, in `new`, how to add one."""
    names = sorted(known)
    if match := closest(name, names):
        return f'did you mean "{match}"?'
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    listed = f"known: {', '.join(names[:_MOST_LISTED])}{more}" if names else ""
    return "; ".join(filter(None, (listed, new)))
