"""Jobs that expire and are removed, in every store."""

from __future__ import annotations

import pytest

from graph_research.jobs.errors import JobNotEnded, UnknownJob
from graph_research.jobs.job import JobStatus, Outcome
from graph_research.jobs.store import TTL_SECONDS, JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import RESULT, claim, claimed_ids, new_job, source_row, submit


@pytest.mark.requirement("19.2", "B27")
async def test_a_job_expires_in_every_status_but_an_end(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "asks", "works", "waits", "ended")
    await store.cancel("ann", "ended")
    await store.finish(await claim(store), Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    await claim(store)
    clock.advance(86_400 - 10)
    assert await store.expire() == []
    clock.advance(10)
    expired = await store.expire()
    assert {job.id: job.status for job in expired} == dict.fromkeys(("asks", "works", "waits"), JobStatus.EXPIRED)
    assert await store.expire() == []
    assert await claimed_ids(store) == []


async def test_a_job_whose_time_is_up_is_not_claimed(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    clock.advance(TTL_SECONDS)
    assert await claimed_ids(store) == []


@pytest.mark.requirement("B27")
async def test_a_job_is_removed_some_time_after_its_end(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b")
    claimed = await claim(store)
    await store.put_sources(claimed, [source_row("s")])
    await store.finish(claimed, Outcome(status=JobStatus.COMPLETED, result=RESULT))
    clock.advance(TTL_SECONDS - 1)
    assert await store.outdated() == []
    clock.advance(1)
    assert [job.id for job in await store.outdated()] == ["a"]
    for _ in range(2):
        await store.delete("a")
    assert await store.find("a") is None
    assert await store.find("b") is not None
    await store.submit(new_job("a"))
    assert await store.result("ann", "a") is None
    assert await store.sources("ann", "a") == []


async def test_the_run_of_a_job_is_needed_until_its_end_or_as_long_as_the_job_is_there(store: JobStore) -> None:
    for job_id in ("service", "command"):
        await store.submit(new_job(job_id, keeps_run=job_id == "command"))
    assert await store.needed_runs() == {"service", "command"}
    for job_id in ("service", "command"):
        await store.cancel("ann", job_id)
    assert await store.needed_runs() == {"service"}
    await store.remove("ann", "service")
    assert await store.needed_runs() == set()


async def test_a_job_that_has_ended_is_removed_by_its_user_and_still_counts(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    with pytest.raises(JobNotEnded, match="QUEUED"):
        await store.remove("ann", "a")
    await store.finish(await claim(store), Outcome(status=JobStatus.COMPLETED, result=RESULT))
    with pytest.raises(UnknownJob):
        await store.remove("bob", "a")
    await store.remove("ann", "a")
    assert await store.find("a") is None
    assert len(await store.submitted_within("ann", 900)) == 1
    with pytest.raises(UnknownJob):
        await store.remove("ann", "a")
