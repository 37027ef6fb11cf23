"""Superlatives in questions: whether the largest or the smallest is asked for, and what some of them measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from graph_research.text.language.tables import entries, listed
from graph_research.text.language.words import stem

DATE = "DATE"
"""Among the measures of a superlative: anything that is a date, as `oldest` asks for the earliest."""
MONEY = "MONEY"
"""Among the measures of a superlative: anything that is an amount of money, as `cheapest` asks for the least."""
_DATE_COLUMNS = listed("date_columns")
"""What columns of dates are called."""


@dataclass(frozen=True)
class Superlative:
    """`text[start:end]` asks for the largest or the smallest. `measures` are the terms for what it measures by itself,
    as `cheapest` does prices, `DATE` or `MONEY`; none where the question names that."""

    start: int
    end: int
    largest: bool
    measures: tuple[str, ...]


def superlatives_in(text: str, language: str) -> list[Superlative]:
    """What the first superlative of a text may mean, the likeliest first; nothing in a language whose superlatives are
    not known."""
    found = [
        Superlative(match.start(), match.end(), largest, measures)
        for pattern, largest, measures in _meanings(language)
        if (match := pattern.search(text))
    ]
    first = min((one.start for one in found), default=0)
    longest = max((one.end for one in found if one.start == first), default=0)
    return [one for one in found if (one.start, one.end) == (first, longest)]


@cache
def price_terms(language: str) -> frozenset[str]:
    """The terms for what has a price: those that the superlatives of prices measure, such as `cheapest`."""
    meanings = (measures for _, _, measures in _meanings(language) if MONEY in measures)
    return frozenset[str]().union(*meanings) - {MONEY}


@cache
def _meanings(language: str) -> Sequence[tuple[re.Pattern[str], bool, tuple[str, ...]]]:
    """Of each entry a pattern for its words, what it asks for, and the terms behind its colon."""
    meanings = []
    for entry in entries("superlatives", language):
        said, _, measured = entry.partition(" : ")
        sign, *written = said.split()
        pattern = rf"(?<!\w)(?:{'|'.join(written)})(?!\w)".replace("_", r"\s+")
        named = [*measured.split(), *(_DATE_COLUMNS[language] if DATE in measured else ())]
        measures = tuple(name if name in (DATE, MONEY) else stem(name, language) for name in named)
        meanings.append((re.compile(pattern, re.IGNORECASE), sign == "+", measures))
    return meanings
