"""What a report is made of: headings, paragraphs, lists, tables, code and the passages that numbers lead to.

`layout.py` makes a report of these; every format but the page lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from unicodedata import east_asian_width

from graph_research.research.report.formatting import one_line

_LONG_TITLE_CHARS = 120
LINE_CHARS, CELL_MARGINS = 90, 4
"""Characters of a printed line in the type of a table, and those for which the margins of a cell take the room."""


class Style(StrEnum):
    """How a stretch of text is set; `NUMBER` is the number of a source, such as `[3]`."""

    PLAIN = "plain"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    CODE = "code"
    STRONG_CODE = "strong code"
    NUMBER = "number"


@dataclass(frozen=True)
class Span:
    """A stretch of text on one line, a link where `url` is set; or, where `citation` is set, the number `text` that
    leads to that passage. `is_further` marks a passage after the first behind the same number. `leads_to` is the place
    of the heading that the text leads to among all headings, from 0; formats without such links show the text."""

    text: str
    style: Style = Style.PLAIN
    citation: str = ""
    url: str = ""
    is_further: bool = False
    leads_to: int | None = None


Spans = tuple[Span, ...]
Column = Sequence[Spans]

SPACE = Span(" ")
LINE_BREAK = Span("\n")


@dataclass(frozen=True)
class Heading:
    """`level` 0 is the report's title."""

    text: str
    level: int

    @property
    def is_long(self) -> bool:
        """Whether it is a title that would fill much of a page in a large type."""
        return self.level == 0 and len(self.text) > _LONG_TITLE_CHARS


@dataclass(frozen=True)
class Paragraph:
    """Running text; `is_quoted` sets it in as a quotation."""

    spans: Spans
    is_quoted: bool = False


@dataclass(frozen=True)
class Item:
    """One item of a list; `level` is how many items it stands below."""

    spans: Spans
    level: int = 0


@dataclass(frozen=True)
class Items:
    """A list, numbered where `ordered`."""

    items: tuple[Item, ...]
    ordered: bool = False

    def marked(self) -> Iterator[tuple[str, Item]]:
        """Each item with what stands before it in a plain text: `-` or `3.`."""
        return ((f"{n}." if self.ordered else "-", item) for n, item in enumerate(self.items, 1))


@dataclass(frozen=True)
class Table:
    """Every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[Spans, ...], ...]
    caption: str = ""

    def columns(self) -> list[Column]:
        """The cells of each column, the first of the header."""
        return list(zip([(Span(head, Style.STRONG),) for head in self.header], *self.rows, strict=True))


@dataclass(frozen=True)
class Code:
    """Lines to copy, with the marks that stand below them."""

    text: str
    language: str
    marks: Spans
    caption: str = ""


@dataclass(frozen=True)
class Passage:
    """The passage of a citation, to which its number leads: the quote in its marks, and where in the source it stands,
    with the comma before that."""

    citation: str
    number: int
    quote: str
    source: str
    where: str


Element = Heading | Paragraph | Items | Table | Code | Passage


def line(text: str, style: Style = Style.PLAIN) -> Spans:
    """The text on one line, as it stands."""
    return (Span(one_line(text), style),)


def bullets(lines: Iterable[str]) -> Items:
    """A list of texts."""
    return Items(tuple(Item(line(text)) for text in lines))


def joined(parts: Iterable[Spans], between: Span = SPACE) -> Spans:
    """The parts that are not empty, one after the other."""
    spans: list[Span] = []
    for part in parts:
        spans += [*([between] if spans and part else []), *part]
    return tuple(spans)


def emphasised(spans: Iterable[Span]) -> Iterator[tuple[Style, Spans]]:
    """The spans one by one, each with its style, but for what is in bold with code in it, which is one:
    **keep `fsync` on** with `fsync` as code."""
    for is_strong, run in groupby(spans, key=lambda span: span.style in (Style.STRONG, Style.STRONG_CODE)):
        held = tuple(run)
        if is_strong and len(held) > 1 and any(span.style is Style.STRONG for span in held):
            yield Style.STRONG, held
        else:
            yield from ((span.style, (span,)) for span in held)


def is_code(span: Span) -> bool:
    return span.style in (Style.CODE, Style.STRONG_CODE)


def least_width(column: Column) -> int:
    """The characters that a printed column needs, so that no word of it is cut. A line may end behind every Chinese or
    Japanese character, which is as wide as two others."""
    texts = ("".join("  " if _is_wide(character) else character for character in text_of(cell)) for cell in column)
    return max((len(word) for text in texts for word in text.split()), default=0) + CELL_MARGINS


def width_of(text: str) -> int:
    """In characters of which one of Chinese or Japanese is two."""
    return sum(2 if _is_wide(character) else 1 for character in text)


def text_of(spans: Iterable[Span]) -> str:
    """The text alone."""
    return "".join(span.text for span in spans)


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF"
