"""The ruling lines that a PDF page draws, by PDFium, and the grids of cells between them."""

from __future__ import annotations

import ctypes
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

_NEAR = 3.0  # points: lines this close are one, and a filled shape this thin is a line
_MOST_SEGMENTS = 5_000  # of a page: one with more is a drawing
_MOST_RULES = 400
_MOST_CELLS = 2_000


class Rule(NamedTuple):
    """A line at the height `at`, or at this distance from the left where it is upright, from `start` to `end`; all in
    points."""

    upright: bool
    at: float
    start: float
    end: float


class Grid(NamedTuple):
    """The cells between connected rules: the distances of its columns' edges from the left, the heights of its rows'
    edges from the top down, and by row and column the first place of the cell, which may take several."""

    edges: Sequence[float]
    heights: Sequence[float]
    cells: Mapping[tuple[int, int], tuple[int, int]]

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """The first row and column of the cell around a point; none where it is outside."""
        if not (self.edges[0] < x < self.edges[-1] and self.heights[-1] < y < self.heights[0]):
            return None
        row = bisect([-height for height in self.heights], -y) - 1
        return self.cells[row, bisect(self.edges, x) - 1]

    def sides(self, place: tuple[int, int]) -> tuple[float, float]:
        """The left and right edge of the cell whose first place this is."""
        columns = [column for (row, column), first in self.cells.items() if first == place and row == place[0]]
        return self.edges[columns[0]], self.edges[columns[-1] + 1]


def page_grids(page: pypdfium2.PdfPage) -> list[Grid]:
    """The grids of at least two rows and two columns that the lines of a page draw."""
    rules = list(_joined(_drawn(page)))
    found = map(_grid, _connected(rules)) if len(rules) <= _MOST_RULES else ()
    return [grid for grid in found if grid is not None]


def _drawn(page: pypdfium2.PdfPage) -> Sequence[Rule]:
    rules: list[Rule] = []
    seen = 0
    for number in range(pdfium.FPDFPage_CountObjects(page)):
        shape = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(shape) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        seen += pdfium.FPDFPath_CountSegments(shape)
        if seen > _MOST_SEGMENTS:
            return ()
        fill, stroke = ctypes.c_int(), pdfium.FPDF_BOOL()
        pdfium.FPDFPath_GetDrawMode(shape, fill, stroke)
        for points in _outlines(shape) if fill.value or stroke.value else ():
            boxes = pairwise(points) if stroke.value else [points]
            rules += filter(None, map(_thin, boxes))
    return rules


def _outlines(shape: pdfium.FPDF_PAGEOBJECT) -> Iterator[list[tuple[float, float]]]:
    """The points of each part of a path, on the page."""
    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPageObj_GetMatrix(shape, matrix)
    points: list[tuple[float, float]] = []
    for number in range(pdfium.FPDFPath_CountSegments(shape)):
        segment = pdfium.FPDFPath_GetPathSegment(shape, number)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO and points:
            yield points
            points = []
        points.append(
            (
                matrix.a * x.value + matrix.c * y.value + matrix.e,
                matrix.b * x.value + matrix.d * y.value + matrix.f,
            )
        )
        if pdfium.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    if points:
        yield points


def _thin(points: Sequence[tuple[float, float]]) -> Rule | None:
    """The line along a thin shape; none for any other shape."""
    across, along = zip(*points, strict=True)
    (left, right), (low, high) = (min(across), max(across)), (min(along), max(along))
    if min(right - left, high - low) > _NEAR or max(right - left, high - low) <= 2 * _NEAR:
        return None
    upright = right - left < high - low
    return Rule(upright, (left + right) / 2, low, high) if upright else Rule(upright, (low + high) / 2, left, right)


def _joined(rules: Iterable[Rule]) -> Iterator[Rule]:
    """The rules with those put together that lie on one line and touch each other."""
    lines: list[list[Rule]] = []
    for rule in sorted(rules):
        if lines and lines[-1][0].upright == rule.upright and rule.at - lines[-1][0].at <= _NEAR:
            lines[-1].append(rule)
        else:
            lines.append([rule])
    for line in lines:
        whole, *others = sorted(line, key=lambda rule: rule.start)
        for rule in others:
            if rule.start > whole.end + _NEAR:
                yield whole
                whole = rule
            whole = whole._replace(at=line[0].at, end=max(whole.end, rule.end))
        yield whole


def _connected(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """The rules in groups that cross or touch each other."""
    rest = list(rules)
    while rest:
        group = [rest.pop()]
        for member in group:  # it grows meanwhile
            group += [rule for rule in rest if _touch(member, rule)]
            rest = [rule for rule in rest if not _touch(member, rule)]
        yield group


def _touch(one: Rule, other: Rule) -> bool:
    return one.upright != other.upright and _reaches(one, other.at) and _reaches(other, one.at)


def _reaches(rule: Rule, place: float) -> bool:
    return rule.start - _NEAR <= place <= rule.end + _NEAR


def _grid(rules: Sequence[Rule]) -> Grid | None:
    """The grid of connected rules. Where it has no border, its edges are those of the lines that end there."""
    edges = _apart(place for rule in rules for place in ([rule.at] if rule.upright else [rule.start, rule.end]))
    heights = _apart(place for rule in rules for place in ([rule.start, rule.end] if rule.upright else [rule.at]))
    heights.reverse()
    columns, rows = len(edges) - 1, len(heights) - 1
    if min(columns, rows) < 2 or columns * rows > _MOST_CELLS:
        return None
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    for row, column in product(range(rows), range(columns)):
        x, y = (edges[column] + edges[column + 1]) / 2, (heights[row] + heights[row + 1]) / 2
        cells[row, column] = (row, column)
        if column and not _is_divided(rules, True, edges[column], y):
            cells[row, column] = cells[row, column - 1]
        elif row and not _is_divided(rules, False, heights[row], x):
            cells[row, column] = cells[row - 1, column]
    return Grid(edges, heights, cells)


def _apart(places: Iterable[float]) -> list[float]:
    """The places in order, of those near each other the first."""
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > _NEAR:
            found.append(place)
    return found


def _is_divided(rules: Sequence[Rule], upright: bool, at: float, place: float) -> bool:
    return any(rule.upright == upright and abs(rule.at - at) <= _NEAR and _reaches(rule, place) for rule in rules)
