"""Whose job every store gives out next, and how many at once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from graph_research.jobs.job import Claim, JobStatus, Outcome
from graph_research.jobs.store import MOST_LOST_CLAIMS, JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import LEASE, claim, claimed_ids, drained, submit


async def test_a_claim_says_who_works_since_when(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a")
    assert await store.claim("w", lease_seconds=LEASE, at_most=0) is None
    claimed = await claim(store, "w1")
    job = await store.get("ann", "a")
    assert claimed == Claim(job=job)
    assert (job.status, job.worker, job.attempt, job.started_at) == (JobStatus.PROCESSING, "w1", 1, clock.now)
    assert await store.claim("w2", lease_seconds=LEASE, at_most=99) is None


async def test_each_user_gets_their_turn(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a1", "a2", "a3")
    await submit(store, clock, "b1", "b2", user="bob")
    await submit(store, clock, "c1", user="cem")
    assert await claimed_ids(store) == ["a1", "b1", "c1", "a2", "b2", "a3"]


@pytest.mark.parametrize("at_once", [1, 3])
async def test_users_take_turns_also_where_there_are_more_of_them_than_jobs_in_process(
    store: JobStore, clock: HandClock, at_once: int
) -> None:
    users = ["ann", "bob", "cem", "dan"]
    for user in users:
        await submit(store, clock, *(f"{user}-{number}" for number in range(5)), user=user)
    begun = await drained(store, at_once)
    for turn in range(5):
        assert sorted(begun[4 * turn : 4 * turn + 4]) == users


async def test_who_comes_later_waits_for_one_job_of_each_other_user(store: JobStore, clock: HandClock) -> None:
    """What they have submitted and cancelled, or had done before, counts for and against nobody."""
    await submit(store, clock, *(f"a{number}" for number in range(20)))
    await submit(store, clock, *(f"b{number}" for number in range(20)), user="bob")
    await submit(store, clock, *(f"c{number}" for number in range(20)), user="cem")
    for number in range(20):
        await store.cancel("cem", f"c{number}")
    assert len(set(await drained(store, 1, count=20))) == 2
    await submit(store, clock, "c", user="cem")
    await submit(store, clock, "d", user="dan")
    begun = await drained(store, 1)
    assert begun.index("cem") <= 2
    assert begun.index("dan") <= 3


@pytest.mark.parametrize("how", ["answered", "released"])
async def test_a_job_that_is_queued_again_brings_nobody_forward(store: JobStore, clock: HandClock, how: str) -> None:
    await submit(store, clock, "old", user="bob")
    claimed = await claim(store)
    if how == "answered":
        await store.finish(claimed, Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    await submit(store, clock, *(f"a{number}" for number in range(20)))
    await drained(store, 2, count=10)
    if how == "answered":
        await store.answer("bob", "old", "this")
    else:
        await store.release(claimed)
    await submit(store, clock, *(f"b{number}" for number in range(5)), user="bob")
    assert Counter((await drained(store, 1))[:6]) == {"bob": 3, "ann": 3}


async def test_the_next_job_is_that_of_the_user_with_the_fewest_in_process_whose_turn_it_is(
    store: JobStore, clock: HandClock
) -> None:
    """Against the rule in Python, over claims, releases and lost leases in any order."""
    chance = random.Random(5)
    ages = {f"job-{number:02}": number for number in range(40)}
    users = {job_id: chance.choice("aaaaabbcde") for job_id in ages}
    tags = dict[str, int]()
    for job_id, user in users.items():
        tags[job_id] = sum(users[other] == user for other in tags)
        await submit(store, clock, job_id, user=user)
    queued, claims = set(ages), dict[str, tuple[Claim, float]]()
    for now in range(0, 600, 5):
        clock.advance(5)
        working = Counter(users[job_id] for job_id, (_, until) in claims.items() if until > now)
        if claims and chance.random() < 0.3:
            job_id = chance.choice(sorted(claims))
            held, _ = claims.pop(job_id)
            await store.release(held)
            tags[job_id] = min((tags[other] for other in queued), default=tags[job_id])
            queued.add(job_id)
        elif claims and chance.random() < 0.3:
            held, _ = claims[job_id := chance.choice(sorted(claims))]
            await store.heartbeat(held, lease_seconds=LEASE)
            claims[job_id] = held, now + LEASE
        else:
            lost = {job_id for job_id, (_, until) in claims.items() if until <= now}
            due = min(
                queued | lost, key=lambda job_id: (working[users[job_id]], tags[job_id], ages[job_id]), default=None
            )
            claimed = await store.claim("w", lease_seconds=LEASE, at_most=99)
            assert (claimed and claimed.job.id) == due
            if claimed is not None and due is not None:
                queued.discard(due)
                claims[due] = claimed, now + LEASE
            if claimed is not None and claimed.job.lost_claims == MOST_LOST_CLAIMS - 1:
                await store.finish(claims.pop(claimed.job.id)[0], Outcome(status=JobStatus.CANCELLED))


async def test_no_more_jobs_are_in_process_than_allowed(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b", "c")
    assert await claimed_ids(store, at_most=2) == ["a", "b"]
    done = Claim(job=await store.get("ann", "a"))
    await store.finish(done, Outcome(status=JobStatus.COMPLETED))
    assert await claimed_ids(store, at_most=2) == ["c"]


async def test_many_claims_at_the_same_time_get_different_jobs(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, *(f"j{n}" for n in range(20)))
    claims = await asyncio.gather(*(store.claim(f"w{n}", lease_seconds=LEASE, at_most=12) for n in range(30)))
    ids = [claimed.job.id for claimed in claims if claimed is not None]
    assert len(ids) == len(set(ids)) == 12
