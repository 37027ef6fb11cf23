"""Single-consumer event channel with back-pressure: producers wait until the consumer has received all events."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from graph_research.graph.events import Event

_MOST_EPHEMERAL = 1000


class EventChannel:
    """`wait_drained` returns when the consumer has received every event and waits for more. A closed channel has no
    consumer, and no producer waits for it."""

    def __init__(self, *, open: bool = True) -> None:
        self._events: deque[Event] = deque()
        self._consumer: asyncio.Future[None] | None = None
        self._producers: list[asyncio.Future[None]] = []
        self.open = open

    def send(self, events: Iterable[Event]) -> None:
        """Send stored events."""
        self._events.extend(events)
        self._wake_consumer()

    def send_ephemeral(self, event: Event) -> None:
        """Send an event that may be dropped when the consumer is far behind."""
        if self.open and len(self._events) < _MOST_EPHEMERAL:
            self.send((event,))

    async def wait_drained(self) -> None:
        """Wait until the consumer has received everything and waits for more, or has gone."""
        while self.open and (self._events or self._consumer is None):
            turn = asyncio.get_running_loop().create_future()
            self._producers.append(turn)
            await turn

    def close(self) -> None:
        """End the channel: the consumer receives what is left."""
        self.open = False
        self._wake_consumer()

    async def receive(self) -> Event | None:
        """The next event; None after the last."""
        while not self._events and self.open:
            self._consumer = asyncio.get_running_loop().create_future()
            producers, self._producers = self._producers, []
            for producer in producers:
                if not producer.done():
                    producer.set_result(None)
            await self._consumer
        return self._events.popleft() if self._events else None

    def _wake_consumer(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None and not consumer.done():
            consumer.set_result(None)
