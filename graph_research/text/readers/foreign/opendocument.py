"""OpenDocument: text documents, spreadsheets and presentations of LibreOffice and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lxml import etree

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.package import Package, dublin_core, local_name, parse_xml
from graph_research.text.readers.foreign.sheet_rows import SheetRows
from graph_research.text.readers.limits import Limits

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_OBJECT = f"{_DRAW}object"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_CHART = "{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_PASSED = frozenset(
    {
        "tracked-changes",
        "forms",
        "annotation",
        "sequence-decls",
        "table-of-content",
        "settings",
        "ruby-text",
        "object",
        "binary-data",
    }
)
_MOST_COLUMNS = 1_000
_MOST_REPEATS = 1_000
_ROW_GROUPS = ("table-header-rows", "table-rows", "table-row-group")


def read_odt(data: bytes, limits: Limits) -> Document:
    """A text document, then its notes; paragraphs, headings included, are counted from 1 outside of tables, rows in
    each table."""
    return _read(data, limits, lambda reader, body: reader.text(body))


def read_ods(data: bytes, limits: Limits) -> Document:
    """A spreadsheet: the shown text of each cell, in its place."""
    return _read(data, limits, lambda reader, body: reader.sheets(body, limits))


def read_odp(data: bytes, limits: Limits) -> Document:
    """A presentation, slide by slide, with its notes."""
    return _read(data, limits, lambda reader, body: reader.slides(body, limits))


def read_flat(data: bytes, limits: Limits) -> Document:
    """A file of any of these kinds as one XML text (`.fodt`, `.fods`, `.fodp`)."""
    root = parse_xml(data)
    kind = local_name(_content(root))
    if kind == "spreadsheet":
        return _document(root, root, lambda reader, body: reader.sheets(body, limits))
    if kind == "presentation":
        return _document(root, root, lambda reader, body: reader.slides(body, limits))
    return _document(root, root, lambda reader, body: reader.text(body))


def _read(data: bytes, limits: Limits, read: Callable[[_Reader, etree._Element], None]) -> Document:
    with Package(data, limits) as package:
        try:
            root = package.xml("content.xml")
        except DocumentUnreadable as error:
            if b"encryption-data" in package.read("META-INF/manifest.xml"):
                raise DocumentUnreadable("it is encrypted: it opens only with a password") from error
            raise
        return _document(root, package.xml("meta.xml"), read, package)


def _document(
    root: etree._Element | None,
    meta: etree._Element | None,
    read: Callable[[_Reader, etree._Element], None],
    package: Package | None = None,
) -> Document:
    """The document whose content is below `root`, and its title, authors and date below `meta`; what is embedded in it
    stands in the `package`, where it has one."""
    body = _content(root)
    builder = DocumentBuilder()
    reader = _Reader(builder, package, _hidden_tables(body.getroottree().getroot()))
    read(reader, body)
    title, authors, date = dublin_core(meta)
    return replace(builder.document(title), authors=authors, date=date, warnings=tuple(reader.warnings))


def _content(root: etree._Element | None) -> etree._Element:
    body = root.find(f"{_OFFICE}body") if root is not None else None
    if body is None or not len(body):
        raise DocumentUnreadable("it is damaged: it has no content")
    return body[0]


class _Reader:
    def __init__(self, builder: DocumentBuilder, package: Package | None, hidden: frozenset[str]) -> None:
        self._builder = builder
        self._package = package
        self._hidden = hidden
        self._paragraphs = 0
        self._tables = 0
        self._notes: list[tuple[int, etree._Element]] = []  # each with the number of the paragraph that it is marked in
        self.warnings: list[str] = []

    def text(self, body: etree._Element) -> None:
        """A text document, with its notes behind it."""
        self.flow(body)
        for paragraph_number, note in self._notes:
            self._builder.place("paragraph", paragraph_number)
            said = " ".join(_text(paragraph) for paragraph in note.iter(f"{_TEXT}p"))
            self._builder.add("paragraph", f"{_note_mark(note)} {said}")

    def flow(self, parent: etree._Element, *, listed: bool = False) -> None:
        """Headings, paragraphs, lists and tables of a text document."""
        for element in parent:
            name = local_name(element)
            if name in ("h", "p"):
                self._paragraphs += 1
                self._keep_notes(element)
                text = _text(element)
                if text.strip():
                    self._builder.place("paragraph", self._paragraphs)
                    level = _number(element, f"{_TEXT}outline-level", 6) if name == "h" else 0
                    self._builder.add("heading" if level else "item" if listed else "paragraph", text, level=level)
                self._builder.place("paragraph", self._paragraphs)
                self._add_objects(element)
            elif name == "table":
                self._tables += 1
                self._keep_notes(element)
                self._builder.begin_table()
                for number, row in enumerate(_rows(element), start=1):
                    self._builder.place("row", number, str(self._tables))
                    self._builder.add_row([text for text, repeats in _cells(row) for _ in range(repeats)])
            elif name not in _PASSED:
                self.flow(element, listed=listed or name == "list")

    def _add_objects(self, element: etree._Element) -> None:
        """Add the tables of what is embedded in an element, such as the values of a chart, below its titles."""
        for embedded in element.iter(_OBJECT):
            name = embedded.get(f"{_XLINK}href", "").removeprefix("./")
            try:
                root = self._package.xml(f"{name}/content.xml") if self._package else embedded
            except DocumentUnreadable as error:
                self.warnings.append(f"the embedded {name} is not read: {error.message}")
                continue
            if root is None:
                continue
            etree.strip_elements(root, f"{_TEXT}list")  # names in several levels, which are said in one before it
            titles = root.iter(f"{_CHART}title", f"{_CHART}subtitle")
            self._builder.add("paragraph", ", ".join(" ".join(map(_text, _paragraphs(title))) for title in titles))
            for table in root.iter(f"{_TABLE}table"):
                self._builder.begin_table()
                for row in _rows(table):
                    self._builder.add_row([text for text, repeats in _cells(row) for _ in range(repeats)])

    def _keep_notes(self, element: etree._Element) -> None:
        self._notes += [(self._paragraphs, note) for note in element.iter(f"{_TEXT}note")]

    def sheets(self, body: etree._Element, limits: Limits) -> None:
        """The sheets of a spreadsheet."""
        chars = 0
        for sheet in body.iterchildren(f"{_TABLE}table"):
            name = sheet.get(f"{_TABLE}name", "")
            if sheet.get(f"{_TABLE}style-name") in self._hidden:
                self.warnings.append(f"the hidden sheet {name} is not read")
                continue
            self._builder.place("cell", "A1", name)
            self._builder.add("heading", name, level=2)
            rows, number, is_cut = SheetRows(self._builder, name), 1, False
            for row in _rows(sheet):
                repeats = _number(row, f"{_TABLE}number-rows-repeated", 1 << 20)
                read = list(_cells(row))
                is_cut = is_cut or any(text.strip() and not times for text, times in read)
                texts = [text for text, times in read for _ in range(times)]
                cells = {column: text for column, text in enumerate(texts, start=1) if text.strip()}
                for at in range(number, number + min(repeats, _MOST_REPEATS)) if cells else ():
                    rows.add(at, cells)
                    chars += sum(map(len, texts))
                    if chars > limits.chars:
                        rows.end()
                        self.warnings.append(
                            f"stopped after {limits.chars:,} characters, in row {at:,} of sheet {name}"
                        )
                        return
                if cells and repeats > _MOST_REPEATS:
                    self.warnings.append(
                        f"read {_MOST_REPEATS:,} of {repeats:,} equal rows from row {number:,} of sheet {name}"
                    )
                number += repeats
            rows.end()
            if is_cut:
                self.warnings.append(f"read the first {_MOST_COLUMNS:,} columns of sheet {name}")

    def slides(self, body: etree._Element, limits: Limits) -> None:
        """The slides of a presentation."""
        pages = list(body.iterchildren(f"{_DRAW}page"))
        if len(pages) > limits.pages:
            self.warnings.append(f"read the first {limits.pages:,} of {len(pages):,} slides")
        for number, page in enumerate(pages[: limits.pages], start=1):
            self._builder.place("slide", number)
            for element in page.iter(f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table-row", _OBJECT):
                if any(local_name(above) == "table-cell" for above in element.iterancestors()):
                    continue
                if element.tag == _OBJECT:
                    self._add_objects(element)
                elif local_name(element) == "table-row":
                    self._builder.add_row([text for text, repeats in _cells(element) for _ in range(repeats)])
                else:
                    frame = next(element.iterancestors(f"{_DRAW}frame"), None)
                    is_title = frame is not None and frame.get(f"{_PRESENTATION}class") == "title"
                    self._builder.add("heading" if is_title else "item", _text(element), level=2 if is_title else 0)


def _hidden_tables(root: etree._Element) -> frozenset[str]:
    """The names of the styles of sheets that are not shown."""
    properties = root.iter(f"{_STYLE}table-properties")
    hidden = (one.getparent() for one in properties if one.get(f"{_TABLE}display") == "false")
    return frozenset(style.get(f"{_STYLE}name", "") for style in hidden if style is not None)


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    """The rows of a table, but none of tables in its cells."""
    for element in table:
        if local_name(element) == "table-row":
            yield element
        elif local_name(element) in _ROW_GROUPS:
            yield from _rows(element)


def _cells(row: etree._Element) -> Iterator[tuple[str, int]]:
    """The text of each cell and how often it is repeated, 0 for those beyond the first thousand columns."""
    cells = [cell for cell in row if local_name(cell) in ("table-cell", "covered-table-cell")]
    room = _MOST_COLUMNS
    for number, cell in enumerate(cells):
        text = _date(cell) or " ".join(map(_text, _paragraphs(cell)))
        repeats = min(room, _number(cell, f"{_TABLE}number-columns-repeated", _MOST_COLUMNS))
        room -= repeats
        yield text, 1 if not text and number == len(cells) - 1 else repeats


def _paragraphs(element: etree._Element) -> Iterator[etree._Element]:
    """The paragraphs in an element, but for those of comments."""
    for child in element:
        if local_name(child) in ("p", "h"):
            yield child
        elif local_name(child) not in _PASSED:
            yield from _paragraphs(child)


def _date(cell: etree._Element) -> str:
    """The date of a sheet's cell as in other workbooks, however it is shown; empty for anything else."""
    day, _, time = cell.get(f"{_OFFICE}date-value", "").partition("T")
    return day if time.strip("0:.") == "" else f"{day} {time}"


def _number(element: etree._Element, name: str, most: int) -> int:
    value = element.get(name, "1")
    return min(int(value[:9]), most) if value.isdecimal() and int(value[:9]) else 1


def _text(paragraph: etree._Element) -> str:
    """The text of a paragraph, spaces and tabs written out, of a note its number in brackets."""
    pieces: list[str] = []
    pending: list[tuple[etree._Element, bool]] = [(paragraph, False)]
    while pending:
        element, is_tail = pending.pop()
        if is_tail:
            pieces.append(element.tail or "")
            continue
        name = local_name(element)
        if name in ("s", "tab", "line-break"):
            pieces.append(" ")
        if name == "note":
            pieces.append(_note_mark(element))
        elif name == "text-box":
            pieces.append(f" {' '.join(map(_text, _paragraphs(element)))} ")
        elif name not in _PASSED:
            pieces.append(element.text or "")
            for child in reversed(element):
                pending += [(child, True), (child, False)]
    return "".join(pieces)


def _note_mark(note: etree._Element) -> str:
    return f"[{note.findtext(f'{_TEXT}note-citation', '').strip()}]"
