"""The stores of jobs: each test that takes one runs on every backend."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import job_connections, make_runs_db
from tests.support.postgres import PostgresServer


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def schema() -> str:
    return f"jobs_{secrets.token_hex(4)}"


@pytest.fixture(params=["sqlite", "postgres"])
async def store(
    clock: HandClock, tmp_path: Path, schema: str, request: pytest.FixtureRequest
) -> AsyncIterator[JobStore]:
    if request.param == "sqlite":
        opened: JobStore = SqliteJobStore(make_runs_db(tmp_path), clock=clock)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        opened = PostgresJobStore(job_connections(server.url, schema), clock=clock)
    yield opened
    await opened.close()
