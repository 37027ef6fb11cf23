"""What a command prints: results on standard output, everything said beside them on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

__all__ = ["say", "show", "show_json", "show_table", "visible"]

_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "�")
"""Control characters that could move a terminal's cursor or change its title; tab and newline stay."""


def show(text: str) -> None:
    """A result, as text, with a line end."""
    sys.stdout.write(visible(text) + "\n")


def show_json(value: Any) -> None:
    """A result as one JSON document."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A message, on standard error."""
    sys.stdout.flush()
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def show_table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Left-aligned columns, wide as their widest cell; the last column is not padded."""
    cells = [tuple(headings), *(tuple(_cell(cell) for cell in row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        show("  ".join(padded).rstrip())


def visible(text: str) -> str:
    """The text without control characters that a terminal would obey; sources may hold any."""
    return text.translate(_CONTROL)


def _cell(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())
