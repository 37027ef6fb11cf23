"""Tags: the forms in which JSON holds what it lacks, an object of the value's kind (`$type`) and its text."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

TAG = "$type"

_DURATION = re.compile(r"(-?)P(\d+)DT(\d+)\.(\d{6})S")
_MICROSECOND = timedelta(microseconds=1)
_DAY_MICROSECONDS = 86_400_000_000


def tagged(value: Any) -> dict[str, str]:
    """The tagged form of a value; TypeError where its kind has none."""
    for kind, (name, write) in WRITERS.items():
        if isinstance(value, kind):
            return {TAG: name, "value": write(value)}
    raise TypeError


def _duration(value: timedelta) -> str:
    """ISO 8601, exact."""
    whole = value // _MICROSECOND
    days, rest = divmod(abs(whole), _DAY_MICROSECONDS)
    return f"{'-' if whole < 0 else ''}P{days}DT{rest // 1_000_000}.{rest % 1_000_000:06}S"


def _duration_read(text: str) -> timedelta:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a duration")
    sign, days, seconds, micro = match.groups()
    whole = int(days) * _DAY_MICROSECONDS + int(seconds) * 1_000_000 + int(micro)
    return timedelta(microseconds=-whole if sign else whole)


WRITERS: Mapping[type, tuple[str, Callable[[Any], str]]] = {
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
    timedelta: ("timedelta", _duration),
    Decimal: ("decimal", str),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode()),
}
"""datetime before date: it is one."""

READERS: Mapping[str, Callable[[str], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": _duration_read,
    "decimal": Decimal,
    "bytes": base64.b64decode,
    "integer": int,
}
