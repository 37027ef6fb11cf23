"""Jobs in every store: submitted, read, listed and counted."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from graph_research.jobs.errors import JobExists, UnknownJob
from graph_research.jobs.job import Job, JobStatus, NewJob
from graph_research.jobs.rows import cursor_of
from graph_research.jobs.store import TTL_SECONDS, JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import claim, new_job, submit


async def test_a_job_is_read_as_it_was_submitted(store: JobStore, clock: HandClock) -> None:
    new = NewJob(id="a", user="ann", question="wie groß?", request={"n": [1, {"x": None}]}, keeps_run=True)
    job, is_new = await store.submit(new)
    assert is_new
    assert job == await store.get("ann", "a") == await store.find("a")
    assert job == Job(
        id="a",
        user="ann",
        status=JobStatus.QUEUED,
        question="wie groß?",
        request={"n": [1, {"x": None}]},
        created_at=clock.now,
        updated_at=clock.now,
        expires_at=clock.now + timedelta(seconds=TTL_SECONDS),
        keeps_run=True,
    )
    assert job.run_id == "a"
    assert not job.is_over


async def test_an_id_is_used_once(store: JobStore) -> None:
    await store.submit(new_job("a"))
    with pytest.raises(JobExists):
        await store.submit(new_job("a", "bob"))


async def test_a_second_submission_with_the_same_key_is_the_first_one(store: JobStore) -> None:
    await store.submit(new_job("a", idempotency_key="k"))
    job, is_new = await store.submit(new_job("b", idempotency_key="k"))
    assert (job.id, is_new) == ("a", False)
    assert await store.submitted_with("ann", "k") == job
    assert await store.submitted_with("bob", "k") is None
    again, is_new = await store.submit(new_job("a", idempotency_key="k"))
    assert (again.id, is_new) == ("a", False)
    other, is_new = await store.submit(new_job("c", "bob", idempotency_key="k"))
    assert (other.id, is_new) == ("c", True)


async def test_submissions_with_one_key_at_the_same_time_make_one_job(store: JobStore) -> None:
    made = await asyncio.gather(*(store.submit(new_job(f"j{n}", idempotency_key="k")) for n in range(20)))
    assert len({job.id for job, _ in made}) == 1
    assert sum(is_new for _, is_new in made) == 1


async def test_a_job_of_another_user_is_unknown_to_every_reader(store: JobStore) -> None:
    await store.submit(new_job("a"))
    for read in (store.get, store.result, store.sources, store.cancel):
        with pytest.raises(UnknownJob):
            await read("bob", "a")
    with pytest.raises(UnknownJob):
        await store.answer("bob", "a", "yes")
    assert await store.jobs("bob") == []
    assert (await store.get("ann", "a")).status == JobStatus.QUEUED
    assert await store.find("nobody") is None


async def test_jobs_are_listed_page_by_page_the_newest_first(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b", "c")
    for job_id in ("e", "d"):  # at the same time: by id
        await store.submit(new_job(job_id))
    await store.submit(new_job("other", "bob"))
    first = await store.jobs("ann", limit=2)
    second = await store.jobs("ann", before=cursor_of(first[-1]), limit=2)
    third = await store.jobs("ann", before=cursor_of(second[-1]), limit=2)
    assert [[job.id for job in page] for page in (first, second, third)] == [["e", "d"], ["c", "b"], ["a"]]


async def test_a_page_follows_a_job_that_was_removed_meanwhile(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b")
    cursor = cursor_of((await store.jobs("ann", limit=1))[-1])
    await store.cancel("ann", "b")
    await store.remove("ann", "b")
    assert [job.id for job in await store.jobs("ann", before=cursor)] == ["a"]


async def test_jobs_are_counted_by_status(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b")
    await submit(store, clock, "c", user="bob")
    await claim(store)
    assert (await store.counts("ann"))[JobStatus.QUEUED] == 1
    counts = await store.counts()
    assert (counts[JobStatus.QUEUED], counts[JobStatus.PROCESSING], counts[JobStatus.EXPIRED]) == (2, 1, 0)


async def test_recent_submissions_of_a_user_are_counted_with_their_age(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    clock.advance(10)
    await store.submit(new_job("b"))
    await store.submit(new_job("c", user="bob"))
    await store.submit(new_job("d", keeps_run=True))
    clock.advance(5)
    assert await store.submitted_within("ann", 900) == [pytest.approx(16), 5]
    assert await store.submitted_within("ann", 10) == [5]


async def test_what_is_no_job_counts_as_a_submission_of_its_user(store: JobStore, clock: HandClock) -> None:
    await store.count_submission("ann")
    clock.advance(20)
    await store.count_submission("ann")
    assert await store.submitted_within("ann", 900) == [20, 0]
    assert await store.submitted_within("ann", 10) == [0]
    assert await store.submitted_within("bob", 900) == []
