"""Numbers with units and dates in a text, as intervals that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from math import inf, isclose, nan
from typing import Literal

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.dates import WrittenDate, dates_in
from graph_research.text.language.number_words import SPELLED, spelled_number
from graph_research.text.language.tables import any_of, facts
from graph_research.text.language.units import (
    CJK_SCALES,
    CURRENCIES,
    EURO_SCALES,
    RATES,
    SCALES,
    SHORT_SCALES,
    UNITS,
)
from graph_research.text.language.versions import is_behind_version_word


@dataclass(frozen=True, kw_only=True)
class Value:
    """`text[start:end]` as what it may mean: from `low` to `high`, each `slack` off at most.

    A number is in the base unit of `unit` (`power`, `money:euro`, …; empty for a count or a bare number), `factor`
    times as large as in its own unit, where a scale word makes it `scale` times as large as its digits. `per` is the
    dimension and the factor of what follows "per". `rounding` is how far off a round number may be, `grouped` the
    factor of its other reading: 1,000 where the point of `1.200` may group digits, 1/1,000 where the `K` of `300K` may
    be a unit. A date is in days, from the first that it may be to the last: 2016 has 366, 14 March 2016 is one,
    14 March may be of any year. `parts` are those of a number with a point that nothing follows, which may be a
    version, and `release` is 2 where a word such as "version" says so, and 1 behind a name.
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
    scale: float = 1.0
    per: tuple[str, float] | None = None
    date: WrittenDate | None = None
    parts: tuple[int, ...] = ()
    release: int = 0

    @property
    def kind(self) -> Literal["number", "date"]:
        return "date" if self.date else "number"

    @property
    def readings(self) -> set[tuple[float, float]]:
        return {(self.low, self.high), (self.low * self.grouped, self.high * self.grouped)}


SPACED_LETTER = r"[^\W\u3040-\u9fff]"
"""A letter or digit, but none of Chinese and Japanese, which may stand right behind a unit: `16 MB的`."""
THINGS = "things"
"""In place of a unit, of a number that counts or numbers what the word behind it names."""
_SCALE = "|".join(SCALES)
_CJK = "".join(CJK_SCALES)
# A digit glued to a letter, or to one by a hyphen or in brackets, belongs to a name (`CO2`, `IL-6`, `git-push(1)`,
# `40P01`), but for a version (`v2`, `pre-2.32`).
_NUMBER = deferred(
    r"(?P<currency>[€$£¥])?\s?(?:(?<![A-UW-Za-uw-zÀ-ӿ])(?:(?<![A-Za-zÀ-ӿ][-–])|(?=\d+\.\d))(?<![^A-Za-z][A-Z]/)(?<!\d)(?<!\d/)(?<!\d[.,])(?!(?<=[A-Za-z]\()\d\))"
    r"(?!\d{2,}(?-i:[A-Z])\d{2})(?P<digits>\d{1,3}(?:[\u00a0\u202f’']\d{3})+(?!\d)|\d+(?:[.,]\d+)*)|"
    rf"\b(?P<words>{SPELLED})(?:\b|(?=(?:{any_of('times')})\b)))"
    rf"(?:\s?(?P<cjk>[{_CJK}](?![瓦赫字])(?:\d+[{_CJK}])*)(?P<rest>\d{{1,4}}(?![\d.,]))?"
    rf"|[\s-]?(?P<scale>{_SCALE})\b(?:(?<=mio|mrd|mln|mld|tys|tsd)\.)?)?(?:(?P<short>k|(?(currency)m|(?!)))\b"
    rf"|\s?(?P<of_euro>{'|'.join(EURO_SCALES)})(?=\s?€))?(?(currency)\b)"
    rf"(?:\s(?P<scale2>{_SCALE})\b)?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)")
_ONE_SIGN = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?P<sign>[.,])\d{3}(?![\d]|[.,]\d)")
_THOUSAND = 1000.0
_DECIMAL_MARKS = facts("decimal_mark")
_WRITTEN_UNITS = sorted(UNITS, key=len, reverse=True)
_UNIT = deferred(
    r"(?:[\s-]|\s(?:de|di)\s|\sd['’])?(?:(?P<name>(?<!\d)s|"
    + "|".join(re.escape(name) for name in _WRITTEN_UNITS if name[0].isalpha() and name[0] < "\u3000" and name != "s")
    + rf")(?:(?<=\w\w\w)[sn])?(?!{SPACED_LETTER}|[²³'’])|(?P<symbol>"
    + "|".join(re.escape(name) for name in _WRITTEN_UNITS if not name[0].isalpha() or name[0] > "\u3000")
    + r"))"
)
_PER = deferred(
    r"(?:\s?/\s?|(?:\s(?:or|oder|ou|o)\s\w+)?(?:\s[^\W\d][\w-]*){0,2}?\s(?:per|pro|par|por|al|a|an|na)\s)(?P<per>"
    + "|".join(re.escape(name) for name in sorted(RATES, key=len, reverse=True) if name[0].isalpha())
    + r")\b"
)


def _before(subject: str, signs: str, after: str = "") -> re.Pattern[str]:
    """What stands right before a number: words of a subject, or signs."""
    words = "|".join(facts(subject).values())
    return deferred(rf"(?:\b(?:{words})\s{after}|(?:{signs})\s?)[€$£]?$", re.IGNORECASE)


_ABOUT = _before("about", "~|≈|およそ|約", r"(?:the\s|an?\s)?")
_VAGUE = deferred(rf"\b(?:{any_of('vague')})\s$", re.IGNORECASE)
"""Before a round number in words that is then one of several: "einige hundert"."""
_AT_LEAST = _before("at_least", ">|≥")
_AT_MOST = _before("at_most", "<|≤")


def _behind(subject: str, signs: str) -> re.Pattern[str]:
    """What stands right behind a number and its unit: words of a subject that compare with nothing else, or signs."""
    words = "|".join(facts(subject).values())
    return deferred(rf"\s(?:{words})\b(?!\s(?:than|als|que|all|\d))|(?:{signs})(?![\w+])", re.IGNORECASE)


_OR_MORE = _behind("or_more", r"\s?\+")
_OR_LESS = _behind("or_less", "(?!)")
_SINCE = _before("since", "(?!)")
_UNTIL = _before("until", "(?!)")
ARTICLE_BEFORE = deferred(rf"\b(?:{any_of('articles')})\s$", re.IGNORECASE)
"""The end of a text before a number that says which things are meant ("the two"), and not how many there are."""
_PERCENT_BEFORE = "百分之"
_SELDOM_COUNTS = re.compile(r"(?:one|zero)\b|(?!1[年月日号號位])1(?=[\u3040-\u9fff])", re.IGNORECASE)
"""Chinese and Japanese count with 1 where others have an article: `1台`."""
_TO = re.compile(r"\s?(?:to|[-–—]|bis|à)\s?[€$£]?")
_AND = re.compile(r"\s(?:and|und|et|y)\s[€$£]?")
BETWEEN_BEFORE = _before("between", "(?!)")
_NO_VALUE = re.compile(r"(?<=[^\W\u3040-\u9fff])|(?<=[.,:/’'°′″=–-])")
_NO_VALUE_AFTER = re.compile(r"[:/]\d|-[^\W\d]|\s?[°′″](?!C)|(?:st|nd|rd|th)\b|[A-Za-z]")
# A bare number after a name or a sign is the thing's own ("Zone 5", "No. 3"), and "[14]" points to a note.
_LABEL_BEFORE = re.compile(r"(?<![.!?|:]\s)(?<!^)\b[A-Z]\w+\s$|[#№\[]\s?$|\b[Nn]o\.?\s$")
_PLACE_BEFORE = deferred(
    rf"\b(?:{any_of('numbered_parts')}|{any_of('numbered_pages')})\.?\s(?:\d[\d.]*(?:,\s|\s?[-–]\s?|\s\w+\s))*$",
    re.IGNORECASE,
)
"""Before a bare number that says where something stands: "p. 141", "sections 4.1 and 4.3"."""
_ITEM = re.compile(r"\(?\d+(?:\.\d+)*[.)]$")
"""The number of an item or a heading with what follows it, at the beginning of a text."""
_COUNTED = re.compile(r"\s[^\W\d_]{4,}")
"""The word behind a number with a `K` that means thousand; otherwise it may be kelvin, or a size of a file."""
_POINTED = re.compile(r"\d+\.\d+")
_NAME_BEFORE = re.compile(r"\b[A-Z]\w*[a-z]\w*\s$")
_RELEASES = 2
"""Together with another number: a word for versions before one of the two, or names before both."""
_FEWEST_OF_A_LIST = 3
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


def period(text: str) -> Value | None:
    """The time from the first date of a short text to its last, or on its open side; None without a date, or where the
    text has three or more."""
    dates = [one for one, _ in _dates(text) if one.date and one.date.year]
    if not 0 < len(dates) < _FEWEST_OF_A_LIST:
        return None
    first, last = dates[0], dates[-1]
    is_one = len(dates) == 1
    opens = is_one and _SINCE.search(text[: first.start])
    begins = is_one and _UNTIL.search(text[: first.start])
    return replace(last, start=first.start, low=-inf if begins else first.low, high=inf if opens else last.high)


def figures(text: str, *, with_one: bool = False) -> list[Value]:
    """Every number and date as it is written: of names and versions, both ends of a range, and a date's year again.

    Digits within words (`COVID-19`, `PM2.5`, `M/M/1`, `printf(3)`) and, unless asked for, "one", which seldom counts,
    are not among them.
    """
    found = [
        one
        for one, _ in _figures(text)
        if with_one
        or one.scale > 1.0
        or (one.unit and text[one.start].isdigit())
        or not _SELDOM_COUNTS.match(text, one.start)
    ]
    years = [(one, float(one.date.year)) for one in found if one.date and one.date.month and one.date.year]
    return [*found, *(Value(start=one.start, end=one.end, low=year, high=year) for one, year in years)]


def agree(one: Value, other: Value) -> bool:
    """Whether two values may mean the same; values of different units never do."""
    slack = max(one.slack, other.slack, one.rounding, other.rounding) + 1e-9 * abs(one.low)
    rate = _rate(one, other)
    return one.unit == other.unit and any(
        max(a, c * rate) - min(b, d * rate) <= slack for a, b in one.readings for c, d in other.readings
    )


def holds(span: Value, one: Value) -> bool:
    """Whether a value lies within a span; one of another unit never does."""
    rate = _rate(span, one)
    return span.unit == one.unit and span.low <= one.low * rate and one.high * rate <= span.high


def states(other: Value, one: Value) -> bool:
    """Whether one of two `figures` is the other, as exactly as it is written; a unit may be missing."""
    a, b = one.date, other.date
    if a and b:
        if a.month:  # its year is among the figures too
            return a.month == b.month and (a.day == b.day or not a.day * b.day)
        return bool(b.year) and max(one.low, other.low) - min(one.high, other.high) <= one.slack
    if a or b:  # a year may be read as a bare number, whose unit may be missing
        year, number = (a, other) if a else (b, one)
        if year is None or year.month or (a and number.unit not in ("", THINGS)):
            return False
        return any(isclose(low, year.year * number.factor) for low, _ in number.readings)
    if one.unit and other.unit and one.unit != other.unit:
        return False
    if one.parts and other.parts and one.parts != other.parts and one.release + other.release >= _RELEASES:
        return False  # 3.10 is another version than 3.1
    factor = _rate(one, other) * (1.0 if one.unit and other.unit else one.factor / other.factor)
    return any(
        abs(one.low * scale - y * factor) <= scale * (one.slack + 1e-9 * abs(one.low))
        for scale in {1.0, one.grouped}
        for y, _ in other.readings
    )


def in_notation(figure: Value, text: str, language: str) -> Value:
    """A figure of a text such as `1.200` or `1,200` as readers of a language take it, in which a point or a comma parts
    decimals; any other as it is, and that of a version or in a language of which this is not known."""
    written, mark = _ONE_SIGN.search(text, figure.start, figure.end), _DECIMAL_MARKS.get(language)
    if not (written and mark) or figure.release or figure.date or figure.unit == "version":
        return figure
    of_digits = 1.0 if figure.grouped == _THOUSAND else 1.0 / _THOUSAND  # `1.200` is read as 1.2, `1,200` as 1,200
    times = of_digits if written["sign"] == mark else of_digits * _THOUSAND
    read = {name: getattr(figure, name) * times for name in ("low", "high", "slack", "rounding")}
    return replace(figure, grouped=1.0, **read)


def _rate(one: Value, other: Value) -> float:
    """What turns the other's rate into the first one's, nan where they are of different kinds; 1 where one is none."""
    if one.per is None or other.per is None:
        return 1.0
    return one.per[1] / other.per[1] if one.per[0] == other.per[0] else nan


@lru_cache(maxsize=1024)
def _figures(text: str) -> Sequence[tuple[Value, bool]]:
    """The dates, then the numbers, each with whether it can be compared; each round reads the same sentences again."""
    dates = list(_dates(text))
    numbers = (
        (value, comparable)
        for value, comparable in _numbers(text)
        if not any(value.start < taken.end and taken.start < value.end for taken, _ in dates)
    )
    return (*dates, *numbers)


def _dates(text: str) -> Iterator[tuple[Value, bool]]:
    for found in dates_in(text):
        if not found.month and _is_amount(text, found):
            continue
        try:
            low = date(found.year or 4, found.month or 1, found.day or 1)
        except ValueError:
            continue
        before = text[max(0, found.start - _LONGEST_BEFORE) : found.start]
        following = date(low.year + (low.month == 12), low.month % 12 + 1, 1)
        last = following.toordinal() - 1 if found.month else date(low.year, 12, 31).toordinal()
        value = Value(
            start=found.start,
            end=found.end,
            unit="date",
            low=low.toordinal() if found.year else -inf,
            high=(low.toordinal() if found.day else last) if found.year else inf,
            slack=_ABOUT_DAYS if _ABOUT.search(before) else 0.0,
            date=found,
        )
        yield value, bool(found.year)


def _is_amount(text: str, year: WrittenDate) -> bool:
    """Whether the number that may be a year has a unit, a rate, a currency or a scale: `1340 million euros`."""
    number = _NUMBER.match(text, year.start)
    return bool(
        _UNIT.match(text, year.end)
        or _PER.match(text, year.end)
        or (number and (number["scale"] or number["cjk"]))
        or text[: year.start].endswith(("€", "$", "£", "¥"))
    )


def _numbers(text: str) -> Iterator[tuple[Value, bool]]:
    for match in _NUMBER.finditer(text):
        at = match.start("digits" if match["digits"] else "words")
        start = match.start("currency") if match["currency"] else at
        before = text[max(0, start - _LONGEST_BEFORE) : start]
        if match["words"] and _VAGUE.search(before):
            continue
        unit = None if match["currency"] else _UNIT.match(text, match.end())
        end = unit.end() if unit else match.end()
        per = _PER.match(text, end)
        if unit and not per and text.startswith("/", end):
            unit, end = None, match.end()
        value = _amount(match)
        if match["short"] == "K" and not match["currency"] and not _COUNTED.match(text, match.end()):
            value = replace(value, grouped=1 / SHORT_SCALES["k"])
        dimension, factor = (
            UNITS[unit["name"] or unit["symbol"]]
            if unit
            else (value.unit or CURRENCIES.get(match["currency"] or "", ""), 1.0)
        )
        if before.endswith(_PERCENT_BEFORE):
            dimension = "percent"
        is_bare = not (dimension or per or value.scale > 1.0)
        parts, release = _as_release(before, match["digits"] or "") if is_bare else ((), 0)
        slack = value.slack
        if _ABOUT.search(before):
            slack = max(slack, _ABOUT_SHARE * value.low)
        comparable = not (
            value.unit
            or _NO_VALUE.match(text, at)
            or (_NO_VALUE_AFTER.match(text, match.end()) and not unit)
            or (not unit and match["digits"] and _LABEL_BEFORE.search(before))
            or (not unit and _PLACE_BEFORE.search(before))
            or (not unit and value.scale == 1.0 and _SELDOM_COUNTS.match(text, at))
            or _ITEM.match(text, 0, match.end() + 1)
        )
        yield (
            replace(
                value,
                start=start,
                end=end,
                unit=dimension,
                low=value.low * factor,
                high=value.low * factor,
                slack=slack * factor,
                rounding=value.rounding * factor,
                factor=factor,
                per=RATES[per["per"]] if per else None,
                parts=parts,
                release=release,
            ),
            comparable,
        )


def _as_release(before: str, digits: str) -> tuple[tuple[int, ...], int]:
    """The `parts` of a number with a point, and its `release` by what stands before it."""
    if not _POINTED.fullmatch(digits):
        return (), 0
    release = _RELEASES if is_behind_version_word(before, len(before)) else int(bool(_NAME_BEFORE.search(before)))
    return tuple(map(int, digits.split("."))), release


def _amount(match: re.Match[str]) -> Value:
    """The number, with half of the last place as slack; round numbers without a scale word may be 2.5 % off."""
    scale = SHORT_SCALES.get((match["short"] or "").lower(), 1.0)
    scale *= EURO_SCALES.get((match["of_euro"] or "").lower(), 1.0)
    for name in ("scale", "scale2"):
        scale *= SCALES.get((match[name] or "").lower(), 1.0)
    first, *smaller = re.findall(rf"(\d*)([{_CJK}])", match["cjk"] or "") or [("", "")]
    scale *= CJK_SCALES.get(first[1], 1.0)
    if not match["digits"]:
        number, half = float(spelled_number(match["words"])) * scale, scale / 2
        return Value(start=0, end=0, low=number, slack=half if scale > 1.0 else 0.0, rounding=half, scale=scale)
    digits, grouped = re.sub(r"[\u00a0\u202f’']", "", match["digits"]), 1.0
    if _THOUSANDS.fullmatch(digits):
        if digits.count(".") == 1 and "," not in digits:
            grouped = _THOUSAND
        else:
            digits = digits.replace(re.sub(r"\d", "", digits)[0], "")
    whole, *parts = re.split("[.,]", digits)
    if len(parts) > 1:  # a version or a numbered section
        return Value(start=0, end=0, unit="version", low=float(whole + "".join(part.zfill(4) for part in parts)))
    number = float(".".join((whole, *parts))) + sum(float(more) * CJK_SCALES[sign] for more, sign in smaller) / scale
    exact = place = CJK_SCALES[smaller[-1][1]] / scale if smaller else 10.0 ** -len("".join(parts))
    if match["rest"]:
        number, exact, place = number + float(match["rest"]) / scale, 1 / scale, 1 / scale
    if not parts:
        place = 10.0 ** (len(whole) - len(whole.rstrip("0")) if number else 0)
        place = place if scale > 1.0 else min(place, max(2 * _ROUNDED * number, 1.0))
    return Value(
        start=0,
        end=0,
        low=number * scale,
        slack=exact * scale / 2,
        rounding=place * scale / 2,
        grouped=grouped,
        scale=scale,
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
        elif _AT_LEAST.search(before) or _OR_MORE.match(sentence, one.end):
            one = replace(one, high=inf)
        elif _AT_MOST.search(before) or _OR_LESS.match(sentence, one.end):
            one = replace(one, low=0.0)
        yield one


def _is_range(sentence: str, one: Value, other: Value) -> bool:
    between = sentence[one.end : other.start]
    joined = _TO.fullmatch(between) or (_AND.fullmatch(between) and BETWEEN_BEFORE.search(sentence[: one.start]))
    return bool(joined) and (not one.unit or one.unit == other.unit)


def _scale_of(sentence: str, one: Value, other: Value) -> float:
    """What the scale word and the unit of a range's end say of its beginning that has none."""
    is_bare = not one.unit and re.fullmatch(r"[\d.,]+", sentence[one.start : one.end])
    return other.scale * other.factor if is_bare else 1.0
