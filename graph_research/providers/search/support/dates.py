"""Dates as providers write them become ISO 8601, as exact as they were: a year, a month, a day or a moment."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from graph_research.providers.search.support.json_fields import line, number

__all__ = ["iso_date", "iso_from_parts"]

_ISO = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def iso_date(value: Any) -> str | None:
    """An ISO date or moment, or the date of a mail or of HTTP (`Tue, 11 Nov 2025 10:00:00 GMT`); None for the rest."""
    written = line(value)
    if whole := _ISO.fullmatch(written):
        return iso_from_parts(*whole.groups())
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(written).isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    day = _ISO.match(written)
    return iso_from_parts(*day.groups()) if day else None


def iso_from_parts(year: Any, month: Any = None, day: Any = None) -> str | None:
    """`2024`, `2024-05` or `2024-05-07`; a month may be a name (`May`). What is not valid is left out from there on;
    None without a year."""
    years, months, days = _whole(year), _month(month), _whole(day)
    if years is None or not 1000 <= years <= 9999:
        return None
    if months is None or not 1 <= months <= 12:
        return f"{years:04}"
    try:
        return date(years, months, days or 0).isoformat()
    except ValueError:
        return f"{years:04}-{months:02}"


def _whole(value: Any) -> int | None:
    found = number(value)
    return None if found is None or abs(found) > 9999 else int(found)


def _month(value: Any) -> int | None:
    name = line(value)[:3].lower()
    return _MONTHS.index(name) + 1 if name in _MONTHS else _whole(value)
