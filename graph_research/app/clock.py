"""A clock that stands still: it fixes every time of a run, so that two runs give the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from graph_research.errors import Action, Hint, UserMistake
from graph_research.graph.context import Clock, SystemClock

_NOW = Hint(Action.SET_OPTION, options={"now": "2026-01-31T12:00:00Z"})


class TimestampInvalid(UserMistake):
    """A time that is not an ISO 8601 timestamp."""


@dataclass(frozen=True)
class FixedClock:
    """Always `at` (aware, UTC); no second ever passes on it."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0


def make_clock(now: str | None) -> Clock:
    """The machine's clock, or one that stands still at `now`."""
    return SystemClock() if now is None else FixedClock(parse_timestamp(now))


def parse_timestamp(text: str) -> datetime:
    """An ISO 8601 date or time as an aware time in UTC; one without an offset is taken as UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise TimestampInvalid(
            f"{text[:80]!r} is not a valid timestamp", help="write it as 2026-01-31T12:00:00Z", hint=_NOW
        ) from error
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError as error:
        raise TimestampInvalid(
            f"the timestamp {text[:80]!r} is out of range", help="use a later one", hint=_NOW
        ) from error
