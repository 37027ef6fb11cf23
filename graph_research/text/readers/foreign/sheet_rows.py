"""The rows of a sheet of a spreadsheet: all of a table have its columns, also where their last cells are empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import takewhile
from typing import Any, NamedTuple

from openpyxl.utils import get_column_letter

from graph_research.text.canonical import DocumentBuilder

_MOST_HELD = 100  # rows that are looked at together, so that a sheet of any length is read row by row


class _Row(NamedTuple):
    number: int
    cells: Mapping[int, str]


class SheetRows:
    """Adds the filled rows of the sheet `name` to a document; `end()` adds the last ones.

    Rows that follow each other without an empty one between them have the columns that any of them fills, but for the
    captions above them, which fill one cell; all of a table have at least the columns of those before. Behind an empty
    row another table begins where the next row has no number, and all below it have one in a column that it names.
    """

    def __init__(self, builder: DocumentBuilder, name: str) -> None:
        self._builder = builder
        self._name = name
        self._held: list[_Row] = []
        self._first = self._last = 0
        self._begins_anew = False

    def add(self, number: int, cells: Mapping[int, str]) -> None:
        """Add a row by its number and the texts of its filled cells by their columns, both from 1."""
        if self._held and (number != self._held[-1].number + 1 or len(self._held) == _MOST_HELD):
            self.end(is_parted=number != self._held[-1].number + 1)
        self._held.append(_Row(number, cells))

    def end(self, *, is_parted: bool = False) -> None:
        """Add the rows that are still held; it `is_parted` where an empty row follows."""
        captions = list(takewhile(lambda row: len(row.cells) == 1, self._held))
        rows = self._held[len(captions) :]
        if self._begins_anew and _has_header(rows):
            self._builder.begin_table()
            self._first = self._last = 0
        for row in captions:
            self._add([row])
        self._add(rows)
        self._held, self._begins_anew = [], is_parted

    def _add(self, rows: Sequence[_Row]) -> None:
        filled = [column for row in rows for column in row.cells]
        if filled:
            self._first, self._last = min(self._first or min(filled), *filled), max(self._last, *filled)
        columns = range(self._first, self._last + 1)
        for row in rows:
            places = [f"{get_column_letter(column)}{row.number}" for column in columns]
            self._builder.add_row([row.cells.get(column, "") for column in columns], places, within=self._name)


def _has_header(rows: Sequence[_Row]) -> bool:
    header, below = rows[:1], rows[1:]
    if not below or any(map(_holds_digit, header[0].cells.values())):
        return False
    return any(all(_holds_digit(row.cells.get(column, "")) for row in below) for column in header[0].cells)


def _holds_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def shown(value: Any, *, is_share: bool) -> str:
    """A value as it is read: dates in ISO 8601, shares in percent, numbers without the noise of binary fractions."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, date | time | timedelta):
        return str(value)
    if isinstance(value, int | float):
        if is_share:
            return f"{float(f'{value * 100:.12g}'):.12g}%"
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    return str(value)
