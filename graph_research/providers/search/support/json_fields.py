"""Reads fields of untrusted JSON: a value of an unexpected type counts as missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from graph_research.text.canonical import canonical_text

_MOST_ROWS = 1_000
_LINE_CHARS = 1_000
_TEXT_CHARS = 400_000
"""What is read of one text: a long book. A text of so many paragraphs of one letter still makes a document."""


def count(value: Any) -> int | None:
    """The number as an integer from 0 to a billion, else None."""
    amount = number(value)
    return int(amount) if amount is not None and 0 <= amount <= 1e9 else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects among the first 1,000 of a list; everything else in it is left out."""
    return [row for row in value[:_MOST_ROWS] if isinstance(row, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The text as it came, or an empty one; at most 400,000 characters."""
    return value[:_TEXT_CHARS] if isinstance(value, str) else ""


def line(value: Any) -> str:
    """The text as one line without control characters, or an empty one; at most 1,000 characters."""
    return canonical_text(text(value)[: 4 * _LINE_CHARS])[:_LINE_CHARS].strip()


def lines(value: Any) -> list[str]:
    """The first 1,000 texts of a list, each as one line; empty ones are left out. A single text counts as a list of
    one."""
    values = value[:_MOST_ROWS] if isinstance(value, list) else [value]
    return [shown for item in values if (shown := line(item))]


def number(value: Any) -> float | None:
    """The number, also from a string; None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None
