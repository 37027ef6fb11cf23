"""Excel workbooks: each sheet a table, each value in its cell, as it is stored and without running a formula."""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from lxml import etree
from openpyxl.reader.excel import ExcelReader
from openpyxl.utils import range_boundaries
from openpyxl.xml.constants import ARC_STYLE

from graph_research.text.canonical import MAX_BLOCKS, DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.readers.foreign.package import Package, dublin_core, parse_xml
from graph_research.text.readers.foreign.sheet_rows import SheetRows, shown
from graph_research.text.readers.limits import Limits

_MAX_COLUMNS = 1_000
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_WITHOUT_VALUE = re.compile(
    rb'<(?:\w+:)?c\b(?![^<>]*\bt="str")[^<>]*>\s*+<(?:\w+:)?f\b(?:[^<>]*/>|[^<>]*>[^<]*</(?:\w+:)?f>)'
    rb"\s*+(?:<(?:\w+:)?v\s*+/>|<(?:\w+:)?v>\s*+</(?:\w+:)?v>)?\s*+</(?:\w+:)?c>"
)
"""A cell with a formula and nothing stored; an empty text is a value."""


def read_xlsx(data: bytes, limits: Limits) -> Document:
    """The visible sheets in their order. A formula gives the value that was stored with it. Of several sheets
    none names the workbook."""
    parts: dict[str, _Part] = {}
    with Package(data, limits) as package:  # every part is unpacked once and parsed here, so that no bomb gets further
        contents: dict[str, bytes] = {}
        for name in package.names():
            if name.endswith((".xml", ".rels")):
                contents[name] = content = package.read(name)
                if b"<!DOCTYPE" in content[:1024] or name.endswith("workbook.xml"):
                    parse_xml(content)
                parts[name] = _Part(_merged_cells(content), len(_WITHOUT_VALUE.findall(content)))
        title, authors, made = dublin_core(package.xml("docProps/core.xml"))
        if package.is_strict:
            data = _packed(contents)
    builder = DocumentBuilder()
    reading = _Sheets(builder, limits)
    try:
        workbook = _workbook(data)
    except (ValueError, TypeError):  # openpyxl refuses styles that others take
        workbook = _workbook(data, with_styles=False)
        reading.warnings.append("its formats are damaged: dates and shares are shown as plain numbers")
    for number, sheet in enumerate(workbook.worksheets, start=1):
        if number > limits.pages:
            reading.warnings.append(f"read the first {limits.pages:,} of {len(workbook.worksheets):,} sheets")
            break
        if sheet.sheet_state != "visible":
            reading.warnings.append(f"the hidden sheet {sheet.title} is not read")
        elif not reading.add(sheet, parts.get(sheet._worksheet_path, _Part({}, 0))):
            break
    document = builder.document(title)
    named = document.title if title or len(workbook.sheetnames) == 1 else ""
    return replace(document, title=named, authors=authors, date=made, warnings=tuple(reading.warnings))


def _workbook(data: bytes, *, with_styles: bool = True) -> Any:
    reader = ExcelReader(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    if not with_styles:
        reader.archive.NameToInfo.pop(ARC_STYLE, None)
    reader.read()
    return reader.wb


def _packed(contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return packed.getvalue()


_Merged = Mapping[int, list[tuple[int, int]]]
"""By the row that merged cells begin in, their first column and their last row."""


class _Part(NamedTuple):
    """What openpyxl does not tell of a sheet that it reads row by row; `formulas` is the number without a value."""

    merged: _Merged
    formulas: int


def _merged_cells(sheet: bytes) -> _Merged:
    """The merged cells of a sheet that go over several rows."""
    found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for match in _MERGED.finditer(sheet):
        column, first, _, last = range_boundaries(match[1].decode())
        if first < last:
            found[first].append((column, last))
    return found


class _Sheets:
    def __init__(self, builder: DocumentBuilder, limits: Limits) -> None:
        self._builder = builder
        self._limits = limits
        self._chars = 0
        self._rows = 0
        self.warnings: list[str] = []

    def add(self, sheet: Any, part: _Part) -> bool:
        """Whether there is room for more sheets."""
        if part.formulas:
            several = "1 formula has" if part.formulas == 1 else f"{part.formulas:,} formulas have"
            self.warnings.append(
                f"{several} no stored value in sheet {sheet.title}: open the file in a spreadsheet program and save it"
            )
        self._builder.place("cell", "A1", sheet.title)
        self._builder.add("heading", sheet.title, level=2)
        sheet.reset_dimensions()  # a sheet may claim to be far larger than it is
        rows = SheetRows(self._builder, sheet.title)
        spanning: dict[int, tuple[int, str]] = {}  # by column, the last row that the text of a merged cell is for
        for number, filled in self._filled(sheet):
            cells = {cell.column: shown(cell.value, is_share=_is_share(cell)) for cell in filled}
            above = {column: text for column, (last, text) in spanning.items() if number <= last}
            spanning |= {column: (last, cells.get(column, "")) for column, last in part.merged.get(number, ())}
            cells = above | cells
            rows.add(number, cells)
            self._chars += sum(map(len, cells.values()))
            self._rows += 1
            if self._chars > self._limits.chars or self._rows >= MAX_BLOCKS // 2:
                rows.end()
                self.warnings.append(
                    f"stopped after {self._limits.chars:,} characters, in row {number:,} of sheet {sheet.title}"
                )
                return False
        rows.end()
        return True

    def _filled(self, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
        """The number and the filled cells of each row that has some."""
        number, is_cut = 0, False
        try:
            for row in sheet.iter_rows(min_row=1):  # rows that are not stored have no cells
                filled = [cell for cell in row if cell.value is not None]
                is_cut = is_cut or any(cell.column > _MAX_COLUMNS for cell in filled[-1:])
                if filled and filled[0].column <= _MAX_COLUMNS:
                    number = filled[0].row
                    yield number, [cell for cell in filled if cell.column <= _MAX_COLUMNS]
        except (ValueError, TypeError, LookupError, etree.XMLSyntaxError):
            self.warnings.append(f"sheet {sheet.title} is damaged behind row {number:,}: rows may be missing")
        if is_cut:
            self.warnings.append(f"read the first {_MAX_COLUMNS:,} columns of sheet {sheet.title}")


def _is_share(cell: Any) -> bool:
    try:
        return isinstance(cell.value, int | float) and "%" in str(cell.number_format)
    except IndexError:  # a workbook read without its styles
        return False
