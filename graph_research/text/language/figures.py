"""Figures of a text: numbers with their units, and dates in any usual form, to be compared with another text's."""

from __future__ import annotations

import re
from typing import NamedTuple

from graph_research.text.language.dates import MONTH_NUMBERS
from graph_research.text.language.quantities import POWERS, SPELLED, UNITS, spelled

_MONTH = rf"(?:{'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})\b"
_POWERS = {**POWERS, "k": 3, "millionen": 6, "milliarden": 9, "millones": 6}
_SCALES = "|".join(_POWERS)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"[12]\d{3}"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d)(?P<y>{_YEAR})[-/](?P<m>0?[1-9]|1[0-2])(?:[-/](?P<d>{_DAY}))?(?![-/\d])",
        rf"(?<![\d.])(?P<d>{_DAY})[./](?P<m>0?[1-9]|1[0-2])[./](?P<y>{_YEAR})(?!\d)",
        rf"(?P<y>{_YEAR})年(?P<m>1[0-2]|[1-9])月(?:(?P<d>{_DAY})日)?",
        rf"(?<![\d年])(?P<m>1[0-2]|[1-9])月(?P<d>{_DAY})日",
        rf"(?<![\d.,])(?P<d>{_DAY})(?:st|nd|rd|th|er|\.|º)?\s(?:of\s|de\s)?(?P<m>{_MONTH})\.?"
        rf"(?:,?\s(?:de\s)?(?P<y>{_YEAR})(?!\d))?",
        rf"\b(?P<m>{_MONTH})\.?\s(?P<d>{_DAY})(?:st|nd|rd|th)?(?![\w:]|[.,]\d)(?:,?\s(?P<y>{_YEAR})(?!\d))?",
        rf"\b(?P<m>{_MONTH})\.?,?\s(?:de\s|of\s)?(?P<y>{_YEAR})(?!\d)",
    )
]
# A digit glued to a letter, or to one by a hyphen, belongs to a name (`CO2`, `IL-6`), but for a version's `v`.
_NUMBER = re.compile(
    r"(?P<currency>[€$£¥])?\s?(?<![A-UW-Za-uw-zÀ-ӿ])(?<![A-Za-zÀ-ӿ][-–])(?<!\d)(?<!\d/)(?<!\d[.,])"
    r"(?P<digits>\d+(?:[.,]\d+)*)"
    rf"(?:[\s-]?(?P<scale>{_SCALES})\b(?![²³/]))?|\b(?P<words>{SPELLED})\b(?:[\s-](?P<scale2>{_SCALES})\b)?",
    re.IGNORECASE,
)
_CURRENCIES = {"€": "money:euro", "$": "money:dollar", "£": "money:pound", "¥": "money:yen"}
_UNIT = re.compile(
    rf"[\s-]?(?P<name>{'|'.join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))})"
    r"(?:(?:(?<=\w\w\w)s?|(?<=\w))\b(?![²³/])|(?<=[%€]))"
)
_NO_NUMBER_AFTER = re.compile(r"(?!(?:st|nd|rd|th|s|x)\b)[A-Za-zÀ-ӿ]", re.IGNORECASE)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)")
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|some|circa|nearly|almost|over|under|rund|etwa|ca|environ|unos|unas|"
    r"cerca de|casi)\.?|約|[~≈])\s?(?:an?\s|the\s)?[€$£¥]?$",
    re.IGNORECASE,
)
_LONGEST_ABOUT = 20
_ROUND = 0.05


class Number(NamedTuple):
    """The number `text[start:end]`, what it may mean, how far off another may be, its unit's dimension and factor."""

    start: int
    end: int
    values: tuple[float, ...]
    tolerance: float
    dimension: str = ""
    factor: float = 1.0


class Date(NamedTuple):
    """The date `text[start:end]`; what it does not give is 0."""

    start: int
    end: int
    year: int
    month: int
    day: int


def figures(text: str) -> tuple[list[Number], list[Date]]:
    """The numbers of a text, and its dates with a month; a date's year and a year alone are numbers too.

    Digits of names (`COVID-19`, `PM2.5`) are not numbers. A number after a word such as "about" is as exact as 5 %.
    """
    dates: list[Date] = []
    rest = text
    for pattern in _DATES if any(map(str.isdigit, text)) else ():
        for match in pattern.finditer(rest):
            parts = match.groupdict()
            month = parts["m"].lower()
            number = int(month) if month.isdigit() else MONTH_NUMBERS[month]
            dates.append(Date(*match.span(), int(parts.get("y") or 0), number, int(parts.get("d") or 0)))
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    years = [Number(date.start, date.end, (float(date.year),), 0.0) for date in dates if date.year]
    return [*years, *_numbers(rest)], dates


def has_number(number: Number, others: list[Number]) -> bool:
    """Whether any of the others says the same number, as exactly as it is written and in any unit of its dimension."""
    return any(_agree(number, other) for other in others)


def _agree(number: Number, other: Number) -> bool:
    factor = 1.0
    if number.dimension and other.dimension:
        if number.dimension != other.dimension:
            return False
        factor = other.factor / number.factor
    return any(
        abs(value - theirs * factor) <= number.tolerance + 1e-9 * abs(value)
        for value in number.values
        for theirs in other.values
    )


def has_date(date: Date, others: list[Date]) -> bool:
    """Whether any of the others has its month and day as far as both give them; years are compared as numbers."""
    return any(date.month == other.month and (date.day == other.day or not date.day * other.day) for other in others)


def _numbers(text: str) -> list[Number]:
    found = []
    for match in _NUMBER.finditer(text):
        unit = _UNIT.match(text, match.end())
        if match["words"] and match["words"].lower() in ("one", "zero"):
            continue
        if match["digits"] and not unit and not match["scale"] and _NO_NUMBER_AFTER.match(text, match.end()):
            continue
        scale = 10.0 ** _POWERS.get((match["scale"] or match["scale2"] or "").lower(), 0)
        dimension, factor = UNITS[unit["name"]] if unit else (_CURRENCIES.get(match["currency"] or "", ""), 1.0)
        values, place = _readings(match["digits"]) if match["digits"] else ((float(spelled(match["words"])),), 1.0)
        tolerance = place / 2 if match["digits"] or scale > 1.0 else 0.0
        if _ABOUT.search(text[max(0, match.start() - _LONGEST_ABOUT) : match.start()]):
            year = unit is None and scale == 1.0 and re.fullmatch(_YEAR, match["digits"] or "")
            tolerance = 5.0 if year else max(tolerance, _ROUND * values[0])
        found.append(
            Number(
                match.end() - len(match[0].lstrip()),
                match.end() + (len(unit[0]) if unit else 0),
                tuple(value * scale for value in values),
                tolerance * scale,
                dimension,
                factor,
            )
        )
    return found


def _readings(digits: str) -> tuple[tuple[float, ...], float]:
    """What digits may mean, and the place of the last one: `1.200` is 1.2 in one language and 1,200 in another."""
    readings = []
    if _THOUSANDS.fullmatch(digits):
        comma = min((digits.find(mark), mark) for mark in ",." if mark in digits)[1]
        readings.append(float(digits.replace(comma, "").replace(",", ".")))
    place = 1.0
    if not readings or (digits.count(".") == 1 and "," not in digits):
        whole, *parts = re.split("[.,]", digits)
        if len(parts) > 1:  # a version or a numbered section
            return (float(f"{whole}{''.join(part.zfill(4) for part in parts)}"),), 0.0
        readings.append(float(f"{whole}.{parts[0]}") if parts else float(whole))
        place = 10.0 ** -len(parts[0]) if parts else 1.0
    return tuple(readings), place
