"""Limits in a SQLite file that the processes of one machine share, or in memory, for one process."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from graph_research.providers.limits.base import LimitsUnavailable
from graph_research.providers.limits.sql_limits import SqlLimits
from graph_research.sql_files import migrations_of

_BUSY_SECONDS = 0.25


class SqliteLimits(SqlLimits):
    """The limits in the file `path`, which is made when it is missing; without one in memory. Opened at the first use.
    `clock` gives seconds, the same for all who share the file."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._connection: sqlite3.Connection | None = None

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    async def _rows(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        now = round(self._clock() * 1_000_000)
        try:
            return self._opened().execute(statement, {**values, "now": now}).fetchall()
        except sqlite3.Error as error:
            raise LimitsUnavailable(f"{self._path} cannot be used: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path or ":memory:", isolation_level=None, timeout=_BUSY_SECONDS)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                for script in migrations_of(__package__).values():
                    connection.executescript(script.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
            except BaseException:  # also an interruption: nobody else has it to close
                connection.close()
                raise
            self._connection = connection
        return self._connection
