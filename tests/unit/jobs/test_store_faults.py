"""What meets a store of jobs from outside: newer columns, a cancelled caller, a connection that is lost."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from graph_research.jobs.errors import JobExists, JobNotWaiting
from graph_research.jobs.job import JobStatus, Outcome
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.sql_store import uncancelled
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import TTL_SECONDS, JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import RESULT, TABLES, claim, job_connections, new_job, source_row, submit
from tests.support.postgres import PostgresServer, Wire

T = TypeVar("T")


async def test_columns_that_a_newer_version_adds_meanwhile_are_passed_over(
    store: JobStore, clock: HandClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for number in range(8):  # psycopg prepares what is asked often
        await submit(store, clock, f"j{number}")
        await store.finish(await claim(store), Outcome(status=JobStatus.COMPLETED, result=RESULT))
        await store.result("ann", f"j{number}")
    await submit(store, clock, "a")
    add = "ALTER TABLE {} ADD COLUMN more BIGINT NOT NULL DEFAULT 0"
    if isinstance(store, SqliteJobStore):
        with closing(sqlite3.connect(tmp_path / "runs.db")) as newer:
            for table in TABLES:
                newer.execute(add.format(table))
    else:
        schema = request.getfixturevalue("schema")
        with psycopg.connect(request.getfixturevalue("postgres").url) as newer:
            for table in TABLES:
                newer.execute(add.format(f"{schema}.{table}"))
    claimed = await claim(store)
    await store.put_sources(claimed, [source_row("s")])
    await store.finish(claimed, Outcome(status=JobStatus.COMPLETED, result=RESULT))
    assert (await store.get("ann", "a")).status == JobStatus.COMPLETED
    assert (await store.result("ann", "a"), await store.sources("ann", "a")) == (RESULT, [source_row("s")])


async def test_a_write_goes_on_to_its_end_however_often_its_caller_is_cancelled() -> None:
    goes_on, ended = asyncio.Event(), []

    async def write() -> None:
        await goes_on.wait()
        ended.append(True)

    caller = asyncio.create_task(uncancelled(write()))
    for _ in range(3):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended


async def test_what_was_done_before_a_connection_was_lost_is_not_done_again(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    wire, clock = Wire(postgres, tmp_path), HandClock()
    store = PostgresJobStore(job_connections(wire.url, f"jobs_{secrets.token_hex(4)}"), clock=clock)

    async def losing(write: Coroutine[Any, Any, T]) -> T:
        wire.lose_answer_to(b"COMMIT")
        return await write

    job, is_new = await losing(store.submit(new_job("a")))
    assert is_new
    clock.advance(1)
    with pytest.raises(JobExists):
        await losing(store.submit(new_job("a")))
    await store.submit(new_job("b"))
    first = await losing(store.claim("w", lease_seconds=30, at_most=9))
    assert first is not None
    assert (first.job.id, first.token, await store.find("a")) == ("a", 1, first.job)
    await losing(store.release(first))
    again = await losing(store.claim("w", lease_seconds=30, at_most=9))
    assert again is not None
    assert (again.job.id, again.token, again.job.lost_claims) == ("a", 2, 0)
    await losing(store.finish(again, Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="Which year?")))
    job = await losing(store.answer("ann", "a", "2025"))
    assert (job.status, job.answer) == (JobStatus.QUEUED, "2025")
    with pytest.raises(JobNotWaiting):
        await losing(store.answer("ann", "a", "2025"))
    assert await losing(store.withdraw("a"))
    assert not await losing(store.withdraw("a"))
    assert await store.find("a") is None
    assert (await store.counts())[JobStatus.PROCESSING] == 0
    clock.advance(TTL_SECONDS)
    assert [job.id for job in await losing(store.expire())] == ["b"]
    assert await losing(store.expire()) == []
    await store.close()
    wire.close()
