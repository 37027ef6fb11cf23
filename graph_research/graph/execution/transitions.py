"""Where a graph goes after a superstep: pure functions from a position and the results of its nodes to the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import ExpressionFailed, NodeFailed
from graph_research.graph.execution.node_result import Failure, NodeResult, failure_of
from graph_research.graph.execution.routing import ANY, Routes
from graph_research.graph.state.position import ActiveNode, Interruption, Position, joined
from graph_research.graph.statuses import Cause

Loops = Mapping[str, int]


class TakenEdge(NamedTuple):
    """An edge out of a node, with the failure if it is an event edge."""

    source: ActiveNode
    edge: EdgeSpec
    failure: Failure | None = None


class NoEdge(Exception):
    """No edge takes the failure: that of a node that an event concerns, or of one that has ended and cannot leave."""

    def __init__(self, active: ActiveNode, failure: Failure) -> None:
        super().__init__(failure.error["message"])
        self.active = active
        self.failure = failure


def without_conflicts(results: Sequence[NodeResult], routes: Routes) -> Sequence[NodeResult]:
    """The results in the order of the file. Nodes of one superstep may not replace the same channel: all but the first
    that do have failed."""
    writers: dict[str, str] = {}
    checked = []
    for result in sorted(results, key=lambda result: routes.order[result.active.node]):
        for channel in (result.delta or {}).get("replace", {}):
            other = writers.setdefault(channel, result.active.node)
            if other != result.active.node:
                message = f'"{other}" and "{result.active.node}" replaced channel "{channel}" in the same step'
                failure = failure_of(result.active, Cause.ERROR, NodeFailed(message))
                result = result._replace(failure=failure, delta=None)
                break
        checked.append(result)
    return checked


def reduced(position: Position, results: Sequence[NodeResult], routes: Routes) -> Position:
    """The position whose state includes the updates of `results`, before an edge is taken."""
    active, chain, loops, join_arrivals, interruption, _, abandoned = position
    if len(active) > 1:
        active = tuple(sorted(active, key=lambda node: routes.order[node.node]))
    applied: Sequence[int] | None = None
    if len(results) == 1 and not results[0].written:
        chain = results[0].row.hash if results[0].delta is not None else chain
    else:
        updates = [result for result in results if result.delta is not None]
        chain = joined(chain, [result.row.hash for result in updates])
        applied = [result.row.step for result in updates]
    return Position(active, chain, loops, join_arrivals, interruption, applied, abandoned)


def event_edge(
    active: ActiveNode, failure: Failure, routes: Routes, scope: Mapping[str, Any], loops: Loops
) -> tuple[TakenEdge, Loops]:
    """The edge that takes a failure, and the loops after it. Raises `NoEdge`: with the failure, or with that of a guard
    that could not be evaluated."""
    try:
        edge = routes.divert(active.node, failure.event, {**scope, "error": failure.error}, loops)
    except (ExpressionFailed, NodeFailed) as problem:
        raise NoEdge(active, failure_of(active, Cause.ERROR, problem)) from problem
    if edge is None:
        raise NoEdge(active, failure)
    return TakenEdge(active, edge, failure), routes.counted(edge, loops)


def exit_edges(
    nodes: Iterable[ActiveNode], routes: Routes, scope: Mapping[str, Any], loops: Loops
) -> tuple[list[TakenEdge], Loops]:
    """The edges that nodes which have ended take, and the loops after them. Raises `NoEdge`."""
    taken: list[TakenEdge] = []
    for active in nodes:
        try:
            edges, loops = routes.exits(active.node, scope, loops)
        except (ExpressionFailed, NodeFailed) as problem:
            raise NoEdge(active, failure_of(active, Cause.ERROR, problem)) from problem
        taken.extend(TakenEdge(active, edge) for edge in edges)
    return taken, loops


def follow(
    taken: Sequence[TakenEdge],
    position: Position,
    routes: Routes,
    loops: Loops,
    step: int,
    visits: Mapping[str, int],
    before: tuple[int, Position],
) -> tuple[Position, Sequence[TakenEdge], Failure | None]:
    """The position after the edges, entered by `step`; those of the edges that count (of event edges from `*` the
    first, and nothing beside it); and the failure that was taken. `before` is the step and position that `resume`
    returns to after a failure."""
    taken = [edge for edge in taken if edge.edge.source == ANY][:1] or taken
    failed = next((edge.failure for edge in taken if edge.failure is not None), None)
    active, join_arrivals = _entered(taken, position.join_arrivals, routes, step, visits)
    interruption = position.interruption
    if failed is not None:
        left_at, (left, chain, left_loops, arrivals, *_) = before
        interruption = Interruption(failed.event, left_at, chain.hex(), left, left_loops, arrivals, failed.error)
    if any(node.node in routes.can_complete for node in active):
        interruption = None
    _, chain, _, _, _, applied, abandoned = position
    return Position(active, chain, loops, join_arrivals, interruption, applied, abandoned), taken, failed


def single_exit(
    result: NodeResult, position: Position, routes: Routes, scope: Mapping[str, Any], visits: Mapping[str, int]
) -> tuple[Position, EdgeSpec]:
    """`reduced`, `exit_edges` and `follow` at once, for the update of the only active node, which is in
    `routes.single_exit`. Raises `ExpressionFailed` and `NodeFailed` where `exit_edges` raises `NoEdge`."""
    _, _, loops, join_arrivals, interruption, _, abandoned = position
    edge = routes.first(result.active.node, scope, loops)
    target = edge.target
    if edge.loop is not None:
        loops = routes.counted(edge, loops)
    if target in routes.can_complete:
        interruption = None
    entered = ActiveNode(target, visits.get(target, 0) + 1, result.row.step)
    return Position((entered,), result.row.hash, loops, join_arrivals, interruption, None, abandoned), edge


def _entered(
    taken: Iterable[TakenEdge], arrivals: Mapping[str, Sequence[str]], routes: Routes, step: int, visits: Loops
) -> tuple[tuple[ActiveNode, ...], Mapping[str, Sequence[str]]]:
    """The nodes that become active in the order of the file, and the arrivals at joins that still wait. Where nothing
    else is active, the joins wait no longer."""
    arrived = {node: list(sources) for node, sources in arrivals.items()}
    targets: dict[str, Failure | None] = {}
    for source, edge, failure in taken:
        join = routes.joins.get(edge.target)
        if join is None or failure is not None:
            targets[edge.target] = failure
            continue
        arrived.setdefault(edge.target, []).append(source.node)
        if join <= set(arrived[edge.target]):
            del arrived[edge.target]
            targets[edge.target] = None
    if not targets:
        targets, arrived = dict.fromkeys(arrived), {}
    active = []
    for target in sorted(targets, key=routes.order.__getitem__):
        cause = targets[target]
        active.append(ActiveNode(target, visits.get(target, 0) + 1, step, error=None if cause is None else cause.error))
    return tuple(active), arrived
