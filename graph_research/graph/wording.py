"""Values in the words of messages: what kind of JSON they are, and themselves, made short."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_kind", "shortened", "shown"]


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
