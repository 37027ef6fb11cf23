"""A clock that a test sets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class HandClock:
    """Stands still until `advance`."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
