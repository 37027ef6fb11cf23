"""Word and PowerPoint files (OOXML): paragraphs, headings, lists and tables in their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from lxml import etree

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.drawings import DRAWINGS, add_drawing
from graph_research.text.readers.foreign.package import Package, dublin_core, local_name, text_of
from graph_research.text.readers.limits import Limits

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_CORE = "docProps/core.xml"
_HEADING = re.compile(r"(?:heading|titre|überschrift|título|titolo|kop)\s*([1-6])", re.IGNORECASE)
_MAX_COLUMNS = 63  # of a table that Word makes
_LIST = re.compile(r"list(?: bullet| number| paragraph)?(?: \d)?")  # the names that Word stores in any language
_WRAPPERS = ("sdt", "sdtContent", "ins", "customXml", "smartTag")
_TITLES = ("title", "ctrTitle")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_DELETED = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", f"{_W}pPr", f"{_W}rPr", f"{_W}rt"})
_BOX = f"{_W}txbxContent"
_NOT_SHOWN = _DELETED | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}


def read_docx(data: bytes, limits: Limits, read: Callable[[bytes, str], Document]) -> Document:
    """A Word document, then its notes; paragraphs are counted from 1 as they follow each other outside of tables, rows
    in each table. `read` reads a file that is inserted in it by its bytes and its name."""
    with Package(data, limits) as package:
        main = package.part("", "officeDocument", "word/document.xml")
        root = package.xml(main)
        body = root.find(f"{_W}body") if root is not None else None
        if body is None:
            raise DocumentUnreadable(f"it is damaged: it has no {main}")
        builder = DocumentBuilder()
        notes = list(_notes(package, main))
        numbers = {(local_name(note), note.get(f"{_W}id", "")): number for number, note in enumerate(notes, start=1)}
        word = _Word(builder, package, main, numbers, read)
        word.read(body)
        for number, note in enumerate(notes, start=1):
            builder.place("paragraph", word.noted.get(number, word.paragraphs))
            said = " ".join(_word_text(paragraph) for paragraph in note.iter(f"{_W}p"))
            builder.add("paragraph", f"[{number}] {said}")
        title, authors, date = dublin_core(package.xml(_CORE))
    return replace(builder.document(title), authors=authors, date=date, warnings=tuple(word.warnings))


_Notes = Mapping[tuple[str, str], int]
"""The number of each note by its kind and id."""


def _notes(package: Package, main: str) -> Iterator[etree._Element]:
    """The footnotes and endnotes, without the lines that separate them from the text."""
    for kind in ("footnotes", "endnotes"):
        root = package.xml(package.part(main, kind, f"word/{kind}.xml"))
        for note in root if root is not None else ():
            if local_name(note) in ("footnote", "endnote") and note.get(f"{_W}type") is None:
                yield note


class _Style(NamedTuple):
    level: int
    is_list: bool


def _heading_styles(styles: etree._Element | None) -> dict[str, _Style]:
    """By id of a paragraph style, the level of a heading (0 for none) and whether it makes list items."""
    found: dict[str, _Style] = {}
    for style in styles.iter(f"{_W}style") if styles is not None else ():
        name = _value(style.find(f"{_W}name"))
        level = heading_level(name) or _outline_level(style)
        is_list = _is_numbered(style) or _LIST.fullmatch(name.lower()) is not None
        found[style.get(f"{_W}styleId", "")] = _Style(1 if name.lower() == "title" else level, is_list)
    return found


def heading_level(style: str) -> int:
    """The level of the headings of a style, by its name; 0 for any other style."""
    match = _HEADING.match(style)
    return int(match[1]) if match else 0


def _outline_level(styled: etree._Element) -> int:
    """The level of a heading that a paragraph or a style says it is; 0 for none."""
    outline = _value(styled.find(f"{_W}pPr/{_W}outlineLvl"))
    return int(outline) + 1 if outline.isdecimal() and int(outline) < 6 else 0


def _is_numbered(styled: etree._Element) -> bool:
    numbering = styled.find(f"{_W}pPr/{_W}numPr")
    return numbering is not None and _value(numbering.find(f"{_W}numId")) != "0"  # which takes a list away


def _value(element: etree._Element | None) -> str:
    return element.get(f"{_W}val", "") if element is not None else ""


class _Word:
    """Walks the body of a Word document."""

    def __init__(
        self,
        builder: DocumentBuilder,
        package: Package,
        main: str,
        notes: _Notes,
        read: Callable[[bytes, str], Document],
    ) -> None:
        self._builder = builder
        self._package = package
        self._read = read
        self._styles = _heading_styles(package.xml(package.part(main, "styles", "word/styles.xml")))
        self._related = package.related(main)
        self._notes = notes
        self.warnings: list[str] = []
        self.paragraphs = 0
        self.noted: dict[int, int] = {}  # by the number of a note, that of the paragraph in which it is marked
        self._tables = 0

    def read(self, parent: etree._Element, *, is_box: bool = False) -> None:
        """Read what stands in the body; in a text box, whose paragraphs count as the one that it is anchored in."""
        for element in parent:
            name = local_name(element)
            if name == "p":
                self.paragraphs += not is_box
                self._keep_notes(element)
                self._add(element)
                self._add_apart(element)
            elif name == "tbl":
                self._tables += 1
                self._keep_notes(element)
                self._add_table(element)
                self._add_apart(element)
            elif name in _WRAPPERS:
                self.read(element, is_box=is_box)
            elif name == "altChunk":
                self._insert(self._related.get(element.get(f"{_R}id", ""), ""))

    def _insert(self, part: str) -> None:
        """Add the text of a file of any format that Word shows in this place."""
        name = part.rpartition("/")[2]
        try:
            document = self._read(self._package.read(part), name)
        except DocumentUnreadable as error:
            file = f"the file {name} that is inserted in it" if name else "a file that is inserted in it"
            self.warnings.append(f"{file} is not read: {error.message}")
            return
        self._builder.place("paragraph", max(1, self.paragraphs))
        self._builder.add_document(document, within=name)

    def _add_apart(self, element: etree._Element) -> None:
        """Add the text boxes, charts and diagrams behind the paragraph or table that they are anchored in."""
        for shown in element.iter(_BOX, *DRAWINGS):
            if any(above.tag in _NOT_SHOWN or above.tag == _BOX for above in _between(shown, element)):
                continue  # what stands in a box is read with it
            self._builder.place("paragraph", self.paragraphs)
            if shown.tag == _BOX:
                self.read(shown, is_box=True)
            else:
                self.warnings += add_drawing(self._builder, self._package, shown, self._related)

    def _keep_notes(self, element: etree._Element) -> None:
        for mark in element.iter(f"{_W}footnoteReference", f"{_W}endnoteReference"):
            key = local_name(mark).removesuffix("Reference"), mark.get(f"{_W}id", "")
            self.noted.setdefault(self._notes.get(key, 0), self.paragraphs)

    def _add(self, paragraph: etree._Element) -> None:
        text = _word_text(paragraph, self._notes)
        if not text.strip():
            return
        style = self._styles.get(_value(paragraph.find(f"{_W}pPr/{_W}pStyle")), _Style(0, False))
        self._builder.place("paragraph", self.paragraphs)
        if level := style.level or _outline_level(paragraph):
            self._builder.add("heading", text, level=level)
        else:
            self._builder.add("item" if style.is_list or _is_numbered(paragraph) else "paragraph", text)

    def _add_table(self, table: etree._Element) -> None:
        self._builder.begin_table()
        for number, row in enumerate(_wrapped(table, "tr"), start=1):
            self._builder.place("row", number, str(self._tables))
            self._builder.add_row([text for cell in _wrapped(row, "tc") for text in self._cells(cell)])

    def _cells(self, cell: etree._Element) -> list[str | None]:
        """The text of a cell, None where it goes on the one above it, and an empty one for each further column that it
        stands in."""
        columns = _value(cell.find(f"{_W}tcPr/{_W}gridSpan"))
        paragraphs = (one for one in cell.iter(f"{_W}p") if all(above.tag != _BOX for above in _between(one, cell)))
        text = " ".join(_word_text(paragraph, self._notes) for paragraph in paragraphs)
        merge = cell.find(f"{_W}tcPr/{_W}vMerge")
        goes_on = merge is not None and _value(merge) != "restart" and not text.strip()
        return [None if goes_on else text, *[""] * (min(int(columns), _MAX_COLUMNS) - 1 if columns.isdecimal() else 0)]


def _between(element: etree._Element, outer: etree._Element) -> Iterator[etree._Element]:
    """The elements that an element stands in, up to an outer one."""
    return takewhile(lambda above: above is not outer, element.iterancestors())


def _wrapped(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """The children called `name`, also those that content controls and custom XML wrap, but none of inner tables."""
    for element in parent:
        if local_name(element) == name:
            yield element
        elif local_name(element) in _WRAPPERS:
            yield from _wrapped(element, name)


def _word_text(paragraph: etree._Element, notes: _Notes | None = None) -> str:
    """The text of a paragraph as it is printed: without deletions, field codes and boxes, raised digits as such, and
    the number in brackets of each of `notes` that it refers to."""
    pieces: list[str] = []
    pending = [paragraph]
    while pending:
        element = pending.pop()
        if element.tag in _NOT_SHOWN or element.tag == _BOX:
            continue
        name = local_name(element)
        if name == "t":
            pieces.append((element.text or "").translate(_RAISED if _is_raised(element) else {}))
        elif name in ("tab", "br", "cr"):
            pieces.append(" ")
        elif name == "noBreakHyphen":
            pieces.append("-")
        elif notes and (number := notes.get((name.removesuffix("Reference"), element.get(f"{_W}id", "")))):
            pieces.append(f"[{number}]")
        pending.extend(reversed(element))
    return "".join(pieces)


def _is_raised(text: etree._Element) -> bool:
    run = text.getparent()
    aligned = run.find(f"{_W}rPr/{_W}vertAlign") if run is not None else None
    return aligned is not None and aligned.get(f"{_W}val") == "superscript"


def read_pptx(data: bytes, limits: Limits) -> Document:
    """A presentation, slide by slide, each with its speaker's notes."""
    warnings: list[str] = []
    with Package(data, limits) as package:
        main = package.part("", "officeDocument", "ppt/presentation.xml")
        root = package.xml(main)
        if root is None:
            raise DocumentUnreadable(f"it is damaged: it has no {main}")
        related = package.related(main)
        slides = [related.get(slide.get(f"{_R}id", ""), "") for slide in root.iter(f"{_P}sldId")]
        if len(slides) > limits.pages:
            warnings.append(f"read the first {limits.pages:,} of {len(slides):,} slides")
        builder = DocumentBuilder()
        for number, name in enumerate(slides[: limits.pages], start=1):
            builder.place("slide", number)
            warnings += _add_slide(builder, package, name)
        title, authors, date = dublin_core(package.xml(_CORE))
    return replace(builder.document(title), authors=authors, date=date, warnings=tuple(warnings))


def _add_slide(builder: DocumentBuilder, package: Package, name: str) -> list[str]:
    """Add a slide; the warnings."""
    warnings: list[str] = []
    slide = package.xml(name)
    if slide is None:
        return warnings
    related = package.related(name)
    for element in _shapes(slide):
        if element.tag in DRAWINGS:
            warnings += add_drawing(builder, package, element, related)
            continue
        if element.tag == f"{_A}tbl":
            builder.begin_table()
            for row in element.iter(f"{_A}tr"):
                cells = row.iterchildren(f"{_A}tc")
                builder.add_row([None if cell.get("vMerge") == "1" else _cell_text(cell) for cell in cells])
            continue
        kind = element.find(f".//{_P}ph")
        is_title = kind is not None and kind.get("type") in _TITLES
        for paragraph in element.iter(f"{_A}p"):
            builder.add("heading" if is_title else "item", _slide_text(paragraph), level=2 if is_title else 0)
    for target in related.values():
        if "notesSlides/" in target:
            for shape in _shapes(package.xml(target)):
                kind = shape.find(f".//{_P}ph")
                if kind is None or kind.get("type") == "body":
                    for paragraph in shape.iter(f"{_A}p"):
                        builder.add("paragraph", _slide_text(paragraph))
    return warnings


def _shapes(slide: etree._Element | None) -> Iterator[etree._Element]:
    """Shapes, tables, charts and diagrams in their order, those in groups too; title first."""
    if slide is None:
        return
    shapes = list(slide.iter(f"{_P}sp", f"{_A}tbl", *DRAWINGS))
    yield from sorted(shapes, key=lambda shape: not _is_title(shape))


def _is_title(shape: etree._Element) -> bool:
    kind = shape.find(f".//{_P}ph")
    return kind is not None and kind.get("type") in _TITLES


def _slide_text(paragraph: etree._Element) -> str:
    pieces = []
    for element in paragraph.iter(f"{_A}t", f"{_A}br"):
        pieces.append(text_of(element) if element.tag == f"{_A}t" else " ")
    return "".join(pieces)


def _cell_text(cell: etree._Element) -> str:
    return " ".join(_slide_text(paragraph) for paragraph in cell.iter(f"{_A}p"))
