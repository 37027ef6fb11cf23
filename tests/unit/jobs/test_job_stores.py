"""What every store of jobs promises: each test runs on every backend."""

from __future__ import annotations

import asyncio
import random
import secrets
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.jobs.errors import ClaimLost, JobExists, JobNotEnded, JobNotWaiting, UnknownJob
from graph_research.jobs.job import Claim, Job, JobError, JobStatus, NewJob, Outcome, ResultRow, SourceRow
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.sql_store import migrations, uncancelled
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import MOST_LOST_CLAIMS, TTL_SECONDS, WORKER_LOST, JobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.postgres import PostgresServer, Wire

T = TypeVar("T")
LEASE = 30.0
TABLES = ("research_jobs", "research_results", "research_sources", "research_removed")
RESULT = ResultRow(
    markdown="# A report",
    citations=[{"n": 1, "quote": "so it is"}],
    claims=[{"text": "it is so", "confidence": 0.5}],
    tokens={"input_tokens": 10, "output_tokens": 2, "cost_usd": None},
    confidence=0.75,
    claim_count=1,
    source_count=2,
    has_contradictions=True,
)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def schema() -> str:
    return f"jobs_{secrets.token_hex(4)}"


def make_runs_db(folder: Path) -> Path:
    """A file as the store of runs leaves it, as far as a store of jobs looks at it."""
    path = folder / "runs.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 1")
    connection.close()
    return path


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


def job_connections(url: str, schema: str) -> Connections:
    """Connections to a schema of its own."""
    return Connections(url, schema=schema, part="jobs", migrations=migrations(), most=4)


def new_job(job_id: str, user: str = "ann", **fields: Any) -> NewJob:
    return NewJob(id=job_id, user=user, question=f"what is {job_id}?", request={"graph": "deep_research"}, **fields)


def source_row(source_id: str, composite: float = 0.5) -> SourceRow:
    return SourceRow(
        source_id=source_id,
        title="A title",
        url=None,
        published_at="2025-01-01",
        provider="local",
        retrieval_method="rag",
        tier="SECONDARY",
        authority=65.0,
        recency=0.4,
        relevance=0.3,
        credibility=0.65,
        composite=composite,
    )


async def submit(store: JobStore, clock: HandClock, *ids: str, user: str = "ann", **fields: Any) -> None:
    """Submit jobs, a second after each other."""
    for job_id in ids:
        await store.submit(new_job(job_id, user, **fields))
        clock.advance(1)


async def claim(store: JobStore, worker: str = "w", at_most: int = 99) -> Claim:
    claimed = await store.claim(worker, lease_seconds=LEASE, at_most=at_most)
    assert claimed is not None
    return claimed


async def claimed_ids(store: JobStore, at_most: int = 99) -> list[str]:
    """The jobs that are claimed one after the other until none is left."""
    ids = []
    while (claimed := await store.claim("w", lease_seconds=LEASE, at_most=at_most)) is not None:
        ids.append(claimed.job.id)
    return ids


async def drained(store: JobStore, at_once: int, *, count: int = 1000) -> list[str]:
    """The users of the next `count` jobs in the order in which they begin, `at_once` in process; the job that began
    first ends first."""
    begun, in_process = list[str](), list[Claim]()
    while len(begun) < count:
        claimed = await store.claim("w", lease_seconds=LEASE, at_most=99) if len(in_process) < at_once else None
        if claimed is not None:
            begun.append(claimed.job.user)
            in_process.append(claimed)
        elif in_process:
            await store.finish(in_process.pop(0), Outcome(status=JobStatus.COMPLETED))
        else:
            break
    for claimed in in_process:
        await store.finish(claimed, Outcome(status=JobStatus.COMPLETED))
    return begun


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
    with pytest.raises(UnknownJob):
        await store.jobs("bob", before="a")
    assert await store.jobs("bob") == []
    assert (await store.get("ann", "a")).status == JobStatus.QUEUED
    assert await store.find("nobody") is None


async def test_jobs_are_listed_page_by_page_the_newest_first(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b", "c")
    for job_id in ("e", "d"):  # at the same time: by id
        await store.submit(new_job(job_id))
    await store.submit(new_job("other", "bob"))
    first = await store.jobs("ann", limit=2)
    second = await store.jobs("ann", before=first[-1].id, limit=2)
    third = await store.jobs("ann", before=second[-1].id, limit=2)
    assert [[job.id for job in page] for page in (first, second, third)] == [["e", "d"], ["c", "b"], ["a"]]


async def test_jobs_are_counted_by_status(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "a", "b")
    await submit(store, clock, "c", user="bob")
    await claim(store)
    assert (await store.counts("ann"))[JobStatus.QUEUED] == 1
    counts = await store.counts()
    assert (counts[JobStatus.QUEUED], counts[JobStatus.PROCESSING], counts[JobStatus.EXPIRED]) == (2, 1, 0)


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
    await store.put_sources(claimed, [source_row("s1", 0.2), source_row("s2", 0.9)])
    await store.put_sources(claimed, [source_row("s2", 0.8), source_row("s3", 0.9)])
    assert await store.sources("ann", "a") == [source_row("s3", 0.9), source_row("s2", 0.8)]
    await store.finish(claimed, Outcome(status=JobStatus.COMPLETED, result=RESULT))
    job = await store.get("ann", "a")
    assert (job.status, job.progress, job.finished_at, job.worker) == (JobStatus.COMPLETED, 1.0, clock.now, None)
    assert job.is_over
    assert await store.result("ann", "a") == RESULT


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


@pytest.mark.requirement("19.2", "B27")
async def test_a_job_expires_in_every_status_but_an_end(store: JobStore, clock: HandClock) -> None:
    await submit(store, clock, "asks", "works", "waits", "ended")
    await store.cancel("ann", "ended")
    await store.finish(await claim(store), Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="which?"))
    await claim(store)
    clock.advance(TTL_SECONDS - 10)
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


async def test_columns_that_a_newer_version_adds_meanwhile_are_passed_over(
    store: JobStore, clock: HandClock, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for number in range(8):  # psycopg prepares what is asked often
        await submit(store, clock, f"j{number}")
        await store.finish(await claim(store), Outcome(status=JobStatus.COMPLETED, result=RESULT))
        await store.result("ann", f"j{number}")
    await submit(store, clock, "a")
    add = "ALTER TABLE {} ADD COLUMN more BIGINT NOT NULL DEFAULT 0"
    if isinstance(store, SqliteJobStore):
        with closing(sqlite3.connect(tmp_path / "runs.db")) as newer:
            for table in TABLES:
                newer.execute(add.format(table))
    else:
        schema = request.getfixturevalue("schema")
        with psycopg.connect(request.getfixturevalue("postgres").url) as newer:
            for table in TABLES:
                newer.execute(add.format(f"{schema}.{table}"))
    claimed = await claim(store)
    await store.put_sources(claimed, [source_row("s")])
    await store.finish(claimed, Outcome(status=JobStatus.COMPLETED, result=RESULT))
    assert (await store.get("ann", "a")).status == JobStatus.COMPLETED
    assert (await store.result("ann", "a"), await store.sources("ann", "a")) == (RESULT, [source_row("s")])


async def test_a_write_goes_on_to_its_end_however_often_its_caller_is_cancelled() -> None:
    goes_on, ended = asyncio.Event(), []

    async def write() -> None:
        await goes_on.wait()
        ended.append(True)

    caller = asyncio.create_task(uncancelled(write()))
    for _ in range(3):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended


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


async def test_what_was_done_before_a_connection_was_lost_is_not_done_again(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    wire, clock = Wire(postgres, tmp_path), HandClock()
    store = PostgresJobStore(job_connections(wire.url, f"jobs_{secrets.token_hex(4)}"), clock=clock)

    async def losing(write: Coroutine[Any, Any, T]) -> T:
        wire.lose_answer_to(b"COMMIT")
        return await write

    job, is_new = await losing(store.submit(new_job("a")))
    assert is_new
    clock.advance(1)
    with pytest.raises(JobExists):
        await losing(store.submit(new_job("a")))
    await store.submit(new_job("b"))
    first = await losing(store.claim("w", lease_seconds=30, at_most=9))
    assert first is not None
    assert (first.job.id, first.token, await store.find("a")) == ("a", 1, first.job)
    await losing(store.release(first))
    again = await losing(store.claim("w", lease_seconds=30, at_most=9))
    assert again is not None
    assert (again.job.id, again.token, again.job.lost_claims) == ("a", 2, 0)
    await losing(store.finish(again, Outcome(status=JobStatus.AWAITING_INPUT, waiting_for="Which year?")))
    job = await losing(store.answer("ann", "a", "2025"))
    assert (job.status, job.answer) == (JobStatus.QUEUED, "2025")
    with pytest.raises(JobNotWaiting):
        await losing(store.answer("ann", "a", "2025"))
    assert await losing(store.withdraw("a"))
    assert not await losing(store.withdraw("a"))
    assert await store.find("a") is None
    assert (await store.counts())[JobStatus.PROCESSING] == 0
    clock.advance(TTL_SECONDS)
    assert [job.id for job in await losing(store.expire())] == ["b"]
    assert await losing(store.expire()) == []
    await store.close()
    wire.close()
