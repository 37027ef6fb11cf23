"""The limit of a user's submissions, in several processes that share a store of jobs."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from graph_research.jobs.errors import TooManySubmissions
from graph_research.jobs.job import Job, SubmissionLimit
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import job_connections, make_runs_db, new_job
from tests.support.postgres import PostgresServer

LIMIT = SubmissionLimit(most=5, window_seconds=900)


@pytest.fixture(params=["sqlite", "postgres"])
async def stores(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Sequence[JobStore]]:
    """Three stores of the same jobs."""
    clock, opened = HandClock(), list[JobStore]()
    if request.param == "sqlite":
        path = make_runs_db(tmp_path)
        opened += [SqliteJobStore(path, clock=clock) for _ in range(3)]
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        schema = f"jobs_{secrets.token_hex(4)}"
        opened += [PostgresJobStore(job_connections(server.url, schema), clock=clock) for _ in range(3)]
    yield opened
    for store in opened:
        await store.close()


async def accepted(*submissions: asyncio.Future[tuple[Job, bool] | None]) -> int:
    """How many of the submissions, all at once, are not beyond the limit."""
    ends = await asyncio.gather(*submissions, return_exceptions=True)
    unexpected = [end for end in ends if isinstance(end, BaseException) and not isinstance(end, TooManySubmissions)]
    assert not unexpected
    return sum(not isinstance(end, TooManySubmissions) for end in ends)


async def test_a_limit_holds_for_all_processes_together(stores: Sequence[JobStore]) -> None:
    jobs = [stores[n % 3].submit(new_job(f"j{n}"), limit=LIMIT) for n in range(12)]
    others = [stores[n % 3].count_submission("ann", limit=LIMIT) for n in range(12)]
    assert await accepted(*map(asyncio.ensure_future, [*jobs, *others])) == LIMIT.most
    assert len(await stores[0].submitted_within("ann", 900)) == LIMIT.most


async def test_a_limit_is_that_of_one_user(stores: Sequence[JobStore]) -> None:
    users = [f"user-{n}" for n in range(3)]
    jobs = [stores[0].submit(new_job(f"{user}-{n}", user), limit=LIMIT) for user in users for n in range(6)]
    assert await accepted(*map(asyncio.ensure_future, jobs)) == len(users) * LIMIT.most


async def test_one_key_at_the_limit_is_the_same_job_for_all_processes(stores: Sequence[JobStore]) -> None:
    for n in range(LIMIT.most - 1):
        await stores[0].submit(new_job(f"first-{n}"), limit=LIMIT)
    jobs = (stores[n % 3].submit(new_job(f"j{n}", idempotency_key="k"), limit=LIMIT) for n in range(9))
    made = await asyncio.gather(*jobs)
    assert len({job.id for job, _ in made}) == 1
    assert sum(is_new for _, is_new in made) == 1


async def test_a_submission_beyond_the_limit_does_nothing(stores: Sequence[JobStore]) -> None:
    for _ in range(LIMIT.most):
        await stores[0].count_submission("ann", limit=LIMIT)
    with pytest.raises(TooManySubmissions):
        await stores[1].submit(new_job("a"), limit=LIMIT)
    assert await stores[0].find("a") is None
    await stores[1].submit(new_job("b"))
    assert await stores[0].find("b") is not None, "no limit was asked for"
