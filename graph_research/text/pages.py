"""Pages of a canonical text: how they are joined, and where each one starts and ends."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def page_separator(number: int) -> str:
    """What stands between page `number - 1` and page `number`."""
    return f"\n\n{_label(number)}\n\n"


def join_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """Canonical page texts, which hold no newline, as one stripped text, and where each page starts in it.

    A document without any text is the empty string, not a row of separators.
    """
    if not any(pages):
        return "", (0,) * len(pages)
    text = ""
    pieces: list[str] = []
    starts = []
    length = 0
    for number, page in enumerate(pages, start=1):
        for piece in ([page_separator(number)] if number > 1 else []) + [page]:
            pieces.append(piece)
            length += len(piece)
        starts.append(length - len(page))
    text = "".join(pieces)
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    return text, tuple(min(max(0, start - lead), len(text)) for start in starts)


def page_starts(text: str) -> tuple[int, ...]:
    """Where each page starts, found from the separators alone; empty for a text without any.

    For archives whose page table is lost. The table wins where there is one, since a first page may consist of words
    that look like a separator.
    """
    padded = f"\n\n{text}\n\n"
    starts = [0]
    while (found := padded.find(page_separator(len(starts) + 1), max(0, starts[-1]))) >= 0:
        starts.append(min(found + len(page_separator(len(starts) + 1)) - 2, len(text)))
    return tuple(starts) if len(starts) > 1 else ()


def page_end(text: str, pages: Sequence[int], number: int) -> int:
    """Where page `number` (1-based) ends, exclusive: before the separator that follows it."""
    start = pages[number - 1]
    if number < len(pages):
        is_empty = pages[number] - start <= len(_label(number + 1)) + 2
        if is_empty and text.startswith(_label(number + 1), start):
            return start
    newline = text.find("\n", start)
    return newline if newline >= 0 else len(text)


def page_of(pages: Sequence[int], offset: int) -> int:
    """The number of the page (1-based) at `offset`; a separator belongs to the page before it."""
    return max(1, bisect_right(pages, offset))


def _label(number: int) -> str:
    return f"---PAGE {number}---"
