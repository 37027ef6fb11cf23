"""What a worker does with jobs: its runs are scripted, its store is a real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from graph_research.errors import UserMistake
from graph_research.graph.errors import RunBusy
from graph_research.jobs.errors import JobStoreUnusable
from graph_research.jobs.job import Claim, Job, JobStatus, NewJob
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import TTL_SECONDS
from graph_research.jobs.worker import Worker
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import make_runs_db, source_row
from tests.support.jobs.scripted_runner import End, ScriptedRunner

PATIENCE_SECONDS = 30.0


class QuickWorker(Worker):
    """Beats and looks for jobs all the time; its leases last as long as the clock of its store says."""

    beat_seconds = 0.002
    poll_seconds = 0.002
    retention_seconds = 0.002


class HangingStore(SqliteJobStore):
    """Its heartbeats take until it is `awake`."""

    def __init__(self, path: Path, *, clock: HandClock) -> None:
        super().__init__(path, clock=clock)
        self.awake = asyncio.Event()

    async def heartbeat(self, claim: Claim, *, lease_seconds: float) -> bool:
        await self.awake.wait()
        return await super().heartbeat(claim, lease_seconds=lease_seconds)


class UnreachableStore(SqliteJobStore):
    """Its heartbeats do not reach it."""

    async def heartbeat(self, claim: Claim, *, lease_seconds: float) -> bool:
        raise JobStoreUnusable("the network is down")


class AwayStore(SqliteJobStore):
    """Nothing can be retained or claimed while it is away."""

    async def expire(self) -> list[Job]:
        raise JobStoreUnusable("the database does not answer")

    async def claim(self, worker: str, *, lease_seconds: float, at_most: int) -> Claim | None:
        raise JobStoreUnusable("the database does not answer")


class ClaimingStore(SqliteJobStore):
    """What happens while a claim is on its way to the worker."""

    on_claim: Callable[[], object] = staticmethod(lambda: None)

    async def claim(self, worker: str, *, lease_seconds: float, at_most: int) -> Claim | None:
        claim = await super().claim(worker, lease_seconds=lease_seconds, at_most=at_most)
        if claim is not None:
            self.on_claim()
            await asyncio.sleep(0)
        return claim


@pytest.fixture
def runner() -> ScriptedRunner:
    return ScriptedRunner()


@pytest.fixture
async def store(clock: HandClock, tmp_path: Path) -> AsyncIterator[SqliteJobStore]:
    opened = SqliteJobStore(make_runs_db(tmp_path), clock=clock)
    yield opened
    await opened.close()


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[Worker]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        task = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await task


async def submit(store: SqliteJobStore, *ids: str, keeps_run: bool = False) -> None:
    for job_id in ids:
        await store.submit(NewJob(id=job_id, user="ann", question="?", request={}, keeps_run=keeps_run))


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():  # noqa: ASYNC110 -- what it waits for happens in a file
            await asyncio.sleep(0.001)


async def until_status(store: SqliteJobStore, job_id: str, status: JobStatus) -> Job:
    async def holds() -> bool:
        return (await store.get("ann", job_id)).status == status

    await until(holds)
    return await store.get("ann", job_id)


async def until_begun(runner: ScriptedRunner, number: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS), runner.changed:
        await runner.changed.wait_for(lambda: len(runner.begun) >= number)


@pytest.mark.requirement("19.1")
async def test_a_job_is_driven_to_its_result(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a")
    runner.sources = [asdict(source_row("s"))]
    async with working(QuickWorker(store, runner, name="w")):
        await until_begun(runner, 1)
        job = await store.get("ann", "a")
        assert (job.status, job.worker) == (JobStatus.PROCESSING, "w")
        await runner.end("a", End(result={"markdown": "# It is so", "confidence": 0.5}))
        await until_status(store, "a", JobStatus.COMPLETED)
    result = await store.result("ann", "a")
    assert result is not None
    assert (result.markdown, result.confidence) == ("# It is so", 0.5)
    assert await store.sources("ann", "a") == [source_row("s")]


@pytest.mark.requirement("19.2")
async def test_three_jobs_run_at_once_and_the_next_starts_when_one_ends(
    store: SqliteJobStore, runner: ScriptedRunner
) -> None:
    await submit(store, "a", "b", "c", "d", "e")
    async with working(QuickWorker(store, runner, name="w")):
        await until_begun(runner, 3)
        assert (await store.counts())[JobStatus.PROCESSING] == 3
        await runner.end("b")
        await until_begun(runner, 4)
        assert [job_id for job_id, _ in runner.begun] == ["a", "b", "c", "d"]
        assert (await store.get("ann", "e")).status == JobStatus.QUEUED


async def test_workers_of_a_store_keep_its_limit_together(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a", "b", "c", "d")
    first, second = (QuickWorker(store, runner, name=name, concurrency=2, at_most=3) for name in ("w1", "w2"))
    async with working(first), working(second):
        await until_begun(runner, 3)
        assert (await store.counts())[JobStatus.QUEUED] == 1
        await runner.end("a")
        await until_begun(runner, 4)


async def test_a_notification_wakes_a_worker_that_would_look_later(
    store: SqliteJobStore, runner: ScriptedRunner
) -> None:
    patient = Worker(store, runner, name="w")
    patient.poll_seconds = 10 * PATIENCE_SECONDS
    async with working(patient):
        await submit(store, "a")
        patient.notify()
        await until_begun(runner, 1)


async def test_a_failed_run_fails_its_job_only(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a", "b", "c")
    async with working(QuickWorker(store, runner, name="w")):
        await runner.end("a", End(status="FAILED", error=("error", "gather: nobody answers")))
        await runner.end("b", UserMistake("no such folder: /papers", help="name another"))
        await runner.end("c", ZeroDivisionError("a secret"))
        jobs = [await until_status(store, job_id, JobStatus.FAILED) for job_id in ("a", "b", "c")]
    assert [(job.error.code, job.error.message) for job in jobs if job.error] == [
        ("error", "gather: nobody answers"),
        ("invalid", "no such folder: /papers; name another"),
        ("unexpected", "unexpected error: ZeroDivisionError"),
    ]


async def test_a_run_that_asks_goes_on_with_the_answer(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a")
    async with working(QuickWorker(store, runner, name="w")):
        await runner.end("a", End(status="AWAITING_INPUT", waiting_for="which?"))
        assert (await until_status(store, "a", JobStatus.AWAITING_INPUT)).waiting_for == "which?"
        await store.answer("ann", "a", "that")
        await runner.end("a")
        await until_status(store, "a", JobStatus.COMPLETED)
    assert runner.begun == [("a", None), ("a", "that")]


async def test_a_cancellation_reaches_the_run(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a")
    async with working(QuickWorker(store, runner, name="w")):
        await until_begun(runner, 1)
        await store.cancel("ann", "a")
        await until_status(store, "a", JobStatus.CANCELLED)
    assert set(runner.cancelled) == {"a"}
    assert runner.stopped == []


async def test_a_cancellation_before_the_run_exists_reaches_it_with_its_first_progress(
    store: SqliteJobStore, clock: HandClock
) -> None:
    """The heartbeats would bring it seconds later."""

    class CancelledEarly(ScriptedRunner):
        async def run(self, job_id: str, request: Mapping[str, Any], **callbacks: Any) -> End:
            await store.cancel("ann", job_id)
            return await super().run(job_id, request, **callbacks)

    runner = CancelledEarly()
    await submit(store, "a")
    hanging = HangingStore(store.path, clock=clock)
    async with working(Worker(hanging, runner, name="w")):
        await until_status(store, "a", JobStatus.CANCELLED)
    assert runner.cancelled == ["a"]
    await hanging.close()


async def test_a_worker_that_stops_gives_its_jobs_back(
    store: SqliteJobStore, runner: ScriptedRunner, caplog: pytest.LogCaptureFixture
) -> None:
    await submit(store, "a", "b")
    with caplog.at_level("INFO"):
        async with working(QuickWorker(store, runner, name="w")):
            await until_begun(runner, 2)
    assert sorted(runner.stopped) == ["a", "b"]
    assert {"worker w: job a is given back", "worker w: job b is given back"} <= set(caplog.messages)
    for job_id in ("a", "b"):
        job = await store.get("ann", job_id)
        assert (job.status, job.worker, job.lost_claims) == (JobStatus.QUEUED, None, 0)
    async with working(QuickWorker(store, runner, name="next")):
        await runner.end("a")
        assert (await until_status(store, "a", JobStatus.COMPLETED)).attempt == 2


async def test_a_cancelled_worker_gives_its_jobs_back(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a")
    task = asyncio.create_task(QuickWorker(store, runner, name="w").run())
    await until_begun(runner, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await store.get("ann", "a")).status == JobStatus.QUEUED


@pytest.mark.parametrize("how", ["stopped", "cancelled"])
async def test_a_worker_that_ends_while_it_claims_a_job_gives_it_back(
    tmp_path: Path, clock: HandClock, runner: ScriptedRunner, how: str
) -> None:
    store = ClaimingStore(make_runs_db(tmp_path), clock=clock)
    await submit(store, "a")
    worker = Worker(store, runner, name="w")
    task = asyncio.create_task(worker.run())
    store.on_claim = worker.stop if how == "stopped" else task.cancel
    await asyncio.wait([task])
    job = await store.get("ann", "a")
    assert (job.status, job.worker, job.attempt) == (JobStatus.QUEUED, None, 1)
    await store.close()


async def test_a_job_that_was_cancelled_before_its_run_asked_is_cancelled(
    store: SqliteJobStore, runner: ScriptedRunner
) -> None:
    await submit(store, "a")
    async with working(Worker(store, runner, name="w")):
        await until_begun(runner, 1)
        await store.cancel("ann", "a")  # the worker hears of it with its next heartbeat
        await runner.end("a", End(status="AWAITING_INPUT", waiting_for="which?"))
        await until_status(store, "a", JobStatus.CANCELLED)
    assert set(runner.cancelled) == {"a"}


async def test_a_worker_that_gave_no_sign_of_life_stops_driving(
    store: SqliteJobStore, runner: ScriptedRunner, clock: HandClock
) -> None:
    """The first worker hangs: it renews no lease until another has claimed its job."""
    await submit(store, "a")
    hanging = HangingStore(store.path, clock=clock)
    other = ScriptedRunner()
    async with working(QuickWorker(hanging, runner, name="hanging", concurrency=1)):
        await until_begun(runner, 1)
        clock.advance(Worker.lease_seconds)
        async with working(QuickWorker(store, other, name="other")):
            await until_begun(other, 1)
            hanging.awake.set()

            async def stopped() -> bool:
                return runner.stopped == ["a"]

            await until(stopped)
            await other.end("a", End(result={"markdown": "# By the other"}))
            job = await until_status(store, "a", JobStatus.COMPLETED)
    await hanging.close()
    assert (job.attempt, job.lost_claims) == (2, 1)
    result = await store.result("ann", "a")
    assert result is not None
    assert result.markdown == "# By the other"


async def test_a_run_whose_store_could_not_be_reached_goes_on_elsewhere(
    store: SqliteJobStore, runner: ScriptedRunner, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    await submit(store, "a")
    async with working(QuickWorker(store, runner, name="w")):
        await until_begun(runner, 1)
        await runner.end("a", End(status="PROCESSING", error=("store-unreachable", "the database does not answer")))

        async def left() -> bool:
            return "worker w: job a is left" in caplog.text

        await until(left)
        assert (await store.get("ann", "a")).status == JobStatus.PROCESSING
        clock.advance(Worker.lease_seconds)
        await until_begun(runner, 2)
        await runner.end("a")
        assert (await until_status(store, "a", JobStatus.COMPLETED)).lost_claims == 1


async def test_a_worker_cut_off_from_the_store_stops_driving_when_its_lease_is_over(
    store: SqliteJobStore, runner: ScriptedRunner
) -> None:
    await submit(store, "a")
    seconds = iter(range(0, 100_000, 7))
    cut_off = UnreachableStore(store.path, clock=HandClock())
    async with working(QuickWorker(cut_off, runner, name="w", monotonic=lambda: float(next(seconds)))):

        async def stopped() -> bool:
            return "a" in runner.stopped

        await until(stopped)
    await cut_off.close()


async def test_a_store_that_is_away_is_told_in_lines_without_a_traceback(
    store: SqliteJobStore, runner: ScriptedRunner, caplog: pytest.LogCaptureFixture
) -> None:
    away = AwayStore(store.path, clock=HandClock())
    async with working(QuickWorker(away, runner, name="w")):

        async def told() -> bool:
            return "outdated jobs are not removed yet: the database does not answer" in caplog.text

        await until(told)
    await away.close()
    assert not [record for record in caplog.records if record.exc_info or record.levelname == "ERROR"]


async def test_an_expired_job_is_cancelled_wherever_it_runs(
    store: SqliteJobStore, runner: ScriptedRunner, clock: HandClock
) -> None:
    await submit(store, "a")
    async with working(QuickWorker(store, runner, name="w")):
        await until_begun(runner, 1)
        clock.advance(TTL_SECONDS)
        await until_status(store, "a", JobStatus.EXPIRED)
        async with runner.changed:
            await runner.changed.wait_for(lambda: "a" in runner.cancelled)


@pytest.mark.parametrize("keeps_run", [False, True])
async def test_an_outdated_job_is_removed_with_its_run_unless_that_is_kept(
    store: SqliteJobStore, runner: ScriptedRunner, clock: HandClock, keeps_run: bool
) -> None:
    await submit(store, "a", keeps_run=keeps_run)
    async with working(QuickWorker(store, runner, name="w")):
        await runner.end("a")
        await until_status(store, "a", JobStatus.COMPLETED)
        clock.advance(TTL_SECONDS)

        async def gone() -> bool:
            return await store.find("a") is None

        await until(gone)
    assert runner.removed == ([] if keeps_run else ["a"])


class StuckRunner(ScriptedRunner):
    """Cannot remove the run `a`."""

    async def remove(self, job_id: str) -> None:
        if job_id == "a":
            raise RunBusy("run a is driven by another process")
        await super().remove(job_id)


async def test_an_outdated_job_that_can_not_be_removed_keeps_no_other(store: SqliteJobStore, clock: HandClock) -> None:
    runner = StuckRunner()
    await submit(store, "a", "b")
    async with working(QuickWorker(store, runner, name="w")):
        for name in ("a", "b"):
            await runner.end(name)
            await until_status(store, name, JobStatus.COMPLETED)
        clock.advance(TTL_SECONDS)

        async def gone() -> bool:
            return await store.find("b") is None

        await until(gone)
    assert await store.find("a") is not None


async def test_a_worker_ends_when_there_is_nothing_left_to_do(store: SqliteJobStore, runner: ScriptedRunner) -> None:
    await submit(store, "a", "b", "asks")
    await runner.end("a")
    await runner.end("b")
    await runner.end("asks", End(status="AWAITING_INPUT", waiting_for="which?"))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await QuickWorker(store, runner, name="w").run(until_idle=True)
    counts = await store.counts()
    assert (counts[JobStatus.COMPLETED], counts[JobStatus.AWAITING_INPUT]) == (2, 1)
