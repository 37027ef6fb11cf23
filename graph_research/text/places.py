"""Where a part of a document's text stands in its file: a line, a paragraph, a slide, a cell of a sheet."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graph_research.text.canonical import canonical_text
from graph_research.text.document import PlaceKind, Places

WORDS: Mapping[str, str] = {
    "attachment": "attachment {at}",
    "cell": "sheet {within}, {at}",
    "chapter": "chapter {at}",
    "line": "line {at}",
    "notebook_cell": "cell {at}",
    "paragraph": "paragraph {at}",
    "row": "table {within}, row {at}",
    "slide": "slide {at}",
}
_CELL = re.compile(r"([A-Z]+)([0-9]+)")


class FilePlace(NamedTuple):
    """A place in a file: `first` to `last` (equal for a single one) of a kind, counted in the part `within`.

    Cells are the corners of their range, such as B4 and D7.
    """

    kind: PlaceKind
    within: str
    first: str
    last: str


def place_of(tables: Sequence[Places], start: int, end: int) -> FilePlace | None:
    """Where `text[start:end]` stands; None where the document has no table of places, or another part begins within."""
    places = places_of(tables, start, end)
    return places[0] if len(places) == 1 else None


def places_of(tables: Sequence[Places], start: int, end: int) -> list[FilePlace]:
    """Where `text[start:end]` stands, in each part that it runs through; empty where the document has no table of
    places, or its tables begin behind `start`."""
    tables = [table for table in tables if table.starts]
    begins = [table.starts[0] for table in tables]
    number = bisect_right(begins, start) - 1
    parts = tables[number : max(number + 1, bisect_left(begins, end))] if number >= 0 else []
    return [_place_in(table, start, end) for table in parts]


def _place_in(table: Places, start: int, end: int) -> FilePlace:
    first = max(0, bisect_right(table.starts, start) - 1)
    last = max(first, bisect_left(table.starts, end) - 1)
    if table.kind == "cell":
        return FilePlace(table.kind, table.within, *_corners([str(at) for at in table.at[first : last + 1]]))
    return FilePlace(table.kind, table.within, str(table.at[first]), str(table.at[last]))


def in_words(place: FilePlace, words: Mapping[str, str] = WORDS) -> str:
    """A place as it is shown, such as `sheet Costs, B4:D7`; `words` is a template for each kind."""
    between = ":" if place.kind == "cell" else "–"
    at = place.first if place.first == place.last else f"{place.first}{between}{place.last}"
    template = words[place.kind]
    shown = template.format(within=place.within, at=at)
    return f"{place.within}, {shown}" if place.within and "{within}" not in template else shown


def line_places(lines: Sequence[str], text: str) -> tuple[Places, ...]:
    """The table of a text whose canonical form is that of its `lines` joined, lines counted from 1."""
    starts, numbers, position = [], [], 0
    for number, line in enumerate(lines, start=1):
        if length := len(canonical_text(line)):
            starts.append(position)
            numbers.append(number)
            position += length + 1
    if position != len(text) + 1:  # a combining mark at the start of a line joins the line before
        return ()
    return (Places("line", "", tuple(starts), tuple(numbers)),)


def _corners(cells: Sequence[str]) -> tuple[str, str]:
    """The upper left and the lower right cell of the smallest range that holds all `cells`."""
    parts = [match.groups() for cell in cells if (match := _CELL.fullmatch(cell))]
    columns = sorted((column for column, _ in parts), key=lambda column: (len(column), column))
    rows = sorted(int(row) for _, row in parts)
    return f"{columns[0]}{rows[0]}", f"{columns[-1]}{rows[-1]}"
