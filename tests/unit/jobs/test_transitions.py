"""Whatever users and workers do to a job, its status changes as the table says."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.jobs.errors import ClaimLost, JobNotWaiting
from graph_research.jobs.job import TRANSITIONS, Claim, Job, JobStatus, NewJob, Outcome
from graph_research.jobs.sqlite import SqliteJobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import make_runs_db

ACTIONS = (
    "claim",
    "finish COMPLETED",
    "finish FAILED",
    "finish AWAITING_INPUT",
    "finish CANCELLED",
    "release",
    "heartbeat",
    "progress",
    "answer",
    "cancel",
    "a minute passes",
    "half a day passes",
    "expire",
)
AT_MOST = 2


def test_an_end_is_followed_by_nothing_and_everything_can_end() -> None:
    ends = {status for status, following in TRANSITIONS.items() if not following}
    assert ends == {JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.EXPIRED}
    for status in set(JobStatus) - ends:
        assert {JobStatus.CANCELLED, JobStatus.EXPIRED} <= TRANSITIONS[status]


@pytest.mark.requirement("19.1")
@settings(max_examples=50)
@given(actions=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 2)), max_size=40))
def test_every_change_of_a_status_is_in_the_table(actions: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(act(Path(folder), actions))


async def act(folder: Path, actions: list[tuple[str, int]]) -> None:
    clock = HandClock()
    store = SqliteJobStore(make_runs_db(folder), clock=clock)
    for number in range(3):
        await store.submit(NewJob(id=f"j{number}", user=f"u{number % 2}", question="?", request={}))
    claims: dict[str, Claim] = {}
    before = await all_jobs(store)
    for action, number in actions:
        await do(store, clock, claims, action, f"j{number}")
        after = await all_jobs(store)
        for old, new in zip(before, after, strict=True):
            assert new.status == old.status or new.status in TRANSITIONS[old.status], action
            assert new.attempt >= old.attempt
            assert new.progress >= old.progress
            assert (new.finished_at is not None) == new.is_over
            assert (new.waiting_for is not None) == (new.status == JobStatus.AWAITING_INPUT)
        before = after
    await store.close()


async def all_jobs(store: SqliteJobStore) -> list[Job]:
    found = [await store.find(f"j{number}") for number in range(3)]
    return [job for job in found if job is not None]


async def do(store: SqliteJobStore, clock: HandClock, claims: dict[str, Claim], action: str, job_id: str) -> None:
    user = f"u{int(job_id[1]) % 2}"
    claim = claims.get(job_id)
    try:
        if action == "claim":
            claimed = await store.claim("w", lease_seconds=30, at_most=AT_MOST)
            if claimed is not None:
                assert claimed.token > (claims[claimed.job.id].token if claimed.job.id in claims else 0)
                claims[claimed.job.id] = claimed
        elif action == "answer":
            await store.answer(user, job_id, "yes")
        elif action == "cancel":
            await store.cancel(user, job_id)
        elif action == "a minute passes":
            clock.advance(60)
        elif action == "half a day passes":
            clock.advance(43_200)
        elif action == "expire":
            await store.expire()
        elif claim is None:
            return
        elif action == "release":
            await store.release(claim)
        elif action == "heartbeat":
            await store.heartbeat(claim, lease_seconds=30)
        elif action == "progress":
            await store.progress(claim, "retrieval", 0.5)
        else:
            status = JobStatus(action.removeprefix("finish "))
            question = "which?" if status == JobStatus.AWAITING_INPUT else None
            await store.finish(claim, Outcome(status=status, waiting_for=question))
    except (ClaimLost, JobNotWaiting):
        pass
