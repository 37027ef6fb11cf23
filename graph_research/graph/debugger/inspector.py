"""What can be seen where the debugger holds a run: stack, state, expressions, edges, the next call, recorded calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.context import Clock
from graph_research.graph.debugger.breakpoints import compile_for
from graph_research.graph.debugger.call_stack import EdgeView, Level, StackReader, edges_of
from graph_research.graph.debugger.dry_run import DryRun, dry_run, handoff_of
from graph_research.graph.debugger.stop_locations import plain_path
from graph_research.graph.debugger.stops import NotPossible
from graph_research.graph.debugger.timeline import Timeline
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import NodeFailed, NodeFinished, NodeStarted, RunEnded
from graph_research.graph.statuses import CallStatus
from graph_research.graph.values.json_text import read_json

_MOST_CALLS = 3


@dataclass(frozen=True, kw_only=True)
class Work:
    """A node at work for so many `seconds`; `calls` are the kinds of the calls under way and their seconds."""

    path: str
    visit: int
    seconds: float
    calls: Sequence[tuple[str, float]] = ()

    def __str__(self) -> str:
        calls = [f"a {kind} call is under way for {seconds:.1f} s" for kind, seconds in self.calls[:_MOST_CALLS]]
        more = len(self.calls) - _MOST_CALLS
        rest = [f"{more} more"] if more > 0 else []
        return ", ".join([f"{self.path}:{self.visit} is at work for {self.seconds:.1f} s", *calls, *rest])


class Inspector:
    """Reads the store at the present event of `timeline`; changes nothing. Levels count from 0, the innermost graph."""

    def __init__(
        self, graph: Graph, store: Checkpointer, timeline: Timeline, *, clock: Clock, interactive: bool
    ) -> None:
        self._graph = graph
        self._store = store
        self._timeline = timeline
        self._clock = clock
        self._interactive = interactive
        self._reader = StackReader(store, "", graph)

    @property
    def _stack(self) -> StackReader:
        if self._reader.run_id != self._timeline.run_id:
            self._reader = StackReader(self._store, self._timeline.run_id, self._graph)
        return self._reader

    async def levels(self) -> list[Level]:
        """The stack, the innermost graph first; empty before anything ran."""
        return await self._stack.levels(self._timeline.now)

    async def level(self, number: int = 0) -> Level:
        """One level of the stack. Raises `NotPossible`."""
        levels = await self.levels()
        if not 0 <= number < len(levels):
            raise NotPossible(f"the stack has no level {number}", help=f"it has {len(levels)}, counted from 0")
        return levels[number]

    async def evaluate(self, text: str, number: int = 0) -> Any:
        """The value of an expression of the graph language. Raises `BreakpointInvalid`, `ExpressionFailed`."""
        level = await self.level(number)
        return compile_for(text, self._graph, level.scope).evaluate(level.scope)

    async def value_of(self, text: str, number: int = 0) -> Any:
        """A value that is written as JSON, as values are shown, or as an expression. Raises as `evaluate`."""
        try:
            return read_json(text)
        except orjson.JSONDecodeError:
            return await self.evaluate(text, number)

    async def changes(self) -> dict[str, tuple[Any, Any]]:
        """Channels of the innermost graph that differ from where the run was held before: old and new value."""
        level = await self.level()
        run_id, step = self._timeline.previous or (self._timeline.run_id, -1)
        reader = self._stack if run_id == self._stack.run_id else StackReader(self._store, run_id, self._graph)
        old, new = await reader.state(level.namespace, step), level.state
        return {name: (old.get(name), value) for name, value in new.items() if old.get(name) != value}

    async def edges(self, number: int = 0) -> list[EdgeView]:
        """The edges of the current node in the order they are tried, judged by the state as it is shown."""
        return edges_of(await self.level(number))

    async def dry_run(self, item: int = 0) -> DryRun:
        """The handoff of the current node and the first call it would make; nothing is sent and nothing stored."""
        level, run_id = await self.level(), self._timeline.run_id
        return await dry_run(level, self._store, run_id, clock=self._clock, interactive=self._interactive, item=item)

    async def handoff(self, level: Level) -> dict[str, Any]:
        """What the node of `level` would be given now. Raises `ExpressionFailed`, `HandoffInvalid`, `NodeFailed`."""
        return await handoff_of(level, self._store, self._timeline.run_id, clock=self._clock)

    async def next_start(self) -> NodeStarted | None:
        """The start of the node that the stored run is to go on with; None if all its active nodes have run."""
        last = self._timeline.now
        step = (await self._store.run(self._timeline.run_id)).step
        if all(active.done for active in await self._stack.active(step)):
            return None
        level = (await self._stack.levels(replace(last, path="", step=step)))[0]
        return NodeStarted(
            run_id=self._timeline.run_id,
            seq=last.seq,
            at=last.at,
            step=step,
            path=level.path,
            visit=level.visit,
            node=level.node,
        )

    async def calls(self, *, here: bool = False) -> list[CallRecord]:
        """The recorded outside calls of the run, or only of the current node's visit."""
        records = await self._store.calls(self._timeline.run_id)
        if not here:
            return records
        level = await self.level()
        path, visit = plain_path(level.path), level.visit
        return [call for call in records if plain_path(call.path) == path and call.visit == visit]

    async def work(self) -> list[Work]:
        """The nodes at work, the one that began last first, with the calls that each waits for; those that hold others
        are left out."""
        now = self._clock.now()
        begun: dict[tuple[str, int], datetime] = {}
        for event in self._timeline.events:
            if isinstance(event, NodeStarted):
                begun[event.path, event.visit] = event.at
            elif isinstance(event, NodeFinished) or (
                isinstance(event, NodeFailed) and event.item is None and not event.will_retry
            ):
                begun.pop((event.path, event.visit), None)
            elif isinstance(event, RunEnded):
                begun.clear()
        calls = await self._store.calls(self._timeline.run_id) if begun else []
        sent = [call for call in calls if call.status == CallStatus.SENT]
        return [
            Work(
                path=path,
                visit=visit,
                seconds=max(0.0, (now - at).total_seconds()),
                calls=[
                    (call.kind, max(0.0, (now - call.started_at).total_seconds()))
                    for call in sent
                    if call.visit == visit and plain_path(call.path) == plain_path(path)
                ],
            )
            for (path, visit), at in sorted(begun.items(), key=lambda item: item[1], reverse=True)
            if not any(_inside(other, path) for other, _ in begun)
        ]


def _inside(inner: str, outer: str) -> bool:
    """Whether a node stands in the subgraph of another, or of one of its items."""
    return inner.startswith((f"{outer}/", f"{outer}["))
