"""What can be seen where a run stands: the stack of graphs, their states, guards with values, handoffs and calls."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.debugger.stop_locations import graph_at, plain_path
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import GuardFailed
from graph_research.graph.events import Event, NodeFailed, NodeFinished, NodeStarted, RunEnded
from graph_research.graph.state.address import path_of
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.state_at import Folded, fold

__all__ = ["EdgeView", "Level", "Viewer", "Work", "edges_of", "work_of"]

_SCOPE_PART = re.compile(r"(?P<node>[^/:]+):(?P<visit>\d+)(?:\[(?P<item>\d+)\])?(?:~\d+)?/")


@dataclass(frozen=True, kw_only=True)
class Level:
    """One graph of the stack and the node in it. `scope` is what expressions see there: the channels at `step`,
    `loops`, and `error` behind an event edge. `left` holds the counters of loops before the node was left."""

    graph: Graph
    key: str
    """The scope in the store; empty for the root."""
    path: str
    node: str
    visit: int
    step: int
    scope: Mapping[str, Any]
    left: Mapping[str, int]

    @property
    def state(self) -> dict[str, Any]:
        """The channels alone."""
        return {name: value for name, value in self.scope.items() if name in self.graph.spec.channels}


@dataclass(frozen=True, kw_only=True)
class EdgeView:
    """An edge of a node and why it holds or not, in words with the values of its names; None: it is not tried."""

    edge: EdgeSpec
    holds: bool | None
    why: str
    values: Mapping[str, Any]
    taken: bool = False


class Viewer:
    """Looks at one run in the store, at any step; reads of the log of steps only what is new."""

    def __init__(self, store: Checkpointer, run_id: str, graph: Graph) -> None:
        self._store = store
        self._run_id = run_id
        self._graph = graph
        self._begun: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """By path of a graph: the steps at which runs of it began, with their scopes."""
        self._known: set[str] = set()
        self._last = -1
        self._folded: dict[tuple[str, int], Folded | None] = {}

    async def levels(self, event: Event) -> list[Level]:
        """The stack at an event, the innermost graph first."""
        step = event.step if event.step is not None else (await self._store.run(self._run_id)).step
        if not event.path:
            return list(reversed(await self._standing(self._graph, "", step)))
        parts = event.path.split("/")
        found: list[Level] = []
        key = await self._scope("/".join(parts[:-1]), step)
        visit = event.visit
        while True:
            path = "/".join(parts)
            graph = graph_at(self._graph, path)
            before = step - 1 if isinstance(event, NodeFinished) and not found else step
            found.append(await self._level(graph, key, path, plain_path(parts[-1]), visit, step, before))
            if not key:
                return found
            *_, outer = _SCOPE_PART.finditer(key)
            key, visit = key[: outer.start()], int(outer["visit"])
            parts = parts[:-1]

    async def state(self, key: str, step: int) -> dict[str, Any]:
        """The channels of a scope at a step; empty before it began."""
        folded = await self._fold(key, step)
        return dict(folded.state.values) if folded else {}

    async def active(self, step: int) -> Sequence[ActiveNode]:
        """The nodes of the root graph that are to run, or have run and are not left yet."""
        folded = await self._fold("", step)
        return folded.position.active if folded else ()

    async def _standing(self, graph: Graph, key: str, step: int) -> list[Level]:
        """The stack where the stored position stands, the outermost graph first."""
        folded = await self._fold(key, step)
        if folded is None or not folded.position.active:
            return []
        waiting = [active for active in folded.position.active if not active.done]
        active = (waiting or folded.position.active)[0]
        path = path_of(key) + active.node
        level = await self._level(graph, key, path, active.node, active.visit, step, step)
        spec = graph.spec.nodes[active.node]
        inner = await self._inner(key, active, step) if spec.kind == "graph" and not active.done else None
        if inner is None:
            return [level]
        return [level, *await self._standing(graph.subgraphs[spec.target or ""], inner, step)]

    async def _inner(self, key: str, active: ActiveNode, step: int) -> str | None:
        """The run of a subgraph that began last under an active node and has not ended."""
        await self._read_steps()
        start = f"{key}{active.node}:{active.visit}"
        began = [
            (first, scope)
            for runs in self._begun.values()
            for first, scope in runs
            if active.entered < first <= step and scope.startswith(start) and "/" not in scope[len(start) :][:-1]
        ]
        return max(began)[1] if began else None

    async def _level(self, graph: Graph, key: str, path: str, node: str, visit: int, step: int, before: int) -> Level:
        folded = await self._fold(key, step)
        values: dict[str, Any] = dict(folded.state.values) if folded else {}
        loops = dict.fromkeys(graph.spec.loops, 0)
        left = loops
        if folded is not None:
            loops = {name: folded.position.loops.get(name, 0) for name in loops}
            earlier = await self._fold(key, before) if before != step else folded
            left = {name: earlier.position.loops.get(name, 0) for name in loops} if earlier else loops
            error = next((one.error for one in folded.position.active if (one.node, one.visit) == (node, visit)), None)
            values |= {} if error is None else {"error": error}
        return Level(
            graph=graph,
            key=key,
            path=path,
            node=node,
            visit=visit,
            step=step,
            scope={**values, "loops": loops},
            left=left,
        )

    async def _scope(self, path: str, step: int) -> str:
        """The scope of the run of a subgraph at `path` that began last before `step`."""
        if not path:
            return ""
        await self._read_steps()
        began = [scope for first, scope in self._begun[f"{path}/"] if first <= step]
        return began[-1] if began else ""

    async def _read_steps(self) -> None:
        for row in await self._store.step_rows(self._run_id, None, self._last):
            self._last = row.step
            if row.scope and row.scope not in self._known:
                self._known.add(row.scope)
                self._begun[path_of(row.scope)].append((row.step, row.scope))

    async def _fold(self, key: str, step: int) -> Folded | None:
        if (key, step) not in self._folded:
            if len(self._folded) >= _MOST_FOLDED:
                self._folded.clear()
            self._folded[key, step] = await fold(self._store, self._run_id, key, step)
        return self._folded[key, step]


def edges_of(level: Level, *, event: Literal["error", "timeout", "cancelled"] | None = None) -> list[EdgeView]:
    """The edges that leave the node of `level`, in the order they are tried, judged by the state that `level` shows."""
    graph, views, open_ = level.graph, [], True
    fork = level.node in graph.spec.nodes and graph.spec.nodes[level.node].fork_all
    for edge in graph.spec.edges:
        if edge.source not in (level.node, "*"):
            continue
        if (event in edge.on) if event else not edge.on:
            holds, why, values = _judged(level, edge)
            taken = bool(holds) and open_
            open_ = open_ and (fork or not taken)
            views.append(EdgeView(edge=edge, holds=holds, why=why, values=values, taken=taken))
        else:
            reason = f"only on {', '.join(edge.on)}" if edge.on else f"not on {event}"
            views.append(EdgeView(edge=edge, holds=None, why=reason, values={}))
    return views


def _judged(level: Level, edge: EdgeSpec) -> tuple[bool, str, Mapping[str, Any]]:
    graph = level.graph
    scope = {**level.scope, "loops": level.left}
    guard = graph.guards.get(edge.index)
    loop = graph.loops.get(edge.loop) if edge.loop else None
    names = sorted({name for one in (guard, loop) if one for name in one.names if name in scope})
    values = {name: scope[name] for name in names}
    try:
        if guard is not None and not guard.evaluate(scope):
            return False, f"when {guard.expression.text}: no", values
        if loop is not None and not loop.evaluate(scope):
            return False, f"while {loop.expression.text} of loop {edge.loop}: no", values
    except GuardFailed as failed:
        return False, f"fails: {failed.message}", values
    reasons = [f"when {guard.expression.text}: yes" if guard else "no guard"]
    if edge.loop is not None:
        most = graph.spec.loops[edge.loop].most
        bound = scope.get(most) if isinstance(most, str) else most
        count = level.left.get(edge.loop, 0)
        if not isinstance(bound, (int, float)) or count >= bound:
            return False, f"loop {edge.loop} was taken {count} of {bound} times", values
        reasons.append(f"loop {edge.loop} was taken {count} of {bound} times")
    return True, "; ".join(reasons), values


_MOST_FOLDED = 8


_CALLS_TOLD = 3


@dataclass(frozen=True, kw_only=True)
class Work:
    """A node at work for so many `seconds`; `calls` are the kinds of the calls under way and their seconds."""

    path: str
    visit: int
    seconds: float
    calls: Sequence[tuple[str, float]] = ()

    def __str__(self) -> str:
        told = [f"a {kind} call is under way for {seconds:.1f} s" for kind, seconds in self.calls[:_CALLS_TOLD]]
        more = len(self.calls) - _CALLS_TOLD
        rest = [f"{more} more"] if more > 0 else []
        return ", ".join([f"{self.path}:{self.visit} is at work for {self.seconds:.1f} s", *told, *rest])


async def work_of(log: Sequence[Event], store: Checkpointer, run_id: str, now: datetime) -> list[Work]:
    """The nodes at work after the events of `log`, the one that began last first; those that hold others are left
    out."""
    begun: dict[tuple[str, int], datetime] = {}
    for event in log:
        if isinstance(event, NodeStarted):
            begun[event.path, event.visit] = event.at
        elif isinstance(event, NodeFinished) or (
            isinstance(event, NodeFailed) and event.item is None and not event.will_retry
        ):
            begun.pop((event.path, event.visit), None)
        elif isinstance(event, RunEnded):
            begun.clear()
    sent = [call for call in await store.calls(run_id) if call.status == "sent"] if begun else []
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
        for (path, visit), at in sorted(begun.items(), key=lambda one: one[1], reverse=True)
        if not any(_inside(other, path) for other, _ in begun)
    ]


def _inside(inner: str, outer: str) -> bool:
    """Whether a node stands in the subgraph of another, or of one of its items."""
    return inner.startswith((f"{outer}/", f"{outer}["))
