"""`--now`: what counts as a time, and that it stands still."""

from datetime import UTC, datetime

import pytest

from graph_research.app.clock import FixedClock, TimestampInvalid, make_clock, parse_timestamp


@pytest.mark.parametrize(
    "text",
    ["2026-01-01T12:00:00Z", "2026-01-01T12:00:00+00:00", "2026-01-01T13:00:00+01:00", "2026-01-01T12:00:00"],
)
def test_a_timestamp_is_read_as_utc(text: str) -> None:
    assert parse_timestamp(text) == datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "now", "2026-13-01", "0001-01-01T00:00:00+23:00", "12:00"])
def test_what_is_no_timestamp_is_refused(text: str) -> None:
    with pytest.raises(TimestampInvalid):
        parse_timestamp(text)


def test_no_time_passes_on_a_fixed_clock() -> None:
    clock = make_clock("2026-01-01")
    assert isinstance(clock, FixedClock)
    assert clock.now() == clock.now()
    assert clock.monotonic() == clock.monotonic()
