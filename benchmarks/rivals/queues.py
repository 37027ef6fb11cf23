"""Our queue of jobs beside procrastinate's, which is in the dependency group `bench`: workers in processes of their own
on one PostgreSQL.

Both take a worker for lost after 5 s without a sign of life, give one every 0.5 s and look for jobs every 0.2 s.
procrastinate has the periodic task of its manual that queues the jobs of lost workers again, here every second.
`procrastinate, tags` gives jobs priorities: their start tags by start-time fair queueing when they are submitted.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psycopg

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.jobs.job import JobStatus, NewJob
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.sql_store import migrations
from graph_research.jobs.worker import Worker
from tests.support.jobs.scripted_runner import End
from tests.support.postgres import PostgresServer, postgres_server

try:
    import procrastinate
except ModuleNotFoundError:
    procrastinate = None

OURS, THEIRS, THEIRS_WITH_TAGS = "ours", "procrastinate", "procrastinate, tags"
LOST_SECONDS, BEAT_SECONDS, POLL_SECONDS = 5.0, 0.5, 0.2
DOWN_SECONDS = 3.0
LIMIT_SECONDS = 60.0
_VIRTUAL_TIME = """
    SELECT coalesce(max(-priority), 0) FROM procrastinate_jobs
    WHERE task_name = 'work' AND status NOT IN ('todo', 'cancelled')
"""
_ENDED = "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'work' AND status = 'succeeded'"


class Report(Protocol):
    """Prints what was measured."""

    def head(self, title: str) -> None: ...

    def fact(self, what: str, value: str) -> None: ...

    def row(self, what: str, value: float, bound: float, unit: str) -> None: ...


@dataclass(frozen=True)
class Log:
    """A file in which every worker writes when it begins a job, ends it, or is made to drop it."""

    path: Path

    async def work(self, worker: str, job: str, seconds: float) -> None:
        """Do a job, which takes so long."""
        self._write(worker, job, "begin")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self._write(worker, job, "drop")
            raise
        self._write(worker, job, "end")

    def _write(self, worker: str, job: str, what: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{time.monotonic()} {worker} {job} {what}\n")

    def lines(self, what: str, worker: str | None = None) -> list[tuple[float, str]]:
        """Time and job of what was done so far."""
        text = self.path.read_text() if self.path.exists() else ""
        lines = (line.split() for line in text.splitlines())
        return [(float(at), job) for at, name, job, did in lines if did == what and worker in (None, name)]

    def jobs(self, what: str, worker: str | None = None) -> list[str]:
        return [job for _, job in self.lines(what, worker)]

    def in_process(self, worker: str) -> set[str]:
        return set(self.jobs("begin", worker)) - set(self.jobs("end", worker)) - set(self.jobs("drop", worker))


# The queues


class Queue(Protocol):
    async def submit(self, job: str, *, user: str = "a", seconds: float) -> None: ...

    async def ended(self) -> int:
        """How many jobs are completed, as the queue has it."""
        ...

    async def close(self) -> None: ...


class OurQueue:
    def __init__(self, url: str) -> None:
        self._store = our_store(url)

    async def submit(self, job: str, *, user: str = "a", seconds: float) -> None:
        await self._store.submit(NewJob(id=job, user=user, question="?", request={"seconds": seconds}))

    async def ended(self) -> int:
        return (await self._store.counts())[JobStatus.COMPLETED]

    async def close(self) -> None:
        await self._store.close()


@dataclass
class TheirQueue:
    url: str
    app: Any
    with_tags: bool
    tags: dict[str, int] = field(default_factory=dict)

    async def submit(self, job: str, *, user: str = "a", seconds: float) -> None:
        tag = max(self._number(_VIRTUAL_TIME), self.tags.get(user, 0)) if self.with_tags else 0
        self.tags[user] = tag + 1
        await self.app.tasks["work"].configure(priority=-tag).defer_async(job=job, seconds=seconds)

    async def ended(self) -> int:
        return self._number(_ENDED)

    def _number(self, query: str) -> int:
        with psycopg.connect(self.url) as connection:
            return int(connection.execute(query).fetchone()[0])

    async def close(self) -> None:
        await self.app.close_async()


def our_store(url: str) -> PostgresJobStore:
    return PostgresJobStore(Connections(url, part="jobs", migrations=migrations()))


def their_app(url: str, log: Log, worker: str) -> Any:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    @app.task(name="work")
    async def work(job: str, seconds: float) -> None:
        await log.work(worker, job, seconds)

    @app.periodic(cron="* * * * * *")
    @app.task(name="retry_stalled", queueing_lock="retry_stalled", pass_context=True)
    async def retry_stalled(context: Any, timestamp: int) -> None:  # noqa: ARG001 -- a periodic task's shape
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=LOST_SECONDS):
            await app.job_manager.retry_job(job)

    return app


async def opened(kind: str, url: str, log: Log) -> Queue:
    if kind == OURS:
        queue = OurQueue(url)
        await queue.ended()  # makes the tables
        return queue
    app = their_app(url, log, "-")
    await app.open_async()
    await app.schema_manager.apply_schema_async()
    return TheirQueue(url, app, kind == THEIRS_WITH_TAGS)


# The workers


class OurWorker(Worker):
    lease_seconds, beat_seconds, poll_seconds = LOST_SECONDS, BEAT_SECONDS, POLL_SECONDS


@dataclass(frozen=True)
class OurRunner:
    log: Log
    worker: str

    async def run(self, job_id: str, request: Mapping[str, Any], **_: Any) -> End:
        await self.log.work(self.worker, job_id, request["seconds"])
        return End(result={"markdown": f"# {job_id}"})

    async def cancel(self, job_id: str) -> None: ...

    async def remove(self, job_id: str) -> None: ...


async def work(kind: str, name: str, url: str, log: Log) -> None:
    """A worker of three jobs at once, until it is ended."""
    if kind == OURS:
        await OurWorker(our_store(url), OurRunner(log, name), name=name, concurrency=3, at_most=1000).run()
        return
    app = their_app(url, log, name)
    async with app.open_async():
        await app.run_worker_async(
            name=name,
            concurrency=3,
            fetch_job_polling_interval=POLL_SECONDS,
            update_heartbeat_interval=BEAT_SECONDS,
            stalled_worker_timeout=LOST_SECONDS,
        )


@dataclass
class Field:
    """A queue with its workers."""

    kind: str
    queue: Queue
    log: Log
    server: PostgresServer
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, __file__, self.kind, name, self.server.url, str(self.log.path)]
        with self.log.path.with_name(f"{name}.log").open("w") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output)
        self.processes.append(process)
        return process

    def end(self) -> None:
        for process in self.processes:
            process.kill()  # also one that is stopped
            process.wait()

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        if not await within(LIMIT_SECONDS, holds):
            raise SystemExit(f"{self.kind}: not within {LIMIT_SECONDS:.0f} s: {what}")

    def show(self, report: Report, what: str, value: int, *, bound: int) -> None:
        """`value` must not be above `bound` in our queue."""
        if self.kind == OURS:
            report.row(f"{self.kind}: {what}", value, bound, "")
        else:
            report.fact(f"{self.kind}: {what}", f"{value}  ")

    async def ended(self, count: int) -> int:
        """How many jobs are completed as soon as it is `count`, at the latest after the limit."""
        end = time.monotonic() + LIMIT_SECONDS
        while (ended := await self.queue.ended()) < count and time.monotonic() < end:  # noqa: ASYNC110 -- other processes end them
            await asyncio.sleep(0.1)
        return ended


async def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.02)
    return True


@contextlib.asynccontextmanager
async def queue_of(kind: str, folder: Path) -> AsyncIterator[Field]:
    """An empty queue on a server of its own."""
    folder.mkdir()  # noqa: ASYNC240 -- nothing else waits
    log = Log(folder / "log")
    with postgres_server(durable=True) as server:
        tried = Field(kind, await opened(kind, server.url, log), log, server)
        try:
            yield tried
        finally:
            tried.end()
            await tried.queue.close()


# What is measured


async def drain(tried: Field, report: Report) -> None:
    for number in range(200):
        await tried.queue.submit(f"j{number}", seconds=0)
    tried.start("first"), tried.start("second")
    left = 200 - await tried.ended(200)
    (first, _), *_, (last, _) = tried.log.lines("begin") + tried.log.lines("end")
    report.fact(f"{tried.kind}: 200 empty jobs, 2 workers of 3", f"{last - first:.1f} s ")
    tried.show(report, "jobs that did not end", left, bound=0)


async def kill(tried: Field, report: Report) -> None:
    for number in range(12):
        await tried.queue.submit(f"j{number}", seconds=1.5)
    first = tried.start("first")
    await tried.until(lambda: len(tried.log.in_process("first")) == 3, "a worker begins")
    first.kill()
    killed_at, lost = time.monotonic(), tried.log.in_process("first")
    tried.start("second")
    left = 12 - await tried.ended(12)
    again = [at - killed_at for at, job in tried.log.lines("begin", "second") if job in lost]
    report.fact(f"{tried.kind}: jobs of a killed worker go on after at most", f"{max(again):.1f} s ")
    tried.show(report, "jobs that did not end", left, bound=0)


async def pause(tried: Field, report: Report) -> None:
    """A worker stands still until another one has taken its jobs, then ends them; then the other one is killed."""
    for number in range(3):
        await tried.queue.submit(f"j{number}", seconds=12)
    first = tried.start("first")
    await tried.until(lambda: len(tried.log.in_process("first")) == 3, "a worker begins")
    first.send_signal(signal.SIGSTOP)
    second = tried.start("second")
    await tried.until(lambda: len(tried.log.in_process("second")) == 3, "another goes on")
    first.send_signal(signal.SIGCONT)
    await tried.until(lambda: not tried.log.in_process("first"), "the late worker ends its jobs, or drops them")
    await asyncio.sleep(1)
    tried.show(report, "of 3 jobs, ended by who had lost them", await tried.queue.ended(), bound=0)
    first.kill()
    second.kill()
    tried.start("third")
    await within(3 * LOST_SECONDS, lambda: len(tried.log.in_process("third")) == 3)
    never = 3 - len(tried.log.in_process("third"))
    tried.show(report, "of 3 jobs, never done when the next is killed", never, bound=0)


async def short_turn(tried: Field, report: Report) -> None:
    for number in range(50):
        await tried.queue.submit(f"a{number}", seconds=0.05)
    await tried.queue.submit("b", user="b", seconds=0.05)
    tried.start("first")
    await tried.until(lambda: "b" in tried.log.jobs("end"), "the other user's job ends")
    before = tried.log.jobs("begin").index("b")
    tried.show(report, "of 50 jobs, begun before another user's", before, bound=3)


async def long_turn(tried: Field, report: Report) -> None:
    for number in range(20):
        await tried.queue.submit(f"a{number}", seconds=4)
    for number in range(20):
        await tried.queue.submit(f"b{number}", user="b", seconds=0.05)
    tried.start("first"), tried.start("second")
    await tried.until(lambda: sum(job[0] == "b" for job in tried.log.jobs("end")) == 20, "the short jobs end")
    begun = "".join(job[0] for job in tried.log.jobs("begin"))
    before = begun[: begun.rindex("b")].count("a")
    tried.show(report, "of 20 of 4 s, begun before 20 of 0.05 s", before, bound=6)


async def restart(tried: Field, report: Report) -> None:
    for number in range(12):
        await tried.queue.submit(f"j{number}", seconds=1)
    workers = [tried.start("first"), tried.start("second")]
    await tried.until(lambda: len(tried.log.jobs("end")) >= 3, "jobs end")
    tried.server.kill()
    await asyncio.sleep(DOWN_SECONDS)
    tried.server.start()
    left = 12 - await tried.ended(12)
    ended = sum(worker.poll() is not None for worker in workers)
    tried.show(report, f"of 2 workers, ended by {DOWN_SECONDS:.0f} s without database", ended, bound=0)
    tried.show(report, "of 12 jobs, not ended a minute later", left, bound=0)


async def compare(report: Report, folder: Path) -> None:
    """Both queues beside each other; what is promised has a bound for ours."""
    if procrastinate is None:
        print("\nour queue beside procrastinate's: skipped, procrastinate is not installed (`make bench` installs it)")
        return
    report.head("Our queue beside procrastinate's, PostgreSQL")
    both, all_three = (OURS, THEIRS), (OURS, THEIRS, THEIRS_WITH_TAGS)
    for scene in (drain, kill, pause, short_turn, long_turn, restart):
        for kind in all_three if scene in (short_turn, long_turn) else both:
            async with queue_of(kind, folder / f"{scene.__name__} {kind}") as tried:
                await scene(tried, report)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2], sys.argv[3], Log(Path(sys.argv[4]))))
