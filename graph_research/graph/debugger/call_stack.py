"""The stack of graphs where a run stands, the state of each, and why its edges hold or not."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.debugger.stop_locations import graph_at, plain_path
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import ExpressionFailed
from graph_research.graph.events import Event, NodeFinished
from graph_research.graph.state.address import path_of
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.state_at import Folded, fold

_MOST_FOLDED = 8
_NAMESPACE_PART = re.compile(r"(?P<node>[^/:]+):(?P<visit>\d+)(?:\[(?P<item>\d+)\])?(?:~\d+)?/")


@dataclass(frozen=True, kw_only=True)
class Level:
    """One graph of the stack and the node in it. `scope` is what expressions see there: the channels at `step`,
    `loops`, and `error` behind an event edge. `left` holds the counters of loops before the node was left."""

    graph: Graph
    namespace: str
    """Where the store keeps the graph's steps; empty for the root."""
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


class StackReader:
    """Reads the stack and the states of one run from the store, at any step; of the rows of steps only new ones."""

    def __init__(self, store: Checkpointer, run_id: str, graph: Graph) -> None:
        self._store = store
        self.run_id = run_id
        self._graph = graph
        self._begun: dict[str, list[tuple[int, str]]] = defaultdict(list)
        """By path of a graph: the steps at which runs of it began, with their namespaces."""
        self._namespaces: set[str] = set()
        self._last = -1
        self._folded: dict[tuple[str, int], Folded | None] = {}

    async def levels(self, event: Event) -> list[Level]:
        """The stack at an event, the innermost graph first."""
        step = event.step if event.step is not None else (await self._store.run(self.run_id)).step
        if not event.path:
            return list(reversed(await self._standing(self._graph, "", step)))
        parts = event.path.split("/")
        levels: list[Level] = []
        namespace = await self._namespace("/".join(parts[:-1]), step)
        visit = event.visit
        while True:
            path = "/".join(parts)
            graph = graph_at(self._graph, path)
            before = step - 1 if isinstance(event, NodeFinished) and not levels else step
            levels.append(await self._level(graph, namespace, path, plain_path(parts[-1]), visit, step, before))
            if not namespace:
                return levels
            *_, outer = _NAMESPACE_PART.finditer(namespace)
            namespace, visit = namespace[: outer.start()], int(outer["visit"])
            parts = parts[:-1]

    async def state(self, namespace: str, step: int) -> dict[str, Any]:
        """The channels of a graph at a step; empty before it began."""
        folded = await self._fold(namespace, step)
        return dict(folded.state.values) if folded else {}

    async def active(self, step: int) -> Sequence[ActiveNode]:
        """The nodes of the root graph that are to run, or have run and are not left yet."""
        folded = await self._fold("", step)
        return folded.position.active if folded else ()

    async def _standing(self, graph: Graph, namespace: str, step: int) -> list[Level]:
        """The stack where the stored position stands, the outermost graph first."""
        folded = await self._fold(namespace, step)
        if folded is None or not folded.position.active:
            return []
        waiting = [active for active in folded.position.active if not active.done]
        active = (waiting or folded.position.active)[0]
        path = path_of(namespace) + active.node
        level = await self._level(graph, namespace, path, active.node, active.visit, step, step)
        spec = graph.spec.nodes[active.node]
        inner = await self._inner(namespace, active, step) if spec.kind == "graph" and not active.done else None
        if inner is None:
            return [level]
        return [level, *await self._standing(graph.subgraphs[spec.target or ""], inner, step)]

    async def _inner(self, namespace: str, active: ActiveNode, step: int) -> str | None:
        """The namespace of the subgraph run that began last under an active node and has not ended."""
        await self._read_steps()
        start = f"{namespace}{active.node}:{active.visit}"
        began = [
            (first, inner)
            for runs in self._begun.values()
            for first, inner in runs
            if active.entered < first <= step and inner.startswith(start) and "/" not in inner[len(start) :][:-1]
        ]
        return max(began)[1] if began else None

    async def _level(
        self, graph: Graph, namespace: str, path: str, node: str, visit: int, step: int, before: int
    ) -> Level:
        folded = await self._fold(namespace, step)
        values: dict[str, Any] = dict(folded.state.values) if folded else {}
        loops = dict.fromkeys(graph.spec.loops, 0)
        left = loops
        if folded is not None:
            loops = {name: folded.position.loops.get(name, 0) for name in loops}
            earlier = await self._fold(namespace, before) if before != step else folded
            left = {name: earlier.position.loops.get(name, 0) for name in loops} if earlier else loops
            for active in folded.position.active:
                if (active.node, active.visit) == (node, visit) and active.error is not None:
                    values["error"] = active.error
        return Level(
            graph=graph,
            namespace=namespace,
            path=path,
            node=node,
            visit=visit,
            step=step,
            scope={**values, "loops": loops},
            left=left,
        )

    async def _namespace(self, path: str, step: int) -> str:
        """The namespace of the run of a subgraph at `path` that began last before `step`."""
        if not path:
            return ""
        await self._read_steps()
        began = [namespace for first, namespace in self._begun[f"{path}/"] if first <= step]
        return began[-1] if began else ""

    async def _read_steps(self) -> None:
        for row in await self._store.step_rows(self.run_id, None, self._last):
            self._last = row.step
            if row.scope and row.scope not in self._namespaces:
                self._namespaces.add(row.scope)
                self._begun[path_of(row.scope)].append((row.step, row.scope))

    async def _fold(self, namespace: str, step: int) -> Folded | None:
        if (namespace, step) not in self._folded:
            if len(self._folded) >= _MOST_FOLDED:
                self._folded.clear()
            self._folded[namespace, step] = await fold(self._store, self.run_id, namespace, step)
        return self._folded[namespace, step]


def edges_of(level: Level) -> list[EdgeView]:
    """The edges that leave the node of `level`, in the order they are tried, judged by the state that `level` shows."""
    graph, views, open_ = level.graph, [], True
    fork = level.node in graph.spec.nodes and graph.spec.nodes[level.node].fork_all
    for edge in graph.spec.edges:
        if edge.source not in (level.node, "*"):
            continue
        if edge.on:
            views.append(EdgeView(edge=edge, holds=None, why=f"only on {', '.join(edge.on)}", values={}))
            continue
        holds, why, values = _judged(level, edge)
        taken = holds and open_
        open_ = open_ and (fork or not taken)
        views.append(EdgeView(edge=edge, holds=holds, why=why, values=values, taken=taken))
    return views


def _judged(level: Level, edge: EdgeSpec) -> tuple[bool, str, Mapping[str, Any]]:
    graph = level.graph
    scope = {**level.scope, "loops": level.left}
    guard = graph.guards.get(edge.index)
    loop = graph.loops.get(edge.loop) if edge.loop else None
    names = sorted({name for condition in (guard, loop) if condition for name in condition.names & scope.keys()})
    values = {name: scope[name] for name in names}
    try:
        if guard is not None and not guard.evaluate(scope):
            return False, f"when {guard.expression.text}: no", values
        if loop is not None and not loop.evaluate(scope):
            return False, f"while {loop.expression.text} of loop {edge.loop}: no", values
    except ExpressionFailed as failed:
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
