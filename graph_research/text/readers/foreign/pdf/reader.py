"""PDF: the lines of each page by pypdf, and by PDFium where pypdf finds no text or runs words together, and for tables,
whose cells only PDFium tells."""

from __future__ import annotations

import codecs
import importlib
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pypdfium2
from pypdf import PdfReader, PdfWriter
from pypdf.errors import PyPdfError

from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.pages import page_separator
from graph_research.text.readers.foreign.package import named_authors
from graph_research.text.readers.foreign.pdf.accents import composed, loose_accents
from graph_research.text.readers.foreign.pdf.columns import in_columns
from graph_research.text.readers.foreign.pdf.form import filled_fields
from graph_research.text.readers.foreign.pdf.layout import PdfLine, has_table, pdf_document, style_of
from graph_research.text.readers.foreign.pdf.notes import BEFORE_CHARS, is_note
from graph_research.text.readers.foreign.pdf.pdfium_lines import page_lines
from graph_research.text.readers.limits import Limits

_MAGIC = b"%PDF-"
_MAGIC_WITHIN = 1024  # readers accept a header within the first kilobyte
_PAGES_COMPARED = 5
_MORE_WORDS = 1.05  # times: where both read the same words they differ by less
_JOINED_CHARS = 6  # a shorter word is too often written like two others
_UNMAPPED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # such as the ligature fi in a font that says no letters
_GLYPH_NAME = re.compile(r"/[A-Za-z]{1,6}\d+")
_LATE_MODULES = (
    "pypdf._codecs.core_font_metrics",
    "pypdf.generic._image_xobject",
    "pypdf.xmp",
    "pypdf._crypt_providers",
    "fontTools.cffLib",
    "brotli",
)
_CODECS = """
    ascii latin_1 cp1250 cp1251 cp1252 mac_roman charmap utf_8 utf_16 utf_16_be utf_16_le utf_32_be unicode_escape
    gbk gb2312 gb18030 big5 big5hkscs cp950 euc_kr cp949 johab euc_jp shift_jis cp932 iso2022_jp
"""
_DATE = re.compile(r"D:(\d{4})(\d{2})(\d{2})")


def read_pdf(data: bytes, limits: Limits) -> Document:
    """The document in a PDF; raises `DocumentUnreadable` where it has no text."""
    if _MAGIC not in data[:_MAGIC_WITHIN]:
        raise DocumentUnreadable("it is not a PDF: it does not start with %PDF-")
    extraction = _Extraction(limits)
    try:
        document = extraction.by_pypdf(data)
    except (DocumentUnreadable, MemoryError):
        raise
    except Exception as error:
        damage = f"it is damaged{f': {str(error)[:200]}' if isinstance(error, PyPdfError) else ''}"
        document = extraction.by_pdfium(data, damage)
        if not document.text:
            raise DocumentUnreadable(damage) from error
    if not document.text:
        raise DocumentUnreadable("; ".join(extraction.warnings) or "it has no text; it may be a scan")
    return replace(document, warnings=tuple(extraction.warnings))


class _Extraction:
    """One PDF being read, with what was left out of it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.warnings: list[str] = []
        self.illegible = 0

    def by_pypdf(self, data: bytes) -> Document:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            if not _only_attachments_are_encrypted(reader):
                raise DocumentUnreadable("it is encrypted: it opens only with a password")
            reader._encryption = None
        readers = [_PypdfPage(reader, number) for number in range(len(reader.pages))]
        pages = self._placed(data, readers) or self._bounded(readers)
        room = self._limits.chars - sum(len(line.text) + 1 for lines in pages for line in lines)
        fields = filled_fields(reader, len(pages), room)
        facts = _facts(reader)
        return replace(pdf_document(pages, facts.pop("title"), fields), **facts)

    def by_pdfium(self, data: bytes, damage: str) -> Document:
        """What PDFium reads of it; nothing where it reads nothing either."""
        before, self.warnings = self.warnings, []
        try:
            pages = self._pdfium_pages(data)
        except pypdfium2.PdfiumError as error:
            raise DocumentUnreadable(damage) from error
        document = pdf_document([in_columns(lines) for lines in pages])
        if not document.text:
            self.warnings = [*before, *(warning for warning in self.warnings if warning not in before)]
        return document

    def _placed(self, data: bytes, readers: Sequence[_PypdfPage]) -> list[list[PdfLine]]:
        """The pages as PDFium reads them where columns are written across on one, or it has a table, or pypdf reads its
        words worse; else none."""
        other = _Extraction(self._limits)
        try:
            pages = other._pdfium_pages(data)
        except pypdfium2.PdfiumError:
            return []
        ordered = [in_columns(lines) for lines in pages]
        if ordered == pages and not has_table(pages) and not _reads_worse(readers, pages):
            return []
        self.warnings, self.illegible = other.warnings, other.illegible
        return ordered

    def _pdfium_pages(self, data: bytes) -> list[list[PdfLine]]:
        with pypdfium2.PdfDocument(data) as reader:
            return self._bounded([_PdfiumPage(reader, number) for number in range(len(reader))])

    def _bounded(self, readers: Sequence[_PypdfPage | _PdfiumPage]) -> list[list[PdfLine]]:
        total, room, pages = len(readers), self._limits.chars, []
        for number, reader in enumerate(readers[: self._limits.pages], start=1):
            try:
                lines = reader.lines()
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 -- one broken page leaves the others readable
                self.warnings.append(f"page {number} is damaged")
                lines = []
            if _is_unknown(lines):
                lines = []
            if not _is_legible(lines):
                self.illegible += 1
                lines = []
            if number > 1:
                room -= len(page_separator(number))
            pages.append(_cut(lines, room))
            room -= sum(len(line.text) + 1 for line in lines)
            if room <= 0:
                self.warnings.append(f"stopped after {self._limits.chars:,} characters, on page {number} of {total}")
                break
        else:
            if total > self._limits.pages:
                self.warnings.append(f"read the first {self._limits.pages:,} of {total:,} pages")
        if self.illegible:
            self.warnings.append(
                f"on {self.illegible} of {len(pages)} pages the PDF does not say which letters it shows"
            )
        return pages


class _PypdfPage:
    def __init__(self, reader: PdfReader, number: int) -> None:
        self._reader = reader
        self._number = number

    def lines(self) -> list[PdfLine]:
        lines = _Lines()
        self._reader.pages[self._number].extract_text(visitor_text=lines.visit)
        return lines.visible()


class _PdfiumPage:
    def __init__(self, reader: pypdfium2.PdfDocument, number: int) -> None:
        self._reader = reader
        self._number = number

    def lines(self) -> list[PdfLine]:
        return page_lines(self._reader[self._number])


def _reads_worse(readers: Sequence[_PypdfPage], pages: Sequence[Sequence[PdfLine]]) -> bool:
    """Whether pypdf finds fewer words than PDFium, or more that are broken, on the pages that have most of them."""
    counts = [sum(len(line.text.split()) for line in lines) for lines in pages]
    longest = sorted(range(min(len(counts), len(readers))), key=lambda number: -counts[number])[:_PAGES_COMPARED]
    found = broken = 0
    for number in longest:
        with suppress(ValueError, TypeError, KeyError, AttributeError, IndexError, PyPdfError, RecursionError):
            text, other = ("\n".join(line.text for line in lines) for lines in (readers[number].lines(), pages[number]))
            found += len(text.split())
            broken += broken_words(text, other) - broken_words(other, text)
    return broken > 0 or sum(counts[number] for number in longest) > _MORE_WORDS * found


def broken_words(text: str, other: str) -> int:
    """Words run together that the other text has apart, signs that are no letters, and accents without a letter."""
    known = other.split()
    starts = dict.fromkeys(accumulate(map(len, known), initial=0))
    whole, one_by_one = "".join(known), frozenset(known)
    joined = 0
    for word in frozenset(text.split()) - one_by_one:
        place = whole.find(word) if len(word) >= _JOINED_CHARS else -1
        joined += place >= 0 and place in starts and place + len(word) in starts
    return joined + len(_UNMAPPED.findall(text)) + loose_accents(text)


def _only_attachments_are_encrypted(reader: PdfReader) -> bool:
    """Whether streams and strings have the filter that leaves them as they are, which is the default."""
    encryption: Any = reader.trailer["/Encrypt"].get_object()
    return encryption.get("/V") in (4, 5) and {encryption.get("/StmF"), encryption.get("/StrF")} <= {"/Identity", None}


def _facts(reader: PdfReader) -> dict[str, Any]:
    """Title, authors and date of the PDF's metadata, empty where they are missing or broken."""
    said: dict[str, str] = {}
    with suppress(Exception):  # whatever pypdf raises on damaged metadata: the pages are read without them
        metadata: Any = reader.metadata or {}
        said = {
            name: str(metadata.get(f"/{name}") or "").strip()[:1000] for name in ("Title", "Author", "CreationDate")
        }
    made = _DATE.match(said.get("CreationDate", ""))
    authors = re.split(r"\s*;\s*|\s+and\s+", said.get("Author", ""))
    return {
        "title": said.get("Title", ""),
        "authors": named_authors(authors),
        "date": (iso_date("-".join(made.groups())) or "") if made else "",
    }


class _Lines:
    """Runs of text put together to lines; size, style and place are those of a line's first visible run."""

    def __init__(self) -> None:
        self._parts: list[list[str]] = [[]]
        self._facts: list[list[Any]] = [[]]

    def visit(self, text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        """What pypdf calls for each run, with the matrices that place it."""
        for number, part in enumerate(text.split("\n")):
            if number:
                self._parts.append([])
                self._facts.append([])
            drawn, y = round(abs(size * _scale(tm) * _scale(cm)), 1), round(tm[4] * cm[1] + tm[5] * cm[3] + cm[5], 1)
            if self._facts[-1]:
                line_size, _, line_y = self._facts[-1]
                before = "".join(self._parts[-1][-BEFORE_CHARS:])
                if is_note(before, part, size=drawn, line_size=line_size, raised=y - line_y):
                    part = f"[{part}]"
            elif part.strip():
                self._facts[-1] = [drawn, style_of(str((font or {}).get("/BaseFont", ""))), y]
            self._parts[-1].append(part)

    def visible(self) -> list[PdfLine]:
        """The lines that are not empty."""
        both = zip(self._parts, self._facts, strict=True)
        return [PdfLine(composed("".join(parts)), *facts) for parts, facts in both if facts]


def _scale(matrix: list[float]) -> float:
    return abs(matrix[3]) or abs(matrix[1]) or 1.0


def _cut(lines: Sequence[PdfLine], room: int) -> list[PdfLine]:
    kept = []
    for line in lines:
        if room <= 0:
            break
        kept.append(line if len(line.text) <= room else replace(line, text=line.text[:room], row=()))
        room -= len(line.text) + 1
    return kept


def _is_legible(lines: Sequence[PdfLine]) -> bool:
    """Whether most of a page is more than names of glyphs (`/g18/g152`), which a font without letters leaves."""
    text = "".join(line.text for line in lines)
    return sum(map(len, _GLYPH_NAME.findall(text))) * 2 <= len(text)


def _is_unknown(lines: Sequence[PdfLine]) -> bool:
    """Whether most of a page is the sign for characters that are not known."""
    text = "".join(line.text for line in lines)
    return text.count("\ufffd") * 2 > len(text)


def warm_up() -> None:
    """Load what pypdf loads only when a PDF asks for it, since opening files will be forbidden."""
    for name in _LATE_MODULES:
        with suppress(ImportError):
            importlib.import_module(name)
    for name in _CODECS.split():
        with suppress(LookupError):
            codecs.lookup(name)
    writer = PdfWriter()
    writer.add_blank_page(width=72, height=72)
    made = io.BytesIO()
    writer.write(made)
    with suppress(DocumentUnreadable):
        read_pdf(made.getvalue(), Limits())
