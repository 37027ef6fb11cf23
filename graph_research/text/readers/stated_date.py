"""The date that a document gives itself: "Stand: März 2025", "This page was last modified on 2022-06-15", or a day
alone below its heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from graph_research.text.deferred_patterns import deferred
from graph_research.text.document import Document
from graph_research.text.language.dates import dates_in, iso_from_parts
from graph_research.text.language.tables import any_of
from graph_research.text.language.versions import is_version_label

_BEGINNING = r"(?<![^\W_])"
_LAST_CHANGED = deferred(
    rf"{_BEGINNING}(?:{any_of('last_changed')})[^\w\d]{{0,4}}"
    r"(?:(?:on|at|am|le|el|il|al|op|de|em|a|den)\b[^\w\d]{0,3})?(?=.{0,12}\d)"
)
_AS_OF = deferred(
    rf"{_BEGINNING}(?:{any_of('as_of')})\s*([:：]?)\s*(?:(?:on|am|le|il|al|el|op|em|a)\s)?(?=\w)", re.IGNORECASE
)
_DATED = deferred(rf"\W*(?:{any_of('dated')})\s*[:：]?\s*(?=\w)", re.IGNORECASE)
_BEFORE_OWN_DAY = re.compile(r"[^\w\s]\s*$")
_MONTH = re.compile(r"(0?[1-9]|1[0-2])\s?[/.]\s?((?:19|20)\d\d)(?!\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_END = re.compile(r"(?:\s?r\.)?[^\w.!?。]*")  # Polish has "r." for the word year behind a date
_LETTERS = re.compile(r"\w")
_SHARE_CHARS = 1_500
_AFTER_CHARS = 60
_BEFORE_YEAR_CHARS = 120
_LINE_CHARS = 80
_DAY_CHARS = len("2024-05-03")
_VERSION = re.compile(r"\d\.\d")


def stated_date(document: Document) -> str:
    """The date of which a document says near its beginning or its end that it is its own, as ISO 8601; empty without
    one.

    That the document was changed then may stand in a sentence; "as of" ends a short block of its own, since a sentence
    tells with it of what date a number is. Where neither is said, a line near the beginning counts that gives a date
    and nothing else ("Published: 3 May 2024"), then the one block there that is a version and its date ("Version 2, 4
    May 2024"), then a day that is the whole block below a heading, then one behind a sign at the end of the title ("The
    Courier, 3 May 2024"). A day below a heading with a version, as in notes on a release, counts before all of these.
    """
    text = document.text
    days = list(_below_headings(document))
    if released := next((day for heading, day in days if _VERSION.search(heading)), ""):
        return released
    for part in dict.fromkeys((text[-_SHARE_CHARS:].lower(), text[:_SHARE_CHARS].lower())):
        for match in _changes(part):
            date = next(dates_in(part[match.end() : match.end() + _AFTER_CHARS]), None)
            if date is not None and date.year and date.month:
                return iso_from_parts(date.year, date.month, date.day or None) or ""
    near = [block for block in document.blocks if block.start < _SHARE_CHARS or block.end > len(text) - _SHARE_CHARS]
    lines = [text[block.start : block.end] for block in near if block.end - block.start <= _LINE_CHARS]
    as_of = next((date for line in lines if _YEAR.search(line) for date in _as_of(line)), "")
    below = next((day for _, day in days), "")
    return as_of or _dated(document) or _of_version(document) or below or _in_title(document)


def _dated(document: Document) -> str:
    """The date of a line near the beginning that says no more than that this is the date."""
    for block in document.blocks:
        line = document.text[block.start : min(block.end, block.start + _LINE_CHARS + 1)]
        if block.start < _SHARE_CHARS and (match := _DATED.match(line)) and (found := _whole_date(line[match.end() :])):
            return found
    return ""


def _of_version(document: Document) -> str:
    """The date of the one block near the beginning that is a version with its date; of several, as in a history of
    versions, none."""
    found = []
    for block in document.blocks:
        line = document.text[block.start : min(block.end, block.start + _LINE_CHARS + 1)]
        if block.start >= _SHARE_CHARS or len(line) > _LINE_CHARS or not _YEAR.search(line):
            continue
        date = next(dates_in(line), None)
        is_all = date is not None and is_version_label(line[: date.start]) and not _LETTERS.search(line, date.end)
        if date and is_all and date.year and date.month:
            found.append(iso_from_parts(date.year, date.month, date.day or None) or "")
    return found[0] if len(found) == 1 else ""


def _in_title(document: Document) -> str:
    """The day with which the first heading ends, behind a comma or another sign."""
    title = next((document.text[row.start : row.end] for row in document.blocks if row.kind == "heading"), "")
    date = next((one for one in dates_in(title) if one.year and one.month and one.day), None)
    if date is None or not _BEFORE_OWN_DAY.search(title[: date.start]):
        return ""
    return _whole_date(title[date.start :])


def _whole_date(text: str) -> str:
    """The date of a text that has a year and a month or more, and nothing behind them."""
    date = next(dates_in(text), None)
    if date is None or date.start or not (date.year and date.month and _END.fullmatch(text, date.end)):
        return ""
    return iso_from_parts(date.year, date.month, date.day or None) or ""


def _below_headings(document: Document) -> Iterator[tuple[str, str]]:
    """The headings near the beginning below which a day stands alone, with that day."""
    for heading, block in pairwise(document.blocks):
        if heading.start >= _SHARE_CHARS:
            return
        if heading.kind == "heading" and block.kind == "paragraph" and block.end - block.start <= _LINE_CHARS:
            day = _whole_date(document.text[block.start : block.end])
            if len(day) == _DAY_CHARS:
                yield document.text[heading.start : heading.end], day


def _changes(text: str) -> Iterator[re.Match[str]]:
    """What says that a document was changed, in lower case and not far before a year: looking for years first takes a
    tenth of the time."""
    looked_at = 0
    for year in _YEAR.finditer(text):
        yield from _LAST_CHANGED.finditer(text, max(looked_at, year.start() - _BEFORE_YEAR_CHARS), year.end())
        looked_at = year.end()


def _as_of(line: str) -> Iterator[str]:
    """The date behind "as of" with which a line ends; a year alone counts behind a colon only."""
    for match in _AS_OF.finditer(line):
        rest = line[match.end() :]
        if (month := _MONTH.match(rest)) and _END.fullmatch(rest, month.end()):
            yield iso_from_parts(month[2], int(month[1])) or ""
        date = next(dates_in(rest), None)
        if date and date.start == 0 and date.year and (date.month or match[1]) and _END.fullmatch(rest, date.end):
            yield iso_from_parts(date.year, date.month or None, date.day or None) or ""
