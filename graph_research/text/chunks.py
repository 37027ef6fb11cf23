"""Chunks: a document cut into pieces of about 400 characters for finding evidence."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from graph_research.text.document import Document
from graph_research.text.pages import page_end, page_of

TARGET_CHARS = 400
MAX_CHARS = 500
MIN_CHARS = 50

_MOST_KEPT = 64  # documents: evidence is looked for in the same ones again and again
_CLOSING = "\"'”’)]"
_CLAUSE_SIGNS = ",;:"
_SPACE = re.compile(r"\s")


class Chunk(NamedTuple):
    """`document.text[start:end]`, without white space around it; `page` is 1-based, None in a text without pages."""

    start: int
    end: int
    page: int | None = None


@lru_cache(maxsize=_MOST_KEPT)
def chunks(document: Document) -> tuple[Chunk, ...]:
    """The document's text in order, without gaps but for white space, page separators and boilerplate blocks.

    A piece ends at the end of a block, of a sentence, of a clause or of a word, in this order of preference, at the
    first such place from 400 to 500 characters on; else at 500. No piece goes across a page or over boilerplate. A
    rest of less than 50 characters goes to the piece before it if that stays within 500, else the two are divided anew.
    """
    breaks = [block.end for block in document.blocks]
    found: list[Chunk] = []
    for start, end in _stretches(document):
        page = page_of(document.pages, start) if document.pages else None
        found.extend(Chunk(*span, page) for span in _Cutter(document.text, breaks, end).cut(start))
    return tuple(found)


def _stretches(document: Document) -> Iterator[tuple[int, int]]:
    """What lies between boilerplate blocks and page separators."""
    text, pages = document.text, document.pages
    whole = [(pages[n - 1], page_end(text, pages, n)) for n in range(1, len(pages) + 1)] or [(0, len(text))]
    skipped = [block for block in document.blocks if block.kind == "boilerplate"]
    for start, end in whole:
        position = start
        for block in skipped:
            if start <= block.start < end:
                yield position, block.start
                position = block.end
        yield position, end


class _Cutter:
    """Cuts one stretch of a text."""

    def __init__(self, text: str, breaks: Sequence[int], end: int) -> None:
        self._text = text
        self._breaks = breaks
        self._end = _before(text, end)

    def cut(self, start: int) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        start = self._after(start)
        while start < self._end:
            end = self._piece_end(start)
            spans.append((start, _before(self._text, end)))
            start = self._after(end)
        return self._without_short_rest(spans)

    def _without_short_rest(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        if len(spans) < 2 or spans[-1][1] - spans[-1][0] >= MIN_CHARS:
            return spans
        start, end = spans[-2][0], spans[-1][1]  # more than a piece holds, since what fits is one
        middle = self._boundary((start + end) // 2, start + MAX_CHARS - MIN_CHARS)
        return [*spans[:-2], (start, _before(self._text, middle)), (self._after(middle), end)]

    def _piece_end(self, start: int) -> int:
        if self._end - start <= MAX_CHARS:
            return self._end
        return self._boundary(start + TARGET_CHARS, start + MAX_CHARS)

    def _boundary(self, low: int, high: int) -> int:
        """The best place from `low` to `high`, the first of its kind; `high` where there is none."""
        index = bisect_left(self._breaks, low)
        if index < len(self._breaks) and self._breaks[index] <= high:
            return self._breaks[index]
        spaces = [space.start() for space in _SPACE.finditer(self._text, low, min(high + 1, self._end))]
        for is_boundary in (self._ends_sentence, self._ends_clause):
            for position in spaces:
                if is_boundary(position):
                    return position
        return spaces[0] if spaces else high

    def _ends_sentence(self, position: int) -> bool:
        """Of the end of a word: `. `, `! ` or `? `, with closing quotes or brackets, before a capital letter."""
        if not self._text[max(0, position - 3) : position].rstrip(_CLOSING).endswith((".", "!", "?")):
            return False
        return self._text[self._after(position)].isupper()

    def _ends_clause(self, position: int) -> bool:
        """Of the end of a word."""
        return self._text[position - 1] in _CLAUSE_SIGNS

    def _after(self, position: int) -> int:
        while position < self._end and self._text[position].isspace():
            position += 1
        return position


def _before(text: str, position: int) -> int:
    while position > 0 and text[position - 1].isspace():
        position -= 1
    return position
