"""Lines of a PDF become a document: paragraphs put together again, headings by their size, running headers marked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from graph_research.text.canonical import DocumentBuilder, canonical_text
from graph_research.text.document import Block, BlockKind, Document
from graph_research.text.pages import join_pages
from graph_research.text.readers.foreign.pdf.hyphenation import Vocabulary
from graph_research.text.readers.foreign.pdf.tables import PdfCell, table_rows

_PAGE_NUMBER = re.compile(
    r"(?:page|p\.)?\s*[-–—|]?\s*(?:\d{1,4}|[ivxl]{1,7})\s*[-–—|]?(?:\s*(?:of|/)\s*\d{1,4})?", re.I
)
_VALUE = re.compile(r"[-+−±~<>≤≥(]?[$€£¥]?\d[\d.,'’]*\d?\s?[%‰)*†]?|[-–—]|n/?a", re.I)
_CONTENTS = re.compile(r"(?:\.\s?){4,}\s*(?:\d{1,4}|[ivxl]{1,7})\s*$")
_BULLET = re.compile(r"\s*(?:[•‣◦▪●–*\uf000-\uf0ff-]|\(?(?:\d{1,2}|[a-z])\))\s+(?=\S)")
_BULLETS = re.compile(r"[•‣◦▪●\uf000-\uf0ff]")  # those of symbol fonts too
_WORD = re.compile(r"\w{2,}")
_NO_TITLES = frozenset(
    {"untitled", "unnamed", "no title", "title", "unbenannt", "ohne titel", "sans titre", "(unspecified)"}
)
"""What programs write as the title of a PDF that was given none."""
_TITLE_WITHIN = 5_000  # characters
_EDGE_LINES = 2
_LABEL_WORDS = 3  # before the only number of a table's row, where it has but one
_HEADING_CHARS = 150
_HEADING_SCALE = 1.12  # times the size of the body
_GAP_SCALE = 1.25  # times the usual distance of lines
_SAME_LINE_POINTS = 1.0


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line as it stands on the page: `size` and `y` (from below) in points, 0 where unknown; `style` is `bold`,
    `mono` or empty; `cells` its stretches without a wide gap, empty where unknown. Where lines are drawn around the
    cells of a table, `row` is a row of it: the lines of each cell; `cells` has the row as a whole."""

    text: str
    size: float = 0.0
    style: str = ""
    y: float = 0.0
    cells: tuple[PdfCell, ...] = ()
    row: tuple[tuple[str, ...], ...] = ()


_Block = tuple[BlockKind, list[PdfLine], list[list[str]]]
"""The kind and the lines of a block, and the cells of a table's row where they are known."""


def pdf_document(pages: Sequence[Sequence[PdfLine]], title: str = "", fields: Sequence[Sequence[str]] = ()) -> Document:
    """The pages as one document: whitespace collapsed inside a page, separators kept, the filled `fields` of a page's
    form behind its text.

    A word divided at a line's end is joined only where the document itself shows how it is written. Running headers,
    footers, page numbers and tables of contents stay in the text and are marked as boilerplate.
    """
    reader = _Reader(pages)
    filled = [*fields, *[()] * (len(pages) - len(fields))]
    documents = [reader.page(number, lines, filled[number]) for number, lines in enumerate(pages)]
    text, starts = join_pages([document.text for document in documents])
    blocks = [
        block._replace(start=block.start + start, end=block.end + start)
        for document, start in zip(documents, starts, strict=True)
        for block in document.blocks
    ]
    cells = [
        tuple(place + start for place in row)
        for document, start in zip(documents, starts, strict=True)
        for row in document.cells
    ]
    named, heading = canonical_text(title), _heading(text, blocks)
    is_another = len(_WORD.findall(heading)) > 1 and not _is_said(named, text[:_TITLE_WITHIN])
    own = "" if named.casefold() in _NO_TITLES else named
    chosen = heading if is_another else own or heading
    return Document(text=text, blocks=tuple(blocks), pages=starts, title=chosen, cells=tuple(cells))


def _is_said(title: str, text: str) -> bool:
    """Whether half of the words of a title are in the text. Programs name a PDF "untitled" or after its file."""
    words = _WORD.findall(title.casefold())
    return 0 < len(words) <= 2 * len(set(_WORD.findall(text.casefold())).intersection(words))


def _heading(text: str, blocks: Sequence[Block]) -> str:
    headings = [(block.level, block.start, block.end) for block in blocks if block.kind == "heading"]
    if not headings:
        return ""
    _, start, end = min(headings)
    return text[start:end]


class _Reader:
    """What the whole document tells about each line: the body's size, the headings' sizes, the repeated lines."""

    def __init__(self, pages: Sequence[Sequence[PdfLine]]) -> None:
        lines = [line for page in pages for line in page]
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[line.size] += len(line.text)
        self._body = max(sizes, key=lambda size: (sizes[size], -size), default=0.0)
        bigger = {line.size for line in lines if line.size >= self._body * _HEADING_SCALE}
        self._levels = {size: min(level, 5) for level, size in enumerate(sorted(bigger, reverse=True), start=1)}
        self._offset = _number_offset(pages)
        self._repeated = _repeated(pages, self._offset)
        self._gap = _usual_gap(pages)
        self._words = Vocabulary(line.text for line in lines)

    def page(self, number: int, lines: Sequence[PdfLine], fields: Sequence[str]) -> Document:
        builder = DocumentBuilder()
        outermost = _edges(lines, 1)
        running = frozenset(
            line for line in _edges(lines) if self._is_running(line, number, is_outermost=line in outermost)
        )
        for kind, group, cells in self._blocks(lines, running):
            if cells:
                builder.add_row([self._words.join(cell) for cell in cells])
                continue
            text = self._words.join([line.text for line in group])
            marker = _BULLET.match(text)
            if kind == "item" and marker:
                builder.add_lines([(None, marker[0], 0), ("item", text[marker.end() :], 0)])
            else:
                builder.add(kind, text, level=self._level(group[0]) if kind == "heading" else 0)
        for field in fields:
            builder.add("item", field)
        return builder.document()

    def _blocks(self, lines: Sequence[PdfLine], running: frozenset[PdfLine]) -> list[_Block]:
        rows = _rows(lines)
        tables = _tables(rows, running, self._gap)
        tabular = _tabular(rows)
        blocks: list[_Block] = []
        for number, row in enumerate(rows):
            if row[0].row:
                blocks.append(("table", list(row), [list(cell) for cell in row[0].row]))
                continue
            if number in tables:
                if tables[number]:
                    blocks.append(("table", list(row), tables[number]))
                continue
            kind = self._kind(row, running)
            if number in tabular and kind in ("heading", "paragraph"):
                kind = "table"
            if blocks and self._belongs(blocks[-1], kind, row):
                blocks[-1][1].extend(row)
            else:
                blocks.append((kind, list(row), []))
        return [(_checked(kind, group), group, cells) for kind, group, cells in blocks]

    def _kind(self, row: Sequence[PdfLine], running: frozenset[PdfLine]) -> BlockKind:
        line = row[0]
        if line in running:
            return "boilerplate"
        if len(row) > 1 and not _is_one_line(row):
            return "table"
        if _CONTENTS.search(line.text):
            return "boilerplate"
        if _BULLET.match(line.text):
            return "item"
        if line.style == "mono":
            return "code"
        bold_alone = line.style == "bold" and line.size >= self._body and len(line.text) < _HEADING_CHARS / 2
        if line.size in self._levels or (bold_alone and not line.text.rstrip().endswith((".", ",", ";"))):
            return "heading"
        return "paragraph"

    def _is_running(self, line: PdfLine, number: int, *, is_outermost: bool) -> bool:
        """Whether a line is a page number, has one or comes back; one as large as a heading has to be all of it."""
        if _PAGE_NUMBER.fullmatch(line.text.strip()):
            return True
        numbered = self._offset is not None and number + self._offset in _outer_numbers(line.text)
        repeated = _shape(line.text, number, self._offset) in self._repeated
        if line.size in self._levels:
            return is_outermost and numbered and repeated
        return numbered or repeated

    def _belongs(self, block: _Block, kind: BlockKind, row: Sequence[PdfLine]) -> bool:
        if block[0] == "item" and kind == "paragraph":
            return self._is_below(block[1][-1], row[0])
        return block[0] == kind and self._goes_on(block[1], row, kind)

    def _goes_on(self, group: Sequence[PdfLine], row: Sequence[PdfLine], kind: BlockKind) -> bool:
        before, line = group[-1], row[0]
        if kind in ("table", "item", "boilerplate"):
            return False
        if kind == "heading":
            return abs(before.size - line.size) < 0.2 and 0 <= before.y - line.y <= 1.7 * max(line.size, 1.0)
        return self._is_next(before, line)

    def _is_next(self, before: PdfLine, line: PdfLine) -> bool:
        """The line below, at the usual distance; where no places are known, a line that the one before runs into."""
        if not before.y or not line.y:
            return not before.text.rstrip().endswith((".", "!", "?", ":"))
        return self._is_below(before, line) and abs(before.size - line.size) < max(1.0, line.size / 5)

    def _is_below(self, before: PdfLine, line: PdfLine) -> bool:
        return 0 < before.y - line.y <= self._gap * _GAP_SCALE

    def _level(self, line: PdfLine) -> int:
        return self._levels.get(line.size, min(6, len(self._levels) + 1))


def _checked(kind: BlockKind, group: Sequence[PdfLine]) -> BlockKind:
    """A heading of many words is a paragraph set large."""
    too_long = kind == "heading" and sum(len(line.text) for line in group) > _HEADING_CHARS
    return "paragraph" if too_long else kind


def _rows(lines: Sequence[PdfLine]) -> list[list[PdfLine]]:
    """Lines at the same height are the cells of a table's row."""
    rows: list[list[PdfLine]] = []
    for line in lines:
        before = rows[-1][-1] if rows else line
        if rows and line.y and not (before.row or line.row) and abs(before.y - line.y) < _SAME_LINE_POINTS:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _is_one_line(row: Sequence[PdfLine]) -> bool:
    """Whether lines at the same height go on each other, as where a raised mark parts them."""
    return all(
        before.cells and after.cells and after.cells[0].left - before.cells[-1].right < max(before.size, after.size)
        for before, after in pairwise(row)
    )


def _tables(rows: Sequence[Sequence[PdfLine]], running: frozenset[PdfLine], gap: float) -> dict[int, list[list[str]]]:
    """The cells of the rows of tables, by the number of the row (`table_rows`)."""
    heights = [row[0].y for row in rows]
    close = [0 < before - height <= gap * _GAP_SCALE for before, height in pairwise([0.0, *heights])]
    return table_rows([() if running.issuperset(row) else _cells_of(row) for row in rows], close)


def _cells_of(row: Sequence[PdfLine]) -> list[PdfCell]:
    """The cells of a row, empty for a line of code, a contents entry, an item of a list and a row with drawn lines."""
    cells = sorted(cell for line in row for cell in line.cells if not line.row)
    text = " ".join(cell.text for cell in cells)
    is_code = all(cell.style == "mono" for cell in cells)
    return [] if is_code or _CONTENTS.search(text) or _BULLETS.fullmatch(cells[0].text) else cells


def has_table(pages: Sequence[Sequence[PdfLine]]) -> bool:
    """Whether the cells of some page stand in a table."""
    return any(
        any(line.row for line in lines) or _tables(_rows(lines), frozenset(), _usual_gap([lines])) for lines in pages
    )


def _tabular(rows: Sequence[Sequence[PdfLine]]) -> frozenset[int]:
    """The numbers of lines that are rows of a table although their cells came as a single line: neighbours that all end
    in numbers, most of them in several."""
    found: set[int] = set()
    group: list[int] = []
    counts = [*(_last_numbers(row[0].text) if len(row) == 1 and not row[0].row else 0 for row in rows), 0]
    for number, count in enumerate(counts):
        if count:
            group.append(number)
            continue
        while group and _is_prose(rows[group[-1]][0].text, counts[group[-1]]):
            group.pop()
        while group and _is_prose(rows[group[0]][0].text, counts[group[0]]):
            group.pop(0)
        if len(group) > 1 and sum(counts[member] > 1 for member in group) * 2 > len(group):
            found.update(group)
        group = []
    return frozenset(found)


def _is_prose(text: str, numbers: int) -> bool:
    """A line of words that happens to end in a number."""
    return numbers == 1 and len(text.split()) > _LABEL_WORDS + 1


def _last_numbers(text: str) -> int:
    words = text.split()
    return next((count for count, word in enumerate(reversed(words)) if not _VALUE.fullmatch(word)), len(words))


def style_of(font: str) -> str:
    """`mono`, `bold` or empty, by the name of a font."""
    name = font.lower()
    if any(part in name for part in ("mono", "courier", "typewriter", "consol", "cmtt", "code")):
        return "mono"
    return "bold" if any(part in name for part in ("bold", "black", "heavy", "cmbx")) else ""


def _usual_gap(pages: Sequence[Sequence[PdfLine]]) -> float:
    texts = [[line for line in page if not line.row] for page in pages]
    gaps = [before.y - line.y for page in texts for before, line in pairwise(page) if 2 < before.y - line.y < 60]
    return median(gaps) if gaps else 12.0


def _edges(lines: Sequence[PdfLine], count: int = _EDGE_LINES) -> frozenset[PdfLine]:
    """The lines at the top and the bottom of a page; by their order where their places are unknown."""
    by_height = sorted(lines, key=lambda line: -line.y) if any(line.y for line in lines) else list(lines)
    return frozenset([*by_height[:count], *by_height[-count:]])


def _repeated(pages: Sequence[Sequence[PdfLine]], offset: int | None) -> frozenset[str]:
    """Shapes of edge lines that come back on a third of the pages, at least twice, or thrice in a long document. Of a
    page of few lines, such as a slide or a form, the outermost one alone may be a running head."""
    shapes: Counter[str] = Counter()
    for index, lines in enumerate(pages):
        edges = _edges(lines, _EDGE_LINES if len(lines) > 2 * _EDGE_LINES else 1)
        shapes.update({_shape(line.text, index, offset) for line in edges})
    least = min(3, max(2, math.ceil(len(pages) / 3)))
    return frozenset(shape for shape, count in shapes.items() if count >= least)


def _number_offset(pages: Sequence[Sequence[PdfLine]]) -> int | None:
    """What to add to a page's index for the number printed at its edge; None where most pages print none."""
    offsets: Counter[int] = Counter()
    for index, lines in enumerate(pages):
        offsets.update({number - index for line in _edges(lines) for number in _numbers(line.text.split())})
    [(offset, count)] = offsets.most_common(1) or [(0, 0)]
    return offset if count >= max(3, len(pages) / 2) else None


def _outer_numbers(text: str) -> set[int]:
    words = text.split()
    return _numbers(words[:1] + words[-1:])


def _numbers(words: Sequence[str]) -> set[int]:
    return {int(word) for word in words if word.isascii() and word.isdigit() and len(word) <= 4}


def _shape(text: str, index: int, offset: int | None) -> str:
    """The text with a sign for the number of its page; other numbers tell lines apart."""
    shape = canonical_text(text).casefold()
    return shape if offset is None else re.sub(rf"(?<!\d){index + offset}(?!\d)", "#", shape)
