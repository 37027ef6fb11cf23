"""Dates as people and servers write them: read as ISO 8601, found in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from graph_research.text.canonical import canonical_text
from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.tables import any_of, listed


def _numbers(subject: str) -> dict[str, int]:
    return {
        name: number
        for months in listed(subject).values()
        for number, names in enumerate(months, start=1)
        for name in names.split("|")
    }


MONTH_NUMBERS = _numbers("months")
MONTH_NUMBERS |= {name[:3]: number for name, number in MONTH_NUMBERS.items()} | {"sept": 9, "juin": 6, "juil": 7}
"""1 to 12 by a month's name or its beginning, in several languages."""
_BEHIND_DAYS = _numbers("months_behind_days")

_MOST_CHARS = 1_000
_ISO = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_NAME = "|".join(sorted(MONTH_NUMBERS.keys() - {"out", "set", "ago"}, key=len, reverse=True))
_ANY_NAME = f"{_NAME}|{'|'.join(_BEHIND_DAYS)}"
_YEAR = r"(?:1\d|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_DATE = deferred(
    rf"(?<![\w.,:/])(?<!\w-)(?:(?:(?P<d1>{_DAY})(?:st|nd|rd|th|er|\.|º|°)?\s(?:of\s|de\s)?(?P<m1>{_ANY_NAME})\b"
    rf"(?:\.?,?\s(?:of\s|del?\s)?(?P<y1>{_YEAR}))?"
    rf"|(?P<m2>{_NAME})\.?\s(?P<d2>{_DAY})(?:st|nd|rd|th)?\b(?:\s?,?\s(?P<y2>{_YEAR}))?"
    rf"|(?P<m3>{_ANY_NAME})\.?,?\s(?:of\s|de\s)?(?P<y3>{_YEAR})"
    rf"|(?P<y4>{_YEAR})[-/](?P<m4>{_MONTH})[-/](?P<d4>{_DAY})"
    rf"|(?P<d5>{_DAY})(?P<sign>[./-])(?P<m5>{_MONTH})(?P=sign)(?P<y5>{_YEAR}))(?![\d/%]|[.,:]\d)"
    rf"|(?P<y6>{_YEAR})(?![\w/%]|[.,:]\d))"
    rf"|(?<!\d)(?P<y7>\d{{4}})年(?:(?P<m7>{_MONTH})月(?:(?P<d7>{_DAY})日)?)?|(?<!\d)(?P<m8>{_MONTH})月(?P<d8>{_DAY})日",
    re.IGNORECASE,
)

_FULL_NAME = "|".join(sorted(_numbers("months") | _BEHIND_DAYS, key=len, reverse=True))
_MONTH_NAMED = deferred(rf"\b(?!may\b)(?i:{_FULL_NAME})\b")
_MONTH_ALONE = deferred(
    rf"\b(?i:{any_of('before_months')})[\s-](?!may\b)(?P<name>(?i:{_FULL_NAME}))(?!\w)|\A(?P<whole>(?i:{_FULL_NAME}))\Z"
)


def iso_date(value: object) -> str | None:
    """An ISO date or moment, or the date of a mail or of HTTP (`Tue, 11 Nov 2025 10:00:00 GMT`), as ISO 8601 and as
    exact as it was written; None for anything else."""
    written = canonical_text(value[:_MOST_CHARS]).strip() if isinstance(value, str) else ""
    if whole := _ISO.fullmatch(written):
        return iso_from_parts(*whole.groups())
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(written).isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    day = _ISO.match(written)
    return iso_from_parts(*day.groups()) if day else None


def iso_from_parts(year: object, month: object = None, day: object = None) -> str | None:
    """`2024`, `2024-05` or `2024-05-07`; a month may be a name (`May`). What is not valid is left out from there on;
    None without a year."""
    years, days = _whole(year), _whole(day)
    months = (MONTH_NUMBERS.get(month.strip().lower()[:3], 0) if isinstance(month, str) else 0) or _whole(month)
    if years is None or not 1000 <= years <= 9999:
        return None
    if months is None or not 1 <= months <= 12:
        return f"{years:04}"
    try:
        return date(years, months, days or 0).isoformat()
    except ValueError:
        return f"{years:04}-{months:02}"


def date_parts(text: str) -> tuple[str, ...]:
    """Year, month and day of an ISO 8601 date as far as it goes, such as `("2024", "05")`; empty for anything else."""
    found = re.match(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", text)
    return tuple(part for part in found.groups() if part) if found else ()


def moment(text: str | None) -> datetime | None:
    """An ISO 8601 date or time, in UTC where it names no zone; a year or a year and month stand for their first day.
    None for anything else."""
    written = (text or "").strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", written):
        written = f"{written}-01-01"[:10]
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class WrittenDate:
    """A date at `text[start:end]`; what it does not give is 0."""

    start: int
    end: int
    year: int
    month: int
    day: int


def dates_in(text: str) -> Iterator[WrittenDate]:
    """The dates in a text in order, with a year, a day of a month or both, and numbers that may be a year."""
    for match in _DATE.finditer(text):
        parts = {name[0]: written for name, written in match.groupdict().items() if written}
        month = parts.get("m", "0").lower()
        yield WrittenDate(
            start=match.start(),
            end=match.end(),
            year=int(parts.get("y", 0)),
            month=int(month) if month.isdigit() else _month(month),
            day=int(parts.get("d", 0)),
        )


def months_alone(text: str) -> Iterator[WrittenDate]:
    """The months that a text names without a day or a year, behind a word that shows that a month is meant ("in May"),
    or as the whole of it."""
    found = list(_MONTH_ALONE.finditer(text))
    dated = list(dates_in(text)) if found else []
    for match in found:
        start, end = match.span("name" if match["name"] else "whole")
        if not any(one.start < end and start < one.end for one in dated):
            yield WrittenDate(start=start, end=end, year=0, month=_month(text[start:end]), day=0)


def months_named(text: str) -> set[int]:
    """The months, 1 to 12, of a text's dates and of all words that may be a month's name but the verb "may"."""
    return {one.month for one in dates_in(text) if one.month} | set(map(_month, _MONTH_NAMED.findall(text)))


def _month(name: str) -> int:
    return (MONTH_NUMBERS | _BEHIND_DAYS)[name.lower()]


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = int(float(value))
    except (ValueError, OverflowError):
        return None
    return found if abs(found) <= 9999 else None
