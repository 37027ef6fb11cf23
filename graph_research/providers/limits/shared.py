"""Shared limits that may be away: meanwhile those of this process hold."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from graph_research.providers.limits.base import Limits, LimitsUnavailable, Server, Turn

T = TypeVar("T")
_log = logging.getLogger(__name__)
_RETRY_SECONDS = 30.0


class SharedLimits(Limits):
    """The limits of `shared`, or those of `local` while it is away, which never fails a request. It is looked for again
    after 30 s; `clock` gives seconds that only grow."""

    def __init__(self, shared: Limits, local: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._shared = shared
        self._local = local
        self._clock = clock
        self._away_until: float | None = None

    async def turn(self, server: Server, *, most_seconds: float, probe_seconds: float, insist: bool) -> Turn:
        return await self._of(
            lambda limits: limits.turn(server, most_seconds=most_seconds, probe_seconds=probe_seconds, insist=insist)
        )

    async def pause(self, server: Server, seconds: float) -> None:
        await self._of(lambda limits: limits.pause(server, seconds))

    async def set_breaker(self, server: Server, open_seconds: float | None) -> None:
        await self._of(lambda limits: limits.set_breaker(server, open_seconds))

    async def close(self) -> None:
        await self._shared.close()
        await self._local.close()

    async def _of(self, ask: Callable[[Limits], Awaitable[T]]) -> T:
        if self._away_until is None or self._clock() >= self._away_until:
            try:
                result = await ask(self._shared)
            except LimitsUnavailable as error:
                if self._away_until is None:
                    _log.warning("rate limits and circuit breakers hold for this process alone: %s", error)
                self._away_until = self._clock() + _RETRY_SECONDS
            else:
                if self._away_until is not None:
                    _log.warning("rate limits and circuit breakers are shared again")
                self._away_until = None
                return result
        return await ask(self._local)
