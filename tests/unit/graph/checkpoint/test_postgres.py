"""The store in PostgreSQL passes the suite of all stores; what only a server can suffer loses and repeats nothing."""

from __future__ import annotations

import asyncio
import secrets
import select
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import orjson
import psycopg
import pytest

from graph_research.graph.checkpoint.conformance import CheckpointerConformance, first, row, run_row, stored_event
from graph_research.graph.checkpoint.postgres import PostgresCheckpointer
from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.graph.checkpoint.postgres.pool import Connection
from graph_research.graph.errors import DatabaseAddressInvalid, RunBusy, RunExists, StoreDamaged, StoreUnreachable
from graph_research.graph.state.rows import Instruction, Write
from graph_research.graph.values.codec import text_hash
from tests.support.cli.cli_process import PATIENCE_SECONDS
from tests.support.postgres import PostgresServer, Wire, postgres_server


@pytest.fixture
def schema() -> str:
    return f"test_{secrets.token_hex(4)}"


@pytest.fixture
async def store(postgres: PostgresServer, schema: str) -> AsyncIterator[PostgresCheckpointer]:
    async with opened(postgres.url, schema) as made:
        yield made


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may kill."""
    with postgres_server() as server:
        yield server


@asynccontextmanager
async def opened(url: str, schema: str, **options: float) -> AsyncIterator[PostgresCheckpointer]:
    made = PostgresCheckpointer(url, schema=schema, **options)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        await made.close()


async def undriven(store: PostgresCheckpointer) -> None:
    """Wait until no lease of the run lasts any more, by the clock of the server."""
    while await store.is_driven("a"):  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def step(number: int) -> Write:
    return Write(run_id="a", steps=[row(number, {"add": {"n": 1}})])


class TestConformance(CheckpointerConformance):
    """On the fixture `store`."""


async def test_an_owner_who_was_thought_dead_writes_nothing_any_more(postgres: PostgresServer, schema: str) -> None:
    async with opened(postgres.url, schema, lease_seconds=0.6) as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        await store.lease("a")
        await store.write(step(1))

        async def take_over() -> None:
            async with opened(postgres.url, schema) as other:
                await undriven(other)
                await other.lease("a")
                await other.write(step(2))

        hanging = threading.Thread(target=lambda: asyncio.run(take_over()))
        hanging.start()
        hanging.join()  # the owner's event loop stands still meanwhile, and renews no lease
        for late in (store.write(step(3)), store.lose_calls("a")):
            with pytest.raises(RunBusy):
                await late
        assert await store.state("a") == {"n": 2}


async def test_a_write_takes_effect_as_a_whole_or_not_at_all(store: PostgresCheckpointer) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    lease = await store.lease("a")
    twice = row(1, {"add": {"n": 1}})
    with pytest.raises(StoreDamaged, match="duplicate key"):
        await store.write(Write(run_id="a", steps=[twice, twice]))
    assert await store.state("a") == {"n": 0}
    await store.write(step(1))
    assert await store.state("a") == {"n": 1}
    lease.release()


async def test_who_holds_no_lease_does_not_write_what_another_drives(
    postgres: PostgresServer, schema: str, store: PostgresCheckpointer
) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    lease = await store.lease("a")
    async with opened(postgres.url, schema) as other:
        assert await other.is_driven("a")
        with pytest.raises(RunBusy, match="is driven by process"):
            await other.write(step(1))
        await other.request_cancel("a")
        assert await store.cancel_requested("a")
        lease.release()
        assert not await store.is_driven("a")
        await other.write(step(1))


async def test_a_run_that_was_deleted_and_created_again_elsewhere_is_read_anew(
    postgres: PostgresServer, schema: str, store: PostgresCheckpointer
) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    lease = await store.lease("a")
    await store.write(step(1))
    lease.release()
    async with opened(postgres.url, schema) as other:
        await other.delete("a")
        await other.create(run_row("a"), first("a", {"n": 5}))
    assert await store.state("a") == {"n": 5}
    await store.write(step(1))
    assert await store.state("a") == {"n": 6}


async def test_nothing_of_a_run_is_left_when_it_is_deleted(
    postgres: PostgresServer, schema: str, store: PostgresCheckpointer
) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}, ["text " * 500]))
    (await store.lease("a")).release()
    await store.instruct("a", Instruction("guidance", "Mind the year."))
    await store.delete("a")
    assert not await store.is_driven("a")
    with psycopg.connect(postgres.url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
        rows = {name: connection.execute(f"SELECT count(*) FROM {schema}.{name}").fetchone() for (name,) in tables}
    assert {name for name, count in rows.items() if count != (0,)} == {"runs_format"}


async def test_a_lease_lasts_as_long_as_its_owner_lives(postgres: PostgresServer, schema: str) -> None:
    async with (
        opened(postgres.url, schema, lease_seconds=2.4) as store,
        opened(postgres.url, schema) as other,
        await psycopg.AsyncConnection.connect(postgres.url, autocommit=True) as looking,
    ):
        await store.create(run_row("a"), first("a", {"n": 0}))
        await store.lease("a")
        ends = set[datetime]()
        while len(ends) < 3:  # it was renewed twice
            await asyncio.sleep(0.05)
            rows = await looking.execute(f"SELECT expires_at FROM {schema}.leases")
            ends |= {end for (end,) in await rows.fetchall()}
        with pytest.raises(RunBusy):
            await other.lease("a")


async def test_many_that_start_at_once_make_one_schema(postgres: PostgresServer, schema: str) -> None:
    stores = [PostgresCheckpointer(postgres.url, schema=schema) for _ in range(10)]
    await asyncio.gather(
        *(each.create(run_row(f"r{number}"), first(f"r{number}", {})) for number, each in enumerate(stores))
    )
    assert len(await stores[0].runs()) == 10
    for each in stores:
        await each.close()
    with psycopg.connect(postgres.url) as connection:
        assert connection.execute(f"SELECT version FROM {schema}.runs_format").fetchall() == [(1,)]


async def test_a_schema_of_a_newer_version_is_left_alone(
    postgres: PostgresServer, schema: str, store: PostgresCheckpointer
) -> None:
    await store.size()
    with psycopg.connect(postgres.url) as connection:
        connection.execute(f"INSERT INTO {schema}.runs_format VALUES (999)")
    async with opened(postgres.url, schema) as older:
        with pytest.raises(StoreDamaged, match="newer version"):
            await older.runs()


async def test_writes_that_wait_together_are_all_kept_in_their_order_and_a_bad_one_takes_no_other_with_it(
    store: PostgresCheckpointer,
) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    results = await asyncio.gather(*map(store.write, map(step, [1, 2, 3, 2, 4])), return_exceptions=True)
    assert [type(result) for result in results if result is not None] == [StoreDamaged]
    assert await store.state("a") == {"n": 4}


async def test_a_write_after_one_that_failed_knows_what_the_server_has_prepared(
    postgres: PostgresServer, schema: str
) -> None:
    """psycopg prepares a statement the sixth time, here in a pipeline that has failed already on the server, which
    skips it. A locked table holds the failure back until the whole pipeline is sent."""
    async with opened(postgres.url, schema, connections=1) as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        async with await psycopg.AsyncConnection.connect(postgres.url) as other:
            await other.execute(f"LOCK TABLE {schema}.steps IN EXCLUSIVE MODE")
            writes = asyncio.gather(*map(store.write, map(step, [1, 1, *range(2, 10)])), return_exceptions=True)
            await asyncio.sleep(0.5)
        results = await writes
        assert [type(result) for result in results if result is not None] == [StoreDamaged]
        assert await store.state("a") == {"n": 9}


async def test_a_write_that_fails_before_all_of_it_is_sent_takes_no_effect(store: PostgresCheckpointer) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    not_sent = row(2, {"add": {"n": 1}})._replace(node="a\0b")  # the library refuses it
    with pytest.raises(StoreDamaged):
        await store.write(Write(run_id="a", steps=[row(1, {"add": {"n": 1}}), not_sent]))
    assert await store.state("a") == {"n": 0}
    await store.write(step(1))
    assert await store.state("a") == {"n": 1}


async def test_a_write_that_is_cancelled_is_durable_all_the_same(store: PostgresCheckpointer) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    task = asyncio.create_task(store.write(step(1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.state("a") == {"n": 1}


async def test_a_reader_that_is_cancelled_ends(store: PostgresCheckpointer) -> None:
    await store.create(run_row("a"), first("a", {"n": 0}))
    for pause in range(20):
        task = asyncio.create_task(store.cancel_requested("a"))
        await asyncio.sleep(pause / 10_000)
        if task.cancel():
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_texts_that_one_run_leaves_while_another_takes_them_stay(
    postgres: PostgresServer, schema: str, store: PostgresCheckpointer
) -> None:
    text = "shared " * 500
    name = text_hash(text)
    async with opened(postgres.url, schema) as other:
        await store.create(run_row("a"), first("a", {}))
        for number in range(15):
            await store.write(Write(run_id="a", texts={name: text}))
            new = f"b{number}"
            await asyncio.gather(store.forget_texts("a", [name]), other.create(run_row(new), first(new, {}, [text])))
            assert await other.text(name) == text
            await other.delete(new)


async def test_a_database_that_is_killed_and_started_again_loses_and_repeats_nothing(
    own_server: PostgresServer, schema: str
) -> None:
    async with opened(own_server.url, schema) as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        await store.lease("a")

        async def write_all() -> None:
            for number in range(1, 200):
                events = orjson.dumps([stored_event(number)])
                await store.write(step(number)._replace(last_seq=number, events=events))

        writing = asyncio.create_task(write_all())
        for _ in range(3):
            await asyncio.sleep(0.1)
            await asyncio.to_thread(own_server.kill)
            await asyncio.to_thread(own_server.start)
        await writing
        assert await store.state("a") == {"n": 199}
        assert [event.seq for event in await store.events("a")] == list(range(1, 200))


async def test_a_wire_that_is_cut_lets_another_take_over(postgres: PostgresServer, schema: str, tmp_path: Path) -> None:
    wire = Wire(postgres, tmp_path)
    async with opened(wire.url, schema, lease_seconds=0.6) as lost, opened(postgres.url, schema) as other:
        await lost.create(run_row("a"), first("a", {"n": 0}))
        await lost.lease("a")
        wire.cut()
        writing = asyncio.create_task(lost.write(step(1)))
        await undriven(other)
        await other.lease("a")
        await other.write(step(1))
        wire.mend()
        with pytest.raises(RunBusy):
            await writing
        assert await other.state("a") == {"n": 1}
    wire.close()


async def test_a_wire_that_is_cut_in_the_middle_of_a_transaction_holds_nobody_up(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    """The server waits for the rest of a message, which no time limit of its own ends, and has written a text."""
    shared, cut_off = sorted(["one text", "another text"], key=text_hash)  # the order in which they are written
    wire = Wire(postgres, tmp_path, cut_before=cut_off.encode())
    async with (
        opened(wire.url, schema, patience_seconds=1.0, lock_seconds=1.0) as cut,
        opened(postgres.url, schema, lock_seconds=1.0) as other,
    ):
        await cut.create(run_row("a"), first("a", {}))
        await other.create(run_row("b"), first("b", {}))
        writing = asyncio.create_task(cut.write(Write(run_id="a", texts={text_hash(t): t for t in (shared, cut_off)})))
        await asyncio.sleep(0.3)
        await other.write(Write(run_id="b", texts={text_hash(shared): shared}))
        assert await other.text(text_hash(shared)) == shared
        assert not writing.done()
        wire.close()
        await asyncio.wait([writing])


async def test_a_write_that_the_server_still_does_when_its_connection_is_lost_is_done_once(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    wire = Wire(postgres, tmp_path)
    async with opened(wire.url, schema) as store:
        await store.create(run_row("a"), first("a", {"n": 0}))
        await store.write(step(1))
        async with await psycopg.AsyncConnection.connect(postgres.url) as other:
            await other.execute(f"LOCK TABLE {schema}.steps IN EXCLUSIVE MODE")
            writing = asyncio.create_task(store.write(step(2)))
            first_session = await sessions_that_wait(other, but_for=set())
            wire.half_close()  # the server has all of it, and waits for the table
            await sessions_that_wait(other, but_for=first_session)
        await writing
        assert await store.state("a") == {"n": 2}
    wire.close()


async def sessions_that_wait(connection: psycopg.AsyncConnection, *, but_for: set[int]) -> set[int]:
    """Those that wait for a lock, as soon as there are others than `but_for`."""
    sessions = but_for
    while sessions <= but_for:
        rows = await (await connection.execute("SELECT pid FROM pg_locks WHERE NOT granted")).fetchall()
        sessions = {pid for (pid,) in rows}
    return sessions


async def test_a_lease_is_taken_once_where_the_answer_of_the_server_was_lost(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    wire = Wire(postgres, tmp_path)
    async with opened(wire.url, schema) as store, opened(postgres.url, schema) as other:
        await store.create(run_row("a"), first("a", {"n": 0}))
        wire.lose_answer_to(b"INSERT INTO leases")
        await store.lease("a")
        await store.write(step(1))
        for each in (store, other):
            with pytest.raises(RunBusy):
                await each.lease("a")
    wire.close()


async def test_a_lease_that_a_cancelled_caller_was_given_is_given_back(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    wire = Wire(postgres, tmp_path)
    async with opened(postgres.url, schema) as other:
        async with opened(wire.url, schema, lease_seconds=PATIENCE_SECONDS) as store:
            await store.create(run_row("a"), first("a", {"n": 0}))
            wire.hold_answer_to(b"INSERT INTO leases")
            leasing = asyncio.create_task(store.lease("a"))
            assert await asyncio.to_thread(wire.holds_answer.wait, PATIENCE_SECONDS)
            leasing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leasing
            wire.mend()
        (await other.lease("a")).release()
    wire.close()


async def test_a_run_is_created_once_where_the_answer_of_the_server_was_lost(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    wire = Wire(postgres, tmp_path)
    async with opened(wire.url, schema) as store:
        await store.runs()
        wire.lose_answer_to(b"COMMIT")
        await store.create(run_row("a"), first("a", {"n": 0}))
        with pytest.raises(RunExists):
            await store.create(run_row("a"), first("a", {"n": 0}))
        assert await store.state("a") == {"n": 0}
    wire.close()


async def test_an_instruction_is_stored_once_where_the_answer_of_the_server_was_lost(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    said = [Instruction("guidance", text) for text in ("Mind the year.", "Mind the year.", "And the price.")]
    wire = Wire(postgres, tmp_path)
    async with opened(wire.url, schema) as store:
        await store.create(run_row("a"), first("a", {}))
        for instruction in said:
            wire.lose_answer_to(b"COMMIT")
            await store.instruct("a", instruction)
        assert await store.instructions("a") == said
    wire.close()


async def test_a_request_to_cancel_is_stored_where_the_answer_of_the_server_was_lost(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    wire = Wire(postgres, tmp_path)
    async with opened(wire.url, schema) as store:
        await store.create(run_row("a"), first("a", {}))
        wire.lose_answer_to(b"UPDATE runs SET cancel")
        await store.request_cancel("a")
        assert await store.cancel_requested("a")
    wire.close()


async def test_instructions_of_several_users_at_once_are_all_stored(
    postgres: PostgresServer, schema: str, store: PostgresCheckpointer
) -> None:
    await store.create(run_row("a"), first("a", {}))
    said = [Instruction("guidance", f"number {number}") for number in range(20)]
    async with opened(postgres.url, schema) as other:
        await asyncio.gather(*(each.instruct("a", one) for one in said for each in (store, other)))
    assert sorted(await store.instructions("a")) == sorted(said * 2)


async def test_a_transaction_whose_client_hung_is_done_again(postgres: PostgresServer, schema: str) -> None:
    connections = Connections(postgres.url, schema=schema, part="test", migrations={1: "CREATE TABLE t (n INTEGER)"})
    hangs = iter([True, False])

    async def work(connection: Connection) -> None:
        async with connection.transaction():
            await connection.execute("INSERT INTO t VALUES (1)")
            if next(hangs):
                await connection.execute("SET LOCAL idle_in_transaction_session_timeout = '1ms'")
                select.select([connection], [], [])  # until the server has ended the session
            await connection.execute("INSERT INTO t VALUES (2)")

    await connections.run(work)
    with psycopg.connect(postgres.url) as connection:
        assert connection.execute(f"SELECT n FROM {schema}.t").fetchall() == [(1,), (2,)]
    await connections.close()


async def test_connections_that_are_all_in_use_are_waited_for_and_used_again(
    postgres: PostgresServer, schema: str
) -> None:
    connections = Connections(
        postgres.url, schema=schema, part="test", migrations={1: "SELECT"}, most=2, patience_seconds=0.3
    )
    ends = asyncio.Event()

    async def hold(connection: Connection) -> int:
        await ends.wait()
        return connection.info.backend_pid

    holders = [asyncio.create_task(connections.run(hold)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(StoreUnreachable, match="all 2 connections are in use"):
        await connections.run(hold)
    ends.set()
    sessions = {await each for each in holders}
    assert len(sessions) == 2
    assert await connections.run(hold) in sessions
    await connections.close()


async def test_a_database_that_is_not_there_yet_is_waited_for(
    postgres: PostgresServer, schema: str, tmp_path: Path
) -> None:
    async with opened(f"postgresql://postgres@/postgres?host={tmp_path}", schema, patience_seconds=300.0) as store:
        reading = asyncio.create_task(store.runs())
        await asyncio.sleep(0.1)
        wire = Wire(postgres, tmp_path)
        assert await reading == []
    wire.close()


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(DatabaseAddressInvalid) as raised:
        PostgresCheckpointer("mysql://me:secret@db.example.org/runs")
    assert "secret" not in str(raised.value)


async def test_a_database_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    async with opened(f"postgresql://me:secret@/runs?host={tmp_path}", "s", patience_seconds=0.3) as store:
        with pytest.raises(StoreDamaged, match="cannot be used") as raised:
            await store.runs()
    assert "secret" not in raised.value.message
    assert str(tmp_path) in raised.value.message
    assert "resume" not in raised.value.help, "there may be no run"
