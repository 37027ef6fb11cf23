"""Numbers with units and dates in a sentence, as intervals that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from math import inf
from typing import Literal

from graph_research.text.language.dates import DATED_MONTH, dates_in


@dataclass(frozen=True, kw_only=True)
class Value:
    """`sentence[start:end]` as what it may mean: from `low` to `high`, each `slack` off at most.

    A number is in the base unit of `unit` (`power`, `money:euro`, …; empty for a count or a bare number). A date is in
    days, from the first that it may be to the last: 2016 has 366, 14 March 2016 is one.
    """

    kind: Literal["number", "date"]
    start: int
    end: int
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    slack: float = 0.0


POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "m": 6, "mn": 6, "bn": 9}
"""Scale words, as powers of ten."""
POWERS |= {"millionen": 6, "mio": 6, "milliarden": 9, "mrd": 9, "millones": 6, "millions": 6, "milliards": 9}

_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_SMALL = {word: number for number, word in enumerate(_SMALL_WORDS.split())}
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * number for number, word in enumerate(_TENS_WORDS.split(), start=2)}
SPELLED = f"(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(list(_SMALL)[1:10])}))?|{'|'.join(_SMALL)}"
_SCALE = "|".join(name for name in POWERS if len(name) > 1)
_NUMBER = re.compile(
    r"(?P<currency>[€$£¥])?\s?(?<![^\W\u3040-\u9fff]|[.,:/’'°′″=–-])(?:(?P<digits>\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+|,\d\d?)?)"
    r"(?!\d|[:/]\d|[,.]\d|\s?[°′″](?!C))(?!(?:st|nd|rd|th)\b)|"
    rf"\b(?P<words>{SPELLED})\b)(?:\s?(?P<scale>{_SCALE})\b)?(?(currency)(?P<short>[km])?\b)"
    r"(?:\s(?P<scale2>thousand|million|billion)\b)?",
    re.IGNORECASE,
)
UNITS: dict[str, tuple[str, float]] = {}
"""The dimension of a unit and its factor to the dimension's base unit, by every way to write it."""
_PREFIXES = {"": 1.0, "kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12}
for _name, _factor in _PREFIXES.items():
    UNITS |= {f"{_name}watt hour": ("energy", _factor), f"{_name}watt-hour": ("energy", _factor)}
    UNITS |= {
        f"{_name}watt": ("power", _factor),
        f"{_name}byte": ("data", _factor),
        f"{_name}hertz": ("freq", _factor),
    }
for _letter, _factor in {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.items():
    UNITS |= {f"{_letter}Wh": ("energy", _factor), f"{_letter}W": ("power", _factor), f"{_letter}B": ("data", _factor)}
    UNITS |= {f"{_letter}Hz": ("freq", _factor)}
UNITS |= {f"{_letter}iB": ("data", 1024.0**_power) for _power, _letter in enumerate("KMGT", start=1)}
for _names, _dimension, _factor in (
    ("percentage point", "points", 1.0),
    ("percent|per cent|%|prozent|por ciento", "percent", 1.0),
    ("millimetre|millimeter|mm", "length", 1e-3),
    ("centimetre|centimeter|cm", "length", 1e-2),
    ("kilometre|kilometer|km", "length", 1e3),
    ("metre|meter|m", "length", 1.0),
    ("mile", "length", 1609.344),
    ("nautical mile", "length", 1852.0),
    ("foot|feet|ft", "length", 0.3048),
    ("square kilometre|square kilometer|km²|km2|sq km", "area", 1e6),
    ("square metre|square meter|m²|m2", "area", 1.0),
    ("square mile|sq mi", "area", 2589988.0),
    ("square foot|square feet|sq ft", "area", 0.092903),
    ("hectare|hektar|ha", "area", 1e4),
    ("acre", "area", 4046.86),
    ("cubic metre|cubic meter|m³|m3", "volume", 1.0),
    ("litre|liter", "volume", 1e-3),
    ("milligram|mg", "mass", 1e-6),
    ("kilogram|kg", "mass", 1.0),
    ("gram|gramm", "mass", 1e-3),
    ("metric ton|tonne", "mass", 1e3),
    ("second|sekunde", "time", 1.0),
    ("minute|min", "time", 60.0),
    ("hour|stunde", "time", 3600.0),
    ("day", "time", 86400.0),
    ("week", "time", 604800.0),
    ("month", "time", 2629800.0),
    ("year", "time", 31557600.0),
    ("euro|EUR|€", "money:euro", 1.0),
    ("dollar|USD|US dollar", "money:dollar", 1.0),
    ("pound sterling|GBP|pound", "money:pound", 1.0),
    ("degree Celsius|degrees Celsius|°C|度", "celsius", 1.0),
):
    UNITS |= dict.fromkeys(_names.split("|"), (_dimension, _factor))
UNITS |= {name.capitalize(): unit for name, unit in UNITS.items() if len(name) > 3 and name.islower()}
_CURRENCIES = {"€": "money:euro", "$": "money:dollar", "£": "money:pound", "¥": "money:yen"}
_UNIT = re.compile(
    r"[\s-]?(?:(?P<symbol>%|€|°C|度)|(?P<name>"
    + "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True) if name.isascii() and name[0].isalpha())
    + r")(?:s|n)?\b(?![²³/]))"
)

_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|some|circa|c\.|ca\.?|estimated|nearly|almost|rund|etwa|"
    r"environ|cerca de|unos|unas)\s(?:the\s|an?\s)?|[~≈]\s?|およそ|約)[€$£]?$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?:\b(?:more than|at least|over|above|exceeding|not less than|no less than|minimum of|mehr als|mindestens|plus de"
    r"|más de)\s|[>≥]\s?)[€$£]?$",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:\b(?:less than|fewer than|at most|up to|under|below|not more than|no more than|maximum of|within|weniger als"
    r"|höchstens|bis zu|moins de|menos de)\s|[<≤]\s?)[€$£]?$",
    re.IGNORECASE,
)
_TO = re.compile(r"\s?(?:to|[-–—]|bis|à)\s?[€$£]?")
_AND = re.compile(r"\s(?:and|und|et|y)\s[€$£]?")
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s[€$£]?$", re.IGNORECASE)
_NO_VALUE_BEFORE = re.compile(r"\bfrom\s[€$£]?$|[±×]\s?$")
# A bare number after a name or a sign is the thing's own ("Zone 5", "No. 3"), and "[14]" points to a note.
_LABEL_BEFORE = re.compile(r"(?<![.!?|:]\s)(?<!^)\b[A-Z]\w+\s$|[#№\[]\s?$|\b[Nn]o\.?\s$")
_ROUNDED = 0.025
_ABOUT_SHARE = 0.05
_ABOUT_DAYS = 5 * 365.25


def values(sentence: str) -> list[Value]:
    """Every number and date in a sentence that can be compared, in order; they do not overlap."""
    dates = [value for value in _dates(sentence) if value is not None]
    taken = [(value.start, value.end) for value in dates] + [match.span() for match in DATED_MONTH.finditer(sentence)]
    numbers = [
        number
        for number in _numbers(sentence)
        if not any(number.start < end and start < number.end for start, end in taken)
    ]
    return sorted([*dates, *_bounded(sentence, numbers)], key=lambda value: value.start)


def agree(one: Value, other: Value) -> bool:
    """Whether two values may mean the same; values of different units never do."""
    gap = max(one.low, other.low) - min(one.high, other.high)
    return one.unit == other.unit and gap <= max(one.slack, other.slack) + 1e-9 * abs(one.low)


def spelled(words: str) -> int:
    """The number of words such as `twenty-one`."""
    return sum(_SMALL.get(word, 0) + _TENS.get(word, 0) for word in re.split(r"[ -]", words.lower()))


def _dates(sentence: str) -> Iterator[Value | None]:
    for found in dates_in(sentence):
        if not found.month and _UNIT.match(sentence, found.end):
            continue
        try:
            low = date(found.year, found.month or 1, found.day or 1)
            following = date(low.year + (low.month == 12), low.month % 12 + 1, 1)
        except ValueError:
            continue
        last = following.toordinal() - 1 if found.month else date(found.year, 12, 31).toordinal()
        yield Value(
            kind="date",
            start=found.start,
            end=found.end,
            unit="date",
            low=low.toordinal(),
            high=low.toordinal() if found.day else last,
            slack=_ABOUT_DAYS if _ABOUT.search(sentence[: found.start]) else 0.0,
        )


def _numbers(sentence: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(sentence):
        start = match.start("currency") if match["currency"] else match.start("digits" if match["digits"] else "words")
        amount, slack = _amount(match)
        unit = None if match["currency"] else _UNIT.match(sentence, match.end())
        if unit:
            name = unit["symbol"] or unit["name"]
            dimension, factor = UNITS[name] if name in UNITS else UNITS[name.rstrip("s")]
        else:
            dimension, factor = _CURRENCIES.get(match["currency"] or "", ""), 1.0
            following = sentence[match.end() : match.end() + 2]
            if re.match(r"[A-Za-z]", following) or _is_label(sentence[:start], match, following):
                continue
        amount, slack = amount * factor, slack * factor
        end = unit.end() if unit else match.end()
        yield Value(kind="number", start=start, end=end, unit=dimension, low=amount, high=amount, slack=slack)


def _is_label(before: str, match: re.Match[str], following: str) -> bool:
    named = re.search(r"\b[Tt]he\s$", before) and re.match(r"\s[A-Z]", following)
    return bool(match["digits"] and match["digits"].isdigit() and (named or _LABEL_BEFORE.search(before)))


def _amount(match: re.Match[str]) -> tuple[float, float]:
    """The number and half of the place that it is written to; of round numbers without a scale word at most 2.5 %."""
    fraction = ""
    if match["digits"]:
        plain = re.sub(r",(?=\d\d?$)", ".", match["digits"])
        plain = re.sub(r"[,\u00a0\u202f]", "", plain)
        whole, _, fraction = plain.partition(".")
        number = float(plain)
        place = 10.0 ** -len(fraction) if fraction else 10.0 ** (len(whole) - len(whole.rstrip("0")) if number else 0)
    else:
        number, place = float(spelled(match["words"])), 1.0
    scale = 1.0
    for name in ("scale", "short", "scale2"):
        scale *= 10.0 ** POWERS.get((match[name] or "").lower(), 0)
    if not fraction and scale == 1.0:
        place = min(place, max(2 * _ROUNDED * number, 1.0))
    return number * scale, place * scale / 2


def _bounded(sentence: str, numbers: list[Value]) -> Iterator[Value]:
    """The numbers with two that are the ends of a range as one, and with what the words before them say."""
    at = 0
    while at < len(numbers):
        one = numbers[at]
        before = sentence[: one.start]
        low, high, slack, end, unit = one.low, one.high, one.slack, one.end, one.unit
        at += 1
        if at < len(numbers) and _is_range(sentence, one, other := numbers[at]):
            at += 1
            low, high = sorted((one.low * _scale_of(sentence, one, other), other.high))
            slack, end, unit = other.slack, other.end, other.unit
        if _ABOUT.search(before):
            slack = max(slack, _ABOUT_SHARE * high)
        elif _AT_LEAST.search(before):
            high = inf
        elif _AT_MOST.search(before):
            low = 0.0
        if not _NO_VALUE_BEFORE.search(before):
            yield Value(kind="number", start=one.start, end=end, unit=unit, low=low, high=high, slack=slack)


def _is_range(sentence: str, one: Value, other: Value) -> bool:
    between = sentence[one.end : other.start]
    joined = _TO.fullmatch(between) or (_AND.fullmatch(between) and _BETWEEN.search(sentence[: one.start]))
    return bool(joined) and (not one.unit or one.unit == other.unit)


def _scale_of(sentence: str, one: Value, other: Value) -> float:
    """What the scale word and the unit of a range's end say of its beginning that has none."""
    if one.unit or not sentence[one.start : one.end].replace(".", "").isdigit():
        return 1.0
    match = re.search(r"\d+(?:\.\d+)?", sentence[other.start : other.end])
    return other.high / (float(match[0]) or 1.0) if match else 1.0
