"""Other people's JSON, read without trust: what is not of the expected kind counts as not there."""

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
    """The number as a whole one from 0 to a billion, which more than any counter of papers says; else None."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= 1e9 else None


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
    return [found for one in values if (found := line(one))]


def number(value: Any) -> float | None:
    """The number, also where it is written as text; None where it is none or has no end."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None
