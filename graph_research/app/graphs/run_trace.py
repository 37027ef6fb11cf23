"""What a stored run did, for the picture of its graph: tallies, edges taken, and visits in full."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from graph_research.app.store import Store
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.errors import ExpressionFailed
from graph_research.graph.events import EdgeTaken, Event, NodeStarted
from graph_research.graph.state.address import path_of
from graph_research.graph.state.rows import StepRow
from graph_research.graph.state.state_at import fold
from graph_research.graph.statuses import StepStatus
from graph_research.graph.values.codec import decode, references
from graph_research.research.llm.usage import spending_of

if TYPE_CHECKING:
    from graph_research.graph.definition.compiler import Graph
    from graph_research.graph.export import NodeVisit, Overlay

_ITEM = re.compile(r"\[\d+\]")
_MOST_VISITS = 12
"""Of a node, in full; the tallies count all."""


async def overlay_of(store: Store, run_id: str, graph: Graph, *, in_full: bool) -> Overlay:
    """What run `run_id` did in `graph`; `in_full` with inputs, outputs and calls of the first visits of each node."""
    record = await store.run(run_id)
    trace = await trace_of(store, run_id)
    visits: dict[str, list[NodeVisit]] = {}
    if in_full:
        rows = [row for row in await store.step_rows(run_id, None) if row.node]
        visits = await _visits(store, run_id, graph, rows, await store.calls(run_id))
    facts = {"run": run_id, "status": record.status, "graph": record.graph}
    if record.cause:
        facts["cause"] = record.cause
    return _overlay(graph, "", trace, visits, facts)


async def trace_of(
    store: Store, run_id: str, calls: Sequence[CallRecord] | None = None, events: Sequence[Event] | None = None
) -> Trace:
    """What a run did, counted, whatever its graph was. Its `calls` and `events` are read where they are not given."""
    trace = Trace(graph_hash=(await store.run_row(run_id)).graph_hash)
    for event in await store.events(run_id) if events is None else events:
        trace.event(event)
    for row in await store.step_rows(run_id, None):
        if row.node:
            trace.step(row)
    for call in await store.calls(run_id) if calls is None else calls:
        trace.call(call)
    return trace


@dataclass(kw_only=True)
class Trace:
    """What a run of the graph with `graph_hash` did, counted by path without items."""

    graph_hash: str
    visited: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    items: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    edges: Counter[tuple[str, str, str, str | None, str | None]] = field(default_factory=Counter)

    def event(self, event: Event) -> None:
        """Count an event; an edge is identified by its ends, loop and event."""
        path = _plain(event.path)
        if isinstance(event, NodeStarted):
            self.visited.setdefault(path, set()).add((event.path, event.visit))
        elif isinstance(event, EdgeTaken):
            self.edges[path.rpartition("/")[0], event.source, event.target, event.loop, event.on] += 1

    def step(self, row: StepRow) -> None:
        """Count a finished or failed attempt."""
        path = _plain(path_of(row.scope) + row.node)
        self.visited.setdefault(path, set()).add((path_of(row.scope) + row.node, row.visit))
        if row.item is None:
            self.seconds[path] = self.seconds.get(path, 0.0) + row.seconds
        elif row.status == StepStatus.FINISHED:
            self.items[path] += 1
        if row.status != StepStatus.FINISHED:
            self.errors[path] += 1

    def call(self, call: CallRecord) -> None:
        """Count a call for its node and every node around that."""
        spending = spending_of(call.answer)
        tokens = 0 if spending is None else spending.tokens
        path = _plain(call.path)
        while path:
            self.calls[path] += 1
            self.tokens[path] += tokens
            path = path.rpartition("/")[0]

    def timeless(self, graph: Graph) -> Overlay | None:
        """The overlay without seconds, for what must not change with the clock; None for another version of the
        graph, where it could mislead."""
        return _overlay(graph, "", replace(self, seconds={}), {}, {}) if graph.hash == self.graph_hash else None


def _overlay(
    graph: Graph, prefix: str, trace: Trace, visits: Mapping[str, Sequence[NodeVisit]], facts: Mapping[str, str]
) -> Overlay:
    from graph_research.graph.export import NodeStats, Overlay  # most reports draw no graph

    taken = _taken(graph, prefix.rstrip("/"), trace)
    nodes = {}
    for name, node in graph.spec.nodes.items():
        path = prefix + name
        led = sum(times for index, times in taken.items() if graph.spec.edges[index].target == name)
        count = led if node.kind == "end" else len(trace.visited.get(path, ()))
        if count:
            nodes[name] = NodeStats(
                visits=count,
                items=trace.items[path],
                seconds=trace.seconds.get(path, 0.0),
                calls=trace.calls[path],
                tokens=trace.tokens[path],
                errors=trace.errors[path],
            )
    inner = {
        name: _overlay(graph.subgraphs[node.target or ""], f"{prefix}{name}/", trace, visits, {})
        for name, node in graph.spec.nodes.items()
        if node.kind == "graph" and name in nodes
    }
    own = {name: visits[prefix + name] for name in nodes if prefix + name in visits}
    return Overlay(nodes=nodes, taken=taken, inner=inner, visits=own, facts=facts)


def _taken(graph: Graph, path: str, trace: Trace) -> dict[int, int]:
    taken: Counter[int] = Counter()
    for (where, source, target, loop, on), times in trace.edges.items():
        for edge in graph.spec.edges if where == path else ():
            named = edge.source == source or (edge.source == "*" and on is not None)
            if named and edge.target == target and edge.loop == loop and (on in edge.on if on else not edge.on):
                taken[edge.index] += times
                break
    return dict(sorted(taken.items()))


async def _visits(
    store: Store, run_id: str, graph: Graph, rows: Sequence[StepRow], calls: Sequence[CallRecord]
) -> dict[str, list[NodeVisit]]:
    chosen: dict[str, list[StepRow]] = {}
    for row in rows:
        of_node = chosen.setdefault(_plain(path_of(row.scope) + row.node), [])
        if len(of_node) < _MOST_VISITS:
            of_node.append(row)
    outputs = await _outputs(store, run_id, [row for of_node in chosen.values() for row in of_node])
    return {
        path: [await _visit(store, run_id, graph, row, outputs.get(row.step), calls) for row in of_node]
        for path, of_node in chosen.items()
    }


async def _outputs(store: Store, run_id: str, rows: Sequence[StepRow]) -> dict[int, Any]:
    """What each step wrote: the update of a node, the output of an item."""
    wanted = {row.step for row in rows}
    deltas: dict[int, bytes] = {}
    for scope in dict.fromkeys(row.scope for row in rows):
        found = await store.step_rows(run_id, scope)
        deltas |= {row.step: row.delta for row in found if row.step in wanted and row.delta is not None}
    texts = await store.texts({name for delta in deltas.values() for name in references(delta)})
    return {step: decode(delta, texts) for step, delta in deltas.items()}


async def _visit(
    store: Store, run_id: str, graph: Graph, row: StepRow, output: Any, calls: Sequence[CallRecord]
) -> NodeVisit:
    from graph_research.graph.export import NodeVisit

    path = path_of(row.scope) + row.node
    where = path if row.item is None else f"{path}[{row.item}]"
    return NodeVisit(
        where=where,
        visit=row.visit,
        attempt=row.attempt,
        status=row.status,
        started_at=f"{datetime.fromtimestamp(row.started_at, UTC):%Y-%m-%d %H:%M:%S} UTC",
        seconds=row.seconds,
        input=await _input(store, run_id, _graph_of(graph, path), row),
        output=output,
        calls=[
            {
                "kind": call.kind,
                "status": call.status,
                "seconds": round(call.seconds, 3),
                "request": call.request,
                "answer": call.answer,
            }
            for call in calls
            if call.path in (path, where)
            and (call.visit, call.item, call.attempt) == (row.visit, row.item, row.attempt)
        ],
    )


async def _input(store: Store, run_id: str, graph: Graph | None, row: StepRow) -> Any:
    """The handoff, made again from the state before the step; None where there is none, or the graph has changed so
    that it cannot be made."""
    program = graph.programs.get(row.node) if graph else None
    folded = await fold(store, run_id, row.scope, row.step - 1) if program else None
    if graph is None or program is None or folded is None or not program.fields:
        return None
    loops = {name: folded.position.loops.get(name, 0) for name in graph.spec.loops}
    scope = {**folded.state.values, "loops": loops}
    try:
        if row.item is not None and program.each is not None:
            item = program.each.evaluate(scope)[row.item]
            scope |= {graph.spec.nodes[row.node].item_name: item, "index": row.item}
        elif program.each is not None:
            return None
        return program.handoff(scope)
    except (ExpressionFailed, IndexError, KeyError, TypeError):
        return None


def _graph_of(graph: Graph, path: str) -> Graph | None:
    """The graph that the node at `path` belongs to."""
    for name in _plain(path).split("/")[:-1]:
        node = graph.spec.nodes.get(name)
        inner = graph.subgraphs.get(node.target or "") if node else None
        if inner is None:
            return None
        graph = inner
    return graph


def _plain(path: str) -> str:
    return _ITEM.sub("", path)
