"""A run that the debugger drives: one event at a time, held in between, its time counted only while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from graph_research.graph.debugger.stops import stops_always
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import LimitsSpec
from graph_research.graph.events import Event
from graph_research.graph.runtime import NO_ANSWER, Runtime


class Follower:
    """Takes the events of one run after another from `runtime`. `listeners` get each, those that are not stored too."""

    def __init__(self, runtime: Runtime, listener: Callable[[Event], None], timeout_seconds: float | None) -> None:
        self.listeners = [listener]
        self._runtime = runtime
        self._time = _TimeBudget(timeout_seconds)
        self._run_id = ""
        self._stream: _Stream | None = None

    @property
    def active(self) -> bool:
        """Whether a run is driven: it goes on with `next`."""
        return self._stream is not None

    def begin(self, run_id: str, input: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> None:
        """Drive a new run."""
        self._run_id = run_id
        self._stream = _Stream(self._runtime.stream(input, run_id=run_id, metadata=metadata))

    def resume(self, run_id: str, answer: Any = NO_ANSWER) -> None:
        """Drive a stored run."""
        self._run_id = run_id
        self._stream = _Stream(self._runtime.resume(run_id, answer=answer))

    async def next(self) -> Event | None:
        """The next stored event; None where there are no more, or `stop_waiting` was called."""
        stream = self._stream
        if stream is None:
            return None
        while True:
            with self._time.running(lambda: self._runtime.time_out(self._run_id)):
                event = await stream.next()
            if event is None:
                break
            self.tell(event)
            if event.seq is None:
                continue
            if stops_always(event):
                self._stream = None
                while (rest := await stream.next()) is not None:
                    self.tell(rest)
            return event
        if stream.over:
            self._stream = None
        return None

    def tell(self, event: Event) -> None:
        """Give an event to all listeners."""
        for listener in self.listeners:
            listener(event)

    def stop_waiting(self) -> None:
        """End the waiting of `next`, until `wait_again`. What is under way goes on to its next event and no further."""
        if self._stream is not None:
            self._stream.away.set()

    def wait_again(self) -> None:
        """Let `next` wait again."""
        if self._stream is not None:
            self._stream.away.clear()

    async def close(self) -> None:
        """Let the run go; it can be resumed."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()


class _Stream:
    """The events of a stream, taken one at a time; `away` ends the waiting for one, which is taken later."""

    def __init__(self, events: AsyncGenerator[Event, None]) -> None:
        self._events = events
        self._next: asyncio.Task[Event | None] | None = None
        self.away = asyncio.Event()
        self.over = False

    async def next(self) -> Event | None:
        """The next event; None where there are no more (`over`), or `away` was set."""
        if self._next is None:
            self._next = asyncio.create_task(_next_of(self._events))
        away = asyncio.create_task(self.away.wait())
        try:
            await asyncio.wait({self._next, away}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            away.cancel()
            await asyncio.wait({away})
        if not self._next.done():
            return None
        finished, self._next = self._next, None
        event = finished.result()
        self.over = event is None
        return event

    async def close(self) -> None:
        pending, self._next = self._next, None
        if pending is not None:
            pending.cancel()
            await asyncio.wait({pending})
            if not pending.cancelled():
                pending.exception()
        await self._events.aclose()


async def _next_of(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)


class _TimeBudget:
    """The seconds that runs may go on for, None: any number."""

    def __init__(self, seconds: float | None) -> None:
        self._left = seconds

    @contextmanager
    def running(self, used_up: Callable[[], None]) -> Iterator[None]:
        """Let the time run; `used_up` is called once when it is over."""
        if self._left is None:
            yield
            return
        loop = asyncio.get_running_loop()
        began = loop.time()

        def over() -> None:
            self._left = None
            used_up()

        timer = loop.call_later(self._left, over)
        try:
            yield
        finally:
            timer.cancel()
            if self._left is not None:
                self._left = max(0.0, self._left - (loop.time() - began))


def without_time_limits(graph: Graph) -> Graph:
    """The graph without the time limits that would run out while it is held: of whole graphs, and of nodes that hold
    others or their items."""
    nodes = {
        name: replace(node, timeout_seconds=None) if node.kind == "graph" or node.each else node
        for name, node in graph.spec.nodes.items()
    }
    limits = LimitsSpec(steps=graph.spec.limits.steps)
    subgraphs = {name: without_time_limits(inner) for name, inner in graph.subgraphs.items()}
    return replace(graph, spec=replace(graph.spec, nodes=nodes, limits=limits), subgraphs=subgraphs)
