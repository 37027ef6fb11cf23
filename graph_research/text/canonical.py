"""Canonical text: the one form of a document's words that is hashed, archived and pointed into."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from graph_research.text.document import (
    MAX_HEADING_CHARS,
    WITHOUT_HEADER,
    Block,
    BlockKind,
    Document,
    PlaceKind,
    Places,
)
from graph_research.text.errors import DocumentUnreadable

MAX_BLOCKS = 250_000
"""A document of more takes more memory than it is worth; a long novel has 10,000."""

# Control characters and soft hyphens, which no reader sees, and halves of surrogate pairs, which UTF-8 cannot carry.
_ODD = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\xad\ud800-\udfff]")
_SOFT_HYPHEN = "\xad"


def canonical_text(text: str) -> str:
    """`text` in NFC, whitespace and control characters as single spaces, without soft hyphens, stripped; idempotent.

    No markup is decoded or removed here: that happens once, where HTML becomes text nodes.
    """
    text = _ODD.sub(_seen, text)
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())


def _seen(odd: re.Match[str]) -> str:
    return "\ufffd" if odd[0] >= "\ud800" else "" if odd[0] == _SOFT_HYPHEN else " "


def _label(text: str) -> str:
    return text if len(text) <= MAX_HEADING_CHARS else ""


class DocumentBuilder:
    """Collects blocks in reading order into a `Document` whose text has one space between them and no newline.

    Raises `DocumentUnreadable` at more than `MAX_BLOCKS`.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._cells: list[tuple[int, ...]] = []
        self._code_lines: list[int] = []
        self._begins_table = 0
        self._above: list[str] = []  # the cells of the row above
        self._next_place: tuple[PlaceKind, str, int | str] | None = None
        self._places: list[tuple[PlaceKind, str, list[int], list[int | str]]] = []

    def place(self, kind: PlaceKind, at: int | str, within: str = "") -> None:
        """What is added from now on stands there in the file."""
        self._next_place = (kind, canonical_text(within), at)

    def begin_table(self, *, header: bool = True) -> None:
        """The next row is the first of another table than the row before it, and names its columns unless the table has
        no `header`."""
        self._begins_table = 1 if header else WITHOUT_HEADER
        self._above.clear()

    def add_row(self, cells: Sequence[str | None], places: Sequence[str] = (), within: str = "") -> None:
        """Append a table's row as one block that knows its cells; with `places` each cell stands at its own in the
        sheet `within`. For a cell of None, which the one above it stands in too, the text of that is written again, so
        that the row says what it is about; a text longer than `MAX_HEADING_CHARS` is not."""
        above = [*self._above, *[""] * len(cells)]
        texts = [
            _label(label) if cell is None else canonical_text(cell) for cell, label in zip(cells, above, strict=False)
        ]
        self._above[: len(texts)] = texts
        before = self._length
        self.add("table", " ".join(filter(None, texts)), level=self._begins_table)
        if self._length == before:
            return
        self._begins_table = 0
        starts = [self._blocks[-1].start]
        for text in texts:
            starts.append(min(starts[-1] + len(text) + (1 if text else 0), self._length))
        self._cells.append(tuple(starts))
        for place, text, start in zip(places, texts, starts, strict=False):
            if text:
                self._put_place("cell", canonical_text(within), start, place)

    def add_placed_lines(self, kind: BlockKind, lines: Sequence[tuple[int, str]], *, level: int = 0) -> None:
        """Append lines with their numbers as one block."""
        before = len(self._blocks)
        for number, line in lines:
            self.place("line", number)
            self.add(kind, line)
        if len(self._blocks) > before:
            self._blocks[before:] = [Block(kind, self._blocks[before].start, self._blocks[-1].end, level)]

    def add_document(self, document: Document, within: str = "") -> None:
        """Append a document's text, blocks and places, the latter in the part `within`. Its pages are not kept: where
        there are some, the blocks alone are appended."""
        if document.pages:
            for block in document.blocks:
                self.add(block.kind, document.text[block.start : block.end], level=block.level)
            return
        if not document.text:
            return
        count = len(self._blocks)
        self.add("paragraph", document.text)
        shift = self._length - len(document.text)
        self._blocks[count:] = [
            block._replace(start=block.start + shift, end=block.end + shift) for block in document.blocks
        ]
        self._cells += [tuple(start + shift for start in cells) for cells in document.cells]
        self._code_lines += [start + shift for start in document.code_lines]
        for table in document.places:
            name = ", ".join(part for part in (canonical_text(within), table.within) if part)
            for start, at in zip(table.starts, table.at, strict=True):
                self._put_place(table.kind, name, start + shift, at)

    def _put_place(self, kind: PlaceKind, within: str, start: int, at: int | str) -> None:
        if not self._places or self._places[-1][:2] != (kind, within):
            self._places.append((kind, within, [], []))
        self._places[-1][2].append(start)
        self._places[-1][3].append(at)

    def add(self, kind: BlockKind, text: str, *, level: int = 0) -> None:
        """Append one block; text without a visible character is left out."""
        self.add_lines([(kind, text, level)])

    def add_lines(self, parts: list[tuple[BlockKind | None, str, int]]) -> None:
        """Append parts `(kind, text, level)`; a part of kind None stays in the text but belongs to no block."""
        for kind, raw, level in parts:
            text = canonical_text(raw)
            if not text:
                continue
            start = self._length + 1 if self._texts else 0
            self._texts.append(text)
            self._length = start + len(text)
            if self._next_place is not None:
                place_kind, within, at = self._next_place
                self._next_place = None
                self._put_place(place_kind, within, start, at)
            if kind is not None:
                self._blocks.append(Block(kind, start, self._length, level))
            if kind == "code":
                lines = filter(None, map(canonical_text, raw.splitlines()))
                self._code_lines += accumulate((len(line) + 1 for line in lines), initial=start)
                self._code_lines.pop()
        if len(self._blocks) > MAX_BLOCKS:
            raise DocumentUnreadable(f"it has more than {MAX_BLOCKS:,} paragraphs and items")

    def first_heading(self) -> str:
        """The text of the first heading of the highest rank there is, or an empty string."""
        headings = [(block.level, block.start, block.end) for block in self._blocks if block.kind == "heading"]
        if not headings:
            return ""
        _, start, end = min(headings)
        return self.text()[start:end]

    def text(self) -> str:
        """What was added so far, as canonical text."""
        return " ".join(self._texts)

    def document(self, title: str = "") -> Document:
        """The finished document; without a `title` it takes its first heading's."""
        return Document(
            text=self.text(),
            blocks=tuple(self._blocks),
            title=canonical_text(title) or self.first_heading(),
            cells=tuple(self._cells),
            code_lines=tuple(self._code_lines),
            places=tuple(Places(kind, within, tuple(starts), tuple(at)) for kind, within, starts, at in self._places),
        )
