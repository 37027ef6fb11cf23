"""Runs in one SQLite file (WAL): the update log, the journal, the events and the texts, written in one transaction."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from graph_research.errors import check_name
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.lease import FileLease
from graph_research.graph.checkpoint.ports import Lease, missing_text
from graph_research.graph.checkpoint.sqlite_rows import (
    bound_step,
    call_parts,
    checksum_of,
    read_call,
    read_listed_steps,
    read_run,
    read_step,
    run_parts,
    snapshot_parts,
    verify,
)
from graph_research.graph.checkpoint.sqlite_writer import SqliteWriter, connected, read_transaction
from graph_research.graph.errors import RunExists, StoreDamaged, UnknownRun
from graph_research.graph.state.rows import CallRow, Instruction, RunPatch, RunRow, Snapshot, StepRow, Write
from graph_research.graph.values.codec import text_hash
from graph_research.sql_files import migrations_of, statements_of

_APPLICATION = 0x67726770
_SMALL = 512
_BRIEF_CHARS = 65_536
_SAMPLE = 4096
_LEAST_GAIN = 0.75
_LAST = (1 << 32) - 1
_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


class SqliteCheckpointer(Checkpointer):
    """A store in the SQLite file `path`, which is made when it is missing; its folder must exist.

    With `durability` `process` a commit survives the death of the process, with `power` that of the machine too. The
    file is opened at the first use, for reading only where it may not be written. Beside it stand `-wal` and `-shm`,
    and `.locks` with one file for each driven run.
    """

    def __init__(self, path: str | Path, *, durability: Literal["process", "power"] = "process") -> None:
        self.path = Path(path)
        self._writer = SqliteWriter(self.path, lambda: _open(self.path, _SYNCHRONOUS[durability]))
        self._inline = durability == "process"
        """Whether a commit takes microseconds, and not the time of a disk."""
        self._numbers: dict[str, int] = {}
        """Of the runs that are written here. Without a lease another process may delete one and make another."""

    async def create(self, run: RunRow, first: Write) -> None:
        check_name(run.run_id, "run")

        def insert(connection: sqlite3.Connection) -> int:
            try:
                number = connection.execute(_query("insert_run"), (*run, checksum_of(*run_parts(run)))).lastrowid
            except sqlite3.IntegrityError:
                help = "choose another id, or resume or delete that run"
                raise RunExists(f"run {run.run_id} exists already", help=help) from None
            assert number is not None
            _put(number, first, connection)
            return number

        self._numbers[run.run_id] = await self._writer.run(insert, writes=True)

    async def write(self, write: Write) -> None:
        number = self._numbers.get(write.run_id) or await self._number(write.run_id)
        single = len(write.steps) == 1 and not (
            write.calls or write.texts or write.snapshot or write.run or write.shares
        )
        small = not write.texts or sum(map(len, write.texts.values())) < _BRIEF_CHARS
        put = partial(_put_step if single else _put, number, write)
        if not (small and write.alone and self._writer.write_inline(put, single_statement=single)):
            await self._writer.run(put, writes=True, brief=small and self._inline)
        if write.run is not None:
            self._writer.checkpoint()

    async def lease(self, run_id: str) -> Lease:
        self._numbers.pop(run_id, None)
        return FileLease(self.path.with_name(f"{self.path.name}.locks"), run_id)

    async def run_rows(self, run_id: str | None, limit: int | None) -> list[RunRow]:
        if run_id is None:
            rows = await self._all("latest_runs", {"limit": -1 if limit is None else limit})
        else:
            rows = await self._all("one_run", {"run_id": run_id}, brief=True)
            if not rows:
                raise UnknownRun.of(run_id)
        return [read_run(row) for row in rows]

    async def last_step(self, run_id: str) -> StepRow | None:
        rows = await self._of_run(run_id, "last_step", brief=True)
        return read_listed_steps(run_id, rows)[0] if rows else None

    async def last_position(self, run_id: str) -> StepRow | None:
        rows = await self._of_run(run_id, "last_position", brief=True)
        return read_step(run_id, rows[0]) if rows else None

    async def step_rows(
        self, run_id: str, scope: str | None, after: int = -1, upto: int | None = None
    ) -> list[StepRow]:
        name = "all_steps" if scope is None else "scope_steps" if scope else "root_steps"
        rows = await self._of_run(run_id, name, after + 1, _LAST if upto is None else upto, scope=scope)
        return read_listed_steps(run_id, rows) if scope is None else [read_step(run_id, row) for row in rows]

    async def snapshot(self, run_id: str, scope: str, upto: int | None = None) -> Snapshot | None:
        upto = _LAST if upto is None else upto
        for *fields, checksum in await self._of_run(run_id, "latest_snapshot", scope=scope, upto=upto):
            snapshot = Snapshot(*fields)
            verify(checksum, snapshot_parts(snapshot), f"snapshot {snapshot.step} of run {run_id}")
            return snapshot
        return None

    async def call_keys(self, run_id: str) -> tuple[set[str], int]:
        keys = await self._of_run(run_id, "call_keys")
        return {row[0] for row in keys}, (await self._of_run(run_id, "last_call"))[0][0]

    async def call_rows(self, run_id: str, key: str | None) -> list[CallRow]:
        rows = await self._of_run(run_id, "all_calls" if key is None else "calls_of_attempt", key=key)
        return [read_call(run_id, row) for row in rows]

    async def lose_calls(self, run_id: str) -> int:
        return await self._change("lose_calls", _span(await self._number(run_id)))

    async def event_batches(self, run_id: str, after: int) -> list[bytes]:
        batches = await self._writer.run(lambda connection: _batches(connection, run_id, after))
        return [batches[last_seq] for last_seq in sorted(batches)]

    async def last_seq(self, run_id: str) -> int:
        return int((await self._of_run(run_id, "last_seq"))[0][0])

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        names = sorted(hashes)
        if not names:
            return {}
        return await self._writer.run(lambda connection: {name: _get_text(connection, name) for name in names})

    async def text_hashes(self, run_id: str) -> set[str]:
        return {row[0].hex() for row in await self._of_run(run_id, "text_hashes")}

    async def compact(self) -> None:
        await self._writer.run(lambda connection: connection.executescript(_query("compact")))

    async def delete(self, run_id: str) -> None:
        number = await self._number(run_id)
        lease = await self.lease(run_id)
        try:
            await self._writer.run(lambda connection: _delete(connection, number), writes=True)
            self._numbers.pop(run_id, None)
        finally:
            lease.release()

    async def forget_texts(self, run_id: str, hashes: Iterable[str]) -> int:
        number, names = await self._number(run_id), [bytes.fromhex(name) for name in hashes]
        lease = await self.lease(run_id)
        try:
            return await self._writer.run(lambda connection: _forget(connection, number, names), writes=True)
        finally:
            lease.release()

    async def size(self) -> int:
        return int((await self._all("size", {}))[0][0])

    async def request_cancel(self, run_id: str) -> None:
        await self._change("request_cancel", {"run": await self._number(run_id)})

    async def cancel_requested(self, run_id: str) -> bool:
        rows = await self._of_run(run_id, "cancel_requested", brief=True)
        return bool(rows and rows[0][0])

    async def instruct(self, run_id: str, instruction: Instruction) -> None:
        await self._change("instruct", {"run": await self._number(run_id), **instruction._asdict()})

    async def instructions(self, run_id: str) -> list[Instruction]:
        return [Instruction(*row) for row in await self._of_run(run_id, "instructions", brief=True)]

    async def close(self) -> None:
        self._writer.close()

    async def _number(self, run_id: str) -> int:
        self._numbers[run_id] = await self._writer.run(lambda connection: _number_of(connection, run_id))
        return self._numbers[run_id]

    async def _of_run(
        self,
        run_id: str,
        name: str,
        first: int = 0,
        last: int = _LAST,
        *,
        brief: bool = False,
        **values: str | int | None,
    ) -> list[Any]:
        """The rows of a query on a run, whose number is looked up at the same time."""

        def read(connection: sqlite3.Connection) -> list[Any]:
            number = _number_of(connection, run_id)
            given = {"run": number, **_span(number, first, last), **values}
            return connection.execute(_query(name), given).fetchall()

        return await self._writer.run(read, brief=brief)

    async def _all(self, name: str, values: dict[str, Any], *, brief: bool = False) -> list[Any]:
        return await self._writer.run(
            lambda connection: connection.execute(_query(name), values).fetchall(), brief=brief
        )

    async def _change(self, name: str, values: dict[str, Any]) -> int:
        return await self._writer.run(lambda connection: connection.execute(_query(name), values).rowcount, writes=True)


def _open(path: Path, synchronous: str) -> sqlite3.Connection:
    connection, writable = connected(
        path, isolation_level=None, timeout=10, cached_statements=256, check_same_thread=False
    )
    try:
        _prepare(connection, path, synchronous, writable=writable)
    except BaseException:  # also an interruption: nobody else has it to close
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, synchronous: str, *, writable: bool) -> None:
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application not in (0, _APPLICATION) or (application == 0 and _tables(connection)):
        raise StoreDamaged(f"{path} is the database of another program", help="name another file")
    formats = _migrations()
    if version > max(formats):
        raise StoreDamaged(f"{path} was written by a newer version of graph-research", help="update graph-research")
    if 0 < version < min(formats):
        raise StoreDamaged(
            f"{path} was written by a version of graph-research that is too old",
            help="move it away to begin anew, or read its runs with the version that wrote them",
        )
    if not writable:
        if version < max(formats):
            raise StoreDamaged(
                f"{path} was written by an older version of graph-research and may only be read",
                help="make it writable",
            )
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    if version < max(formats):
        path.chmod(0o600)
        _migrate(connection, formats)


def _migrate(connection: sqlite3.Connection, formats: Mapping[int, str]) -> None:
    """Another process may do the same at this moment, so the version is read again inside the transaction."""
    connection.execute("BEGIN IMMEDIATE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, script in formats.items():
        if number > version:
            for statement in script.split(";\n"):
                connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {max(formats)}")
    connection.execute("COMMIT")


def _tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])


def _put_step(number: int, write: Write, connection: sqlite3.Connection) -> None:
    """The only step of a write, and its events: nearly always that is all."""
    (step,) = write.steps
    connection.execute(_query("insert_step"), bound_step(number << 32, step, write.last_seq, write.events))


def _put(number: int, write: Write, connection: sqlite3.Connection) -> None:
    base = number << 32
    if len(write.steps) == 1:
        _put_step(number, write, connection)
    else:
        for step in write.steps:
            connection.execute(_query("insert_step"), bound_step(base, step, None, None))
        if write.events is not None:
            connection.execute(
                _query("insert_events"), (base | write.last_seq, write.events, checksum_of(write.events))
            )
    for call in write.calls:
        connection.execute(_query("put_call"), (*call._replace(seq=base | call.seq), checksum_of(*call_parts(call))))
    for name, text in write.texts.items():
        _put_text(connection, number, bytes.fromhex(name), text)
    if write.shares is not None:
        connection.execute(_query("share_texts"), {"run": number, "owner": write.shares})
    if (snapshot := write.snapshot) is not None:
        values = (number, *snapshot, checksum_of(*snapshot_parts(snapshot)))
        connection.execute(_query("insert_snapshot"), values)
    if (patch := write.run) is not None:
        _patch(connection, number, patch)


def _patch(connection: sqlite3.Connection, number: int, patch: RunPatch) -> None:
    """Change a run's row, which must be sound before."""
    key = {"run": number}
    read_run(connection.execute(_query("run_by_number"), key).fetchone())
    values = {name: getattr(patch, name) for name in patch.__slots__}
    connection.execute(_query("patch_run"), {**values, **key})
    *fields, _ = connection.execute(_query("run_by_number"), key).fetchone()
    connection.execute(_query("seal_run"), {**key, "checksum": checksum_of(*run_parts(RunRow(*fields)))})


def _number_of(connection: sqlite3.Connection, run_id: str) -> int:
    row = connection.execute(_query("find_run"), {"run_id": run_id}).fetchone()
    if row is None:
        raise UnknownRun.of(run_id)
    return int(row[0])


def _batches(connection: sqlite3.Connection, run_id: str, after: int) -> dict[int, bytes]:
    """By the number of its last event each batch with events after `after`. Later steps have later events, so the steps
    are read from the last until one has none."""
    batches = {}
    with read_transaction(connection):
        number = _number_of(connection, run_id)
        for seq, batch, checksum in connection.execute(_query("events_after"), _span(number, after + 1)):
            verify(checksum, (batch,), f"event {seq} of run {run_id}")
            batches[seq] = batch
        for row in connection.execute(_query("steps_with_events"), _span(number)):
            read_step(run_id, row)
            *_, last_seq, events, _ = row
            if last_seq <= after:
                break
            batches[last_seq] = events
    return batches


def _put_text(connection: sqlite3.Connection, number: int, name: bytes, text: str) -> None:
    if connection.execute(_query("has_text"), (name,)).fetchone() is None:
        data = text.encode()
        packed = zlib.compress(data, 1) if _shrinks(data) else data
        connection.execute(_query("insert_text"), (name, packed is not data, packed))
    connection.execute(_query("use_text"), (number, name))


def _shrinks(data: bytes) -> bool:
    """Whether compressing pays, as its first part shows."""
    sample = data[:_SAMPLE]
    return len(data) > _SMALL and len(zlib.compress(sample, 1)) < _LEAST_GAIN * len(sample)


def _get_text(connection: sqlite3.Connection, name: str) -> str:
    row = connection.execute(_query("get_text"), (bytes.fromhex(name),)).fetchone()
    try:
        text = str((zlib.decompress(row[1]) if row[0] else row[1]).decode())
    except (TypeError, UnicodeDecodeError, zlib.error) as problem:
        raise missing_text(name) from problem
    if text_hash(text) != name:
        raise missing_text(name)
    return text


def _delete(connection: sqlite3.Connection, number: int) -> None:
    for name in ("delete_steps", "delete_events", "delete_calls"):
        connection.execute(_query(name), _span(number))
    for name in ("delete_snapshots", "delete_texts", "delete_text_uses", "delete_instructions", "delete_run"):
        connection.execute(_query(name), {"run": number})


def _forget(connection: sqlite3.Connection, number: int, names: Sequence[bytes]) -> int:
    gone = 0
    for name in names:
        values = {"run": number, "hash": name}
        if connection.execute(_query("forget_use"), values).rowcount:
            gone += connection.execute(_query("delete_unused_text"), {"hash": name}).rowcount
    return gone


def _span(number: int, first: int = 0, last: int = _LAST) -> dict[str, int]:
    return {"low": number << 32 | first, "high": number << 32 | min(last, _LAST)}


@cache
def _queries() -> Mapping[str, str]:
    return statements_of(__package__)


@cache
def _query(name: str) -> str:
    return _queries()[name]


@cache
def _migrations() -> Mapping[int, str]:
    """By the number of the format that it leads to, in their order; the first makes an empty file one of ours."""
    return migrations_of(__package__)
