"""Memory and SQLite pass the same suite; and what only a file can suffer is found and named."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Literal

import orjson
import pytest

from graph_research import SqliteCheckpointer
from graph_research.graph.checkpoint.conformance import CheckpointerConformance, first, row, run_row, stored_event
from graph_research.graph.errors import RunBusy, StoreDamaged
from graph_research.graph.state.rows import Instruction, Write
from graph_research.graph.values.codec import text_hash

ROOT = Path(__file__).parents[4]


class TestConformance(CheckpointerConformance):
    """On the fixture `store`, which is each of them."""


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[SqliteCheckpointer]:
    store = SqliteCheckpointer(path)
    try:
        yield store
    finally:
        await store.close()


def started(program: str, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def told_by(program: str, path: Path) -> str:
    """What a program says on standard error."""
    command = [sys.executable, "-c", program, str(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stderr


async def filled(path: Path, text: str = "a text worth keeping " * 200) -> None:
    async with opened(path) as store:
        await store.create(run_row("a"), first("a", {"n": 0}, texts=[text]))
        for step in range(1, 200):
            await store.write(Write(run_id="a", steps=[row(step, {"replace": {"n": step, "pad": "x" * 200}})]))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def test_what_was_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    await filled(tmp_path / "runs.db")
    async with opened(tmp_path / "runs.db") as store:
        assert (await store.state("a"))["n"] == 199
        assert await store.text(text_hash("a text worth keeping " * 200)) == "a text worth keeping " * 200


async def test_what_the_loop_has_committed_is_brought_from_the_log_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with opened(path) as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        before = path.stat().st_size
        for step in range(1, 200):
            await store.write(Write(run_id="a", steps=[row(step, {"replace": {"n": step, "pad": "x" * 400}})]))
        await store.state("a")  # read in the thread, behind the checkpoint
        # Without its log the file need not be whole while the loop writes, so its size alone says what arrived.
        assert path.stat().st_size > before + 100 * 400


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    await filled(tmp_path / "runs.db")
    assert stat.S_IMODE((tmp_path / "runs.db").stat().st_mode) == 0o600


async def test_writes_that_wait_together_are_all_kept_and_a_bad_one_takes_no_other_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "runs.db") as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        twice = [*range(1, 50), 25, *range(50, 60)]
        writes = [store.write(Write(run_id="a", steps=[row(step, {"add": {"n": 1}})])) for step in twice]
        results = await asyncio.gather(*writes, return_exceptions=True)
        assert [type(result) for result in results if result is not None] == [StoreDamaged]
        assert (await store.state("a"))["n"] == 59


async def test_events_that_are_read_while_others_are_written_have_no_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop writes while the thread reads, between its statements."""
    reads, written = threading.Event(), threading.Event()

    def verify(*_: object) -> None:
        reads.set()
        written.wait()

    async with opened(tmp_path / "runs.db") as store:
        await store.create(run_row("a"), first("a", {}))
        await store.write(Write(run_id="a", last_seq=1, events=orjson.dumps([stored_event(1)])))
        monkeypatch.setattr("graph_research.graph.checkpoint.sqlite.verify", verify)
        reading = asyncio.create_task(store.events("a"))
        await asyncio.to_thread(reads.wait)
        for seq, steps in ((2, []), (3, [row(1, {})])):
            events = orjson.dumps([stored_event(seq)])
            await store.write(Write(run_id="a", steps=steps, last_seq=seq, events=events))
        written.set()
        assert [event.seq for event in await reading] == [1]
        assert [event.seq for event in await store.events("a", after=1)] == [2, 3]


async def test_a_write_that_is_cancelled_is_durable_all_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path / "runs.db") as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        task = asyncio.create_task(store.write(Write(run_id="a", steps=[row(1, {"add": {"n": 1}})])))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store.state("a") == {"n": 1}


async def test_a_brief_read_is_done_at_once_but_after_writes_that_wait(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with opened(path) as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        await store.write(Write(run_id="a", steps=[row(1, {"add": {"n": 1}})], alone=True))
        with pytest.raises(StopIteration, match="False"):
            store.cancel_requested("a").send(None)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            write = Write(run_id="a", steps=[row(2, {"add": {"n": 1}})])
            written = asyncio.create_task(store.write(write))
            for _ in range(3):
                await asyncio.sleep(0)
            read = asyncio.create_task(store.last_step("a"))
            await asyncio.sleep(0)
            assert not written.done()
            assert not read.done()
            other.execute("COMMIT")
            step = await read
            assert step is not None
            assert step.step == 2
            await written


@pytest.mark.parametrize("durability", ["process", "power"])
@pytest.mark.parametrize("alone", [True, False])
async def test_a_write_waits_for_another_process_that_holds_the_file(
    tmp_path: Path, alone: bool, durability: Literal["process", "power"]
) -> None:
    path = tmp_path / "runs.db"
    store = SqliteCheckpointer(path, durability=durability)
    await store.create(run_row("a"), first("a", {"n": 0}))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writes = [Write(run_id="a", steps=[row(step, {"add": {"n": 1}})], alone=alone) for step in (1, 2)]
        tasks = [asyncio.create_task(store.write(write)) for write in writes]
        for _ in range(3):
            await asyncio.sleep(0)
        assert not any(task.done() for task in tasks)
        other.execute("COMMIT")
        await asyncio.gather(*tasks)
    assert await store.state("a") == {"n": 2}
    await store.close()


@pytest.mark.parametrize("alone", [True, False])
def test_a_store_can_be_used_from_one_event_loop_after_the_other(tmp_path: Path, alone: bool) -> None:
    store = SqliteCheckpointer(tmp_path / "runs.db")
    asyncio.run(store.create(run_row("a"), first("a", {"n": 0})))
    for step in (1, 2):
        asyncio.run(store.write(Write(run_id="a", steps=[row(step, {"add": {"n": 1}})], alone=alone)))
    assert asyncio.run(store.state("a")) == {"n": 2}
    asyncio.run(store.close())


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b"not a database at all" * 100)
    async with opened(tmp_path / "runs.db") as store:
        with pytest.raises(StoreDamaged, match=r"runs\.db cannot be used: file is not a database; it is not a SQLite"):
            await store.runs()


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        connection.execute("CREATE TABLE runs (theirs)")
    async with opened(tmp_path / "runs.db") as store:
        with pytest.raises(StoreDamaged, match="another program"):
            await store.runs()


@pytest.mark.requirement("6.7")
@pytest.mark.parametrize(("version", "told"), [(99, "newer version"), (2, "too old; move it away")])
async def test_the_file_of_another_version_is_not_touched(tmp_path: Path, version: int, told: str) -> None:
    await filled(tmp_path / "runs.db")
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = (tmp_path / "runs.db").read_bytes()
    async with opened(tmp_path / "runs.db") as store:
        with pytest.raises(StoreDamaged, match=told):
            await store.runs()
    assert (tmp_path / "runs.db").read_bytes() == before


@pytest.mark.requirement("6.7")
async def test_the_file_of_an_earlier_version_is_brought_to_this_one_with_its_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE instructions")  # what format 4 added to format 3
        connection.execute("PRAGMA user_version = 3")
        connection.commit()
    async with opened(path) as store:
        assert [run.run_id for run in await store.runs()] == ["a"]
        assert (await store.state("a"))["n"] == 199
        await store.instruct("a", Instruction("guidance", "Mind the year."))
        assert await store.instructions("a") == [Instruction("guidance", "Mind the year.")]


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    async with opened(tmp_path / "none" / "runs.db") as store:
        with pytest.raises(StoreDamaged, match="the folder must exist"):
            await store.runs()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE steps SET delta = CAST(replace(CAST(delta AS TEXT), ':199', ':198') AS BLOB) WHERE id & 255 = 199",
            "step 199 of run a is damaged",
        ),
        ("UPDATE steps SET delta = 'text' WHERE id & 255 = 150", "step 150 of run a is damaged"),
        ("UPDATE steps SET visit = 7 WHERE id & 255 = 150", "step 150 of run a is damaged"),
        ("UPDATE steps SET position = x'7b7d'", "step .* of run a is damaged"),
        ("UPDATE runs SET status = 'completed'", "the record of run 'a' is damaged"),
        (
            "UPDATE runs SET input = CAST(replace(CAST(input AS TEXT), '{', '[') AS BLOB)",
            "the record of run 'a' is damaged",
        ),
        ("UPDATE texts SET content = substr(content, 1, 20)", "text sha256:[0-9a-f]{64} is missing or damaged"),
        ("DELETE FROM texts", "text sha256:[0-9a-f]{64} is missing or damaged"),
    ],
)
async def test_a_changed_byte_is_never_a_silent_wrong_state(tmp_path: Path, statement: str, words: str) -> None:
    await filled(tmp_path / "runs.db")
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        connection.execute(statement)
        connection.commit()
    async with opened(tmp_path / "runs.db") as store:
        with pytest.raises(StoreDamaged, match=words):
            await store.state("a")
            await store.text(text_hash("a text worth keeping " * 200))


@pytest.mark.parametrize(
    "change",
    [
        "visit = 7",
        "visit = 'seven'",
        "seconds = 9.5",
        "status = 'failed'",
        "scope = 'other:1/'",
        "hash = x'00'",
        "hash = 'text'",
        "last_seq = 1",
        "checksum = checksum + 4294967296",
        "checksum = 'none'",
    ],
)
async def test_a_damaged_row_is_named_where_a_history_is_only_listed(tmp_path: Path, change: str) -> None:
    await filled(tmp_path / "runs.db")
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        connection.execute(f"UPDATE steps SET {change} WHERE id & 255 = 150")
        connection.commit()
    async with opened(tmp_path / "runs.db") as store:
        with pytest.raises(StoreDamaged, match="step 150 of run a is damaged"):
            await store.steps("a")


async def test_pages_that_were_overwritten_are_found(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    with path.open("r+b") as file:
        for page in range(12, 25):
            file.seek(page * 4096)
            file.write(os.urandom(4096))
    async with opened(path) as store:
        with pytest.raises(StoreDamaged, match=r"runs\.db"):
            await store.state("a")
            await store.steps("a")


async def test_a_truncated_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)
    async with opened(path) as store:
        with pytest.raises(StoreDamaged, match=r"malformed|damaged"):
            await store.state("a")


async def test_a_full_disk_is_named_and_what_was_stored_stays(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    program = """
import asyncio, resource, signal, sys
from graph_research import SqliteCheckpointer
from graph_research.graph.state.rows import Write
from graph_research.graph.checkpoint.conformance import row

async def main() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    store = SqliteCheckpointer(sys.argv[1])
    for step in range(200, 900):
        await store.write(Write(run_id="a", steps=[row(step, {"replace": {"n": step, "pad": "x" * 3000}})]))

asyncio.run(main())
"""
    told = told_by(program, path)
    assert "StoreUnreachable" in told
    assert "disk" in told
    async with opened(path) as store:
        assert (await store.state("a"))["n"] >= 199


async def test_a_run_driven_by_another_process_is_busy_and_free_when_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await filled(path)
    program = """
import asyncio, sys
from graph_research import SqliteCheckpointer

async def main() -> None:
    lease = await SqliteCheckpointer(sys.argv[1]).lease("a")
    print("held", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""
    with started(program, path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        async with opened(path) as store:
            with pytest.raises(RunBusy, match=f"process {other.pid} "):
                await store.lease("a")
            other.kill()
            other.wait()
            (await store.lease("a")).release()
            assert list((tmp_path / "runs.db.locks").iterdir()) == []
