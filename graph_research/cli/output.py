"""What a command prints: results on standard output, everything said beside them on standard error."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

__all__ = ["in_line", "say", "show", "show_document", "show_json", "show_table", "visible"]

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), *_DIRECTIONS), "�")
"""Characters that could move a terminal's cursor, change its title or turn text around; tab and newline stay."""
_UNESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def show(text: str) -> None:
    """A result, as text, with a line end."""
    sys.stdout.write(visible(text) + "\n")


def show_document(text: str) -> None:
    """A report or a picture as a whole: to the byte in a file or a pipe, what a terminal would obey made visible."""
    shown = visible(text) if sys.stdout.isatty() else text
    sys.stdout.write(shown if shown.endswith("\n") else shown + "\n")


def show_json(value: Any) -> None:
    """A result as one JSON document; what a terminal would obey in a text is written as `\\u….`."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    sys.stdout.write(_UNESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A message, on standard error."""
    sys.stdout.flush()
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def show_table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Left-aligned columns, wide as their widest cell; the last column is not padded."""
    cells = [tuple(headings), *(tuple(in_line(cell) for cell in row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        show("  ".join(padded).rstrip())


def visible(text: str) -> str:
    """The text without control characters that a terminal would obey; sources may hold any."""
    return text.translate(_CONTROL)


def in_line(value: Any) -> str:
    """The value as visible text without line ends, such as a file's name, which may hold any character."""
    return "" if value is None else " ".join(visible(str(value)).split())
