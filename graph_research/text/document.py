"""A document: canonical text with its hash, and side tables of its blocks, its pages and its places in the file."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, dropwhile, groupby, pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple

MAX_TITLE_CHARS = 500
MAX_HEADING_CHARS = 150
"""Of each heading in a path, which every passage below it carries."""

_MAX_TERM_CHARS = 80
_GIVES_A_NUMBER = re.compile(r"(?:: |：).*\d")
_LEAST_ROWS = 2  # of a table with a second row of its header
_LABEL_AND_VALUE = 2  # columns: the header of the values may be empty

BlockKind = Literal["heading", "paragraph", "item", "quote", "table", "code", "boilerplate"]
PlaceKind = Literal["attachment", "cell", "chapter", "line", "notebook_cell", "paragraph", "row", "slide"]


WITHOUT_HEADER = 2
"""The level of the first row of a table that names no columns."""


class Block(NamedTuple):
    """A block of the source: `text[start:end]` of the canonical text. `level` is a heading's, 1 to 6; 1 for the
    first row of a table that the file says begins there, 2 where that row names no columns, and 1 for what a mail
    quotes of an earlier one; else 0."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0

    @property
    def is_earlier(self) -> bool:
        """Whether it stands in an earlier mail that this one quotes."""
        return self.kind == "quote" and self.level > 0

    @property
    def begins_without_header(self) -> bool:
        """Whether it is the first row of a table without names of columns."""
        return self.kind == "table" and self.level == WITHOUT_HEADER


class Places(NamedTuple):
    """Where stretches of the text stand in the file: from `starts[i]` on at `at[i]`, such as line 120 or cell B4.

    `within` names the part of the file that they are counted in, such as a sheet or an attachment; empty for a file
    without parts. Both tuples have one length, and `starts` ascends.
    """

    kind: PlaceKind
    within: str
    starts: tuple[int, ...]
    at: tuple[int | str, ...]


def announces(text: str) -> bool:
    """Whether a text ends with a colon: what follows belongs to it."""
    return text.endswith((":", "："))


@dataclass(frozen=True)
class Document:
    """Canonical text, the blocks it was made from in order, and where each page starts.

    Blocks do not overlap and are sorted by `start`. `pages` holds the offset of each page's first character,
    page 1 first; it is empty for a text without pages. A locator's offsets refer to `text`. A longer title than
    `MAX_TITLE_CHARS` is cut: it goes with every passage. `date` (ISO 8601), `authors`, `publisher`, `licence` and
    `language` (ISO 639, in lower case) are what the document says of itself, empty where it says nothing. `warnings`
    say what of the file is not in the text. `cells` are the table rows whose cells are known: where each cell starts,
    the end of the row last; an empty cell starts where the next one does.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    pages: tuple[int, ...] = ()
    title: str = ""
    date: str = ""
    cells: tuple[tuple[int, ...], ...] = ()
    code_lines: tuple[int, ...] = ()
    authors: tuple[str, ...] = ()
    publisher: str = ""
    licence: str = ""
    language: str = ""
    places: tuple[Places, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title[:MAX_TITLE_CHARS])

    def __hash__(self) -> int:
        """That of the text, which Python keeps: a large table has a hundred thousand blocks."""
        return hash(self.text)

    @cached_property
    def hash(self) -> str:
        """`sha256:` and the hex digest of the canonical text in UTF-8."""
        return text_hash(self.text)

    def layout(self) -> dict[str, Any]:
        """The side tables as JSON: `{title, blocks: [[kind, start, end, level]], pages}`, and of the other fields those
        that are not empty; the text is not in it."""
        layout: dict[str, Any] = {
            "title": self.title,
            "blocks": list(map(list, self.blocks)),
            "pages": list(self.pages),
        }
        places = [[table.kind, table.within, list(table.starts), list(table.at)] for table in self.places]
        more = {
            "date": self.date,
            "cells": list(map(list, self.cells)),
            "code_lines": list(self.code_lines),
            "authors": list(self.authors),
            "publisher": self.publisher,
            "licence": self.licence,
            "language": self.language,
            "places": places,
            "warnings": list(self.warnings),
        }
        return {**layout, **{name: value for name, value in more.items() if value}}

    @classmethod
    def from_layout(cls, text: str, layout: Mapping[str, Any]) -> Document:
        """The inverse of `layout()`."""
        return cls(
            text=text,
            blocks=tuple(map(Block._make, layout["blocks"])),
            pages=tuple(layout["pages"]),
            title=layout["title"],
            date=layout.get("date", ""),
            cells=tuple(map(tuple, layout.get("cells", ()))),
            code_lines=tuple(layout.get("code_lines", ())),
            authors=tuple(layout.get("authors", ())),
            publisher=layout.get("publisher", ""),
            licence=layout.get("licence", ""),
            language=layout.get("language", ""),
            places=places_of(layout),
            warnings=tuple(layout.get("warnings", ())),
        )

    @cached_property
    def rows(self) -> dict[int, tuple[str, ...]]:
        """The cells of each table row whose cells are known, by where the row starts."""
        return {cells[0]: tuple(self.text[start:end].strip() for start, end in pairwise(cells)) for cells in self.cells}

    def table_at(self, start: int) -> tuple[int, ...]:
        """Where the rows of a table start, its header first, of which one starts at `start`; empty where that is no
        row of a table whose cells are known, or of one without a header. Rows with more or fewer cells than the header
        are left out, and a second row of the header."""
        return self._tables[0].get(start, ())

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Of each table whose cells are known, where its rows start, its header first."""
        return tuple(table for start, table in self._tables[0].items() if start in table[:1])

    def header_at(self, start: int) -> tuple[str, ...]:
        """What the columns are called, in one row of names, of the table that `table_at` gives; empty where it gives
        none."""
        table = self.table_at(start)
        return self._tables[1][table[0]] if table else ()

    def names_columns(self, start: int) -> bool:
        """Whether the row that starts at `start` is the header of a table, or its second row."""
        return start in self.table_at(start)[:1] or start in self._tables[2]

    def columns_at(self, start: int) -> tuple[tuple[str, str], ...]:
        """The header and the text of each cell of the row that starts at `start`, empty where `table_at` has no such
        row, and for a header."""
        table = self.table_at(start)
        return tuple(zip(self.header_at(start), self.rows[start], strict=True)) if start in table[1:] else ()

    def around(self, start: int, end: int) -> str:
        """What is read with the stretch from `start` to `end`: the blocks that it stands in, the block before them
        where it announces them with a colon, of a table its first row and what stands above that, the headings above
        them, and the term that they explain."""
        first = bisect_left(self.blocks, start, key=lambda block: block.end - 1)
        last = bisect_left(self.blocks, end, key=lambda block: block.start)
        read = list(range(first, last))
        if read and self.blocks[first].kind == "table":
            first = self._first_rows[first]
            read += [first, first - 1] if first > 0 else [first]
        elif first > 0 and announces(self.text[self.blocks[first - 1].start : self.blocks[first - 1].end]):
            read.append(first - 1)
        said = [self.text[slice(*self.blocks[place][1:3])] for place in sorted(set(read))]
        return "\n".join([*self.path_at(start), *filter(None, [self.term_at(start)]), *said])

    def term_at(self, place: int) -> str:
        """The term whose explanation in a list of definitions a place stands in, empty elsewhere: the short item right
        above its paragraph, or above the paragraphs up to the next term."""
        return self._terms.get(bisect_left(self.blocks, place, key=lambda block: block.end - 1), "")

    def term_start(self, place: int) -> int | None:
        """Where the term begins whose explanation a place stands in; none elsewhere."""
        number = bisect_left(self.blocks, place, key=lambda block: block.end - 1)
        if number not in self._terms:
            return None
        while number in self._terms:
            number -= 1
        return self.blocks[number].start

    @cached_property
    def _first_rows(self) -> list[int]:
        """Of each block the number of the first row of its table; of what is no row its own."""
        first: list[int] = []
        for number, block in enumerate(self.blocks):
            goes_on = number > 0 and block.kind == self.blocks[number - 1].kind == "table" and not block.level
            first.append(first[-1] if goes_on else number)
        return first

    @cached_property
    def _terms(self) -> dict[int, str]:
        """By the number of a paragraph, the term that it explains."""
        terms: dict[int, str] = {}
        numbered = groupby(range(len(self.blocks)), key=lambda number: self.blocks[number].kind == "paragraph")
        for first, *further in (run for is_paragraph, run in numbered if is_paragraph):
            if self._is_term(first - 1) and not (first > 1 and self.blocks[first - 2].kind == "item"):
                term = self.text[self.blocks[first - 1].start : self.blocks[first - 1].end]
                up_to_next = further if self._is_term([first, *further][-1] + 1) else []
                terms |= dict.fromkeys([first, *up_to_next], term)
        return terms

    def _is_term(self, number: int) -> bool:
        """Whether a block is the term that the block after it explains."""
        pair = self.blocks[number : number + 2] if number >= 0 else ()
        return len(pair) == 2 and _defines(self.text, *pair)

    def path_at(self, place: int) -> tuple[str, ...]:
        """The headings above a place, the outermost first, each with at most `MAX_HEADING_CHARS` characters."""
        starts, paths = self._paths
        above = bisect_left(starts, place)
        return paths[above - 1] if above else ()

    @cached_property
    def bare_headings(self) -> frozenset[int]:
        """Where headings start that have no text below them: another of their rank or a higher one follows, or nothing.
        The first of the document is none where another follows, which says what it is about."""
        said = [block for block in self.blocks if block.kind != "boilerplate" or _says_something(self.text, block)]
        first = next((block for block in said if block.kind == "heading"), None)
        bare = {
            block.start
            for block, below in pairwise(said)
            if block.kind == below.kind == "heading" and below.level <= block.level and block != first
        }
        last = said[-1:] if said and said[-1].kind == "heading" else []
        return frozenset(bare | {block.start for block in last})

    @cached_property
    def _paths(self) -> tuple[list[int], list[tuple[str, ...]]]:
        """Where each heading starts, and it with those above it."""
        starts: list[int] = []
        paths: list[tuple[str, ...]] = []
        path: list[tuple[int, str]] = []
        for block in (block for block in self.blocks if block.kind == "heading"):
            path = [outer for outer in path if outer[0] < block.level]
            path.append((block.level, self.text[block.start : min(block.end, block.start + MAX_HEADING_CHARS)]))
            starts.append(block.start)
            paths.append(tuple(text for _, text in path))
        return starts, paths

    @cached_property
    def _tables(self) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[str, ...]], set[int]]:
        """The rows of the table of each row, what its columns are called by where its header starts, and where second
        rows of headers start."""
        tables: dict[int, tuple[int, ...]] = {}
        names: dict[int, tuple[str, ...]] = {}
        second: set[int] = set()
        begun = list(accumulate(block.kind != "table" or block.level > 0 for block in self.blocks))
        for _, numbered in groupby(zip(begun, self.blocks, strict=True), key=itemgetter(0)):
            of_table = [block for _, block in numbered if block.kind == "table"]
            if any(block.begins_without_header for block in of_table):
                continue
            starts = [block.start for block in of_table]
            named = list(dropwhile(lambda start: _is_caption(self.rows.get(start, ())), starts))
            width = len(self.rows.get(named[0], ())) if named else 0
            rows = tuple(row for row in named if width and len(self.rows.get(row, ())) == width)
            if rows:
                names[rows[0]] = self.rows[rows[0]]
            header, below, first = (self.rows[row] for row in rows[:3]) if len(rows) > _LEAST_ROWS else ((), (), ())
            below = tuple("" if said == name else said for name, said in zip(header, below, strict=True))
            if below and _is_second_header(header, below, first):
                names[rows[0]] = _joined(header, below)
                second.add(rows[1])
                rows = (rows[0], *rows[2:])
            tables |= dict.fromkeys((start for start in starts if start in self.rows), rows)
        return tables, names, second


def _says_something(text: str, block: Block) -> bool:
    return any(map(str.isalnum, text[block.start : block.end]))


def _is_second_header(header: Sequence[str], below: Sequence[str], first: Sequence[str]) -> bool:
    """Whether the row below a header divides its columns: it says nothing under the name of the first column, which the
    first row has a label in, and something where the header says nothing."""
    is_beside = bool(header[0] and first[0]) and not below[0]
    return is_beside and any(said and not name for name, said in zip(header, below, strict=True))


def _joined(header: Sequence[str], below: Sequence[str]) -> tuple[str, ...]:
    """The names of two rows of a header, of which one above may stand over several below."""
    over: list[str] = []
    for name in header:
        over.append(name or (over[-1] if over else ""))
    return tuple(f"{over[n]} {said}".strip() if said else header[n] for n, said in enumerate(below))


def _is_caption(row: Sequence[str]) -> bool:
    """Whether a first row does not name the columns: it says something in its first cell only, where it has others."""
    return len(row) not in (0, _LABEL_AND_VALUE) and not any(row[1:])


def _defines(text: str, term: Block, block: Block) -> bool:
    """Whether a short item without a full stop is the term that the paragraph after it explains, and no line that gives
    a date or number itself, such as `Date: 6 November 2023` at the head of a text."""
    written = text[term.start : term.end]
    is_short = len(written) <= _MAX_TERM_CHARS and written[-1:] not in ".!?。"
    return term.kind == "item" and block.kind == "paragraph" and is_short and not _GIVES_A_NUMBER.search(written)


def places_of(layout: Mapping[str, Any]) -> tuple[Places, ...]:
    """The table of places in a layout."""
    return tuple(
        Places(kind, within, tuple(starts), tuple(at)) for kind, within, starts, at in layout.get("places", ())
    )


def text_hash(text: str) -> str:
    """`sha256:` and the hex digest of `text` in UTF-8."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def source_id(url: str | None, text: str) -> str:
    """`src-` and 10 hex digits: of the URL, or of the text as well where the URL does not name one document by itself.

    A library document's URL is a path relative to the folder that was added, so two folders may each have a
    `README.md`; their texts tell them apart.
    """
    name = url if url and "://" in url else f"{url or ''}\n{text_hash(text)}"
    return "src-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
