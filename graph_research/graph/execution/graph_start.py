"""Begins a graph run, or loads one that was stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import GraphChanged, HandoffInvalid, InputInvalid
from graph_research.graph.events import RunStarted
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.graph_state import ROW_BYTES
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.state.address import path_of
from graph_research.graph.state.position import ActiveNode, Position, digest
from graph_research.graph.state.reducers import DeltaRefused, State, make_delta
from graph_research.graph.state.rows import RunRow
from graph_research.graph.state.state_at import Folded, fold
from graph_research.graph.statuses import StepStatus
from graph_research.graph.values.codec import duplicate, unstorable


async def start_graph_run(
    graph: Graph,
    session: RunSession,
    given: Mapping[str, Any],
    *,
    namespace: str = "",
    chain: bytes = b"",
    new: RunRow | None = None,
) -> GraphRun:
    """A new graph run, stored with its first values; the root graph is stored with `new`, the row of the whole run.
    Raises `InputInvalid`."""
    values = first_values(graph, given)
    data = session.encode({"replace": values})
    step = session.next_step()
    active = ActiveNode(node=graph.spec.start, visit=1, entered=step)
    position = Position(active=(active,), chain=digest(chain, data))
    tail = len(data) + ROW_BYTES
    folded = Folded(state=State(values), position=position, step=step, tail_bytes=tail, snapshot_bytes=0)
    run = GraphRun(graph, session, namespace, folded, loaded=False)
    opening = [] if new is None else [{"type": RunStarted.type, "graph": graph.spec.name}]
    row = run.mark(StepStatus.STARTED, data)
    await session.write(steps=[row], events=[*opening, *run.node_events()], new=new)
    if run.ended and not namespace:
        await run.write_end()
    return run


async def load_graph_run(graph: Graph, session: RunSession, namespace: str) -> GraphRun | None:
    """A graph run as it was stored; None if it never started. Raises `GraphChanged` if it stands on a node that the
    graph no longer has."""
    folded = await fold(session.store, session.run_id, namespace)
    if folded is None:
        return None
    for active in folded.position.standing:
        if active.node not in graph.spec.nodes:
            raise GraphChanged(
                f'run {session.run_id} stands on node "{path_of(namespace)}{active.node}", which is gone',
                help="put the node back, or start a new run",
            )
    return GraphRun(graph, session, namespace, folded, loaded=True)


def first_values(graph: Graph, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every channel's value at the start: what is given, else its default. Raises `InputInvalid`.

    Where no channel is declared as input, each may be given: such a graph is tried out, not called by others.
    """
    channels = graph.spec.channels
    inputs = [name for name, channel in channels.items() if channel.input] or list(channels)
    for name in given:
        if name not in inputs:
            what = "is not an input" if name in channels else "does not exist"
            raise InputInvalid(
                f'channel "{name}" of graph "{graph.spec.name}" {what}',
                help=f"inputs are {', '.join(inputs)}",
            )
    for name in inputs:
        if channels[name].required and name not in given:
            raise InputInvalid(f'graph "{graph.spec.name}" needs "{name}"', help="give it as input")
    if graph.typed:
        given = duplicate(given)
    for name, value in given.items():
        try:
            graph.channels[name].check(value, graph.spec.start)
        except HandoffInvalid as problem:
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}": {problem.message}') from problem
    try:
        make_delta(channels, given, {})
        values = duplicate({name: given.get(name, channel.default) for name, channel in channels.items()})
        return dict(graph.to_stored(values, {}, graph.spec.start))
    except (DeltaRefused, HandoffInvalid) as problem:
        raise InputInvalid(f'input of graph "{graph.spec.name}": {problem.message}') from problem


def refuse_unstorable(graph: Graph, given: Mapping[str, Any]) -> None:
    """Raise `InputInvalid` where an input holds what no store can keep, such as NaN."""
    for name, value in given.items():
        if found := unstorable(value):
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}" holds {found}, which cannot be stored')
