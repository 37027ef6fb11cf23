"""From a claim to an end, in every store: progress, results, questions and cancellation."""

from __future__ import annotations

import pytest

from graph_research.jobs.errors import ClaimLost, JobNotWaiting
from graph_research.jobs.job import JobError, JobStatus, Outcome
from graph_research.jobs.store import JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import LEASE, RESULT, claim, claimed_ids, new_job, source_row, submit


async def test_progress_rises_and_never_falls(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    claimed = await claim(store)
    seen = []
    for stage, fraction in (("retrieval", 0.4), ("scoring", 0.6), ("retrieval", 0.3)):
        await store.progress(claimed, stage, fraction)
        job = await store.get("ann", "a")
        seen.append((job.stage, job.progress))
    assert seen == [("retrieval", 0.4), ("scoring", 0.6), ("retrieval", 0.6)]


@pytest.mark.requirement("19.1", "20.1")
async def test_a_completed_job_has_its_result_and_scored_sources(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    claimed = await claim(store)
    assert await store.result("ann", "a") is None
    assert not claimed.job.has_result
    await store.put_sources(claimed, [source_row("s1", 0.2), source_row("s2", 0.9)])
    await store.put_sources(claimed, [source_row("s2", 0.8), source_row("s3", 0.9)])
    assert await store.sources("ann", "a") == [source_row("s3", 0.9), source_row("s2", 0.8)]
    await store.finish(claimed, Outcome(status=JobStatus.COMPLETED, result=RESULT))
    job = await store.get("ann", "a")
    assert (job.status, job.progress, job.finished_at, job.worker) == (JobStatus.COMPLETED, 1.0, clock.now, None)
    assert job.is_over
    assert await store.result("ann", "a") == RESULT
    listed = [*await store.jobs("ann"), await store.find("a")]
    assert [found and found.has_result for found in (job, *listed)] == [True, True, True]


async def test_a_failed_job_says_why(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    error = JobError(code="provider-unavailable", message="nobody answers")
    await store.finish(await claim(store), Outcome(status=JobStatus.FAILED, error=error))
    job = await store.get("ann", "a")
    assert (job.status, job.error, job.progress) == (JobStatus.FAILED, error, 0.0)


async def test_a_job_that_asks_waits_and_takes_the_answer_along(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    await store.finish(await claim(store), Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    job = await store.get("ann", "a")
    assert (job.status, job.waiting_for, job.finished_at) == (JobStatus.AWAITING_INPUT, "which?", None)
    assert await claimed_ids(store) == []
    answered = await store.answer("ann", "a", "that")
    assert (answered.status, answered.waiting_for) == (JobStatus.QUEUED, None)
    claimed = await claim(store)
    assert (claimed.job.answer, claimed.token) == ("that", 2)
    await store.progress(claimed, "retrieval", 0.4)
    assert (await store.get("ann", "a")).answer is None, "it has arrived in the run"


async def test_only_a_job_that_asks_takes_an_answer(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    with pytest.raises(JobNotWaiting, match="is QUEUED"):
        await store.answer("ann", "a", "that")


@pytest.mark.requirement("B27")
async def test_a_waiting_job_is_cancelled_at_once(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b")
    assert (await store.cancel("ann", "a")).status == JobStatus.CANCELLED
    await store.finish(await claim(store), Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    job = await store.cancel("ann", "b")
    assert (job.status, job.waiting_for, job.finished_at) == (JobStatus.CANCELLED, None, clock.now)
    assert await claimed_ids(store) == []


async def test_only_a_job_that_no_worker_holds_can_be_withdrawn(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "asks", "works", "waits")
    claimed = await claim(store)
    await store.put_sources(claimed, [source_row("s")])
    await store.finish(claimed, Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    await claim(store)
    assert [await store.withdraw(job_id) for job_id in ("asks", "works", "waits", "nobody")] == [
        True,
        False,
        True,
        False,
    ]
    assert await store.find("asks") is None
    await store.submit(new_job("asks"))
    assert await store.sources("ann", "asks") == []
    clock.advance(LEASE)
    assert await store.withdraw("works")


async def test_the_worker_learns_that_its_job_is_to_be_cancelled(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    claimed = await claim(store)
    assert await store.heartbeat(claimed, lease_seconds=LEASE) is False
    assert (await store.cancel("ann", "a")).status == JobStatus.PROCESSING
    assert await store.heartbeat(claimed, lease_seconds=LEASE) is True
    await store.finish(claimed, Outcome(status=JobStatus.CANCELLED))
    assert (await store.cancel("ann", "a")).status == JobStatus.CANCELLED


async def test_a_job_that_is_to_be_cancelled_waits_for_no_answer(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    claimed = await claim(store)
    await store.cancel("ann", "a")
    await store.finish(claimed, Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    job = await store.get("ann", "a")
    assert (job.status, job.waiting_for, job.finished_at) == (JobStatus.QUEUED, None, None)
    assert await store.heartbeat(await claim(store), lease_seconds=LEASE), "its next worker learns of it"


async def test_a_job_whose_worker_is_dead_is_cancelled_at_once(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    lost = await claim(store)
    clock.advance(LEASE)
    assert (await store.cancel("ann", "a")).status == JobStatus.CANCELLED
    with pytest.raises(ClaimLost):
        await store.heartbeat(lost, lease_seconds=LEASE)


async def test_a_job_that_has_ended_is_not_cancelled(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    await store.finish(await claim(store), Outcome(status=JobStatus.COMPLETED, result=RESULT))
    job = await store.get("ann", "a")
    assert await store.cancel("ann", "a") == job
