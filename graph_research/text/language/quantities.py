"""Numbers with units and dates in a text, as intervals that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from math import inf
from typing import Literal

from graph_research.text.language.dates import WrittenDate, dates_in


@dataclass(frozen=True, kw_only=True)
class Value:
    """`text[start:end]` as what it may mean: from `low` to `high`, each `slack` off at most.

    A number is in the base unit of `unit` (`power`, `money:euro`, …; empty for a count or a bare number), `factor`
    times as large as written. `rounding` is how far off a round number may be, `grouped` the factor of its other
    reading: 1,000 where the point of `1.200` may group digits. A date is in days, from the first that it may be to the
    last: 2016 has 366, 14 March 2016 is one, 14 March may be of any year.
    """

    start: int
    end: int
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    slack: float = 0.0
    rounding: float = 0.0
    factor: float = 1.0
    grouped: float = 1.0
    date: WrittenDate | None = None

    @property
    def kind(self) -> Literal["number", "date"]:
        return "date" if self.date else "number"

    @property
    def readings(self) -> set[tuple[float, float]]:
        return {(self.low, self.high), (self.low * self.grouped, self.high * self.grouped)}


_POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "m": 6, "mn": 6, "bn": 9}
"""Scale words, as powers of ten."""
_POWERS |= {"millionen": 6, "mio": 6, "milliarden": 9, "mrd": 9, "millones": 6, "millions": 6, "milliards": 9}

_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_SMALL = {word: number for number, word in enumerate(_SMALL_WORDS.split())}
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * number for number, word in enumerate(_TENS_WORDS.split(), start=2)}
_SPELLED = f"(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(list(_SMALL)[1:10])}))?|{'|'.join(_SMALL)}"
_SCALE = "|".join(name for name in _POWERS if len(name) > 1)
# A digit glued to a letter, or to one by a hyphen, belongs to a name (`CO2`, `IL-6`), but for a version's `v`.
_NUMBER = re.compile(
    r"(?P<currency>[€$£¥])?\s?(?:(?<![A-UW-Za-uw-zÀ-ӿ])(?<![A-Za-zÀ-ӿ][-–])(?<!\d)(?<!\d/)(?<!\d[.,])"
    r"(?P<digits>\d{1,3}(?:[\u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)*)|"
    rf"\b(?P<words>{_SPELLED})\b)(?:[\s-]?(?P<scale>{_SCALE})\b)?(?(currency)(?P<short>[km])?\b)"
    r"(?:\s(?P<scale2>thousand|million|billion)\b)?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)")
_NO_NUMBER_AFTER = re.compile(r"(?!(?:st|nd|rd|th|s|x)\b)[A-Za-zÀ-ӿ]", re.IGNORECASE)
_UNITS: dict[str, tuple[str, float]] = {}
"""The dimension of a unit and its factor to the dimension's base unit, by every way to write it."""
_PREFIXES = {"": 1.0, "kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12}
for _name, _factor in _PREFIXES.items():
    _UNITS |= {f"{_name}watt hour": ("energy", _factor), f"{_name}watt-hour": ("energy", _factor)}
    _UNITS |= {
        f"{_name}watt": ("power", _factor),
        f"{_name}byte": ("data", _factor),
        f"{_name}hertz": ("freq", _factor),
    }
for _letter, _factor in {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.items():
    _UNITS |= {f"{_letter}Wh": ("energy", _factor), f"{_letter}W": ("power", _factor), f"{_letter}B": ("data", _factor)}
    _UNITS |= {f"{_letter}Hz": ("freq", _factor)}
_UNITS |= {f"{_letter}iB": ("data", 1024.0**_power) for _power, _letter in enumerate("KMGT", start=1)}
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
    _UNITS |= dict.fromkeys(_names.split("|"), (_dimension, _factor))
_UNITS |= {name.capitalize(): unit for name, unit in _UNITS.items() if len(name) > 3 and name.islower()}
_CURRENCIES = {"€": "money:euro", "$": "money:dollar", "£": "money:pound", "¥": "money:yen"}
_UNIT = re.compile(
    r"[\s-]?(?:(?P<symbol>%|€|°C|度)|(?P<name>"
    + "|".join(
        re.escape(name) for name in sorted(_UNITS, key=len, reverse=True) if name.isascii() and name[0].isalpha()
    )
    + r")(?:(?<=\w\w\w)[sn])?\b(?![²³/]))"
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
_NO_VALUE = re.compile(r"(?<=[^\W\u3040-\u9fff])|(?<=[.,:/’'°′″=–-])")
_NO_VALUE_AFTER = re.compile(r"[:/]\d|\s?[°′″](?!C)|(?:st|nd|rd|th)\b|[A-Za-z]")
# "the 1989 Cannes Film Festival" says which festival, not when.
_YEAR_OF_A_NAME = re.compile(r"\b[Tt]he\s$|(?<!^)(?<![.!?]\s)\b[A-Z]\w+\s$")
# A bare number after a name or a sign is the thing's own ("Zone 5", "No. 3"), and "[14]" points to a note.
_LABEL_BEFORE = re.compile(r"(?<![.!?|:]\s)(?<!^)\b[A-Z]\w+\s$|[#№\[]\s?$|\b[Nn]o\.?\s$")
_ROUNDED = 0.025
_ABOUT_SHARE = 0.05
_LONGEST_BEFORE = 40
_ABOUT_DAYS = 5 * 365.25


def values(sentence: str) -> list[Value]:
    """Every number and date in a sentence that can be compared, in order; they do not overlap."""
    found = [one for one, comparable in _figures(sentence) if comparable]
    dates = [one for one in found if one.date]
    numbers = [one for one in found if not one.date]
    return sorted([*dates, *_bounded(sentence, numbers)], key=lambda value: value.start)


def figures(text: str) -> list[Value]:
    """Every number and date as it is written: of names and versions, both ends of a range, and a date's year again.

    Digits within words (`COVID-19`, `PM2.5`) and "one", which seldom counts, are not among them.
    """
    found = [one for one, _ in _figures(text) if not text[one.start : one.end].lower().startswith(("one", "zero"))]
    years = [(one, float(one.date.year)) for one in found if one.date and one.date.month and one.date.year]
    return [*found, *(Value(start=one.start, end=one.end, low=year, high=year) for one, year in years)]


def agree(one: Value, other: Value) -> bool:
    """Whether two values may mean the same; values of different units never do."""
    slack = max(one.slack, other.slack, one.rounding, other.rounding) + 1e-9 * abs(one.low)
    return one.unit == other.unit and any(
        max(a, c) - min(b, d) <= slack for a, b in one.readings for c, d in other.readings
    )


def states(other: Value, one: Value) -> bool:
    """Whether one of two `figures` is the other, as exactly as it is written; a unit may be missing."""
    a, b = one.date, other.date
    if a and b:
        if a.month:  # its year is among the figures too
            return a.month == b.month and (a.day == b.day or not a.day * b.day)
        return bool(b.year) and max(one.low, other.low) - min(one.high, other.high) <= one.slack
    if a or b:  # a year may be read as a bare number
        year, number = (a, other) if a else (b, one)
        return bool(year and not (a and a.month) and not number.unit and number.low == year.year)
    if one.unit and other.unit and one.unit != other.unit:
        return False
    factor = 1.0 if one.unit and other.unit else one.factor / other.factor
    return any(abs(x - y * factor) <= one.slack + 1e-9 * abs(x) for x, _ in one.readings for y, _ in other.readings)


def _spelled(words: str) -> int:
    """The number of words such as `twenty-one`."""
    return sum(_SMALL.get(word, 0) + _TENS.get(word, 0) for word in re.split(r"[ -]", words.lower()))


def _figures(text: str) -> Iterator[tuple[Value, bool]]:
    """The dates, then the numbers, each with whether it can be compared."""
    taken = []
    for value, comparable in _dates(text):
        taken.append((value.start, value.end))
        yield value, comparable
    for value, comparable in _numbers(text):
        if not any(value.start < end and start < value.end for start, end in taken):
            yield value, comparable


def _dates(text: str) -> Iterator[tuple[Value, bool]]:
    for found in dates_in(text):
        if not found.month and _UNIT.match(text, found.end):
            continue
        try:
            low = date(found.year or 4, found.month or 1, found.day or 1)
        except ValueError:
            continue
        before = text[max(0, found.start - _LONGEST_BEFORE) : found.start]
        following = date(low.year + (low.month == 12), low.month % 12 + 1, 1)
        last = following.toordinal() - 1 if found.month else date(low.year, 12, 31).toordinal()
        named = _YEAR_OF_A_NAME.search(before) and re.match(r"\s[A-Z]", text[found.end :])
        value = Value(
            start=found.start,
            end=found.end,
            unit="date",
            low=low.toordinal() if found.year else -inf,
            high=(low.toordinal() if found.day else last) if found.year else inf,
            slack=_ABOUT_DAYS if _ABOUT.search(before) else 0.0,
            date=found,
        )
        yield value, bool(found.year and (found.month or not named))


def _numbers(text: str) -> Iterator[tuple[Value, bool]]:
    for match in _NUMBER.finditer(text):
        at = match.start("digits" if match["digits"] else "words")
        start = match.start("currency") if match["currency"] else at
        before = text[max(0, start - _LONGEST_BEFORE) : start]
        unit = None if match["currency"] else _UNIT.match(text, match.end())
        if match["digits"] and not unit and not match["scale"] and _NO_NUMBER_AFTER.match(text, match.end()):
            continue
        value = _amount(match)
        if unit:
            name = unit["symbol"] or unit["name"]
            dimension, factor = _UNITS[name] if name in _UNITS else _UNITS[name.rstrip("s")]
        else:
            dimension, factor = value.unit or _CURRENCIES.get(match["currency"] or "", ""), 1.0
        slack = value.slack
        if _ABOUT.search(before):
            slack = max(slack, _ABOUT_SHARE * value.low)
        comparable = not (
            value.unit
            or _NO_VALUE.match(text, at)
            or (_NO_VALUE_AFTER.match(text, match.end()) and not unit)
            or (not unit and _is_label(before, match, text[match.end() : match.end() + 2]))
        )
        yield (
            replace(
                value,
                start=start,
                end=unit.end() if unit else match.end(),
                unit=dimension,
                low=value.low * factor,
                high=value.low * factor,
                slack=slack * factor,
                rounding=value.rounding * factor,
                factor=factor,
            ),
            comparable,
        )


def _is_label(before: str, match: re.Match[str], following: str) -> bool:
    named = re.search(r"\b[Tt]he\s$", before) and re.match(r"\s[A-Z]", following)
    return bool(match["digits"] and match["digits"].isdigit() and (named or _LABEL_BEFORE.search(before)))


def _amount(match: re.Match[str]) -> Value:
    """The number, with half of the last place as slack; round numbers without a scale word may be 2.5 % off."""
    scale = 1.0
    for name in ("scale", "short", "scale2"):
        scale *= 10.0 ** _POWERS.get((match[name] or "").lower(), 0)
    if not match["digits"]:
        number, half = float(_spelled(match["words"])) * scale, scale / 2
        return Value(start=0, end=0, low=number, slack=half if scale > 1.0 else 0.0, rounding=half)
    digits, grouped = re.sub(r"[\u00a0\u202f]", "", match["digits"]), 1.0
    if _THOUSANDS.fullmatch(digits):
        if digits.count(".") == 1 and "," not in digits:
            grouped = 1000.0
        else:
            digits = digits.replace(re.sub(r"\d", "", digits)[0], "")
    whole, *parts = re.split("[.,]", digits)
    if len(parts) > 1:  # a version or a numbered section
        return Value(start=0, end=0, unit="version", low=float(whole + "".join(part.zfill(4) for part in parts)))
    number = float(".".join((whole, *parts)))
    exact = place = 10.0 ** -len("".join(parts))
    if not parts:
        place = 10.0 ** (len(whole) - len(whole.rstrip("0")) if number else 0)
        place = place if scale > 1.0 else min(place, max(2 * _ROUNDED * number, 1.0))
    return Value(
        start=0, end=0, low=number * scale, slack=exact * scale / 2, rounding=place * scale / 2, grouped=grouped
    )


def _bounded(sentence: str, numbers: list[Value]) -> Iterator[Value]:
    """The numbers with two that are the ends of a range as one, and with what the words before them say."""
    at = 0
    while at < len(numbers):
        one = numbers[at]
        before = sentence[max(0, one.start - _LONGEST_BEFORE) : one.start]
        at += 1
        if at < len(numbers) and _is_range(sentence, one, other := numbers[at]):
            at += 1
            low, high = sorted((one.low * _scale_of(sentence, one, other), other.high))
            slack = max(other.slack, _ABOUT_SHARE * high if _ABOUT.search(before) else 0.0)
            one = replace(other, start=one.start, low=low, high=high, slack=slack)
        if _AT_LEAST.search(before):
            one = replace(one, high=inf)
        elif _AT_MOST.search(before):
            one = replace(one, low=0.0)
        if not _NO_VALUE_BEFORE.search(before):
            yield one


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
