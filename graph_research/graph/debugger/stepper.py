"""The debugger: holds a run before each node, walks its stored history, and goes on from any of its steps as a fork."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Clock, SystemClock
from graph_research.graph.debugger.breakpoints import Breakpoint, parse_breakpoint
from graph_research.graph.debugger.follower import Follower, without_time_limits
from graph_research.graph.debugger.inspector import Inspector
from graph_research.graph.debugger.stop_locations import graph_path, plain_path, surrounds
from graph_research.graph.debugger.stops import NotPossible, Stop, StopReason, status_note, stops_always
from graph_research.graph.debugger.timeline import Timeline
from graph_research.graph.debugger.triggers import Triggers
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import Event, ItemFinished, NodeFailed, NodeFinished, NodeStarted
from graph_research.graph.history.fork import fork
from graph_research.graph.runtime import Runtime
from graph_research.graph.statuses import RunStatus

Goal = Callable[[Event], bool]


@dataclass(frozen=True, kw_only=True)
class Debugged:
    """A debugger with a run that is ready: `start` begins it or takes it up. Breakpoints may be set before. `said` is
    what the user is told first, line by line."""

    debugger: Debugger
    start: Callable[[], Awaitable[Stop]]
    said: Sequence[str] = ()


class Debugger:
    """One run under control: a new one (`begin`), or a stored one (`attach`).

    Moving on from an earlier moment reads the stored history and runs nothing again; at its end the run itself goes on,
    held by not taking its next event. `fork` and `assign` go on from anywhere as a new run, of which `run_id` is the id
    then. `inspector` shows where the run is held, `triggers` stop it, `listeners` get every new event. `cost` gives the
    price of a recorded answer in USD, None where it has none. `timeout_seconds` bounds how long runs go on for; the
    time in which they are held does not count.
    """

    def __init__(
        self,
        graph: Graph,
        store: Checkpointer,
        *,
        clock: Clock | None = None,
        interactive: bool = True,
        listener: Callable[[Event], None] = lambda _: None,
        cost: Callable[[Any], float | None] = lambda _: None,
        new_run_id: Callable[[], str] = lambda: f"run-{secrets.token_hex(6)}",
        timeout_seconds: float | None = None,
    ) -> None:
        self.graph = without_time_limits(graph)
        self.cost = cost
        self.stop: Stop | None = None
        self._clock = clock or SystemClock()
        self.timeline = Timeline()
        self.inspector = Inspector(self.graph, store, self.timeline, clock=self._clock, interactive=interactive)
        self.triggers = Triggers(self.graph, self.inspector)
        self._store = store
        runtime = Runtime(self.graph, checkpointer=store, clock=self._clock, interactive=interactive)
        self._follower = Follower(runtime, listener, timeout_seconds)
        self._new_run_id = new_run_id
        self._pausing = False

    @property
    def run_id(self) -> str:
        """The run under control."""
        return self.timeline.run_id

    @property
    def listeners(self) -> list[Callable[[Event], None]]:
        """Are called with each new event."""
        return self._follower.listeners

    async def begin(
        self, input: Mapping[str, Any], *, run_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Stop:
        """Start a run and hold it before its first node. Raises `InputInvalid`, `RunExists`."""
        self._open(self._new_run_id() if run_id is None else run_id, [])
        self._follower.begin(self.run_id, input, metadata)
        return await self._run(lambda event: isinstance(event, NodeStarted), StopReason.ENTRY)

    async def attach(self, run_id: str) -> Stop:
        """Look at a stored run, a completed one from its first node on, any other where it stands.

        Raises `UnknownRun`.
        """
        record = await self._store.run(run_id)
        self._open(run_id, await self._store.events(run_id))
        if record.status == RunStatus.COMPLETED:
            self.timeline.index = 0
            return await self._run(lambda event: isinstance(event, NodeStarted), StopReason.ENTRY)
        self.timeline.to_end()
        if record.status == RunStatus.RUNNING:
            await self._stand_before_next_node()
        return self._hold(StopReason.ENTRY, note=status_note(record))

    async def close(self) -> None:
        """Let go: a run that is held can be resumed."""
        await self._follower.close()

    async def step(self, count: int = 1) -> Stop:
        """On to the next moment, before a node or behind one; `count` times unless something else stops the run."""
        return await self._run(_nth(lambda event: isinstance(event, (NodeStarted, NodeFinished, NodeFailed)), count))

    async def into(self, count: int = 1) -> Stop:
        """On to the next node, whatever graph it is in; `count` times unless something else stops the run."""
        return await self._run(_nth(lambda event: isinstance(event, NodeStarted), count))

    async def next(self, count: int = 1) -> Stop:
        """On to the next node of this graph or of one around it, while subgraphs run through; `count` times unless
        something else stops the run."""
        graph = graph_path(self.timeline.now.path)

        def reached(event: Event) -> bool:
            return isinstance(event, NodeStarted) and surrounds(graph_path(event.path), graph)

        return await self._run(_nth(reached, count))

    async def out(self) -> Stop:
        """On until the subgraph has ended that the run is in; in the root graph to the end of the run."""
        graph = graph_path(self.timeline.now.path)
        outer = graph_path(graph)

        def left(event: Event) -> bool:
            if isinstance(event, ItemFinished):
                return graph == f"{event.path}[{event.item}]"
            if isinstance(event, (NodeFinished, NodeFailed)):
                return event.path in (graph, plain_path(graph))
            return isinstance(event, NodeStarted) and surrounds(graph_path(event.path), outer)

        return await self._run(left if graph else lambda _: False)

    async def proceed(self) -> Stop:
        """On to the next breakpoint, or the end."""
        return await self._run(lambda _: False)

    async def until(self, where: str) -> Stop:
        """On to a place, written like a breakpoint, or to a breakpoint that comes before it."""
        once = parse_breakpoint(where, self.graph, 0)
        self.triggers.breakpoints.append(once)
        try:
            return await self.proceed()
        finally:
            self.triggers.breakpoints.remove(once)

    async def back(self, count: int = 1) -> Stop:
        """To the node before, in the stored history; `count` nodes back. Raises `NotPossible` where there are fewer."""
        self.timeline.go_back(count)
        return self._hold(StopReason.STEP)

    async def reverse(self) -> Stop:
        """Back to where a way here from the start would have been stopped at a breakpoint last, or to the start."""
        timeline, triggers = self.timeline, self.triggers
        first, here = timeline.node_starts()[0], timeline.index
        triggers.forget_conditions()
        place, hit, counters = first, list[Breakpoint](), triggers.counters
        for timeline.index in range(here):
            met, _ = await triggers.breakpoints_met(timeline.now)
            if met or timeline.index == first:
                place, hit, counters = timeline.index, met, triggers.counters
        timeline.index, triggers.counters = place, counters
        return self._hold(StopReason.BREAKPOINT if hit else StopReason.STEP, hit=hit)

    async def goto(self, step: int) -> Stop:
        """To a step of the history: before the node that it led to, or at the end."""
        self.timeline.go_to(step)
        return self._hold(StopReason.GOTO)

    def pause(self, *, at_once: bool = False) -> None:
        """Hold the run at its next event, or with `at_once` immediately: calls under way are not cancelled, the run
        goes on to its next event and waits there."""
        self._pausing = True
        if at_once and self.timeline.events:
            self._follower.stop_waiting()

    async def answer(self, value: Any) -> Stop:
        """Answer what the run asks, and go on to the next node. Raises `InputInvalid` for one that does not fit."""
        self._to_end()
        return await self._resume(answer=value)

    async def resume(self) -> Stop:
        """Go on with a run that was paused, cut or has failed, and hold it at the next node."""
        self._to_end()
        return await self._resume()

    async def fork(self, step: int | None = None, values: Mapping[str, Any] | None = None) -> Stop:
        """A new run that begins as this one up to `step` (None: where it is held), with `values` for channels of the
        root graph. The edges out of the node of that step are tried again, so that they see the values."""
        at = (step if step is not None else self.timeline.now.step) or 0
        parent, name = self.run_id, self._new_run_id()
        await self.close()
        now = self._clock.now().timestamp()
        await fork(self._store, self.graph, parent, at, run_id=name, now=now, values=values)
        self._open(name, await self._store.events(name))
        for event in self.timeline.events:
            self._follower.tell(event)
        self.timeline.to_end()
        note = f"forked from {parent} at step {at}"
        if await self._stand_before_next_node():
            return self._hold(StopReason.STEP, note=note)
        self.stop = replace(await self._resume(), note=note)
        return self.stop

    async def assign(self, channel: str, text: str) -> Stop:
        """Give a channel of the root graph a value, as `Inspector.value_of` reads it (None where `text` is empty), in a
        fork of the run where it is held."""
        value = (await self.inspector.value_of(text)) if text.strip() else None
        return await self.fork(values={channel: value})

    async def restart(self) -> Stop:
        """A new run with the same input."""
        record = await self._store.run(self.run_id)
        await self.close()
        return await self.begin(record.input, metadata=record.metadata)

    def _open(self, run_id: str, events: Sequence[Event]) -> None:
        self.timeline.open(run_id, events)
        self.triggers.forget_hits()

    async def _stand_before_next_node(self) -> bool:
        """Stand before the node that the run is to go on with, if there is one."""
        start, last = await self.inspector.next_start(), self.timeline.now
        if start is None:
            return False
        if isinstance(last, NodeStarted) and (last.path, last.visit) == (start.path, start.visit):
            self.timeline.events.pop()
        self.timeline.append(start)
        return True

    async def _run(self, goal: Goal, reason: StopReason = StopReason.STEP) -> Stop:
        """Take events until one has to be stopped at."""
        while (event := await self._next_event()) is not None:
            hit, note = await self.triggers.met(event)
            why = stops_always(event)
            if why is None and hit:
                why = StopReason.BREAKPOINT
            if why is None and self.triggers.stops_at_failure(event):
                why = StopReason.FAILURE
            if why is None and self._pausing and event.path:
                why = StopReason.PAUSE
            if why is None and goal(event):
                why = reason
            if why is not None:
                return self._hold(why, hit=hit, note=note)
        if self._follower.active:
            return self._hold(StopReason.PAUSE, note="; ".join(str(work) for work in await self.inspector.work()))
        return self._hold(StopReason.END, note=status_note(await self._store.run(self.run_id)))

    async def _next_event(self) -> Event | None:
        """The next of the history, or of the run itself; None where it goes no further, or a pause ended the wait."""
        if not self.timeline.live:
            self.timeline.index += 1
            return self.timeline.now
        if not self._follower.active:
            record = await self._store.run(self.run_id)
            if record.status not in {RunStatus.RUNNING, RunStatus.PAUSED}:
                return None
            self._follower.resume(self.run_id)
        event = await self._follower.next()
        if event is not None:
            self.timeline.append(event)
        return event

    def _hold(self, reason: StopReason, *, hit: Sequence[Breakpoint] = (), note: str = "") -> Stop:
        self._pausing = False
        self._follower.wait_again()
        event, live = self.timeline.hold(), self.timeline.live
        self.stop = Stop(reason=reason, event=event, hit=tuple(hit), note=note, live=live)
        return self.stop

    def _to_end(self) -> None:
        if self._follower.active and self.timeline.live and not stops_always(self.timeline.now):
            raise NotPossible("the run is going on already", help="use `step`, `next` or `continue`")
        self.timeline.to_end()

    async def _resume(self, **answer: Any) -> Stop:
        await self.close()
        self._follower.resume(self.run_id, **answer)
        return await self._run(lambda event: isinstance(event, NodeStarted))


def _nth(goal: Goal, count: int) -> Goal:
    """The goal that is reached when `goal` has been reached `count` times."""
    reached = 0

    def nth(event: Event) -> bool:
        nonlocal reached
        reached += goal(event)
        return reached == count

    return nth
