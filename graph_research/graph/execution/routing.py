"""Which edge is taken: first match in file order, loops with their bounds, edges for events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.paths import reachable
from graph_research.graph.definition.spec import EdgeSpec, LoopSpec
from graph_research.graph.errors import NodeFailed
from graph_research.graph.expressions.compiled import Compiled
from graph_research.graph.messages import show_value
from graph_research.graph.statuses import Cause, RunStatus

ANY = "*"
"""The source of an edge that holds for every node."""


class _Candidate(NamedTuple):
    """An edge with what has to hold for it to be taken: its guard, and the condition and bound of its loop."""

    edge: EdgeSpec
    guard: Compiled | None
    loop: LoopSpec | None
    condition: Compiled | None


@dataclass(frozen=True, kw_only=True)
class Routes:
    """The edges of a graph, indexed. `order` is the position of each node in the file."""

    graph: Graph
    order: Mapping[str, int]
    leaving: Mapping[str, Sequence[_Candidate]]
    events: Mapping[tuple[str, str], Sequence[_Candidate]]
    """By node and event; of edges from `*` after the node's own, where such an edge applies to it."""
    ends: Mapping[str, RunStatus]
    """The nodes on which a graph ends, with the status it ends with."""
    can_complete: frozenset[str]
    """Nodes from which an end `completed` can be reached without event edges: there a run has recovered."""
    pausing: frozenset[str]
    """Nodes with a `pause`."""
    joins: Mapping[str, frozenset[str]]
    """By node with a `join` the nodes that it waits for."""
    single_exit: frozenset[str]
    """Nodes that one edge leaves, to a node without a join, in a graph without a `pause`."""

    @classmethod
    def of(cls, graph: Graph) -> Routes:
        leaving: dict[str, list[_Candidate]] = defaultdict(list)
        events: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
        sources: dict[str, list[str]] = defaultdict(list)
        targets: dict[str, list[str]] = defaultdict(list)
        ends = {
            name: RunStatus(node.target or RunStatus.COMPLETED)
            for name, node in graph.spec.nodes.items()
            if node.kind == "end"
        }
        for edge in graph.spec.edges:
            loop = graph.spec.loops[edge.loop] if edge.loop is not None else None
            candidate = _Candidate(edge, graph.guards.get(edge.index), loop, graph.loops.get(edge.loop or ""))
            if not edge.on:
                leaving[edge.source].append(candidate)
                sources[edge.target].append(edge.source)
            if edge.source != ANY:
                targets[edge.source].append(edge.target)
            for event in edge.on:
                events[edge.source, event].append(candidate)
        for node in reachable([graph.spec.start], lambda name: targets[name]):  # all that are entered without `*`
            for event in Cause:
                events[node, event].extend(events[ANY, event])
        completed = [name for name, status in ends.items() if status == RunStatus.COMPLETED]
        pausing = frozenset(name for name, node in graph.spec.nodes.items() if node.pause)
        forking = frozenset(name for name, node in graph.spec.nodes.items() if node.fork_all)
        joining = {edge.source for edge in graph.spec.edges if graph.spec.nodes[edge.target].join}
        return cls(
            graph=graph,
            order={name: place for place, name in enumerate(graph.spec.nodes)},
            leaving=dict(leaving),
            events=dict(events),
            ends=ends,
            can_complete=reachable(completed, lambda name: sources[name]) - ends.keys(),
            pausing=pausing,
            single_exit=frozenset(() if pausing else graph.spec.nodes.keys() - forking - joining),
            joins={name: frozenset(node.join) for name, node in graph.spec.nodes.items() if node.join},
        )

    def exits(
        self, node: str, scope: Mapping[str, Any], loops: Mapping[str, int]
    ) -> tuple[list[EdgeSpec], Mapping[str, int]]:
        """The edges that a node which has ended takes, and the loops after them: the first edge that holds, with
        `fork: all` each. Raises `NodeFailed` when none holds, `ExpressionFailed` when a guard cannot be evaluated."""
        if not self.graph.spec.nodes[node].fork_all:
            edge = self.first(node, scope, loops)
            return [edge], self.counted(edge, loops)
        taken: list[EdgeSpec] = []
        for candidate in self.leaving.get(node, ()):
            if _holds(candidate, scope, loops):
                taken.append(candidate.edge)
                loops = self.counted(candidate.edge, loops)
        if not taken:
            raise self._no_edge_error(node, scope)
        return taken, loops

    def first(self, node: str, scope: Mapping[str, Any], loops: Mapping[str, int]) -> EdgeSpec:
        """The first edge out of `node` that holds. Raises `NodeFailed` and `ExpressionFailed` as `exits` does."""
        for candidate in self.leaving.get(node, ()):
            if _holds(candidate, scope, loops):
                return candidate.edge
        raise self._no_edge_error(node, scope)

    def divert(self, node: str, event: str, scope: Mapping[str, Any], loops: Mapping[str, int]) -> EdgeSpec | None:
        """The edge for an event at `node`: its own before that of `*`; None when there is none."""
        candidates = self.events.get((node, event), ())
        return next((candidate.edge for candidate in candidates if _holds(candidate, scope, loops)), None)

    def counted(self, edge: EdgeSpec, loops: Mapping[str, int]) -> Mapping[str, int]:
        """The loop counters after the edge: its own is one higher, and those of loops inside it start again."""
        if edge.loop is None:
            return loops
        loops = {**loops, edge.loop: loops.get(edge.loop, 0) + 1}
        for name, loop in self.graph.spec.loops.items():
            if loop.per == edge.loop:
                loops[name] = 0
        return loops

    def _no_edge_error(self, node: str, scope: Mapping[str, Any]) -> NodeFailed:
        guards = [candidate.guard for candidate in self.leaving.get(node, ()) if candidate.guard is not None]
        names = sorted({name for guard in guards for name in guard.names if name in scope})
        values = f" (with {', '.join(f'{name} = {show_value(scope[name])}' for name in names)})" if names else ""
        return NodeFailed(f'no edge applies after node "{node}"{values}', help=_EDGE_HELP)


_EDGE_HELP = "give the node a last edge without `when`"


def _holds(candidate: _Candidate, scope: Mapping[str, Any], loops: Mapping[str, int]) -> bool:
    _, guard, loop, condition = candidate
    if guard is not None and not guard.evaluate(scope):
        return False
    if loop is None:
        return True
    if condition is not None and not condition.evaluate(scope):
        return False
    most = loop.most if type(loop.most) is int else _bound(loop, scope)
    return loops.get(loop.name, 0) < most


def _bound(loop: LoopSpec, scope: Mapping[str, Any]) -> float:
    most = scope.get(loop.most) if isinstance(loop.most, str) else loop.most
    if isinstance(most, bool) or not isinstance(most, (int, float)):
        place = f"{loop.place.file_name}:{loop.place.line}"
        raise NodeFailed(f'{place}: loop "{loop.name}" has no bound: "{loop.most}" is {show_value(most)}')
    return most
