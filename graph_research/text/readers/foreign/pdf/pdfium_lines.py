"""The lines of a PDF page by PDFium, with the place of each stretch of text."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pypdfium2
import pypdfium2.raw as pdfium

from graph_research.text.readers.foreign.pdf.accents import composed
from graph_research.text.readers.foreign.pdf.layout import PdfLine, style_of
from graph_research.text.readers.foreign.pdf.notes import BEFORE_CHARS, is_note
from graph_research.text.readers.foreign.pdf.ruled_tables import with_tables
from graph_research.text.readers.foreign.pdf.ruling import Grid, page_grids
from graph_research.text.readers.foreign.pdf.tables import PdfCell

_CELL_GAP = 1.0  # times the size of the text: a wider gap divides cells
_UNWRITTEN_GAP = 0.5  # the same for a gap without a written space on a page that writes its spaces
_WRITTEN_SPACES = 1 / 8  # of a page's gaps between words: from so many on it writes its spaces
_FAR_BACK = 4.0  # times the size of the text: an accent or a mark above another one stands nearer
_NAME_BYTES = 128
_NUMBERS = re.compile(r"(?<=[^\s\d])\d{1,3}(?:[,–-]\d{1,3})*(?!\d)")
_HYPHENS = ("\x02", "\ufffe")  # what PDFium gives for a hyphen at the end of a line
_ENDS = frozenset({"\r", "\n", *_HYPHENS})


def page_lines(page: pypdfium2.PdfPage) -> list[PdfLine]:
    """The lines of a page in the order of its content; of a table with drawn lines its rows."""
    text = page.get_textpage()
    try:
        grids = page_grids(page)
        return with_tables(list(_Page(text, grids).lines()), grids)
    finally:
        text.close()
        page.close()


class _Page:
    """The characters of a page by their numbers."""

    def __init__(self, text: pypdfium2.PdfTextPage, grids: Sequence[Grid]) -> None:
        self._text = text
        self._grids = grids
        codes = (pdfium.FPDFText_GetUnicode(text, number) for number in range(text.count_chars()))
        self._chars = [chr(code) if code else "" for code in codes]
        spaces = [number for number, char in enumerate(self._chars) if char == " "]
        self._gaps = frozenset(number for number in spaces if pdfium.FPDFText_IsGenerated(text, number) == 1)
        """The spaces that are not in the PDF, but stand for gaps between characters."""
        self._put_notes_in_brackets()
        self._writes_spaces = len(spaces) - len(self._gaps) > len(spaces) * _WRITTEN_SPACES

    def _put_notes_in_brackets(self) -> None:
        for match in _NUMBERS.finditer("".join(char or " " for char in self._chars)):
            first, last = match.start(), match.end() - 1
            before = "".join(self._chars[max(0, first - BEFORE_CHARS) : first])
            raised = self._height(first) - self._height(first - 1)
            sizes = {"size": self._size(first), "line_size": self._size(first - 1)}
            if is_note(before, match[0], raised=raised, **sizes):
                self._chars[first] = f"[{self._chars[first]}"
                self._chars[last] += "]"

    def lines(self) -> Iterator[PdfLine]:
        """The lines that have a visible character. A word that PDFium joins ends its line with a hyphen."""
        begin = 0
        for number, char in enumerate([*self._chars, "\n"]):
            if char and (char in _ENDS or (number in self._gaps and self._goes_back(number))):
                if visible := self._visible(begin, number + 1):
                    yield self._line(visible)
                begin = number + 1

    def _goes_back(self, number: int) -> bool:
        """Whether the text goes on far to the left of this gap, which PDFium takes for one within a line where the
        lines of columns stand at nearly the same height."""
        before, after = number - 1, number + 1
        return after < len(self._chars) and self._gap(before, after) < -_FAR_BACK * self._size(after)

    def _visible(self, begin: int, end: int) -> range:
        """The characters from the first visible one to the last."""
        shown = [number for number in range(begin, min(end, len(self._chars))) if self._chars[number].strip()]
        return range(shown[0], shown[-1] + 1) if shown else range(0)

    def _line(self, numbers: range) -> PdfLine:
        size = self._size(numbers.start)
        placed = [number for number in numbers if number not in self._gaps]
        gaps = [(self._gap(before, after), after) for before, after in pairwise(placed) if after > before + 1]
        wide = size * (_UNWRITTEN_GAP if self._writes_spaces else _CELL_GAP)
        y = self._height(numbers.start) + size / 4
        apart = [
            numbers.start,
            *(after for gap, after in gaps if gap > wide or self._is_ruled(after, gap, y)),
            numbers.stop,
        ]
        cells = tuple(self._cell(range(start, end), [after for _, after in gaps]) for start, end in pairwise(apart))
        return PdfLine(self._said(numbers), round(size, 1), cells[0].style, self._height(numbers.start), cells)

    def _is_ruled(self, after: int, gap: float, y: float) -> bool:
        """Whether a drawn line stands in the gap before a character."""
        right = self._box(after)[0]
        return any(grid.cell_at(right - gap, y) != grid.cell_at(right, y) for grid in self._grids)

    def _cell(self, numbers: range, apart: Sequence[int]) -> PdfCell:
        """These characters; `apart` are those before which a space is missing."""
        inside = [number for number in apart if numbers.start < number < numbers.stop] if self._writes_spaces else []
        bounds = pairwise([numbers.start, *inside, numbers.stop])
        parts = tuple(self._cell(range(start, end), ()) for start, end in bounds) if inside else ()
        written = [number for number in numbers if self._chars[number].strip()] or numbers
        left, right = self._box(written[0])[0], self._box(written[-1])[1]
        first = written[0]
        y, size = self._height(first), round(self._size(first), 1)
        return PdfCell(left, right, self._said(numbers).strip(), self._style(first), parts, y, size)

    def _said(self, numbers: Sequence[int]) -> str:
        """What the characters say; halves of a character are put together."""
        said = "".join("-" if self._chars[number] in _HYPHENS else self._chars[number] for number in numbers)
        return composed(said.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def _gap(self, before: int, after: int) -> float:
        return self._box(after)[0] - self._box(before)[1]

    def _box(self, number: int) -> tuple[float, float]:
        left, right, low, high = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(self._text, number, left, right, low, high)
        return left.value, right.value

    def _height(self, number: int) -> float:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self._text, number, x, y)
        return round(y.value, 1)

    def _size(self, number: int) -> float:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._text, number, matrix)
        return float(pdfium.FPDFText_GetFontSize(self._text, number) * (abs(matrix.d) or abs(matrix.b) or 1.0))

    def _style(self, number: int) -> str:
        name = ctypes.create_string_buffer(_NAME_BYTES)
        pdfium.FPDFText_GetFontInfo(self._text, number, name, _NAME_BYTES, None)
        return style_of(name.value.decode("utf-8", "replace"))
