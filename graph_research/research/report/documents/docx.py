"""The report as a Word document: headings, tables and lists in Word's own styles; each number leads to its passage."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from docx import Document
from docx.document import Document as WordDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Length, Mm, Pt, RGBColor
from docx.table import _Cell as WordCell
from docx.text.paragraph import Paragraph as WordParagraph

from graph_research.research.report.documents.elements import (
    CELL_MARGINS,
    LINE_CHARS,
    Code,
    Column,
    Element,
    Heading,
    Items,
    Paragraph,
    Passage,
    Span,
    Style,
    Table,
    is_code,
    least_width,
    text_of,
    width_of,
)
from graph_research.research.report.documents.layout import elements_of
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import Report
from graph_research.text.language.tags import has_italics, primary

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CODE_FONT, _CODE_SIZE = "Courier New", Pt(9)
_LINK_COLOUR = RGBColor(0x1F, 0x4F, 0x8F)
_LONG_TITLE = Pt(15)
_AFTER_ITEM, _AROUND_CELL = Pt(3), Pt(2)
_PAGE, _MARGINS = (Mm(210), Mm(297)), (Mm(22), Mm(24))
_CELL_SIZE, _SMALLEST_CELL_SIZE, _CODE_IN_CELL = Pt(9), Pt(7), 0.88
_LONGEST_CELL = 40
"""The most characters that a column asks for."""
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time of every entry of the ZIP file, so that the same report gives the same bytes."""


def render_docx(report: Report) -> bytes:
    """The file's bytes; the same report gives the same bytes."""
    document = Document()
    _set_page(document)
    document.core_properties.title = _text(report.headline)[:250]
    document.core_properties.author = "graph-research"
    document.core_properties.comments = report.run_id
    document.core_properties.language = report.language
    _set_language(document, report.language)
    written = report.finished_at or report.started_at
    moment = datetime.fromisoformat(written) if written else datetime(*_FIRST_DAY, tzinfo=UTC)
    document.core_properties.created = document.core_properties.modified = moment
    if not has_italics(report.language):
        document.styles["Quote"].font.italic = False
    writer = _Writer(document, has_italics=has_italics(report.language))
    for element in elements_of(report, labels_for(report.language), for_print=True):
        writer.add(element)
    out = io.BytesIO()
    document.save(out)
    return _dated(out.getvalue())


def _dated(package: bytes) -> bytes:
    """The ZIP file with one time for every entry."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, date_time=_FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, old.read(name))
    return out.getvalue()


def _set_page(document: WordDocument) -> None:
    """The size and margins of the pages, which are those of the PDF."""
    for section in document.sections:
        section.page_width, section.page_height = _PAGE
        section.left_margin = section.right_margin = _MARGINS[0]
        section.top_margin = section.bottom_margin = _MARGINS[1]


def _set_language(document: WordDocument, language: str) -> None:
    """The language in which Word checks the spelling and chooses the forms of Chinese and Japanese characters."""
    for proofed in document.styles.element.iter(qn("w:lang")):
        proofed.set(qn("w:eastAsia" if primary(language) in ("ja", "zh") else "w:val"), language)


class _Writer:
    def __init__(self, document: WordDocument, *, has_italics: bool) -> None:
        self._document = document
        self._has_italics = has_italics
        self._bookmarks = 0
        self._headings = 0

    def add(self, element: Element) -> None:
        match element:
            case Heading(text, level):
                heading = self._document.add_heading(_text(text), level)
                self._bookmark(heading, _of_heading(self._headings))
                self._headings += 1
                if element.is_long:
                    heading.runs[0].font.size = _LONG_TITLE
            case Paragraph(spans, is_quoted):
                self._spans(self._document.add_paragraph(style="Quote" if is_quoted else None), spans)
            case Items():
                self._items(element)
            case Table():
                self._table(element)
            case Code(text, _, marks, caption):
                self._caption(caption)
                block = self._document.add_paragraph()
                block.paragraph_format.keep_together = True
                run = block.add_run(_text(text))
                run.font.name, run.font.size = _CODE_FONT, _CODE_SIZE
                block.paragraph_format.keep_with_next = bool(marks)
                if marks:
                    self._spans(self._document.add_paragraph(), marks)
            case Passage():
                self._passage(element)

    def _items(self, items: Items) -> None:
        style = "List Number" if items.ordered else "List Bullet"
        number = self._new_numbering(style) if items.ordered else None
        for item in items.items:
            paragraph = self._document.add_paragraph(style=f"{style} {min(item.level, 2) + 1}" if item.level else style)
            paragraph.paragraph_format.space_after = _AFTER_ITEM
            if number is not None:
                paragraph._p.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = number
            self._spans(paragraph, item.spans)

    def _new_numbering(self, style: str) -> int:
        """A numbering of the style's form that begins with 1; without one, a list goes on where the last one ended."""
        numbering = self._document.part.numbering_part.element
        own = self._document.styles[style].element.pPr.numPr.numId.val
        added = numbering.add_num(numbering.num_having_numId(own).abstractNumId.val)
        added.add_lvlOverride(ilvl=0).add_startOverride(1)
        return int(added.numId)

    def _caption(self, caption: str) -> None:
        if caption:
            self._document.add_paragraph(_text(caption), style="Caption").paragraph_format.keep_with_next = True

    def _table(self, table: Table) -> None:
        self._caption(table.caption)
        columns = table.columns()
        size = _cell_size(columns)
        grid = self._document.add_table(rows=0, cols=len(table.header), style="Table Grid")
        grid.autofit = False
        if any(table.header):
            row = grid.add_row()
            row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
            for cell, (head, *_) in zip(row.cells, columns, strict=True):
                self._cell(cell, head, size)
        for spans_of_row in table.rows:
            for cell, spans in zip(grid.add_row().cells, spans_of_row, strict=True):
                self._cell(cell, spans, size)
        widths = _widths(columns, sum(column.width or 0 for column in grid.columns))
        for row in grid.rows:
            row._tr.get_or_add_trPr().insert(0, OxmlElement("w:cantSplit"))
            for cell, width in zip(row.cells, widths, strict=True):
                cell.width = width
        for column, width in zip(grid.columns, widths, strict=True):
            column.width = width
        self._document.add_paragraph()

    def _cell(self, cell: WordCell, spans: Iterable[Span], size: Length) -> None:
        [paragraph] = cell.paragraphs
        paragraph.paragraph_format.space_before = paragraph.paragraph_format.space_after = _AROUND_CELL
        self._spans(paragraph, spans, size)

    def _passage(self, passage: Passage) -> None:
        paragraph = self._document.add_paragraph()
        self._bookmark(paragraph, _of_citation(passage.citation))
        self._spans(paragraph, [Span(f"[{passage.number}] "), Span(f"{passage.quote} "), Span(passage.source)])
        self._spans(paragraph, [Span(passage.where)])

    def _bookmark(self, paragraph: WordParagraph, name: str) -> None:
        """Give the paragraph a name to which links lead."""
        self._bookmarks += 1
        for tag in ("w:bookmarkStart", "w:bookmarkEnd"):
            mark = OxmlElement(tag)
            mark.set(qn("w:id"), str(self._bookmarks))
            if tag == "w:bookmarkStart":
                mark.set(qn("w:name"), name)
            paragraph._p.append(mark)

    def _spans(self, paragraph: WordParagraph, spans: Iterable[Span], size: Length | None = None) -> None:
        for span in spans:
            run = paragraph.add_run(_text(span.text))
            run.font.size = size
            run.bold = span.style in (Style.STRONG, Style.STRONG_CODE) or None
            run.italic = (span.style is Style.EMPHASIS and self._has_italics) or None
            if is_code(span):
                run.font.name, run.font.size = _CODE_FONT, Length(int(size * _CODE_IN_CELL)) if size else None
            leads_to = _of_citation(span.citation) if span.citation else _of_heading(span.leads_to)
            if leads_to or span.url:
                run.font.color.rgb = _LINK_COLOUR
                link = OxmlElement("w:hyperlink")
                if leads_to:
                    link.set(qn("w:anchor"), leads_to)
                else:
                    target = self._document.part.relate_to(span.url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
                    link.set(qn("r:id"), target)
                link.append(run._r)
                paragraph._p.append(link)


def _cell_size(columns: Sequence[Column]) -> Length:
    """The size of the type, smaller where a line has no room for the longest word of every column."""
    room = min(1.0, LINE_CHARS / sum(_least_widths(columns)))
    return Length(max(int(_CELL_SIZE * room), _SMALLEST_CELL_SIZE))


def _widths(columns: Sequence[Column], whole: int) -> list[Length]:
    """The width of the page, shared by the columns: each has room for its longest word, and of what is left as much as
    its longest cell asks for."""
    least = _least_widths(columns)
    wanted = [min(max(map(_longest_line, column)), _LONGEST_CELL) + CELL_MARGINS for column in columns]
    more = [max(0, most - word) for most, word in zip(wanted, least, strict=True)]
    left = max(0, LINE_CHARS - sum(least)) / (sum(more) or 1)
    shares = [word + left * further for word, further in zip(least, more, strict=True)]
    return [Length(int(whole * share / sum(shares))) for share in shares]


def _least_widths(columns: Sequence[Column]) -> list[int]:
    """The room for the longest word of each column. One that is longer than a cell should be, such as an address, is
    cut anyway: its column has no more than an equal share."""
    share = LINE_CHARS // len(columns)
    words = map(least_width, columns)
    return [word if word <= _LONGEST_CELL + CELL_MARGINS else share for word in words]


def _longest_line(spans: Iterable[Span]) -> int:
    return max(map(width_of, text_of(spans).split("\n")))


def _of_citation(citation: str) -> str:
    return f"citation_{citation}"


def _of_heading(place: int | None) -> str:
    return "" if place is None else f"heading_{place}"


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("", text)
