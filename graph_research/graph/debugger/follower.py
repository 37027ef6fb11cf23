"""A run that is followed event by event: who waits for the next one can be called away, and the time is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from graph_research.graph.events import Event

__all__ = ["Allowance", "Following"]


class Allowance:
    """The seconds that a run may go on for, None: any number. The time in which it is held does not count."""

    def __init__(self, seconds: float | None) -> None:
        self._left = seconds

    def begin(self, used_up: Callable[[], None]) -> Callable[[], None]:
        """Let the time run; `used_up` is called once when it is over. The answer stops it."""
        if self._left is None:
            return lambda: None
        loop = asyncio.get_running_loop()
        began = loop.time()

        def over() -> None:
            self._left = None
            used_up()

        timer = loop.call_later(self._left, over)

        def stop() -> None:
            timer.cancel()
            if self._left is not None:
                self._left = max(0.0, self._left - (loop.time() - began))

        return stop


class Following:
    """The events of a stream, taken one at a time. To be called away from waiting stops nothing: what is under way goes
    on to its next event, and the run goes no further than that until it is asked for."""

    def __init__(self, stream: AsyncGenerator[Event, None]) -> None:
        self._stream = stream
        self._next: asyncio.Task[Event | None] | None = None
        self._away = asyncio.Event()
        self.over = False

    async def next(self) -> Event | None:
        """The next event; None where there are no more (`over`), or somebody called away."""
        if self._next is None:
            self._next = asyncio.create_task(_next_of(self._stream))
        away = asyncio.create_task(self._away.wait())
        try:
            await asyncio.wait({self._next, away}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            away.cancel()
            await asyncio.wait({away})
        if not self._next.done():
            return None
        taken, self._next = self._next, None
        event = taken.result()
        self.over = event is None
        return event

    def call_away(self) -> None:
        """End the waiting of `next`, until `come_back`."""
        self._away.set()

    def come_back(self) -> None:
        """Let `next` wait again."""
        self._away.clear()

    async def close(self) -> None:
        """Let the run go; it can be resumed."""
        pending, self._next = self._next, None
        if pending is not None:
            pending.cancel()
            await asyncio.wait({pending})
            if not pending.cancelled():
                pending.exception()
        await self._stream.aclose()


async def _next_of(stream: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(stream, None)
