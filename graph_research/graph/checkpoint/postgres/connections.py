"""Work in PostgreSQL: migrations, and patience with a server that goes away."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg import sql

from graph_research.graph.checkpoint.postgres.pool import Connection, Pool
from graph_research.graph.errors import DatabaseAddressInvalid, StoreDamaged, StoreUnreachable

T = TypeVar("T")
_Work = Callable[[Connection], Awaitable[T]]

SCHEMA = "graph_research"
_OPERATION_SECONDS = 30.0
_CONNECT_SECONDS = 10
_FIRST_USE_SECONDS = 3.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_LEASE_REFUSED = "GR001"
"""The SQLSTATE that `require_lease` raises."""
_APPLICATION = "graph-research"
_CONFIGURE = """
    SELECT set_config('search_path', %(schema)s, false),
        set_config('lock_timeout', %(milliseconds)s, false),
        set_config('idle_in_transaction_session_timeout', %(milliseconds)s, false)
"""
_OWN_SESSIONS = """
    FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND application_name = %(application)s
"""
_END_STUCK = f"""
    SELECT pg_terminate_backend(pid) {_OWN_SESSIONS}
        AND wait_event = 'ClientRead' AND xact_start < now() - %(seconds)s * interval '1 second'
        AND state_change < now() - %(seconds)s * interval '1 second'
"""
"""Ends sessions that wait for their client with a transaction open, which may hold what others wait for. Where the way
to a client broke in the middle of a message, no time limit of the server's ends its session; PostgreSQL 17 is the first
with one for whole transactions."""
_END_LOST = f"SELECT pg_terminate_backend(pid, %(milliseconds)s) {_OWN_SESSIONS} AND pid = ANY(%(pids)s)"
"""Ends sessions whose clients lost them, which may still do what they were sent, and waits for their ends."""


logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what goes wrong is tried again, or raised


class LeaseRefused(Exception):
    """A write by somebody who does not hold the run's lease. The text is its owner."""


class Connections:
    """Runs work on up to `most` connections to the database at `url`. The tables of `part` stand in `schema`; the first
    use makes them or brings them up to date with `migrations`, scripts by the number of the format that they lead to.
    A database that goes away is waited for and then `StoreUnreachable`, at the first use for 3 s at most, since the
    address may be wrong; other errors of PostgreSQL are raised as `StoreDamaged`. `DatabaseAddressInvalid` for an
    address that cannot be read. A transaction waits `lock_seconds` for another's lock, and another one so long for its
    client."""

    def __init__(
        self,
        url: str,
        *,
        schema: str = SCHEMA,
        part: str,
        migrations: Mapping[int, str],
        most: int = 10,
        patience_seconds: float = 30.0,
        lock_seconds: float = 10.0,
    ) -> None:
        self._url = url
        self._place = _place_of(url)
        self._schema = schema
        self._format = f"{part}_format"
        self._migrations = migrations
        self._most = most
        self._patience_seconds = patience_seconds
        self._lock_seconds = lock_seconds
        self._pool: Pool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()

    async def run(self, work: _Work[T], *, again: _Work[T] | None = None) -> T:
        """What `work` returns. Where the connection is lost, `again` (or `work`) is done for as long as patience lasts;
        the first time may have taken effect. A server that answers nothing for 30 s counts as lost."""
        task = asyncio.current_task()
        cancellations = task.cancelling() if task is not None else 0
        try:
            return await self._patiently(work, again or work)
        finally:
            # psycopg ends a statement when its task is cancelled, and may then return or raise something else
            if task is not None and task.cancelling() > cancellations:
                raise asyncio.CancelledError

    async def _patiently(self, work: _Work[T], again: _Work[T]) -> T:
        task = asyncio.current_task()
        end, pause, waited_for_lock = time.monotonic() + self._patience_seconds, _FIRST_PAUSE, False
        lost = set[int]()
        while True:
            connection = None
            try:
                pool = await self._opened()
                async with pool.connection(max(end - time.monotonic(), 0.1)) as connection:
                    session = connection.info.backend_pid
                    with _cut_off_late(connection):
                        if lost:
                            await self._end_lost(connection, lost)
                        if waited_for_lock:
                            await self._end_stuck(connection)
                        return await work(connection)
            except psycopg.Error as problem:
                if problem.sqlstate == _LEASE_REFUSED:
                    raise LeaseRefused(problem.diag.message_primary or "unknown") from problem
                if not _passes(problem):
                    raise self._unusable(problem) from problem
                if time.monotonic() + pause > end or (task is not None and task.cancelling()):
                    raise self._unusable(problem, StoreUnreachable) from problem
                waited_for_lock = isinstance(problem, psycopg.errors.LockNotAvailable)
                if connection is not None and connection.broken:
                    lost.add(session)
            await asyncio.sleep(pause)
            pause, work = min(2 * pause, _LONGEST_PAUSE), again

    async def close(self) -> None:
        """Close all connections."""
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            pool.close()

    async def _opened(self) -> Pool:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._pool, self._opening = loop, None, asyncio.Lock()
        async with self._opening:
            if self._pool is None:
                await self._migrate()
                self._pool = Pool(self._connect, self._most)
        return self._pool

    async def _connect(self) -> Connection:
        connection = await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS, application_name=_APPLICATION
        )
        try:
            schema = sql.Identifier(self._schema).as_string()
            milliseconds = f"{self._lock_seconds * 1000:.0f}"
            await connection.execute(_CONFIGURE, {"schema": schema, "milliseconds": milliseconds})
        except BaseException:  # also a cancellation: nobody else has it to close
            await connection.close()
            raise
        return connection

    async def _end_stuck(self, connection: Connection) -> None:
        await connection.execute(_END_STUCK, {"application": _APPLICATION, "seconds": self._lock_seconds})

    async def _end_lost(self, connection: Connection, lost: set[int]) -> None:
        milliseconds = round(self._lock_seconds * 1000)
        values = {"application": _APPLICATION, "pids": list(lost), "milliseconds": milliseconds}
        ended = await (await connection.execute(_END_LOST, values)).fetchall()
        if not all(is_ended for (is_ended,) in ended):
            raise psycopg.OperationalError("a session whose connection was lost has not ended yet")
        lost.clear()

    async def _migrate(self) -> None:
        """Make the schema or bring it up to date, once, also where several processes start at this moment."""
        async with await self._first_connection() as connection:
            await self._end_stuck(connection)
            async with connection.transaction():
                await self._migrate_on(connection)

    async def _first_connection(self) -> Connection:
        end, pause = time.monotonic() + min(self._patience_seconds, _FIRST_USE_SECONDS), _FIRST_PAUSE
        while True:
            try:
                return await self._connect()
            except psycopg.Error as problem:
                if time.monotonic() + pause > end or not _passes(problem):
                    raise self._unusable(problem, StoreUnreachable) from problem
            await asyncio.sleep(pause)
            pause *= 2

    async def _migrate_on(self, connection: Connection) -> None:
        await connection.execute("SELECT pg_advisory_xact_lock(hashtext('graph_research schema'))")
        schema = sql.Identifier(self._schema)
        await connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        table = sql.Identifier(self._format)
        await connection.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} (version INTEGER PRIMARY KEY)").format(table))
        newest = await connection.execute(sql.SQL("SELECT coalesce(max(version), 0) FROM {}").format(table))
        version = max([row[0] for row in await newest.fetchall()])
        if version > max(self._migrations):
            raise StoreDamaged(
                f"the schema {self._schema} was made by a newer version of graph-research",
                help="update graph-research on this machine",
            )
        for number, script in self._migrations.items():
            if number > version:
                await connection.execute(script)
                await connection.execute(sql.SQL("INSERT INTO {} VALUES (%s)").format(table), (number,))

    def _unusable(self, problem: Exception, kind: type[StoreDamaged] = StoreDamaged) -> StoreDamaged:
        words = str(problem).strip().splitlines() or [type(problem).__name__]
        return kind(
            f"the database {self._place} cannot be used: {words[0]}",
            help="check that it runs, that this machine reaches it, and its user and password; then try again",
        )


def _place_of(url: str) -> str:
    """Where a database is, fit to be shown: without user and password. `DatabaseAddressInvalid`."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise DatabaseAddressInvalid(
            "the address of the database cannot be read", help="write it as postgresql://USER@HOST/DATABASE"
        ) from error
    return f"{parts.get('host', 'localhost')}/{parts.get('dbname', '')}"


def _passes(problem: psycopg.Error) -> bool:
    """Whether the same may succeed later, or on another connection. A fatal error is one that ended the session; a
    feature is missing where a newer version has changed what a prepared statement returns."""
    kinds = (psycopg.OperationalError, psycopg.errors.FeatureNotSupported)
    return isinstance(problem, kinds) or problem.diag.severity_nonlocalized == "FATAL"


@contextmanager
def _cut_off_late(connection: Connection) -> Iterator[None]:
    """End the connection of an operation that takes too long, so that whoever waits for it learns of it."""

    def cut() -> None:
        if not connection.closed:
            with socket.socket(fileno=os.dup(connection.fileno())) as own:
                own.shutdown(socket.SHUT_RDWR)

    watchdog = asyncio.get_running_loop().call_later(_OPERATION_SECONDS, cut)
    try:
        yield
    finally:
        watchdog.cancel()
