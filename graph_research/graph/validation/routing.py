"""The edges that leave one node: guards that can all be false, edges that are never taken, guards that overlap."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.paths import ShortestPaths, after_path
from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import Finding
from graph_research.graph.statuses import Cause
from graph_research.graph.validation.truth_table import (
    MOST_ATOMS,
    Row,
    TooManyAtoms,
    subjects_of,
    truth_table,
)
from graph_research.graph.validation.types import Type, type_of

_MOST_COMPARED_EDGES = 40
"""Overlapping guards are not checked for a node with more edges."""


def check_routing(graph: Graph, channels: Mapping[str, Type]) -> Iterator[Finding]:
    """Findings about the choice between the edges of each node, and of each event of it.

    All truth tables together hold at most 200,000 values, so that no file can keep the check busy; past that the rest
    is reported as not checked.
    """
    budget = _Budget()
    paths = ShortestPaths(graph.spec)
    leaving: dict[str, list[EdgeSpec]] = {}
    for edge in graph.spec.edges:
        leaving.setdefault(edge.source, []).append(edge)
    for name, node in graph.spec.nodes.items():
        edges = [edge for edge in leaving.get(name, ()) if not edge.on]
        if edges and node.kind != "end":
            before = after_path(paths.to(name))
            yield from _check_choice(graph, name, edges, channels, budget, complete=True, before=before)
    for source, edges in leaving.items():
        for event in Cause:
            of_event = [edge for edge in edges if event in edge.on]
            yield from _check_choice(graph, source, of_event, channels, budget, complete=False)


@dataclass(slots=True)
class _Budget:
    left: int = 200_000


def _check_choice(
    graph: Graph,
    source: str,
    edges: Sequence[EdgeSpec],
    channels: Mapping[str, Type],
    budget: _Budget,
    *,
    complete: bool,
    before: str = "",
) -> Iterator[Finding]:
    conditions = [_conditions(graph, edge) for edge in edges]
    if not edges or any(parts is None for parts in conditions):
        return
    try:
        rows = truth_table([parts or [] for parts in conditions], lambda node: type_of(node, channels), budget.left)
        budget.left -= len(rows) * len(edges)
    except TooManyAtoms:
        what = "guards" if complete else "guards for events"
        message = f'node "{source}": its {what} are not checked: more than {MOST_ATOMS} comparisons, or too many cases'
        help = "split the choice over two nodes"
        if complete and conditions[-1]:
            help += "; an edge without `when` at the end is sure to apply"
        yield Finding.at(edges[0].place, "guards-not-checked", message, help, warning=True)
        return
    forks = source in graph.spec.nodes and graph.spec.nodes[source].fork_all
    if complete:
        yield from _check_complete(graph, source, edges, rows, before)
    yield from _check_reached(edges, rows, forks=forks)
    if complete and not forks and len(edges) <= _MOST_COMPARED_EDGES:
        yield from _check_overlaps(graph, edges, rows, before)


def _conditions(graph: Graph, edge: EdgeSpec) -> list[ast.expr | str] | None:
    """What must hold for an edge to be taken; None where an expression of it did not compile."""
    parts: list[ast.expr | str] = []
    loop = graph.spec.loops.get(edge.loop or "")
    if (edge.when and edge.index not in graph.guards) or (loop and loop.while_ and loop.name not in graph.loops):
        return None
    if edge.when:
        parts.append(graph.guards[edge.index].tree)
    if edge.loop:
        parts.append(edge.loop)
        parts += [graph.loops[edge.loop].tree] if edge.loop in graph.loops else []
    return parts


def _check_complete(
    graph: Graph, source: str, edges: Sequence[EdgeSpec], rows: Sequence[Row], before: str
) -> Iterator[Finding]:
    row = next((row for row in rows if all(holds is False for holds in row.holds)), None)
    if row is None:
        return
    case = f", as with {row.values}" if row.values else ""
    message = f'node "{source}": all its guards can be false{case}{before}'
    place = graph.spec.nodes[source].place if len(edges) > 1 else edges[0].place
    yield Finding.at(place, "guards-all-false", message, "add a last edge without `when` (a loop edge does not count)")


def _check_reached(edges: Sequence[EdgeSpec], rows: Sequence[Row], *, forks: bool) -> Iterator[Finding]:
    for number, edge in enumerate(edges):
        name = f'edge "{edge.source} -> {edge.target}"'
        if not any(row.holds[number] for row in rows):
            place = edge.when.place if edge.when else edge.place
            yield Finding.at(place, "never-taken", f"{name}: its guard can never hold", "correct the guard")
        elif not forks and not any(row.holds[number] and not any(row.holds[:number]) for row in rows):
            before = next((other for other in edges[:number] if not other.when and not other.loop), None)
            line = (
                f"the one in line {before.place.line} is always taken first" if before else "earlier ones always hold"
            )
            yield Finding.at(edge.place, "never-taken", f"{name} is never taken: {line}", "move it up, or remove it")


def _check_overlaps(graph: Graph, edges: Sequence[EdgeSpec], rows: Sequence[Row], before: str) -> Iterator[Finding]:
    """Guards that depend on the same thing and can hold at once: the first wins, which may not be meant."""
    guarded = [(number, edge) for number, edge in enumerate(edges) if edge.when and not edge.loop]
    for (first, one), (second, other) in combinations(guarded, 2):
        if not subjects_of(graph.guards[one.index].tree) & subjects_of(graph.guards[other.index].tree):
            continue
        row = next((row for row in rows if row.holds[first] and row.holds[second]), None)
        if row is not None and other.when:
            message = (
                f'edges "{one.source} -> {one.target}" and "-> {other.target}" can both hold, as with '
                f"{row.values}{before}"
            )
            help = f"line {one.place.line} wins; make the guards exclude each other if that is not meant"
            yield Finding.at(other.when.place, "overlapping-guards", message, help, warning=True)
