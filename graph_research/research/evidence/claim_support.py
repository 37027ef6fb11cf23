"""Support: whether what a statement says may rest on the quotes it cites, by code and without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from graph_research.research.models.draft import StatementKind
from graph_research.text.language.dates import MONTHS, months_in, without_months
from graph_research.text.language.quantities import figures, spelled_numbers


class CitedQuote(Protocol):
    """What a statement leans on."""

    @property
    def n(self) -> int: ...
    @property
    def quote(self) -> str: ...
    @property
    def valid(self) -> bool: ...


def why_unsupported(text: str, kind: StatementKind, citations: Sequence[CitedQuote]) -> str:
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


def _why_not_the_quote(text: str, first: CitedQuote) -> str:
    if not first.valid:
        return f"citation [{first.n}] is not valid"
    return "" if first.quote == text else f"not word for word what [{first.n}] quotes"


def _numbers_missing(text: str, quotes: Sequence[str]) -> list[str]:
    there = {value for quote in quotes for _, value in figures(without_months(quote))}
    there |= {value for quote in quotes for value in spelled_numbers(quote)}
    return [written for written, value in figures(without_months(text)) if value not in there]


def _months_missing(text: str, quotes: Sequence[str]) -> list[str]:
    there = {month for quote in quotes for month in months_in(quote)}
    return [MONTHS[month - 1].title() for month in dict.fromkeys(months_in(text)) if month not in there]
