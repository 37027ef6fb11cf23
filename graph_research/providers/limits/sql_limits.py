"""Limits in an SQL database: the statements of `sql/`, which a subclass executes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any

from graph_research.providers.limits.base import LONGEST_PAUSE_SECONDS, Limits, Server, Turn
from graph_research.sql_files import statements_of


class SqlLimits(Limits, ABC):
    """Limits in the table that the script of `sql/` makes."""

    @abstractmethod
    async def _rows(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """What a statement returns, done at once. Its parameters are `:name`; `:now` is the time in microseconds."""

    async def turn(self, server: Server, *, most_seconds: float, probe_seconds: float, insist: bool) -> Turn:
        if server.per_second is None and await self._is_calm(server):
            return Turn(admitted=True)
        wanted = {"most": _microseconds(most_seconds), "probe": _microseconds(probe_seconds), "insist": insist}
        for wait, paused, is_probe in await self._do("turn", server, **wanted):
            wait_seconds, paused_seconds = _seconds(wait), _seconds(paused)
            return Turn(
                admitted=True, wait_seconds=wait_seconds, paused_seconds=paused_seconds, is_probe=bool(is_probe)
            )
        for wait, paused, is_open in await self._do("limits", server):
            open_seconds = None if is_open is None or insist else _seconds(is_open)
            return Turn(
                admitted=False, wait_seconds=_seconds(wait), paused_seconds=_seconds(paused), open_seconds=open_seconds
            )
        return Turn(admitted=False)

    async def _is_calm(self, server: Server) -> bool:
        """Whether a server was asked before and nothing holds a request back now: a turn would change nothing."""
        rows = await self._do("limits", server)
        return any(wait <= 0 and paused <= 0 and is_open is None for wait, paused, is_open in rows)

    async def pause(self, server: Server, seconds: float) -> None:
        await self._do("pause", server, pause=_microseconds(min(seconds, LONGEST_PAUSE_SECONDS)))

    async def set_breaker(self, server: Server, open_seconds: float | None) -> None:
        await self._do("set_breaker", server, open=None if open_seconds is None else _microseconds(open_seconds))

    async def _do(self, statement: str, server: Server, **values: Any) -> list[tuple[Any, ...]]:
        rate = {"interval": _microseconds(server.interval_seconds), "burst": _microseconds(server.burst_seconds)}
        return await self._rows(_statements()[statement], {"name": server.name, **rate, **values})


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _seconds(microseconds: int) -> float:
    return max(0.0, microseconds / 1_000_000)


@cache
def _statements() -> Mapping[str, str]:
    return statements_of(__package__)
