"""Tables of an older version, which several workers of a newer one bring to the latest format at the same time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.sql_store import migrations
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import claimed_ids, job_connections, make_runs_db
from tests.support.postgres import PostgresServer

WORKERS = 10
INSERT = (
    "INSERT INTO research_jobs (id, owner, status, question, request, created_at, expires_at, updated_at) "
    "VALUES ('old', 'ann', 'QUEUED', 'why?', '{}', 1, 9000000000000000, 1)"
)
OLDER = sorted(migrations())[:-1]


async def bring_up_to_date(clock: HandClock, open_store: Callable[[HandClock], JobStore]) -> None:
    """Ten stores are opened together; then the job that was there before is known, and claimed once."""
    stores = [open_store(clock) for _ in range(WORKERS)]
    jobs = await asyncio.gather(*(store.get("ann", "old") for store in stores))
    assert {job.question for job in jobs} == {"why?"}
    assert await claimed_ids(stores[0]) == ["old"]
    for store in stores:
        await store.close()


@pytest.mark.parametrize("format", OLDER)
async def test_a_file_of_an_older_version(tmp_path: Path, clock: HandClock, format: int) -> None:
    path = make_runs_db(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE jobs_format (format INTEGER NOT NULL)")
        for number in range(1, format + 1):
            connection.executescript(migrations()[number])
            connection.execute("INSERT INTO jobs_format VALUES (?)", (number,))
        connection.execute(INSERT)
        connection.commit()
    await bring_up_to_date(clock, lambda clock: SqliteJobStore(path, clock=clock))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT format FROM jobs_format").fetchall() == [(n,) for n in sorted(migrations())]


@pytest.mark.parametrize("format", OLDER)
async def test_a_database_of_an_older_version(
    postgres: PostgresServer, schema: str, clock: HandClock, format: int
) -> None:
    older = {number: script for number, script in migrations().items() if number <= format}
    connections = Connections(postgres.url, schema=schema, part="jobs", migrations=older)

    async def insert(connection: psycopg.AsyncConnection) -> None:
        await connection.execute(INSERT)

    await connections.run(insert)
    await connections.close()
    url = postgres.url
    await bring_up_to_date(clock, lambda clock: PostgresJobStore(job_connections(url, schema), clock=clock))
    with psycopg.connect(url) as connection:
        formats = connection.execute(f"SELECT version FROM {schema}.jobs_format ORDER BY version").fetchall()
        assert formats == [(number,) for number in sorted(migrations())]
