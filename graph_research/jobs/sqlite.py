"""Jobs in a SQLite file (WAL) that several processes use, beside the runs that they drive."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from graph_research.jobs.errors import JobStoreUnusable
from graph_research.jobs.rows import Row, stamp
from graph_research.jobs.sql_store import (
    SqlJobStore,
    TookEffect,
    Transaction,
    Work,
    migrations,
    uncancelled,
)

T = TypeVar("T")
_BUSY_SECONDS = 10.0


class SqliteJobStore(SqlJobStore):
    """The jobs in the file `path`, in which the runs stand already: it is never made here. Opened at the first use.

    `clock` gives the time, aware, that leases and times to live are measured by.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], datetime]) -> None:
        self.path = Path(path)
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jobs")
        self._connection: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._turn = asyncio.Lock()

    async def close(self) -> None:
        await self._run(self._close)
        self._thread.shutdown()

    async def _read(self, work: Work[T]) -> T:
        """On the event loop: no writer of the file keeps a read waiting, and a thread costs more than the read."""
        return await self._described(self._read_here(work))

    async def _read_here(self, work: Work[T]) -> T:
        reader = await self._run(self._opened_reader) if self._reader is None else self._reader

        async def execute(statement: str, values: Mapping[str, Any]) -> tuple[list[Row], int]:
            return _executed(reader, statement, values)

        return await work(_SqliteTransaction(stamp(self._clock()), execute))

    async def _write(self, work: Work[T], took_effect: TookEffect[T] | None = None) -> T:  # noqa: ARG002 -- a file is never lost
        return await uncancelled(self._described(self._transact(work)))

    async def _transact(self, work: Work[T]) -> T:
        async with self._turn:
            await self._execute("BEGIN IMMEDIATE", {})
            try:
                result = await work(_SqliteTransaction(stamp(self._clock()), self._execute))
                await self._execute("COMMIT", {})
            except BaseException:  # also a cancellation leaves no transaction open
                await self._run(self._roll_back)
                raise
            return result

    async def _described(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except sqlite3.Error as error:
            raise JobStoreUnusable(f"the jobs in {self.path} cannot be read or written: {error}") from error

    async def _execute(self, statement: str, values: Mapping[str, Any]) -> tuple[list[Row], int]:
        return await self._run(lambda: _executed(self._opened(), statement, values))

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _close(self) -> None:
        for connection in (self._connection, self._reader):
            if connection is not None:
                connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _open(self.path)
        return self._connection

    def _opened_reader(self) -> sqlite3.Connection:
        if self._reader is None:
            self._reader = _open(self.path)
        return self._reader


class _SqliteTransaction(Transaction):
    def __init__(self, now: int, execute: Callable[[str, Mapping[str, Any]], Awaitable[tuple[list[Row], int]]]) -> None:
        super().__init__(now)
        self._execute = execute

    async def execute(self, statement: str, values: Mapping[str, Any]) -> tuple[list[Row], int]:
        return await self._execute(statement, values)

    async def take_turn(self, purpose: str) -> None:
        """Every transaction that writes the file is alone."""


def _executed(connection: sqlite3.Connection, statement: str, values: Mapping[str, Any]) -> tuple[list[Row], int]:
    cursor = connection.execute(statement, values)
    return cursor.fetchall(), cursor.rowcount


def _open(path: Path) -> sqlite3.Connection:
    writable = all(os.access(place, os.W_OK) for place in (path, path.parent))
    mode = "rw" if writable else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
    )
    try:
        connection.row_factory = sqlite3.Row
        _check_beside_runs(connection, path)
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            _migrate(connection, path)
    except BaseException:  # also Ctrl-C leaves no connection open
        connection.close()
        raise
    return connection


def _check_beside_runs(connection: sqlite3.Connection, path: Path) -> None:
    """The store of runs takes no file that has foreign tables in it, so it must have been there first."""
    if not connection.execute("PRAGMA application_id").fetchone()[0]:
        raise JobStoreUnusable(f"{path} is not a store of runs", help="open the store of runs before that of jobs")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables to the latest format. The format is read again inside the transaction: another process may do
    the same at this moment."""
    formats = migrations()
    if (format := _format(connection)) > max(formats):
        raise JobStoreUnusable(
            f"the jobs in {path} were written by a newer version of graph-research", help="update graph-research"
        )
    if format == max(formats):
        return
    connection.execute("BEGIN IMMEDIATE")
    format = _format(connection)
    connection.execute("CREATE TABLE IF NOT EXISTS jobs_format (format INTEGER NOT NULL)")
    for number, script in formats.items():
        if number > format:
            for statement in script.split(";\n"):
                connection.execute(statement)
            connection.execute("INSERT INTO jobs_format VALUES (?)", (number,))
    connection.execute("COMMIT")


def _format(connection: sqlite3.Connection) -> int:
    """The number of the latest migration, 0 where there are no jobs yet."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'jobs_format'").fetchone()[0]:
        return 0
    return int(connection.execute("SELECT max(format) FROM jobs_format").fetchone()[0])
