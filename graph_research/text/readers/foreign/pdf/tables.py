"""Tables of a PDF page: rows of cells that stand in columns, found by where the text stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class PdfCell(NamedTuple):
    """A stretch of a line without a wide gap, from `left` to `right` in points. Where narrow gaps without a written
    space divide it, `parts` are the stretches between them. `y` and `size` are those of its first character, 0 where
    unknown."""

    left: float
    right: float
    text: str
    style: str = ""
    parts: tuple[PdfCell, ...] = ()
    y: float = 0.0
    size: float = 0.0


PdfRow = Sequence[PdfCell]
"""The stretches of one height from left to right."""

_Columns = tuple[tuple[float, float], ...]
"""The left and right edges of columns that do not overlap, from left to right."""

_MOST_BRIDGING = 1 / 4  # of a table's rows: lines of justified text have their gaps at any place
_MEASURE = re.compile(r"[-+−±~<>≤≥($€£¥\s]*\d[\d.,'’]*\s?[^\W\d_]{0,4}(?![^\W\d_])")  # a number, and its unit
_LEAST_COLUMNS, _MOST_FILLED = 3, 0.6
"""Where words stand over words, a table has so many columns and fills so much of its width: a text in columns more."""
_LEAST_ALIKE = 3  # lines whose gaps stand above each other before narrow ones divide them


def table_rows(rows: Sequence[PdfRow], is_close: Sequence[bool]) -> dict[int, list[list[str]]]:
    """The cells of each row of a table by the number of its first line, each cell with its lines; a line that goes on
    the cells above it has an empty list. `is_close` says of each line whether it stands at the usual distance below the
    one before.

    A table has a header and at least one row of two cells below it. All rows of a table have the same number of cells.
    A narrow gap divides cells where it stands between columns that other rows show.
    """
    found: dict[int, list[list[str]]] = {}
    finest = [[part for cell in row for part in cell.parts or (cell,)] for row in rows]
    number = 0
    while number < len(rows):
        divided, members = _table_from(number, rows, finest, is_close)
        columns = _columns([divided[member] for member in members])
        while members and (_bridges(divided[members[-1]], columns) or len(divided[members[-1]]) < 2):
            members.pop()
        full = [member for member in members if len(divided[member]) > 1]
        bridging = [member for member in full if _bridges(divided[member], columns)]
        if len(full) - len(bridging) > 1 and len(bridging) <= len(full) * _MOST_BRIDGING:
            last = _with_continued(divided, is_close, members[-1], columns)
            cells = _without_halves(_cells(divided, is_close, range(number, last + 1), columns))
            if _has_header([divided[member] for member in full], list(filter(None, cells.values())), columns):
                found |= cells
            number = last
        number += 1
    return found


def _table_from(
    first: int, rows: Sequence[PdfRow], finest: Sequence[PdfRow], is_close: Sequence[bool]
) -> tuple[list[PdfRow], list[int]]:
    """The lines with those from `first` on divided by narrow gaps too, and the numbers of those that may be a table."""
    columns = _columns_alike(finest, first)
    divided = [*rows[:first], *(_divided(row, columns) for row in rows[first:])] if columns else list(rows)
    members = _neighbours(divided, is_close, first)
    columns = _columns([divided[member] for member in members])
    for member in members:
        divided[member] = _divided(divided[member], columns)
    return divided, members


def _columns_alike(finest: Sequence[PdfRow], first: int) -> _Columns:
    """The columns of the lines from `first` on that all their gaps divide into as many stretches, which stand above
    each other; none where few lines do."""
    columns: _Columns = ()
    count = 0
    for row in finest[first:]:
        widened = _merged((*columns, *((cell.left, cell.right) for cell in row)))
        if len(row) < 2 or len(row) != len(widened):
            break
        columns = widened
        count += 1
    return columns if count >= _LEAST_ALIKE else ()


def _divided(row: PdfRow, columns: _Columns) -> PdfRow:
    """The row with cells that stand under several columns divided where a narrow gap stands between these."""
    return [part for cell in row for part in _parts(cell, columns)]


def _parts(cell: PdfCell, columns: _Columns) -> list[PdfCell]:
    under = [_under(part, columns) for part in cell.parts]
    if not under or any(len(numbers) != 1 for numbers in under):
        return [cell]
    return [
        _joined([part for part, numbers in zip(cell.parts, under, strict=True) if numbers == [column]])
        for column in sorted({number for [number] in under})
    ]


def _joined(parts: Sequence[PdfCell]) -> PdfCell:
    text = " ".join(part.text for part in parts)
    return PdfCell(parts[0].left, parts[-1].right, text, parts[0].style, tuple(parts) if len(parts) > 1 else ())


def _without_halves(cells: dict[int, list[list[str]]]) -> dict[int, list[list[str]]]:
    """The cells with columns put together of which one has only the header, which starts at its left, and the other
    only what stands below it at its right."""
    header, *rows = list(filter(None, cells.values()))
    column = 0
    while column + 1 < len(header):
        named = column if header[column] else column + 1
        if bool(header[column]) != bool(header[column + 1]) and not any(row[named] for row in rows):
            for row in (header, *rows):
                row[column : column + 2] = [row[column] + row[column + 1]]
        column += 1
    return cells


def _has_header(rows: Sequence[PdfRow], cells: Sequence[Sequence[Sequence[str]]], columns: _Columns) -> bool:
    """Whether the first row names the columns: it alone is bold, or stands over a column of values that it has no such
    of. Words over words are a header where three columns or more are far apart, as no text in columns is."""
    first, *below = [[cell.style == "bold" for cell in row] for row in rows]
    if all(first):
        return not any(map(all, below))
    header, *rest = cells
    if not rest or is_number(header[0]) or all(row[0] and row[0][-1].endswith((":", "：")) for row in cells):
        return False  # a single row, numbered lines, or names and values side by side
    by_column = [list(filter(None, column)) for column in zip(*rest, strict=True)]
    if any(name and _names_values(name, values) for name, values in zip(header, by_column, strict=True)):
        return True
    width = columns[-1][1] - columns[0][0]
    filled = sum(cell.right - cell.left for row in rows for cell in row)
    is_full = all(all(row) for row in cells) and not any(
        map(str.isdigit, "".join(line for name in header for line in name))
    )
    return len(columns) >= _LEAST_COLUMNS and is_full and filled <= _MOST_FILLED * width * len(rows)


def _names_values(name: Sequence[str], values: Sequence[Sequence[str]]) -> bool:
    """Whether these values are numbers, with a unit or not, and the name is none, or is a year over other numbers."""
    if not values or (is_number(name) and not _is_year(name)):
        return False
    if all(map(is_number, values)):
        return not (_is_year(name) and any(map(_is_year, values)))
    named = _is_year(name) or not _MEASURE.match(name[0])
    return named and len(values) > 1 and all(_MEASURE.match(value[0]) for value in values)


def _is_year(lines: Sequence[str]) -> bool:
    return len(lines) == 1 and len(lines[0]) == len("2024") and lines[0].isdigit() and lines[0][:2] in ("19", "20")


def is_number(lines: Sequence[str]) -> bool:
    """Whether the lines of a cell have digits and no letters."""
    return any(char.isdigit() for line in lines for char in line) and not any(map(str.isalpha, "".join(lines)))


def _neighbours(rows: Sequence[PdfRow], is_close: Sequence[bool], first: int) -> list[int]:
    """The lines from `first` on that may be one table: of several cells, or going on cells above."""
    members: list[int] = []
    for number in range(first, len(rows)):
        if len(rows[number]) < 2:
            columns = _columns([rows[member] for member in members])
            label = _is_label(rows[number : number + 2], columns, is_close[number : number + 2])
            if not label and not _goes_on(rows[number], columns, close=is_close[number]):
                break
        members.append(number)
    return members


def _is_label(rows: Sequence[PdfRow], columns: _Columns, is_close: Sequence[bool]) -> bool:
    """Whether the first line stands under the first column alone, over a row, and so names the rows below it."""
    if len(rows) < 2 or not all(is_close) or len(rows[0]) != 1 or len(rows[1]) < 2 or len(columns) < 2:
        return False
    is_first = _under(rows[0][0], columns) == [0] and rows[0][0].right <= (columns[0][1] + columns[1][0]) / 2
    return is_first and not _bridges(rows[1], columns)


def _with_continued(rows: Sequence[PdfRow], is_close: Sequence[bool], last: int, columns: _Columns) -> int:
    """The last line that goes on the cells of the table's last row."""
    while last + 1 < len(rows) and _goes_on(rows[last + 1], columns, close=is_close[last + 1]):
        last += 1
    return last


def _columns(rows: Sequence[PdfRow]) -> _Columns:
    """The columns that the cells stand in: those of the rows of most cells first, widened by the rows whose cells stand
    in one of them each or beside them."""
    columns: _Columns = ()
    for row in sorted(rows, key=len, reverse=True):
        if not _bridges(row, columns):
            columns = _merged((*columns, *((cell.left, cell.right) for cell in row)))
    return columns


def _merged(stretches: Sequence[tuple[float, float]]) -> _Columns:
    merged: list[tuple[float, float]] = []
    for left, right in sorted(stretches):
        if merged and left < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(right, merged[-1][1]))
        else:
            merged.append((left, right))
    return tuple(merged)


def _under(cell: PdfCell, columns: _Columns) -> list[int]:
    return [number for number, (left, right) in enumerate(columns) if cell.left < right and left < cell.right]


def _bridges(row: PdfRow, columns: _Columns) -> bool:
    """Whether a cell stands under several columns, or two cells under one."""
    under = [number for cell in row for number in _under(cell, columns)]
    return len(set(under)) < len(under) or any(len(_under(cell, columns)) > 1 for cell in row)


def _goes_on(row: PdfRow, columns: _Columns, *, close: bool) -> bool:
    """Whether a line goes on the cells above it: close below them, and nothing of it under the first column."""
    under = [_under(cell, columns) for cell in row]
    return close and bool(under) and all(len(numbers) == 1 and numbers[0] > 0 for numbers in under)


def _cells(
    rows: Sequence[PdfRow], is_close: Sequence[bool], lines: range, columns: _Columns
) -> dict[int, list[list[str]]]:
    cells: dict[int, list[list[str]]] = {}
    current: list[list[str]] = []
    for number in lines:
        if not current or not _goes_on(rows[number], columns, close=is_close[number]) or _has_number(rows[number]):
            current = cells[number] = [[] for _ in columns]
        else:
            cells[number] = []
        for cell in rows[number]:
            column = (_under(cell, columns) or [len(columns) - 1])[0]
            current[column].append(cell.text)
    return cells


def _has_number(row: PdfRow) -> bool:
    """Whether several cells are there and a number is one of them, so that the row stands for itself."""
    return len(row) > 1 and any(is_number([cell.text]) for cell in row)
