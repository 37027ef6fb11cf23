"""The statements of `sql/`, by name, and the scripts that make its tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.graph.checkpoint.postgres.pool import Connection
from graph_research.sql_files import migrations_of, statements_of


@cache
def queries() -> Mapping[str, str]:
    """The statements of `queries.sql` by name."""
    return statements_of(__package__)


@cache
def migrations() -> Mapping[int, str]:
    """By the number of the format that it leads to, in their order."""
    return migrations_of(__package__)


async def rows_of(connections: Connections, name: str, **values: Any) -> list[tuple[Any, ...]]:
    """What the statement `name` returns, which may be done twice."""

    async def execute(connection: Connection) -> list[tuple[Any, ...]]:
        cursor = await connection.execute(queries()[name], values, binary=True)
        return await cursor.fetchall() if cursor.description is not None else []

    return await connections.run(execute)
