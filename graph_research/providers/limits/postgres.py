"""Limits in PostgreSQL, which workers on several machines share. Time goes by the clock of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Protocol, TypeVar

from graph_research.errors import GraphResearchError
from graph_research.providers.limits.base import LimitsUnavailable
from graph_research.providers.limits.sql_limits import SqlLimits
from graph_research.sql_files import migrations_of, pyformat

T = TypeVar("T")
_NOW = "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint"
_ANSWER_SECONDS = 10.0


class Connections(Protocol):
    """Connections to a database in which the table of `migrations` stands."""

    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """What the work returns on a connection of psycopg."""
        ...

    async def close(self) -> None: ...


class PostgresLimits(SqlLimits):
    """The limits in the database that `connections` lead to. One that does not answer within 10 s is unavailable."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._asked: set[asyncio.Task[list[tuple[Any, ...]]]] = set()

    async def close(self) -> None:
        for task in self._asked:
            task.cancel()
        if self._asked:
            await asyncio.wait(set(self._asked))
        await self._connections.close()

    async def _rows(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        async def execute(connection: Any) -> list[tuple[Any, ...]]:
            cursor = await connection.execute(_converted(statement), values)
            return await cursor.fetchall() if cursor.description is not None else []

        task = asyncio.create_task(self._connections.run(execute))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        try:
            await asyncio.wait({task}, timeout=_ANSWER_SECONDS)
            if not task.done():
                raise LimitsUnavailable(f"the database did not answer within {_ANSWER_SECONDS:g} s")
            return task.result()
        except GraphResearchError as error:
            raise LimitsUnavailable(error.message) from error
        finally:
            task.cancel()


@cache
def migrations() -> Mapping[int, str]:
    """By the number of the format that it leads to. The table need not survive a crash of the server."""
    scripts = migrations_of(__package__)
    return {number: script.replace("CREATE TABLE", "CREATE UNLOGGED TABLE") for number, script in scripts.items()}


@cache
def _converted(statement: str) -> str:
    return pyformat(statement.replace(":now", _NOW))
