"""Locators: where a quote stands in a canonical text, as `char:1500-1800` or `page:3:char:200-450`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_research.text.document import Document
from graph_research.text.errors import LocatorInvalid
from graph_research.text.pages import page_end, page_of, page_starts

_LOCATOR = re.compile(r"(?:page:([1-9][0-9]{0,5}):)?char:(0|[1-9][0-9]{0,11})-([1-9][0-9]{0,11})")


def parse_locator(locator: str) -> tuple[int | None, int, int]:
    """`(page, start, end)`: page is 1-based or None; offsets are 0-based, end exclusive, counted within a named page.

    Raises `LocatorInvalid` for anything else, an empty or reversed range included.
    """
    match = _LOCATOR.fullmatch(locator)
    if match is None:
        raise LocatorInvalid(
            f"{locator[:80]!r} is not a locator", help="write char:START-END or page:N:char:START-END with plain digits"
        )
    start, end = int(match[2]), int(match[3])
    if start >= end:
        raise LocatorInvalid(f"{locator!r} is empty", help="END is exclusive and must be greater than START")
    return (int(match[1]) if match[1] else None, start, end)


def format_locator(start: int, end: int, page: int | None = None) -> str:
    """The inverse of `parse_locator`."""
    place = f"char:{start}-{end}"
    return place if page is None else f"page:{page}:{place}"


def make_locator(document: Document, start: int, end: int) -> str:
    """The locator of `document.text[start:end]`: within its page where it lies on one, else in the whole text."""
    if document.pages:
        page = page_of(document.pages, start)
        if end <= page_end(document.text, document.pages, page):
            offset = document.pages[page - 1]
            return format_locator(start - offset, end - offset, page)
    return format_locator(start, end)


def resolve(text: str, locator: str, pages: Sequence[int] | None = None) -> tuple[int, int]:
    """`(start, end)` in `text`, so that the quote is `text[start:end]`.

    `pages` is the stored page table; without one the pages are found from the separators in the text. Raises
    `LocatorInvalid` where the locator leads out of the text or of its page.
    """
    page, start, end = parse_locator(locator)
    if page is None:
        if end > len(text):
            raise LocatorInvalid(f"{locator!r} leads out of a text of {len(text)} characters")
        return start, end
    table = pages or page_starts(text) or (0,)
    if page > len(table):
        raise LocatorInvalid(f"{locator!r} names a page that a text of {len(table)} pages does not have")
    offset = table[page - 1]
    if offset + end > page_end(text, table, page):
        raise LocatorInvalid(f"{locator!r} leads out of page {page}")
    return offset + start, offset + end
