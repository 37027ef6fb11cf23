"""How often something happens: "once a week", "every day", "monthly", without a number that says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graph_research.text.language.tables import any_of, numbered
from graph_research.text.language.units import RATES

_BY_ADVERB = numbered("periods")
_UNITS = {name: factor for name, (dimension, factor) in RATES.items() if dimension == "time" and name.isalpha()}
_NAMES = "|".join(sorted((name for name in _UNITS if len(name) > 1), key=len, reverse=True))
_ADVERBS = "|".join(sorted(_BY_ADVERB, key=len, reverse=True))
_RECURRING = re.compile(
    rf"\b(?:(?:{any_of('recurring')})\s+(?P<unit>{_NAMES})|(?P<adverb>{_ADVERBS}))\b", re.IGNORECASE
)
_NAMED = re.compile(
    rf"\b(?:(?P<unit>{_NAMES})(?:(?<=\w\w\w)(?:s|n|e|en))?|(?P<adverb>{_ADVERBS}))\b|/\s?(?P<sign>{'|'.join(_UNITS)})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Period:
    """`text[start:end]`, which says that something happens once or several times in so many seconds."""

    start: int
    end: int
    seconds: float


def periods_told(text: str) -> Iterator[Period]:
    """The periods of which a text says that something happens in each: "twice a month", "every day", "weekly"."""
    for match in _RECURRING.finditer(text):
        yield Period(start=match.start(), end=match.end(), seconds=_seconds(match["unit"], match["adverb"]))


def periods_named(text: str) -> Iterator[float]:
    """The seconds of every unit of time that a text names, be it for how often or for how long."""
    return (_seconds(match["unit"] or match["sign"], match["adverb"]) for match in _NAMED.finditer(text))


def _seconds(unit: str | None, adverb: str | None) -> float:
    if adverb:
        return float(_BY_ADVERB[adverb.lower()])
    return _UNITS.get(unit or "") or _UNITS[(unit or "").lower()]
