"""Claims that end, are lost or given back, in every store."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from graph_research.jobs.errors import ClaimLost
from graph_research.jobs.job import JobStatus, Outcome
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.store import MOST_LOST_CLAIMS, TTL_SECONDS, WORKER_LOST, JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import (
    LEASE,
    RESULT,
    claim,
    claimed_ids,
    job_connections,
    new_job,
    source_row,
    submit,
)
from tests.support.postgres import PostgresServer


async def test_a_job_is_claimed_again_when_its_lease_has_ended(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    first = await claim(store, "w1")
    clock.advance(LEASE - 1)
    await store.heartbeat(first, lease_seconds=LEASE)
    clock.advance(LEASE - 1)
    assert await store.claim("w2", lease_seconds=LEASE, at_most=1) is None
    clock.advance(1)
    second = await claim(store, "w2", at_most=1)
    assert (second.token, second.job.lost_claims, second.job.worker) == (2, 1, "w2")
    assert second.job.started_at == first.job.started_at


async def test_a_late_worker_whose_job_nobody_claimed_keeps_it(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    claimed = await claim(store)
    clock.advance(10 * LEASE)
    assert await store.heartbeat(claimed, lease_seconds=LEASE) is False
    assert await claimed_ids(store) == []


@pytest.mark.parametrize("left_by", ["a later claim", "its end", "its expiry", "its release"])
async def test_every_write_with_a_lost_claim_is_refused(store: JobStore, clock: HandClock, left_by: str) -> None:
    await submit(store, clock, "a")
    lost = await claim(store, "w1")
    if left_by == "a later claim":
        clock.advance(LEASE)
        await claim(store, "w2")
    elif left_by == "its end":
        await store.finish(lost, Outcome(status=JobStatus.FAILED))
    elif left_by == "its expiry":
        clock.advance(TTL_SECONDS)
        await store.expire()
    else:
        await store.release(lost)
    before = await store.get("ann", "a")
    for write in (
        store.heartbeat(lost, lease_seconds=LEASE),
        store.progress(lost, "synthesis", 0.9),
        store.put_sources(lost, [source_row("s")]),
        store.finish(lost, Outcome(status=JobStatus.COMPLETED, result=RESULT)),
        store.release(lost),
    ):
        with pytest.raises(ClaimLost):
            await write
    assert await store.get("ann", "a") == before
    assert await store.result("ann", "a") is None
    assert await store.sources("ann", "a") == []


async def test_a_released_job_is_claimed_again_at_once(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    await store.release(await claim(store, "w1"))
    job = await store.get("ann", "a")
    assert (job.status, job.worker) == (JobStatus.QUEUED, None)
    again = await claim(store, "w2")
    assert (again.token, again.job.lost_claims) == (2, 0)


async def test_a_job_fails_after_too_many_lost_claims(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    for lost in range(MOST_LOST_CLAIMS):
        assert (await claim(store)).job.lost_claims == lost
        clock.advance(LEASE)
    assert await claimed_ids(store) == []
    job = await store.get("ann", "a")
    assert (job.status, job.lost_claims, job.finished_at) == (JobStatus.FAILED, MOST_LOST_CLAIMS, clock.now)
    assert job.error is not None
    assert job.error.code == WORKER_LOST


async def test_leases_in_postgresql_end_by_the_clock_of_the_server(postgres: PostgresServer) -> None:
    schema = f"jobs_{secrets.token_hex(4)}"
    stores = [PostgresJobStore(job_connections(postgres.url, schema)) for _ in range(2)]
    await stores[0].submit(new_job("a"))
    first = await stores[0].claim("w0", lease_seconds=30, at_most=9)
    assert first is not None
    assert await stores[1].claim("w1", lease_seconds=30, at_most=9) is None
    await stores[0].heartbeat(first, lease_seconds=0.2)
    while (second := await stores[1].claim("w1", lease_seconds=30, at_most=9)) is None:  # noqa: ASYNC110 -- the server counts the seconds
        await asyncio.sleep(0.05)
    assert second.token > first.token
    with pytest.raises(ClaimLost):
        await stores[0].progress(first, "retrieval", 0.5)
    for store in stores:
        await store.close()
