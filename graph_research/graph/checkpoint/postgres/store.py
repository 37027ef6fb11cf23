"""Runs in PostgreSQL: the update log, the journal, the events and the texts, written in one transaction by whoever
holds the run's lease."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple, TypeVar

from graph_research.errors import check_name
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.ports import Lease, missing_text
from graph_research.graph.checkpoint.postgres.connections import SCHEMA, Connections, LeaseRefused
from graph_research.graph.checkpoint.postgres.leases import Leases
from graph_research.graph.checkpoint.postgres.pool import Connection
from graph_research.graph.checkpoint.postgres.statements import migrations, queries, rows_of
from graph_research.graph.checkpoint.uncancellable import UncancellableFuture
from graph_research.graph.errors import RunBusy, RunExists, UnknownRun
from graph_research.graph.state.rows import CallRow, Instruction, RunRow, Snapshot, StepRow, Write
from graph_research.graph.values.codec import text_hash

T = TypeVar("T")
_LAST = (1 << 63) - 1


class _Waiting(NamedTuple):
    write: Write
    future: UncancellableFuture[None]


class PostgresCheckpointer(Checkpointer):
    """A store in the schema `schema` of the database at `url` (`postgresql://…`), made when it is missing.

    A lease lasts `lease_seconds` by the clock of the server and is renewed while its holder lives; every write of a
    holder is refused with `RunBusy` once another has the lease. A database that goes away is waited for
    `patience_seconds`, the lock of another transaction `lock_seconds`. The writes of one run that wait for each
    other share a transaction. Needs the extra `postgres`.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str = SCHEMA,
        lease_seconds: float = 15.0,
        patience_seconds: float = 30.0,
        lock_seconds: float = 10.0,
        connections: int = 10,
    ) -> None:
        owner = f"{os.getpid()} on {socket.gethostname()} ({secrets.token_hex(4)})"
        self._connections = Connections(
            url,
            schema=schema,
            part="runs",
            migrations=migrations(),
            most=connections,
            patience_seconds=patience_seconds,
            lock_seconds=lock_seconds,
        )
        self._leases = Leases(self._connections, owner=owner, seconds=lease_seconds)
        self._numbers: dict[str, int] = {}
        """Of the runs that are written here. Without a lease another process may delete one and make another."""
        self._waiting: dict[str, list[_Waiting]] = {}
        """The writes of each run that is being written."""
        self._writers: set[asyncio.Task[None]] = set()

    async def create(self, run: RunRow, first: Write) -> None:
        check_name(run.run_id, "run")

        async def insert(connection: Connection) -> int | None:
            async with connection.transaction():
                await connection.execute(queries()["require_lease"], self._holder(run.run_id))
                row = await (await connection.execute(queries()["insert_run"], run)).fetchone()
                if row is not None:
                    await _put(connection, row[0], first)
            return None if row is None else row[0]

        async def insert_again(connection: Connection) -> int | None:
            return await _number_of(connection, run) or await insert(connection)

        number = await self._written(run.run_id, insert, insert_again)
        if number is None:
            raise RunExists(f"run {run.run_id} exists already", help="choose another id, or resume or delete that run")
        self._numbers[run.run_id] = number

    async def write(self, write: Write) -> None:
        future: UncancellableFuture[None] = UncancellableFuture(loop=asyncio.get_running_loop())
        waiting = self._waiting.setdefault(write.run_id, [])
        waiting.append(_Waiting(write, future))
        if len(waiting) == 1:
            task = asyncio.create_task(self._write_waiting(write.run_id))
            self._writers.add(task)
            task.add_done_callback(self._writers.discard)
        await future

    async def lease(self, run_id: str) -> Lease:
        self._numbers.pop(run_id, None)
        return await self._leases.take(run_id)

    async def is_driven(self, run_id: str) -> bool:
        await self._leases.settled()
        return await self._leases.owner_of(run_id) is not None

    async def run_rows(self, run_id: str | None, limit: int | None) -> list[RunRow]:
        if run_id is None:
            rows = await self._rows("latest_runs", limit=limit)
        else:
            rows = await self._rows("one_run", run_id=run_id)
            if not rows:
                raise UnknownRun.of(run_id)
        return [RunRow(*row) for row in rows]

    async def last_step(self, run_id: str) -> StepRow | None:
        rows = await self._rows("last_step", run=await self._number(run_id))
        return StepRow(*rows[0]) if rows else None

    async def last_position(self, run_id: str) -> StepRow | None:
        rows = await self._rows("last_position", run=await self._number(run_id))
        return StepRow(*rows[0]) if rows else None

    async def step_rows(
        self, run_id: str, scope: str | None, after: int = -1, upto: int | None = None
    ) -> list[StepRow]:
        values = {"run": await self._number(run_id), "after": after, "upto": _LAST if upto is None else upto}
        name = "all_steps" if scope is None else "scope_steps"
        return [StepRow(*row) for row in await self._rows(name, **values, scope=scope)]

    async def snapshot(self, run_id: str, scope: str, upto: int | None = None) -> Snapshot | None:
        values = {"run": await self._number(run_id), "scope": scope, "upto": _LAST if upto is None else upto}
        rows = await self._rows("latest_snapshot", **values)
        return Snapshot(*rows[0]) if rows else None

    async def call_keys(self, run_id: str) -> tuple[set[str], int]:
        rows = await self._rows("call_keys", run=await self._number(run_id))
        return {row[0] for row in rows}, max((row[1] for row in rows), default=0)

    async def call_rows(self, run_id: str, key: str | None) -> list[CallRow]:
        number = await self._number(run_id)
        rows = await self._rows("all_calls" if key is None else "calls_of_attempt", run=number, key=key)
        return [CallRow(*row) for row in rows]

    async def lose_calls(self, run_id: str) -> int:
        number = await self._number(run_id)

        async def lose(connection: Connection) -> int:
            async with connection.transaction():
                await connection.execute(queries()["require_lease"], self._holder(run_id))
                return (await connection.execute(queries()["lose_calls"], {"run": number})).rowcount

        return await self._written(run_id, lose)

    async def event_batches(self, run_id: str, after: int) -> list[bytes]:
        return [row[1] for row in await self._rows("events_after", run=await self._number(run_id), after=after)]

    async def last_seq(self, run_id: str) -> int:
        return int((await self._rows("last_seq", run=await self._number(run_id)))[0][0])

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        names = sorted(set(hashes))
        if not names:
            return {}
        rows = await self._rows("get_texts", hashes=[bytes.fromhex(name) for name in names])
        texts = {row[0].hex(): row[1].decode(errors="replace") for row in rows}
        for name in names:
            if text_hash(texts.get(name, "")) != name:
                raise missing_text(name)
        return texts

    async def text_hashes(self, run_id: str) -> set[str]:
        return {row[0].hex() for row in await self._rows("text_hashes", run=await self._number(run_id))}

    async def forget_texts(self, run_id: str, hashes: Iterable[str]) -> int:
        number, names = await self._number(run_id), [bytes.fromhex(name) for name in hashes]

        async def forget(connection: Connection) -> int:
            async with connection.transaction():
                await connection.execute(queries()["require_lease"], self._holder(run_id))
                await connection.execute(queries()["remove_texts_alone"])
                return (await connection.execute(queries()["forget_texts"], {"run": number, "hashes": names})).rowcount

        lease = await self.lease(run_id)
        try:
            return await self._written(run_id, forget)
        finally:
            lease.release()

    async def delete(self, run_id: str) -> None:
        number = await self._number(run_id)

        async def delete(connection: Connection) -> None:
            async with connection.transaction():
                for name in ("require_lease", "remove_texts_alone", "delete_texts", "delete_run", "delete_lease"):
                    await connection.execute(queries()[name], {"run": number, **self._holder(run_id)})

        async def delete_again(connection: Connection) -> None:
            rows = await connection.execute(queries()["find_run"], {"run_id": run_id})
            if (number,) in await rows.fetchall():
                await delete(connection)

        lease = await self.lease(run_id)
        try:
            await self._written(run_id, delete, delete_again)
            self._numbers.pop(run_id, None)
        finally:
            lease.release()

    async def size(self) -> int:
        return int((await self._rows("size"))[0][0])

    async def request_cancel(self, run_id: str) -> None:
        await self._rows("request_cancel", run=await self._number(run_id))

    async def cancel_requested(self, run_id: str) -> bool:
        rows = await self._rows("cancel_requested", run=await self._number(run_id))
        return bool(rows and rows[0][0])

    async def instruct(self, run_id: str, instruction: Instruction) -> None:
        number = await self._number(run_id)
        [[last]] = await self._rows("last_instruction", run=number)
        values = {"run": number, "kind": instruction.kind, "content": instruction.content.encode()}

        async def instruct(connection: Connection, *, unless_after: int = _LAST) -> None:
            async with connection.transaction():
                await connection.execute(queries()["instruct_alone"], values)
                await connection.execute(queries()["instruct"], {**values, "unless_after": unless_after})

        await self._connections.run(instruct, again=partial(instruct, unless_after=last))

    async def instructions(self, run_id: str) -> list[Instruction]:
        rows = await self._rows("instructions", run=await self._number(run_id))
        return [Instruction(row[0], row[1].decode()) for row in rows]

    async def close(self) -> None:
        if self._writers:
            await asyncio.wait(set(self._writers))
        await self._leases.close()
        await self._connections.close()

    async def _write_waiting(self, run_id: str) -> None:
        """Write what waits for a run, in its order, until nothing does. A write that fails takes no other with it."""
        waiting = self._waiting[run_id]
        while waiting:
            group = list(waiting)
            await self._settle(run_id, group)
            del waiting[: len(group)]
        del self._waiting[run_id]

    async def _settle(self, run_id: str, group: Sequence[_Waiting]) -> None:
        try:
            await self._put_all(run_id, [each.write for each in group])
        except Exception as problem:  # noqa: BLE001 -- it is raised again where the write was asked for
            if len(group) == 1:
                group[0].future.set_exception(problem)
                return
            for each in group:
                await self._settle(run_id, [each])
        else:
            for each in group:
                each.future.set_result(None)

    async def _put_all(self, run_id: str, writes: Sequence[Write]) -> None:
        number = self._numbers.get(run_id) or await self._number(run_id)

        async def put(connection: Connection) -> None:
            async with connection.pipeline():  # one transaction and one round trip: the server commits at its end
                try:
                    await connection.execute(queries()["require_lease"], self._holder(run_id))
                    for write in writes:
                        await _put(connection, number, write)
                except BaseException:  # also a cancellation: the end of the pipeline would commit what has been sent
                    await connection.close()
                    raise

        async def put_again(connection: Connection) -> None:
            if not await _have_written(connection, number, writes):
                await put(connection)

        await self._written(run_id, put, put_again)

    async def _written(
        self,
        run_id: str,
        work: Callable[[Connection], Awaitable[T]],
        again: Callable[[Connection], Awaitable[T]] | None = None,
    ) -> T:
        await self._leases.settled()  # a lease that was given back here is in nobody's way
        try:
            return await self._connections.run(work, again=again)
        except LeaseRefused as problem:
            raise RunBusy.by(run_id, str(problem)) from problem

    async def _rows(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        return await rows_of(self._connections, name, **values)

    def _holder(self, run_id: str) -> dict[str, object]:
        return {"run_id": run_id, "owner": self._leases.owner, "token": self._leases.token(run_id)}

    async def _number(self, run_id: str) -> int:
        if self._leases.token(run_id) is None or run_id not in self._numbers:
            rows = await self._rows("find_run", run_id=run_id)
            if not rows:
                raise UnknownRun.of(run_id)
            self._numbers[run_id] = rows[0][0]
        return self._numbers[run_id]


async def _put(connection: Connection, number: int, write: Write) -> None:
    texts = {bytes.fromhex(name): write.texts[name].encode() for name in sorted(write.texts)}
    if texts or write.shares is not None:
        await connection.execute(queries()["keep_texts_in_place"])
    for name, content in texts.items():
        await connection.execute(queries()["insert_text"], (name, content))
        await connection.execute(queries()["use_text"], (name, number))
    if write.shares is not None:
        await connection.execute(queries()["share_texts"], {"run": number, "owner": write.shares})
    alone = len(write.steps) == 1
    for step in write.steps:
        events = (write.last_seq, write.events) if alone and write.events is not None else (None, None)
        await connection.execute(queries()["insert_step"], (number, *step, *events))
    if write.events is not None and not alone:
        await connection.execute(queries()["insert_events"], (number, write.last_seq, write.events))
    for call in write.calls:
        await connection.execute(queries()["put_call"], (number, *call))
    if write.snapshot is not None:
        await connection.execute(queries()["insert_snapshot"], (number, *write.snapshot))
    if write.run is not None:
        await connection.execute(queries()["patch_run"], {**asdict(write.run), "run": number})


async def _have_written(connection: Connection, number: int, writes: Sequence[Write]) -> bool:
    """Whether a transaction took effect before the connection was lost: its last step or event is there. One without
    may be done twice."""
    for write in reversed(writes):
        if write.steps:
            values = {"run": number, "step": write.steps[-1].step, "hash": write.steps[-1].hash}
            return await (await connection.execute(queries()["has_step"], values)).fetchone() is not None
        if write.events is not None:
            values = {"run": number, "last_seq": write.last_seq, "batch": write.events}
            return await (await connection.execute(queries()["has_events"], values)).fetchone() is not None
    return False


async def _number_of(connection: Connection, run: RunRow) -> int | None:
    """The number of a run that took effect before the connection was lost."""
    row = await (await connection.execute(queries()["one_run"], {"run_id": run.run_id})).fetchone()
    if row is None or RunRow(*row) != run:
        return None
    number = await (await connection.execute(queries()["find_run"], {"run_id": run.run_id})).fetchone()
    return None if number is None else number[0]
