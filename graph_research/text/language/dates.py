"""Dates as people and servers write them: read as ISO 8601, found in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from graph_research.text.canonical import canonical_text

_MONTHS = (
    "january januar janvier enero gennaio janeiro januari",
    "february februar février febrero febbraio fevereiro februari",
    "march märz mars marzo março maart",
    "april avril abril aprile",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre",
    "december dezember décembre diciembre dicembre dezembro",
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
MONTH_NUMBERS |= {name[:3]: number for name, number in MONTH_NUMBERS.items()} | {"sept": 9, "juin": 6, "juil": 7}
"""1 to 12 by a month's name or its beginning, in several languages."""

_MOST_CHARS = 1_000
_ISO = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_NAME = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_YEAR = r"(?:1\d|20)\d\d"
_DATE = re.compile(
    rf"(?<![\w.,:/])(?<!\w-)(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th|\.|º)?\s(?:of\s|de\s)?(?P<m1>{_NAME})\b\.?,?\s(?:del?\s)?(?P<y1>{_YEAR})"
    rf"|(?P<m2>{_NAME})\.?\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s?,?\s(?P<y2>{_YEAR})"
    rf"|(?P<m3>{_NAME})\.?,?\s(?:of\s|de\s)?(?P<y3>{_YEAR})"
    rf"|(?P<y4>{_YEAR})-(?P<m4>[01]\d)-(?P<d4>[0-3]\d)"
    rf"|(?P<y5>{_YEAR}))(?![\w/%]|[.,:]\d)"
    r"|(?<!\d)(?P<y6>\d{4})年(?:(?P<m6>\d\d?)月(?:(?P<d6>\d\d?)日)?)?",
    re.IGNORECASE,
)
_OF_A_NAME = re.compile(
    r"\b[Tt]he\s$|(?<!^)(?<![.!?]\s)\b[A-Z]\w+\s$"
)  # "the 1989 Cannes Film Festival" says which festival, not when
DATED_MONTH = re.compile(rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+({_NAME})\b|({_NAME})\.?,?\s+\d)", re.IGNORECASE)
"""A day of a month, with or without its year."""


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
    """A date at `sentence[start:end]`; month and day are 0 where it does not give them."""

    start: int
    end: int
    year: int
    month: int
    day: int


def dates_in(sentence: str) -> Iterator[WrittenDate]:
    """The dates in a sentence in order, and every number from 1000 to 2099 that may be a year."""
    for match in _DATE.finditer(sentence):
        groups = {name: text for name, text in match.groupdict().items() if text}
        month = next((text for name, text in groups.items() if name[0] == "m"), "")
        named = _OF_A_NAME.search(sentence[: match.start()]) and re.match(r"\s[A-Z]", sentence[match.end() :])
        if not month and named:
            continue
        yield WrittenDate(
            start=match.start(),
            end=match.end(),
            year=int(next(text for name, text in groups.items() if name[0] == "y")),
            month=int(month) if month.isdigit() else MONTH_NUMBERS.get(month.lower(), 0),
            day=int(next((text for name, text in groups.items() if name[0] == "d"), 0)),
        )


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = int(float(value))
    except (ValueError, OverflowError):
        return None
    return found if abs(found) <= 9999 else None
