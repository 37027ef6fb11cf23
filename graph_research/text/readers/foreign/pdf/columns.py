"""Text in columns that a PDF writes line by line across them: read one column after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median
from typing import NamedTuple

from graph_research.text.readers.foreign.pdf.layout import PdfLine
from graph_research.text.readers.foreign.pdf.tables import PdfCell

_LEAST_LINES = 5  # written across: fewer are two addresses, or a table
_LEAST_WIDTH = 10.0  # of a column, times the size of its text
_LEAST_FILLED = 0.75  # of a column's width, by half of its lines: cells of a table fill less
_LEFT, _ACROSS, _RIGHT = range(3)


class _Gutter(NamedTuple):
    """A place between two columns of text, and those within what is at its left and at its right."""

    at: float
    left: _Gutter | None
    right: _Gutter | None


def in_columns(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines of a page with each column after the one at its left, where their lines were written in turn. A line
    across the columns stands between what is above and what is below it. Other pages stay as they are written."""
    return list(_ordered(lines, _gutter(lines)))


def _ordered(lines: Sequence[PdfLine], gutter: _Gutter | None) -> Iterator[PdfLine]:
    if gutter is None:
        yield from lines
        return
    parts = list(enumerate(part for line in lines for part in _divided(line, gutter.at)))
    downwards = sorted(parts, key=lambda part: -part[1][1].y)
    for _, band in groupby(downwards, key=lambda part: part[1][0] == _ACROSS):
        members = [part for _, part in sorted(band, key=itemgetter(0))]
        yield from _of(members, _ACROSS)
        yield from _ordered(_of(members, _LEFT), gutter.left)
        yield from _ordered(_of(members, _RIGHT), gutter.right)


def _of(parts: Sequence[tuple[int, PdfLine]], side: int) -> list[PdfLine]:
    return [line for place, line in parts if place == side]


def _gutter(lines: Sequence[PdfLine]) -> _Gutter | None:
    """The place that most gaps between columns of text have in common; None where text is not written across one."""
    gaps = list(_gaps([cell for line in lines for cell in line.cells]))
    ends = sorted([(left, 1) for left, _ in gaps] + [(right, -1) for _, right in gaps])
    open_gaps, most, at = 0, 0, 0.0
    for (place, step), (following, _) in pairwise(ends):
        open_gaps += step
        if open_gaps > most:
            most, at = open_gaps, (place + following) / 2
    parts = [part for line in lines for part in _divided(line, at)]
    left, right = _of(parts, _LEFT), _of(parts, _RIGHT)
    is_in_turn = most >= _LEAST_LINES and min(len(left), len(right)) < 2 * most
    if not is_in_turn or not (_is_text(left) and _is_text(right)):
        return None
    return _Gutter(at, _gutter(left), _gutter(right))


def _gaps(cells: Sequence[PdfCell]) -> Iterator[tuple[float, float]]:
    """The gaps between stretches that are written one after the other at one height."""
    for before, after in pairwise(cells):
        if abs(before.y - after.y) < min(before.size, after.size) and before.right < after.left:
            yield before.right, after.left


def _divided(line: PdfLine, gutter: float) -> list[tuple[int, PdfLine]]:
    """The parts of a line at the left and the right of a gutter; one across it is whole."""
    sides = [_LEFT if cell.right <= gutter else _RIGHT if cell.left >= gutter else _ACROSS for cell in line.cells]
    if not sides or _ACROSS in sides:
        return [(_ACROSS, line)]
    cells = [[cell for cell, place in zip(line.cells, sides, strict=True) if place == side] for side in (_LEFT, _RIGHT)]
    return [(side, _part(line, some)) for side, some in zip((_LEFT, _RIGHT), cells, strict=True) if some]


def _part(line: PdfLine, cells: Sequence[PdfCell]) -> PdfLine:
    if len(cells) == len(line.cells):
        return line
    first, text = cells[0], " ".join(cell.text for cell in cells)
    return replace(line, text=text, size=first.size, style=first.style, y=first.y, cells=tuple(cells))


def _is_text(column: Sequence[PdfLine]) -> bool:
    """Whether lines are wide, and as full as those of running text."""
    if not column:
        return False
    width = max(line.cells[-1].right for line in column) - min(line.cells[0].left for line in column)
    filled = median(sum(cell.right - cell.left for cell in line.cells) for line in column)
    return width >= _LEAST_WIDTH * median(line.size for line in column) and filled >= _LEAST_FILLED * width
