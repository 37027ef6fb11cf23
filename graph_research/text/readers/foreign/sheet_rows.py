"""The rows of a sheet of a spreadsheet: all of a table have its columns, also where their last cells are empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from openpyxl.utils import get_column_letter

from graph_research.text.canonical import DocumentBuilder

_MOST_HELD = 100  # rows that are looked at together, so that a sheet of any length is read row by row


class _Row(NamedTuple):
    number: int
    cells: Mapping[int, str]


class SheetRows:
    """Adds the filled rows of the sheet `name` to a document; `end()` adds the last ones.

    Rows that follow each other without an empty one between them have the columns that any of them fills, but for the
    captions above them, which fill one cell; all have at least the columns of those before.
    """

    def __init__(self, builder: DocumentBuilder, name: str) -> None:
        self._builder = builder
        self._name = name
        self._held: list[_Row] = []
        self._first = self._last = 0

    def add(self, number: int, cells: Mapping[int, str]) -> None:
        """Add a row by its number and the texts of its filled cells by their columns, both from 1."""
        if self._held and (number != self._held[-1].number + 1 or len(self._held) == _MOST_HELD):
            self.end()
        self._held.append(_Row(number, cells))

    def end(self) -> None:
        """Add the rows that are still held."""
        captions = list(takewhile(lambda row: len(row.cells) == 1, self._held))
        for row in captions:
            self._add([row])
        self._add(self._held[len(captions) :])
        self._held = []

    def _add(self, rows: Sequence[_Row]) -> None:
        filled = [column for row in rows for column in row.cells]
        if filled:
            self._first, self._last = min(self._first or min(filled), *filled), max(self._last, *filled)
        columns = range(self._first, self._last + 1)
        for row in rows:
            places = [f"{get_column_letter(column)}{row.number}" for column in columns]
            self._builder.add_row([row.cells.get(column, "") for column in columns], places, within=self._name)
