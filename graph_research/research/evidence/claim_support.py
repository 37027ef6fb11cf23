"""Support: whether what a statement says may rest on the quotes it cites, by code and without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Protocol

from graph_research.research.models.draft import StatementKind

__all__ = ["Quoted", "why_unsupported"]

_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "mn": 6, "bn": 9}
_WORDS = {
    word: number
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
            *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
        )
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SCALE = "|".join(_SCALES)
# A digit glued to a letter belongs to a name (`CO2`, `PM2.5`), but for a version's `v`.
_NUMBER = re.compile(rf"(?<![^\W\dv_])(?<!\d)(?<!\d[.,])(\d+(?:[.,]\d+)*)(?:[\s-]?({_SCALE})\b)?", re.IGNORECASE)
_WORD_NUMBER = re.compile(rf"\b({'|'.join(_WORDS)})\b(?:[\s-]({_SCALE})\b)?", re.IGNORECASE)
_MONTH = "|".join(month if month == "may" else f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_DATED_MONTH = re.compile(rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+({_MONTH})|({_MONTH})\.?,?\s+\d)", re.IGNORECASE)
_NUMERIC_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])(-\d{2})?\b")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


class Quoted(Protocol):
    """What a statement leans on."""

    @property
    def n(self) -> int: ...
    @property
    def quote(self) -> str: ...
    @property
    def valid(self) -> bool: ...


def why_unsupported(text: str, kind: StatementKind, citations: Sequence[Quoted]) -> str:
    """Why the citations do not carry the statement, or an empty string.

    A quote must be its first citation's quote, to the character. A fact needs one valid citation, and every number
    and month of its dates must stand in a validly cited quote; numbers may be written in another way there
    (`1.2 million` for `1,200,000`, `twelve` for `12`). What a fact says in other words is not judged here.
    """
    if not citations:
        return "no citation"
    if kind is StatementKind.QUOTE:
        return _why_not_the_quote(text, citations[0])
    valid = [citation.quote for citation in citations if citation.valid]
    if not valid:
        return "no valid citation"
    missing = [*_numbers_missing(text, valid), *_months_missing(text, valid)]
    return f"not in the cited quotes: {', '.join(missing)}" if missing else ""


def _why_not_the_quote(text: str, first: Quoted) -> str:
    if not first.valid:
        return f"citation [{first.n}] is not valid"
    return "" if first.quote == text else f"not word for word what [{first.n}] quotes"


def _numbers_missing(text: str, quotes: Iterable[str]) -> list[str]:
    there = {value for quote in quotes for value in _values(quote)}
    return [match[0] for match in _NUMBER.finditer(_without_months(text)) if _value(match[1], match[2]) not in there]


def _values(quote: str) -> Iterable[Decimal | str]:
    for match in _NUMBER.finditer(_without_months(quote)):
        yield _value(match[1], match[2])
    for match in _WORD_NUMBER.finditer(quote):
        yield _value(str(_WORDS[match[1].lower()]), match[2])


def _value(digits: str, scale: str | None) -> Decimal | str:
    """The number written; a version such as `3.11.2` stays text."""
    plain = digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits.replace(",", ".")
    if plain.count(".") > 1:
        return plain
    value = Decimal(plain)
    return value.scaleb(_SCALES[scale.lower()]) if scale else value


def _months_missing(text: str, quotes: Iterable[str]) -> list[str]:
    there = {month for quote in quotes for month in _months(quote)}
    return [_MONTHS[month].title() for month in dict.fromkeys(_months(text)) if month not in there]


def _months(text: str) -> Iterable[int]:
    for match in _DATED_MONTH.finditer(text):
        yield [month[:3] for month in _MONTHS].index((match[1] or match[2])[:3].lower())
    for match in _NUMERIC_DATE.finditer(text):
        yield int(match[2]) - 1


def _without_months(text: str) -> str:
    """Numeric dates with their month taken out; a month is compared as a month, however it is written."""
    return _NUMERIC_DATE.sub(lambda match: f"{match[1]} {(match[3] or '').lstrip('-')}", text)
