"""Which store holds the jobs: a database where there are connections to one, else a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from graph_research.jobs.postgres import Connections, PostgresJobStore
from graph_research.jobs.sql_store import migrations
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import JobStore


class Connect(Protocol):
    """Gives connections to the database in which the tables of a part stand, None where there is no database."""

    def __call__(self, *, part: str, migrations: Mapping[int, str]) -> Connections | None: ...


@asynccontextmanager
async def open_jobs(
    path: Path, connect: Connect, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> AsyncIterator[JobStore]:
    """The jobs in the database that `connect` leads to, or in the file `path`, for which `clock` gives the time; the
    store of runs must be there. Closed at the end."""
    connections = connect(part="jobs", migrations=migrations())
    jobs = SqliteJobStore(path, clock=clock) if connections is None else PostgresJobStore(connections)
    try:
        yield jobs
    finally:
        await jobs.close()
