"""Jobs in PostgreSQL, for workers on several machines. Leases and times to live go by the clock of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Protocol, TypeVar

from graph_research.errors import GraphResearchError
from graph_research.jobs.errors import (
    ClaimLost,
    JobExists,
    JobNotEnded,
    JobNotWaiting,
    JobStoreUnusable,
    TooManySubmissions,
    UnknownJob,
)
from graph_research.jobs.rows import Row, stamp
from graph_research.jobs.sql_store import SqlJobStore, TookEffect, Transaction, Work, uncancelled
from graph_research.sql_files import pyformat

T = TypeVar("T")
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now"
_TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtext(current_schema() || ' ' || %(purpose)s))"
_OWN_ERRORS = (ClaimLost, JobExists, JobNotEnded, JobNotWaiting, TooManySubmissions, UnknownJob)


class Connections(Protocol):
    """Connections to a database in which the tables of `sql_store.migrations` stand."""

    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """What the work returns on a connection of psycopg. It is done again after the connection was lost, when what
        the first time did is decided."""
        ...

    async def close(self) -> None: ...


class PostgresJobStore(SqlJobStore):
    """The jobs in the database that `connections` lead to. A `clock` takes the place of the server's."""

    def __init__(self, connections: Connections, *, clock: Callable[[], datetime] | None = None) -> None:
        self._connections = connections
        self._clock = clock

    async def close(self) -> None:
        await self._connections.close()

    async def _read(self, work: Work[T]) -> T:
        return await self._run(work)

    async def _write(self, work: Work[T], took_effect: TookEffect[T] | None = None) -> T:
        return await uncancelled(self._run(work, took_effect))

    async def _run(self, work: Work[T], took_effect: TookEffect[T] | None = None) -> T:
        results: list[T] = []

        async def transact(connection: Any) -> T:
            async with connection.transaction():
                transaction = await self._transaction(connection)
                if results and took_effect is not None and await took_effect(transaction, results[-1]):
                    return results[-1]
                results.append(await work(transaction))
            return results[-1]

        try:
            return await self._connections.run(transact)
        except _OWN_ERRORS:
            raise
        except GraphResearchError as error:
            raise JobStoreUnusable(error.message, help=error.help) from error

    async def _transaction(self, connection: Any) -> Transaction:
        if self._clock is not None:
            return _PostgresTransaction(stamp(self._clock()), connection)
        row = await (await connection.execute(_NOW)).fetchone()
        return _PostgresTransaction(row[0], connection)


class _PostgresTransaction(Transaction):
    def __init__(self, now: int, connection: Any) -> None:
        super().__init__(now)
        self._connection = connection

    async def execute(self, statement: str, values: Mapping[str, Any]) -> tuple[list[Row], int]:
        cursor = await self._connection.execute(_converted(statement), {k: _text(v) for k, v in values.items()})
        if cursor.description is None:
            return [], cursor.rowcount
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()], cursor.rowcount

    async def take_turn(self, purpose: str) -> None:
        await self._connection.execute(_TAKE_TURN, {"purpose": purpose})


@cache
def _converted(statement: str) -> str:
    return pyformat(statement)


def _text(value: Any) -> Any:
    """A value without the character U+0000, which no text of PostgreSQL holds."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value
