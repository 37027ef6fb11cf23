"""What a store of jobs promises about its file, which it shares with the store of runs and with other processes."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from graph_research import SqliteCheckpointer
from graph_research.jobs.errors import JobStoreUnusable
from graph_research.jobs.job import NewJob
from graph_research.jobs.sql_store import migrations
from graph_research.jobs.sqlite import SqliteJobStore
from tests.support.jobs.hand_clock import HandClock
from tests.support.jobs.job_stores import make_runs_db

SUBMIT = """
import asyncio, sys
from datetime import UTC, datetime
from graph_research.jobs.job import NewJob
from graph_research.jobs.sqlite import SqliteJobStore

async def submit(path, name):
    store = SqliteJobStore(path, clock=lambda: datetime.now(UTC))
    for number in range(5):
        await store.submit(NewJob(id=f"{name}-{number}", user="ann", question="?", request={}))
    await store.close()

sys.stdin.readline()
asyncio.run(submit(*sys.argv[1:]))
"""


async def count(path: Path) -> int:
    store = SqliteJobStore(path, clock=HandClock())
    counts = await store.counts()
    await store.close()
    return sum(counts.values())


async def test_jobs_stand_beside_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    runs = SqliteCheckpointer(path)
    await runs.size()
    jobs = SqliteJobStore(path, clock=HandClock())
    await jobs.submit(NewJob(id="a", user="ann", question="?", request={}))
    await asyncio.gather(jobs.close(), runs.close())
    reopened = SqliteCheckpointer(path)
    assert await reopened.runs() == []
    await reopened.close()
    assert await count(path) == 1


def test_ten_processes_that_begin_together_make_the_tables_once(tmp_path: Path) -> None:
    path = make_runs_db(tmp_path)
    processes = [
        subprocess.Popen([sys.executable, "-c", SUBMIT, str(path), f"p{n}"], stdin=subprocess.PIPE, text=True)
        for n in range(10)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0] * 10
    assert asyncio.run(count(path)) == 50
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM jobs_format").fetchone() == (len(migrations()),)


@pytest.mark.parametrize("content", [None, b"", b"no database at all" * 100])
async def test_a_file_without_runs_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "runs.db"
    if content is not None:
        path.write_bytes(content)
    store = SqliteJobStore(path, clock=HandClock())
    with pytest.raises(JobStoreUnusable, match=r"runs\.db"):
        await store.counts()
    await store.close()
    assert path.exists() == (content is not None)


async def test_a_newer_format_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = make_runs_db(tmp_path)
    assert await count(path) == 0
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE jobs_format SET format = 99")
        connection.commit()
    with pytest.raises(JobStoreUnusable, match="newer version"):
        await count(path)


async def test_the_file_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = make_runs_db(tmp_path)
    assert await count(path) == 0
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE research_jobs")
    with pytest.raises(JobStoreUnusable, match="no such table"):
        await count(path)


async def test_a_read_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = make_runs_db(tmp_path)
    store = SqliteJobStore(path, clock=HandClock())
    await store.submit(NewJob(id="a", user="ann", question="?", request={}))
    await store.get("ann", "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        submitting = asyncio.create_task(store.submit(NewJob(id="b", user="ann", question="?", request={})))
        for _ in range(10):  # its transaction has been asked for
            await asyncio.sleep(0)
        assert [job.id for job in await store.jobs("ann")] == ["a"]
        assert not submitting.done()
        writer.execute("ROLLBACK")
    await submitting
    assert len(await store.jobs("ann")) == 2
    await store.close()


async def test_a_cancelled_caller_waits_for_its_write(tmp_path: Path) -> None:
    store = SqliteJobStore(make_runs_db(tmp_path), clock=HandClock())
    submitting = asyncio.create_task(store.submit(NewJob(id="a", user="ann", question="?", request={})))
    await asyncio.sleep(0)
    submitting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await submitting
    assert await store.find("a") is not None
    await store.close()
