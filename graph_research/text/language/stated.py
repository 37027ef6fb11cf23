"""Which numbers and dates of a text stand in others, whatever the words, languages and units they are written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.dates import months_alone, months_named
from graph_research.text.language.quantities import THINGS, Value, figures, in_notation, states
from graph_research.text.language.tables import any_of, listed, numbered
from graph_research.text.language.units import AMBIGUOUS, CJK_DIGITS, CJK_TENS, COUNTS, RATES, UNITS
from graph_research.text.language.words import UNSPACED, language_of, weight

_FOLLOWING = re.compile(rf"[.)]?[ \u00a0](?:(?P<times>{any_of('times')})\b|(?P<word>[^\W\d_]{{2,}}))")
_UNCOUNTED = frozenset[str]().union(*listed("uncounted").values(), *listed("degrees").values())
"""Words behind a number that join or qualify, and degrees of temperature, which has no unit so: in all languages, since
a short text seldom shows which is its own."""
_WITH_UNITS = listed("numbers").keys()
"""Languages whose units are known."""
_NAMES = sorted((name for name in UNITS if len(name) > 1 and name.isalpha()), key=len, reverse=True)
_UNIT = deferred(rf"(?<=[\s(])(?P<name>{'|'.join(_NAMES)})(?:(?<=\w\w\w)[sn])?\b")
_GLUED = re.compile(r"s\b")
_CJK_NUMBER = re.compile(rf"[{''.join((*CJK_DIGITS, *CJK_TENS))}]+")
_GROUPED = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")

_BY_ADVERB = numbered("periods")
_PERIODS = {name: factor for name, (dimension, factor) in RATES.items() if dimension == "time" and name.isalpha()}
_PERIOD_NAMES = "|".join(sorted((name for name in _PERIODS if len(name) > 1), key=len, reverse=True))
_ADVERBS = "|".join(sorted(_BY_ADVERB, key=len, reverse=True))
_RECURRING = deferred(
    rf"\b(?:(?:{any_of('recurring')})\s+(?P<unit>{_PERIOD_NAMES})|(?P<adverb>{_ADVERBS}))\b", re.IGNORECASE
)
_NAMED = deferred(
    rf"\b(?:(?P<unit>{_PERIOD_NAMES})(?:(?<=\w\w\w)(?:s|n|e|en))?|(?P<adverb>{_ADVERBS}))\b|/\s?(?P<sign>{'|'.join(_PERIODS)})\b",
    re.IGNORECASE,
)


def unstated(text: str, known: Sequence[str], beside: Sequence[str] = (), *, language: str = "") -> list[Value]:
    """The figures of `text` that no known text states. Digits with spaces between them are read both ways: `27 400` is
    a number, or two cells of a table. "Both" and "twice" in a known text state two.

    A unit may be missing, but a number of things states none with a unit, and of what stands `beside` the known texts a
    number without a unit has only those that are named there. An `s` right behind a number may mean seconds, as in
    `deadlock_timeout = 1s`, or several ("the 1990s"). A month by itself is a figure, too, and so is how often
    something happens, which a known text states where it names the same stretch of time. In a `language` a number such
    as `1,200` has one reading only.
    """
    if text in known and not language:
        return []
    stated = [figure for other in known for figure in _stated(other)]
    stated += [figure for other in beside for figure in _stated_beside(other)]
    new = min((_new(form, stated, language) for form in _spacings(text)), key=len)
    alone, often = _without_digits(text)
    months = frozenset[int]().union(*map(_months, known), *map(_months, beside)) if alone else ()
    seconds = frozenset[float]().union(*map(_seconds, known), *map(_seconds, beside)) if often else ()
    return [
        *new,
        *(value for value in often if value.low not in seconds),
        *(value for value in alone if value.date and value.date.month not in months),
    ]


@lru_cache(maxsize=1024)
def _without_digits(text: str) -> tuple[Sequence[Value], Sequence[Value]]:
    """The months that stand by themselves, and how often something happens."""
    alone = [
        Value(start=one.start, end=one.end, unit="date", low=-inf, high=inf, date=one) for one in months_alone(text)
    ]
    return alone, list(_periods_told(text))


def _new(text: str, stated: Sequence[Value], language: str) -> list[Value]:
    found = [in_notation(figure, text, language) for figure in figures(text)] if language else figures(text)
    counted = _with_things(text, found)
    return [
        figure
        for figure, read in zip(found, counted, strict=True)
        if not any(states(other, one) for one in (read, *_in_seconds(text, [figure])) for other in stated)
    ]


def _in_seconds(text: str, found: Iterable[Value]) -> list[Value]:
    """Those of the numbers that have an `s` right behind them, as seconds."""
    return [replace(one, unit="time") for one in found if not (one.unit or one.date) and _GLUED.match(text, one.end)]


@lru_cache(maxsize=1024)
def _months(text: str) -> frozenset[int]:
    return frozenset(months_named(text))


@lru_cache(maxsize=1024)
def _seconds(text: str) -> frozenset[float]:
    """The stretches of time that a text names or measures."""
    measured = (value.low for value in figures(text) if value.unit == "time" and value.low == value.high)
    return frozenset([*_periods_named(text), *measured])


@lru_cache(maxsize=1024)
def _stated(text: str) -> Sequence[Value]:
    """What a known text states, "zero" and "one" among it; several sentences often cite the same."""
    counted = {COUNTS[word] for word in re.findall(r"\w+", text.lower()) if word in COUNTS}
    counts = [Value(start=0, end=0, unit=THINGS, low=float(n), high=float(n)) for n in sorted(counted)]
    written = [(form, figures(form, with_one=True)) for form in (*_spacings(text), *_in_digits(text))]
    given = (one for form, found in written for one in (*_with_things(form, found), *_in_seconds(form, found)))
    return (*given, *counts)


@lru_cache(maxsize=1024)
def _stated_beside(text: str) -> Sequence[Value]:
    named = {UNITS[match["name"]] for match in _UNIT.finditer(text)}
    return [
        reading
        for value in _stated(text)
        for reading in (_readings(value, named) if not (value.unit or value.date) and value.low else [value])
    ]


def _readings(value: Value, named: Iterable[tuple[str, float]]) -> list[Value]:
    """What a bare number may be where units are named: so much of each, or a number of things."""
    measured = (
        replace(value, unit=unit, low=value.low * factor, high=value.high * factor, factor=factor)
        for unit, factor in sorted(named)
    )
    return [replace(value, unit=THINGS), *measured]


def _with_things(text: str, found: Sequence[Value]) -> list[Value]:
    """The values, `THINGS` the unit of those that count or number what follows: "three times", "5.0 Writing"."""
    if (language := language_of(text)) not in _WITH_UNITS:
        return list(found)
    return [replace(value, unit=THINGS) if _counts_what_follows(value, text, language) else value for value in found]


def _counts_what_follows(value: Value, text: str, language: str) -> bool:
    if value.unit or value.date or not value.low:
        return False
    following = _FOLLOWING.match(text, value.end)
    if following is None or following["times"]:
        return following is not None
    word = following["word"]
    return word.lower() not in _UNCOUNTED and weight(word, language) > 0.0


def _spacings(text: str) -> list[str]:
    """The text, and where digits are grouped by spaces, the text with narrow ones there; each as long as the other."""
    return list(dict.fromkeys((text, _GROUPED.sub("\u202f", text))))


def _in_digits(text: str) -> list[str]:
    """The text with its Chinese numerals, or with number words of its language that may mean something else, as digits;
    none where it has none."""
    language = language_of(text)
    if language in UNSPACED:
        form = _CJK_NUMBER.sub(lambda match: str(_cjk_number(match[0])), text)
    else:
        words = AMBIGUOUS.get(language, {})
        form = re.sub(r"[^\W\d_]+", lambda match: words.get(match[0].lower(), match[0]), text) if words else text
    return [form] if form != text else []


def _cjk_number(numeral: str) -> int:
    """The number of a Chinese numeral such as `四十八`."""
    total = digit = 0
    for sign in numeral:
        if sign in CJK_DIGITS:
            digit = 10 * digit + CJK_DIGITS[sign]  # also `二〇二四`
        else:
            total, digit = total + max(digit, 1) * CJK_TENS[sign], 0
    return total + digit


def _periods_told(text: str) -> Iterator[Value]:
    """The periods of which a text says that something happens in each: "twice a month", "every day", "weekly"."""
    for match in _RECURRING.finditer(text):
        seconds = _seconds_of(match["unit"], match["adverb"])
        yield Value(start=match.start(), end=match.end(), unit="time", low=seconds, high=seconds)


def _periods_named(text: str) -> Iterator[float]:
    """The seconds of every unit of time that a text names, be it for how often or for how long."""
    return (_seconds_of(match["unit"] or match["sign"], match["adverb"]) for match in _NAMED.finditer(text))


def _seconds_of(unit: str | None, adverb: str | None) -> float:
    if adverb:
        return float(_BY_ADVERB[adverb.lower()])
    return _PERIODS.get(unit or "") or _PERIODS[(unit or "").lower()]
