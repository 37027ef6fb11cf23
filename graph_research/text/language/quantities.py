"""Numbers with units and dates in a sentence, normalised so that they can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from graph_research.text.language.dates import dates_in
from graph_research.text.language.lexicon import FUNCTION_WORDS, VERBS, word_list, word_set
from graph_research.text.language.stems import stem


@dataclass(frozen=True, kw_only=True)
class Value:
    """`sentence[start:end]` with its meaning.

    A number is `amount` in the base unit of `unit` (`power`, `money:euro`, `count:turbin`, …), written to the
    nearest `place`; `modifiers` are the words between a count and its noun. A date is `(year, month, day)` in
    `date`, 0 where it is not given. `approximate` stands for "about"; `usable` is false for ranges, bounds
    ("more than 5") and changes ("from 5 to 7"), which have no single value.
    """

    kind: Literal["number", "date"]
    start: int
    end: int
    unit: str = ""
    amount: float = 0.0
    place: float = 1.0
    modifiers: tuple[str, ...] = ()
    date: tuple[int, int, int] = (0, 0, 0)
    approximate: bool = False
    usable: bool = True


POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "m": 6, "mn": 6, "bn": 9}
"""Scale words, as powers of ten."""

_SMALL = {
    word: number
    for number, word in enumerate(
        word_list(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
SPELLED = f"(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(list(_SMALL)[1:10])}))?|{'|'.join(_SMALL)}"
_SCALE = "hundred|thousand|million|billion|trillion"
_NUMBER = re.compile(
    r"(?P<currency>[€$£¥])?\s?(?<![\w.,:/’'–-])"
    r"(?:(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d:/]|,\d|\.\d)"
    rf"|(?P<words>{SPELLED})\b)"
    rf"(?:\s?(?P<scale>{_SCALE})\b)?(?(currency)(?P<short>m|bn)?\b)"
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
    ("percent|per cent|%", "percent", 1.0),
    ("millimetre|millimeter|mm", "length", 1e-3),
    ("centimetre|centimeter|cm", "length", 1e-2),
    ("kilometre|kilometer|km", "length", 1e3),
    ("metre|meter|m", "length", 1.0),
    ("mile", "length", 1609.344),
    ("foot|feet|ft", "length", 0.3048),
    ("square kilometre|square kilometer|km²|km2", "area", 1e6),
    ("square metre|square meter|m²|m2", "area", 1.0),
    ("square mile", "area", 2589988.0),
    ("square foot|square feet", "area", 0.092903),
    ("hectare|ha", "area", 1e4),
    ("acre", "area", 4046.86),
    ("cubic metre|cubic meter|m³|m3", "volume", 1.0),
    ("litre|liter", "volume", 1e-3),
    ("milligram|mg", "mass", 1e-6),
    ("kilogram|kg", "mass", 1.0),
    ("gram", "mass", 1e-3),
    ("metric ton|tonne", "mass", 1e3),
    ("second", "time", 1.0),
    ("minute", "time", 60.0),
    ("hour", "time", 3600.0),
    ("day", "time", 86400.0),
    ("week", "time", 604800.0),
    ("month", "time", 2629800.0),
    ("year", "time", 31557600.0),
    ("euro|EUR|€", "money:euro", 1.0),
    ("dollar|USD|US dollar", "money:dollar", 1.0),
    ("pound sterling|GBP|pound", "money:pound", 1.0),
    ("degree Celsius|degrees Celsius|°C", "celsius", 1.0),
):
    UNITS |= dict.fromkeys(_names.split("|"), (_dimension, _factor))
_CURRENCIES = {"€": "money:euro", "$": "money:dollar", "£": "money:pound", "¥": "money:yen"}
_UNIT = re.compile(
    r"[\s-]?(?:(?P<symbol>%|€|°C)|(?P<name>"
    + "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True) if name[0].isalpha())
    + r")s?\b(?![²³/]))"
)

_BOUND_BEFORE = re.compile(
    r"(?:\b(?:more than|less than|fewer than|up to|at least|at most|over|under|above|below|nearly|almost|exceeding|"
    r"not more than|maximum of|minimum of|between|from|versus|instead of|rather than|than|compared with|compared to|"
    r"every|another|a further|first|last|next|by|per|within|extra|additional)\s(?:the\s)?[€$£]?"
    r"|[<>≤≥±×x]\s?)$",
    re.IGNORECASE,
)
_APPROXIMATE_BEFORE = re.compile(
    r"\b(?:about|around|roughly|approximately|some|circa|an estimated|estimated)\s(?:the\s)?[€$£]?$", re.IGNORECASE
)
_RANGE_AFTER = re.compile(r"^\s?(?:to|and|or|-|–|—)\s?[€$£]?\d", re.IGNORECASE)
_RANGE_BEFORE = re.compile(r"(?:\d(?:\s?[A-Za-z%]+)?\s?(?:to|-|–|—)\s?|\bbetween\s[^,;.]{1,30}\sand\s)[€$£]?$")
_CHANGE_BEFORE = re.compile(r"\bfrom\b[^,;.]{1,40}\bto\s$", re.IGNORECASE)
_COUNT_NOUN = re.compile(r"[\s-]((?:[A-Za-z][\w'’-]*\s){0,3}[A-Za-z][\w'’-]*)")
_PLURALS = word_set("people men women children fish species aircraft sheep feet teeth mice staff crew personnel")
_ROUNDING_CAP = 0.025


def values(sentence: str) -> list[Value]:
    """Every number with a unit or a counted noun, and every date, in order; they do not overlap."""
    dates = list(_dates(sentence))
    taken = [(value.start, value.end) for value in dates]
    numbers = [
        value
        for value in _numbers(sentence)
        if not any(value.start < end and start < value.end for start, end in taken)
    ]
    return sorted([*dates, *numbers], key=lambda value: value.start)


def agree(one: Value, other: Value) -> bool:
    """Whether two values of one unit say the same at the precision of the coarser one."""
    if one.kind == "date":
        return all(a == b or not a or not b for a, b in zip(one.date, other.date, strict=True))
    gap = abs(one.amount - other.amount)
    larger = max(abs(one.amount), abs(other.amount))
    if one.approximate or other.approximate:
        return gap <= 0.1 * larger
    return gap <= max(one.place, other.place) / 2 + 1e-9 * larger


def _dates(sentence: str) -> Iterator[Value]:
    for found in dates_in(sentence):
        before, after = sentence[: found.start], sentence[found.end :]
        yield Value(
            kind="date",
            start=found.start,
            end=found.end,
            unit="date",
            date=(found.year, found.month, found.day),
            usable=not (_RANGE_AFTER.match(after) or _RANGE_BEFORE.search(before)),
        )


def _numbers(sentence: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(sentence):
        start = match.start("currency") if match["currency"] else match.start(2) if match["digits"] else match.start(3)
        amount, place, spoken_scale = _amount(match)
        before, after = sentence[:start], sentence[match.end() :]
        unit = _unit(match, after)
        if unit is None:
            continue
        dimension, factor, length, modifiers = unit
        if not spoken_scale and "." not in (match["digits"] or ""):
            place = min(place, max(2 * _ROUNDING_CAP * amount, 1.0))
        if dimension.startswith("count:") and amount < 100:
            place = 0.0
        yield Value(
            kind="number",
            start=start,
            end=match.end() + length,
            unit=dimension,
            amount=amount * factor,
            place=place * factor,
            modifiers=modifiers,
            approximate=bool(_APPROXIMATE_BEFORE.search(before)),
            usable=not (
                _BOUND_BEFORE.search(before)
                or _RANGE_BEFORE.search(before)
                or _CHANGE_BEFORE.search(before)
                or _RANGE_AFTER.match(after)
                or _RANGE_AFTER.match(after[length:])
            ),
        )


def _amount(match: re.Match[str]) -> tuple[float, float, bool]:
    """The number, the place it is written to, and whether a word such as "million" scales it."""
    if match["digits"]:
        plain = match["digits"].replace(",", "")
        number = float(plain)
        whole, _, fraction = plain.partition(".")
        place = 10.0 ** -len(fraction) if fraction else 10.0 ** (len(whole) - len(whole.rstrip("0")) if number else 0)
    else:
        number, place = float(spelled(match["words"])), 1.0
    scale = 1.0
    for name in ("scale", "short", "scale2"):
        scale *= 10.0 ** POWERS.get((match[name] or "").lower(), 0)
    return number * scale, place * scale, scale > 1.0


def spelled(words: str) -> int:
    return sum(_SMALL.get(part, 0) + _TENS.get(part, 0) for part in re.split(r"[ -]", words.lower()))


def _unit(match: re.Match[str], after: str) -> tuple[str, float, int, tuple[str, ...]] | None:
    """Dimension, factor to its base unit, length of the unit's text, and a counted noun's modifiers."""
    if match["currency"]:
        return _CURRENCIES[match["currency"]], 1.0, 0, ()
    found = _UNIT.match(after)
    if found:
        name = found["symbol"] or found["name"]
        dimension, factor = UNITS.get(name) or UNITS[name.rstrip("s")]
        return dimension, factor, found.end(), ()
    counted = _COUNT_NOUN.match(after)
    return _counted(counted) if counted else None


def _counted(match: re.Match[str]) -> tuple[str, float, int, tuple[str, ...]] | None:
    """A counted noun: up to three modifiers and a plural, such as "bulb turbines"."""
    phrase = match[1].split()
    for position, word in enumerate(phrase):
        lowered = word.lower()
        if lowered in FUNCTION_WORDS:
            return None
        plural = lowered in _PLURALS or (lowered.endswith("s") and not lowered.endswith(("ss", "us", "is", "'s", "’s")))
        if plural:
            length = match.start(1) + sum(len(part) + 1 for part in phrase[: position + 1]) - 1
            modifiers = tuple(stem(part) for part in phrase[:position])
            return f"count:{stem(lowered)}", 1.0, length, modifiers
        if lowered in VERBS:
            return None
    return None
