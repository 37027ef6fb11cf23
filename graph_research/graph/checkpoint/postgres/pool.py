"""A pool of connections that opens one only for somebody who waits for it, so that who waits decides how long it is
tried, and learns what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
_IDLE_SECONDS = 60.0


class Pool:
    """Up to `most` connections that `connect` makes, of one event loop. One that nobody uses for 60 s is closed."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], most: int) -> None:
        self._connect = connect
        self._most = most
        self._free = asyncio.Semaphore(most)
        self._idle: dict[Connection, asyncio.TimerHandle] = {}
        """Each with the end of its idle time, the one that was used last at the end."""
        self._is_closed = False

    @asynccontextmanager
    async def connection(self, seconds: float) -> AsyncIterator[Connection]:
        """A connection, which is used again afterwards unless a statement failed or was cancelled: psycopg takes for
        prepared what the server skipped in a pipeline after that. `psycopg.OperationalError` where none is free within
        `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError:
            raise psycopg.OperationalError(f"all {self._most} connections are in use") from None
        try:
            connection, is_usable = self._idle_one() or await self._connect(), True
            try:
                yield connection
            except (psycopg.Error, asyncio.CancelledError):
                is_usable = False
                raise
            finally:
                self._give_back(connection, is_usable=is_usable)
        finally:
            self._free.release()

    def close(self) -> None:
        """Close the connections that nobody uses, and the others after their use."""
        self._is_closed = True
        self._close_idle()

    def _idle_one(self) -> Connection | None:
        if not self._idle:
            return None
        connection, idle_end = self._idle.popitem()
        idle_end.cancel()
        return connection

    def _give_back(self, connection: Connection, *, is_usable: bool) -> None:
        if connection.broken:
            self._close_idle()  # what ended it has probably ended them, too
        elif self._is_closed or not is_usable or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.pgconn.finish()
        else:
            idle_end = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._end_idle, connection)
            self._idle[connection] = idle_end

    def _end_idle(self, connection: Connection) -> None:
        del self._idle[connection]
        connection.pgconn.finish()

    def _close_idle(self) -> None:
        while (connection := self._idle_one()) is not None:
            connection.pgconn.finish()
