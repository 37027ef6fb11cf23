"""Single-consumer event channel with back-pressure: producers wait until the consumer has received all events; and
what is known of the consumer."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass

from graph_research.graph.events import Event

_MOST_EPHEMERAL = 1000


class EventChannel:
    """`wait_drained` returns when the consumer has received every event and waits for more. A closed channel has no
    consumer, and no producer waits for it."""

    def __init__(self, *, open: bool = True) -> None:
        self._events: deque[Event] = deque()
        self._wakes = asyncio.Event()
        """There is something to receive, or the channel is closed."""
        self._drained = asyncio.Event()
        """The consumer has received everything and waits for more, or the channel is closed."""
        self.open = open

    def send(self, events: Iterable[Event]) -> None:
        """Send stored events."""
        self._events.extend(events)
        if self._events:
            self._drained.clear()
            self._wakes.set()

    def send_ephemeral(self, event: Event) -> None:
        """Send an event that may be dropped when the consumer is far behind."""
        if self.open and len(self._events) < _MOST_EPHEMERAL:
            self.send((event,))

    async def wait_drained(self) -> None:
        """Wait until the consumer has received everything and waits for more, or has gone."""
        while self.open and not self._drained.is_set():
            await self._drained.wait()

    def close(self) -> None:
        """End the channel: the consumer receives what is left."""
        self.open = False
        self._wakes.set()
        self._drained.set()

    async def receive(self) -> Event | None:
        """The next event; None after the last."""
        while not self._events and self.open:
            self._wakes.clear()
            self._drained.set()
            await self._wakes.wait()
        return self._events.popleft() if self._events else None


@dataclass(slots=True)
class EventStream:
    """A run that is driven for the consumer of its events."""

    events: weakref.ref[AsyncGenerator[Event, None]] | None = None
    drive: asyncio.Task[None] | None = None

    async def wait_if_left(self) -> None:
        """Wait for the end of the drive if nobody holds the events any more: after `break` out of `async for` the
        event loop closes them in one of its next turns."""
        if self.drive is not None and self.events is not None and self.events() is None:
            await asyncio.wait([self.drive])
