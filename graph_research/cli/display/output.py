"""What a command prints: results on standard output, everything said beside them on standard error."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from typing import Any

import orjson

from graph_research.errors import UserMistake

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), *_DIRECTIONS), "�")
"""Characters that could move a terminal's cursor, change its title or turn text around; tab and newline stay."""
_UNESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class OutputFailed(UserMistake):
    """A result cannot be written to standard output, such as to a file on a full disk."""


class ReaderGone(Exception):
    """Whoever reads standard output has seen enough, such as `head`; no error of a file, which libraries end with."""


def open_streams() -> None:
    """From now on there is a standard output and a standard error to write to, whatever the process was started with:
    a closed one swallows what it is given, and one of a narrow encoding writes `\\u….` for what it cannot hold."""
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def show(text: str) -> None:
    """A result, as text, with a line end. Every `show…` raises `OutputFailed` where it cannot be written."""
    _write(visible(text) + "\n")


def show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        show(line)


def finish_output() -> None:
    """Write what is still held back; `OutputFailed` where that cannot be done."""
    with refusing_loudly():
        sys.stdout.flush()


def show_document(content: str | bytes) -> None:
    """A report or a picture as a whole: to the byte in a file or a pipe, what a terminal would obey made visible.

    Raises `UserMistake` instead of writing bytes to a terminal.
    """
    if isinstance(content, bytes):
        if sys.stdout.isatty():
            raise UserMistake("refusing to write binary data to a terminal", help="name a file with -o")
        with refusing_loudly():
            sys.stdout.buffer.write(content)
        return
    shown = visible(content) if sys.stdout.isatty() else content
    _write(shown if shown.endswith("\n") else shown + "\n")


def show_json(value: Any) -> None:
    """A result (dataclasses too) as one JSON document; what a terminal would obey in a text is written as `\\u….`."""
    text = json_text(value, is_indented=True)
    _write(_UNESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")
    finish_output()


def json_text(value: Any, *, is_indented: bool = False) -> str:
    """A value (dataclasses too) as JSON, with whole numbers of any size, which a program's handlers may give."""
    try:
        indent = orjson.OPT_INDENT_2 if is_indented else 0
        return orjson.dumps(value, option=indent | orjson.OPT_NON_STR_KEYS, default=str).decode()
    except TypeError:
        return json.dumps(
            value,
            ensure_ascii=False,
            indent=2 if is_indented else None,
            default=_plain,
            separators=None if is_indented else (",", ":"),
        )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def say(text: str) -> None:
    """A message, on standard error. A closed standard error is ignored."""
    finish_output()
    try:
        sys.stderr.write(visible(text) + "\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = _nowhere()


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


def _write(text: str) -> None:
    with refusing_loudly():
        sys.stdout.write(text)


@contextlib.contextmanager
def refusing_loudly() -> Iterator[None]:
    """Errors of standard output by name; what it did not take is dropped, so that it does not fail again at exit."""
    try:
        yield
    except BrokenPipeError as error:
        sys.stdout = _nowhere()
        raise ReaderGone from error
    except OSError as error:
        sys.stdout = _nowhere()
        raise OutputFailed(
            f"standard output cannot be written: {error.strerror or error}",
            help="send it elsewhere, or make room",
        ) from error


def _nowhere() -> io.TextIOWrapper:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 -- it stays open until the process ends
