"""Passages: a stretch of an archived text in paragraphs, with the quoted places marked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, NamedTuple

from graph_research.research.report.formatting import clean

CONTEXT_CHARS = 2_000
"""Characters shown on each side of a quote."""

_PAGE_BREAK = re.compile(r"\s*---PAGE (\d+)---\s*")
_BLANK_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Citation `n` quotes `text[start:end]`."""

    n: str
    start: int
    end: int


class Piece(NamedTuple):
    """A run of text; `numbers` are the citations that quote it, `begins` those whose quote begins here."""

    text: str
    numbers: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


class Paragraph(NamedTuple):
    """A block of the source; `kind` is the block's kind, or `page` for a page break, whose text is its number."""

    kind: str
    pieces: tuple[Piece, ...]


def context_of(text: str, mark: Mark) -> tuple[int, int]:
    """The stretch shown with a quote: `CONTEXT_CHARS` on either side, cut between words."""
    start = max(0, mark.start - CONTEXT_CHARS)
    end = min(len(text), mark.end + CONTEXT_CHARS)
    if start > 0:
        start = max(text.rfind(" ", 0, start) + 1, start - 40)
    if end < len(text):
        space = text.find(" ", end)
        end = space if 0 <= space < end + 40 else end
    return start, end


def paragraphs(
    text: str, layout: Mapping[str, Any], marks: Sequence[Mark], *, start: int = 0, end: int | None = None
) -> list[Paragraph]:
    """`text[start:end]` in the layout's blocks, or in paragraphs split at blank lines where it has none."""
    end = len(text) if end is None else end
    shown = []
    begun: set[str] = set()
    for kind, first, last in _spans(text, layout, start):
        if first >= end:
            break
        first, last = max(first, start), min(last, end)
        if first >= last or not text[first:last].strip():
            continue
        page = _PAGE_BREAK.fullmatch(text[first:last]) if kind == "between" else None
        pieces = (Piece(text=page[1]),) if page else tuple(_pieces(text, first, last, marks, begun))
        shown.append(Paragraph(kind="page" if page else kind, pieces=pieces))
    return shown


def _spans(text: str, layout: Mapping[str, Any], start: int) -> Iterator[tuple[str, int, int]]:
    """Every character once, from `start` on or from where its block begins: blocks, and what stands between them."""
    blocks = layout.get("blocks") or ()
    number = bisect_right(blocks, start, key=lambda block: block[2])
    at = max(0, min([start, *(first for _, first, *_ in blocks[number : number + 1])]))
    for kind, first, last, *_ in islice(blocks, number, None):
        if first < at or last > len(text):
            continue
        if at < first:
            yield from _between(text, at, first)
        yield str(kind), first, last
        at = last
    yield from _between(text, at, len(text))


def _between(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    at = start
    for gap in _BLANK_LINE.finditer(text, start, end):
        yield "between", at, gap.start()
        at = gap.start()
    yield "between", at, end


def _pieces(text: str, start: int, end: int, marks: Sequence[Mark], begun: set[str]) -> Iterator[Piece]:
    """Cut at every edge of a quote, so that overlapping quotes share their common stretch.

    `begun` holds the quotes shown before; one begins where its first shown character stands.
    """
    inside = [mark for mark in marks if mark.start < end and mark.end > start]
    if not inside:
        yield Piece(text=clean(text[start:end]))
        return
    edges = {start, end} | {edge for mark in inside for edge in (mark.start, mark.end) if start < edge < end}
    ordered = sorted(edges)
    for first, last in pairwise(ordered):
        numbers = tuple(mark.n for mark in inside if mark.start <= first and mark.end >= last)
        begins = tuple(n for n in numbers if n not in begun)
        begun.update(begins)
        yield Piece(text=clean(text[first:last]), numbers=numbers, begins=begins)
