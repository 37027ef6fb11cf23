"""What limits promise, on every backend: clients of one file or database take turns and share circuit breakers."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.providers.limits.base import Limits, LimitsUnavailable, Server, Turn
from graph_research.providers.limits.postgres import PostgresLimits, migrations
from graph_research.providers.limits.shared import SharedLimits
from graph_research.providers.limits.sqlite import SqliteLimits
from tests.support.postgres import PostgresServer

SLOW = Server(name="slow", per_second=0.001)
FAST = Server(name="fast", per_second=5.0)
UNLIMITED = Server(name="unlimited")
Open = Callable[[], Limits]


@pytest.fixture(params=["sqlite", "postgres"])
async def open_limits(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Open]:
    """Opens the same limits once more, as another process would."""
    opened: list[Limits] = []
    schema = f"limits_{secrets.token_hex(4)}"

    def open_once_more() -> Limits:
        if request.param == "sqlite":
            opened.append(SqliteLimits(tmp_path / "limits.db"))
        else:
            url = request.getfixturevalue("postgres").url
            connections = Connections(url, schema=schema, part="limits", migrations=migrations(), most=1)
            opened.append(PostgresLimits(connections))
        return opened[-1]

    yield open_once_more
    for limits in opened:
        await limits.close()


async def turn(limits: Limits, server: Server, *, insist: bool = False, most: float = 1e5) -> Turn:
    return await limits.turn(server, most_seconds=most, probe_seconds=60.0, insist=insist)


async def test_clients_of_one_server_take_turns(open_limits: Open) -> None:
    one, other = open_limits(), open_limits()
    waits = [(await turn(limits, SLOW)).wait_seconds for limits in (one, other, one, other)]
    assert waits == pytest.approx([0, 1000, 2000, 3000], abs=30)
    assert (await turn(other, Server(name="another", per_second=0.001))).wait_seconds == 0


async def test_a_bucket_holds_the_requests_of_a_second(open_limits: Open) -> None:
    one, other = open_limits(), open_limits()
    waits = [(await turn(limits, FAST)).wait_seconds for limits in (one, other) * 50]
    assert waits[:5] == [0.0] * 5
    assert waits[-1] > 10  # 95 requests at 5 a second are 19 s


async def test_a_turn_that_would_come_too_late_is_not_taken(open_limits: Open) -> None:
    limits = open_limits()
    await turn(limits, SLOW)
    assert not (await turn(limits, SLOW, most=500)).admitted
    assert (await turn(limits, SLOW)).wait_seconds < 1000


async def test_all_wait_as_long_as_a_server_has_asked(open_limits: Open) -> None:
    one, other = open_limits(), open_limits()
    await turn(one, UNLIMITED)
    await one.pause(UNLIMITED, 500)
    await one.pause(UNLIMITED, 5)
    waiting = await turn(other, UNLIMITED)
    assert waiting.admitted
    assert (waiting.wait_seconds, waiting.paused_seconds) == pytest.approx((500, 500), abs=30)
    refused = await turn(other, UNLIMITED, most=100)
    assert (refused.admitted, refused.paused_seconds) == (False, pytest.approx(500, abs=30))
    await one.pause(UNLIMITED, 1e9)
    assert (await turn(other, UNLIMITED)).paused_seconds == pytest.approx(3600, abs=30), "it may be a mistake"


async def test_a_breaker_that_one_opens_is_open_for_all_until_a_probe_closes_it(open_limits: Open) -> None:
    one, other = open_limits(), open_limits()
    await turn(one, UNLIMITED)
    await one.set_breaker(UNLIMITED, 500)
    refused = await turn(other, UNLIMITED)
    assert (refused.admitted, refused.open_seconds) == (False, pytest.approx(500, abs=30))
    await one.set_breaker(UNLIMITED, 0)
    assert (await turn(other, UNLIMITED)).is_probe
    assert not (await turn(one, UNLIMITED)).admitted, "one probe at a time"
    await other.set_breaker(UNLIMITED, None)
    closed = await turn(one, UNLIMITED)
    assert (closed.admitted, closed.is_probe) == (True, False)


async def test_who_insists_is_let_through_an_open_breaker_as_a_probe(open_limits: Open) -> None:
    one, other = open_limits(), open_limits()
    await turn(one, UNLIMITED)
    await one.set_breaker(UNLIMITED, 500)
    insisting = await turn(other, UNLIMITED, insist=True)
    assert (insisting.admitted, insisting.is_probe) == (True, True)


class Away(SqliteLimits):
    """Limits that cannot be reached for a while."""

    is_away = True

    async def turn(self, server: Server, *, most_seconds: float, probe_seconds: float, insist: bool) -> Turn:
        if self.is_away:
            raise LimitsUnavailable("the database is away")
        return await super().turn(server, most_seconds=most_seconds, probe_seconds=probe_seconds, insist=insist)


class _Written(SqliteLimits):
    """Counts the statements that may write."""

    writes = 0

    async def _rows(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        self.writes += not statement.startswith("SELECT")
        return await super()._rows(statement, values)


async def test_a_turn_without_a_rate_writes_only_where_the_server_is_new_or_holds_requests_back(tmp_path: Path) -> None:
    limits = _Written(tmp_path / "limits.db")
    turns = [await turn(limits, UNLIMITED) for _ in range(3)]
    assert (turns, limits.writes) == ([Turn(admitted=True)] * 3, 1)
    await limits.set_breaker(UNLIMITED, 60.0)
    assert not (await turn(limits, UNLIMITED)).admitted
    await limits.set_breaker(UNLIMITED, None)
    await limits.pause(UNLIMITED, 60.0)
    assert (await turn(limits, UNLIMITED)).wait_seconds == pytest.approx(60.0, abs=5.0)
    assert limits.writes == 6
    await limits.close()


async def test_limits_that_are_away_fail_nothing_and_are_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now, away = [0.0], Away(tmp_path / "limits.db")
    limits = SharedLimits(away, SqliteLimits(), clock=lambda: now[0])
    caplog.set_level(logging.WARNING)
    assert [(await turn(limits, SLOW)).wait_seconds for _ in range(3)] == pytest.approx([0, 1000, 2000], abs=30)
    now[0] += 30
    await turn(limits, SLOW)
    assert len(caplog.messages) == 1
    assert "the database is away" in caplog.messages[0]
    now[0] += 30
    away.is_away = False
    assert (await turn(limits, SLOW)).wait_seconds == 0
    assert caplog.messages[1:] == ["rate limits and circuit breakers are shared again"]
    await limits.close()


async def test_a_file_that_cannot_be_used_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "limits.db").write_bytes(b"not a database" * 100)
    for path in (tmp_path / "limits.db", tmp_path / "nowhere" / "limits.db"):
        with pytest.raises(LimitsUnavailable):
            await turn(SqliteLimits(path), SLOW)


async def test_a_database_that_does_not_answer_is_unavailable_soon(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent:
        async def run(self, work: object) -> None:
            await asyncio.sleep(3600)

        async def close(self) -> None:
            pass

    monkeypatch.setattr("graph_research.providers.limits.postgres._ANSWER_SECONDS", 0.01)
    limits = PostgresLimits(Silent())  # type: ignore[arg-type]
    with pytest.raises(LimitsUnavailable, match="did not answer within"):
        await turn(limits, SLOW)
    await limits.close()
