"""Tables with drawn lines: the text of a page's lines in the cells of its grids."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from graph_research.text.readers.foreign.pdf.layout import PdfLine
from graph_research.text.readers.foreign.pdf.ruling import Grid
from graph_research.text.readers.foreign.pdf.tables import PdfCell, is_number

_MOST_CELL_CHARS = 1_500  # a longer one is a frame around text


class _Said(NamedTuple):
    """A stretch of text in a cell; `y` is the height of its baseline."""

    y: float
    left: float
    right: float
    text: str
    size: float


_Row = dict[int, list[_Said]]
"""What each cell of a row says, by the number of its column, from the top down."""


def with_tables(lines: Sequence[PdfLine], grids: Sequence[Grid]) -> list[PdfLine]:
    """The lines with the text in each grid that is a table as the table's rows, where its first line stood. A table has
    two rows or more of two cells with text."""
    for grid in grids:
        lines = _with_table(lines, grid)
    return list(lines)


def _with_table(lines: Sequence[PdfLine], grid: Grid) -> Sequence[PdfLine]:
    held: defaultdict[tuple[int, int], list[_Said]] = defaultdict(list)
    others: list[PdfLine] = []
    starts: list[int] = []
    for line in lines:
        places = [grid.cell_at((cell.left + cell.right) / 2, line.y + line.size / 4) for cell in line.cells]
        for cell, place in zip(line.cells, places, strict=True):
            if place:
                held[place].append(_Said(line.y, cell.left, cell.right, cell.text, line.size))
        outside = tuple(cell for cell, place in zip(line.cells, places, strict=True) if not place)
        if any(places):
            starts.append(len(others))
            line = replace(line, text=" ".join(cell.text for cell in outside), cells=outside)
        if outside or not any(places):
            others.append(line)
    rows = [row for band in range(len(grid.heights) - 1) for row in _rows(grid, held, band) if row]
    chars = [sum(len(said.text) for said in cell) for row in rows for cell in row.values()]
    if sum(len(row) > 1 for row in rows) < 2 or max(chars) > _MOST_CELL_CHARS:
        return lines
    columns = sorted({column for row in rows for column in row})
    return [*others[: starts[0]], *(_line(row, columns, grid) for row in rows), *others[starts[0] :]]


def _line(row: _Row, columns: Sequence[int], grid: Grid) -> PdfLine:
    cells = tuple(tuple(said.text for said in row.get(column, ())) for column in columns)
    top = max((said for cell in row.values() for said in cell), key=lambda said: said.y)
    text = " ".join(text for cell in cells for text in cell)
    whole = PdfCell(grid.edges[0], grid.edges[-1], text, y=top.y, size=top.size)
    return PdfLine(text, top.size, y=top.y, cells=(whole,), row=cells)


def _rows(grid: Grid, held: Mapping[tuple[int, int], Sequence[_Said]], band: int) -> Iterator[_Row]:
    """The rows between two lines of a grid: one, unless its cells' lines are rows that no lines divide."""
    row: _Row = {}
    apart: list[bool] = []
    for column in range(len(grid.edges) - 1):
        if cell := held.get((band, column)):
            row[column] = sorted(cell, key=lambda said: (-said.y, said.left))
            sides = grid.sides((band, column))
            apart += [_is_apart(one, other, sides) for one, other in pairwise(row[column]) if one.y > other.y]
    heights = [{round(said.y) for said in cell} for cell in row.values()]
    starts = sorted(set.intersection(*heights), reverse=True) if len(row) > 1 else []
    if sum(apart) * 2 <= len(apart):
        starts = starts[:1]
    for high, low in pairwise([math.inf, *starts[1:], -math.inf]):
        parts = {column: [said for said in cell if low < round(said.y) <= high] for column, cell in row.items()}
        yield {column: part for column, part in parts.items() if part}


def _is_apart(line: _Said, below: _Said, sides: tuple[float, float]) -> bool:
    """Whether the line below is no more of the same text: its first word would have had room, or both are numbers."""
    left, right = sides
    free = right - left - 2 * min(line.left - left, right - line.right) - (line.right - line.left)
    word = (len(below.text.split()[0]) + 1) * (below.right - below.left) / len(below.text)
    return free > word or (is_number([line.text]) and is_number([below.text]))
