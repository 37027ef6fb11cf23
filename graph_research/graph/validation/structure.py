"""Checks of a graph's shape: what can be reached, whether every path ends, whether every cycle is bounded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.paths import Links, ShortestPaths, after_path
from graph_research.graph.definition.spec import EdgeSpec, GraphSpec, NodeSpec
from graph_research.graph.errors import Finding
from graph_research.graph.messages import closest, known_or_closest
from graph_research.graph.statuses import Cause, RunStatus
from graph_research.graph.validation.parallel import check_branches

_MOST_CYCLES = 20
"""At most this many unbounded cycles are reported at once."""


def check_flow(graph: Graph) -> Iterator[Finding]:
    """Findings about reachability, ends, cycles, loops, forks and joins."""
    spec = graph.spec
    edges = _known_edges(spec)
    links = _links(spec, edges)
    reached = links.after([spec.start]) if spec.start in spec.nodes else spec.nodes.keys()
    for name, node in spec.nodes.items():
        if name not in reached and spec.start in spec.nodes:
            message = f'node "{name}" cannot be reached from "{spec.start}"'
            yield Finding.at(node.place, "unreachable-node", message, "lead an edge to it, or remove it")
    yield from _check_ends(spec, edges, reached)
    yield from _check_cycles(spec, edges)
    yield from _check_loops(graph, edges, links)
    yield from check_branches(graph, edges)
    yield from _check_subgraphs(graph)


def predecessors(spec: GraphSpec) -> Callable[[str], frozenset[str]]:
    """A function from a node to every node that can have run before it (itself only if it is in a cycle)."""
    return cache(_links(spec, _known_edges(spec)).before)


def _known_edges(spec: GraphSpec) -> list[EdgeSpec]:
    """The edges between known nodes; a misspelled node is taken for the closest known one."""
    edges = []
    for edge in spec.edges:
        target = edge.target if edge.target in spec.nodes else closest(edge.target, spec.nodes)
        source = edge.source if edge.source in (*spec.nodes, "*") else closest(edge.source, spec.nodes)
        if source and target:
            edges.append(replace(edge, source=source, target=target))
    return edges


def _plain_links(spec: GraphSpec, edges: Iterable[EdgeSpec]) -> Links:
    return Links(spec.nodes, ((edge.source, edge.target) for edge in edges if edge.source != "*"))


def _links(spec: GraphSpec, edges: Sequence[EdgeSpec]) -> Links:
    """`"*"` stands for every node that can be reached without it."""
    links = _plain_links(spec, edges)
    plain = links.after([spec.start])
    running = [name for name in spec.nodes if name in plain and spec.nodes[name].kind != "end"]
    links.add((name, edge.target) for edge in edges if edge.source == "*" for name in running)
    return links


def _check_ends(spec: GraphSpec, edges: list[EdgeSpec], reached: Collection[str]) -> Iterator[Finding]:
    links = _plain_links(spec, edges)
    ends = [name for name, node in spec.nodes.items() if node.kind == "end"]
    ending = links.up_to(ends)
    leading = {edge.source for edge in edges if not edge.on}
    paths = ShortestPaths(spec)
    for name in ends:
        edge = next((edge for edge in edges if edge.source == name), None)
        if edge:
            message = f'edge "{name} -> {edge.target}" leaves an end'
            yield Finding.at(edge.place, "edge-from-end", message, "remove it, or make the node no end")
    reported: set[str] = set()
    for name in [name for name in spec.nodes if name in reached and name not in ending]:
        going_round = links.after([name])
        if name not in reported and going_round <= links.up_to([name]):
            reported |= going_round
            message = f'node "{name}": no path leads from here to an end{after_path(paths.to(name))}'
            yield Finding.at(spec.nodes[name].place, "no-end", message, "lead an edge towards a node of kind `end`")
    for name in spec.nodes:
        if name in ending and name not in ends and name not in leading:
            message = f'node "{name}": no edge leaves it when it has succeeded'
            yield Finding.at(spec.nodes[name].place, "no-end", message, "add an edge without `on`")


def _check_cycles(spec: GraphSpec, edges: list[EdgeSpec]) -> Iterator[Finding]:
    ends = {name for name, node in spec.nodes.items() if node.kind == "end"}
    links = _links(spec, [edge for edge in edges if not edge.loop and edge.source not in ends])
    for _ in range(_MOST_CYCLES):
        cycle = links.cycle()
        if not cycle:
            return
        steps = set(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        closing = [edge for edge in edges if not edge.loop and _closes(edge, steps)][-1]
        first = cycle.index(closing.target)
        path = " -> ".join([*cycle[first:], *cycle[:first], closing.target])
        help = "declare a loop under `loops` and mark this edge with `loop: NAME`"
        yield Finding.at(closing.place, "unbounded-cycle", f"no declared loop bounds the cycle {path}", help)
        links.remove([step for step in steps if step[1] == closing.target])


def _closes(edge: EdgeSpec, steps: set[tuple[str, str]]) -> bool:
    if edge.source == "*":
        return any(target == edge.target for _, target in steps)
    return (edge.source, edge.target) in steps


def _check_loops(graph: Graph, edges: list[EdgeSpec], links: Links) -> Iterator[Finding]:
    for name, loop in graph.spec.loops.items():
        marked = [edge for edge in edges if edge.loop == name]
        if not marked:
            help = "mark the edge that leads back, or remove it"
            yield Finding.at(loop.place, "unused-loop", f"no edge is marked `loop: {name}`", help, warning=True)
        body: set[str] = set()
        for edge in marked:
            around = _around(links, edge)
            if not around:
                message = f'edge "{edge.source} -> {edge.target}" closes no cycle, so loop "{name}" never goes round'
                yield Finding.at(edge.place, "loop-without-cycle", message, "leave `loop` out", warning=True)
            body |= around
        yield from _check_loop_changes(graph, name, marked, body)


def _around(links: Links, edge: EdgeSpec) -> frozenset[str]:
    """The nodes of the cycles that an edge closes."""
    after = links.after([edge.target])
    return after if edge.source == "*" else after & links.up_to([edge.source])


def _check_loop_changes(graph: Graph, name: str, marked: list[EdgeSpec], body: set[str]) -> Iterator[Finding]:
    """Nothing in the loop changes its `while`, or, where it has none, the guards of its edges."""
    condition = graph.loops.get(name)
    bounds = [condition] if condition else [guard for edge in marked if (guard := graph.guards.get(edge.index))]
    written = frozenset().union(*(bound.names for bound in bounds))
    names = known_or_closest(written - {"loops"}, graph.spec.channels) | written & {"loops"}
    if not body or len(bounds) < (1 if condition else len(marked)) or not names or "loops" in names:
        return
    if not any(names & known_or_closest(graph.writes(node), graph.spec.channels) for node in body):
        message = f'loop "{name}": nothing in it changes {", ".join(sorted(names))}'
        help = f"its {'`while`' if condition else '`when`'} stays as it is until `most` is reached"
        yield Finding.at(bounds[0].expression.place, "loop-never-changes", message, help, warning=True)


def _check_subgraphs(graph: Graph) -> Iterator[Finding]:
    """Findings about ends of subgraphs that no edge and no `on_item_error` of the parent takes.

    Only ends count that the subgraph reaches without an error of its own.
    """
    for node in graph.spec.nodes.values():
        child = graph.subgraphs.get(node.target or "") if node.kind == "graph" else None
        if child is None:
            continue
        ends = _own_ends(child.spec)
        handled = _is_handled(graph.spec, node)
        place = graph.spec.place(f"nodes/{node.name}/graph")
        if ends and all(status != RunStatus.COMPLETED for status, _ in ends):
            path = " -> ".join(ends[0][1])
            message = (
                f'node "{node.name}": graph "{node.target}" never ends completed, so the node always fails ({path})'
            )
            yield Finding.at(place, "subgraph-end", message, "give it an end `completed`", warning=handled)
            continue
        for status, way in [] if handled else ends:
            if status != RunStatus.COMPLETED:
                message = (
                    f'node "{node.name}": graph "{node.target}" can end {status} ({" -> ".join(way)}), '
                    "which is an error that no edge takes"
                )
                help = f"add {{from: {node.name}, to: …, on: error}}" + (
                    ", or `on_item_error: keep_going`" if node.each else ""
                )
                yield Finding.at(place, "subgraph-end", message, help, warning=True)


def _own_ends(spec: GraphSpec) -> list[tuple[str, list[str]]]:
    """The status of each end that is reached over edges without `on`, and the way to it."""
    plain = {(edge.source, edge.target) for edge in spec.edges if not edge.on}
    paths = ShortestPaths(spec)
    ends = [(node.target or "", paths.to(name)) for name, node in spec.nodes.items() if node.kind == "end"]
    return [(status, steps) for status, steps in ends if steps and set(pairwise(steps)) <= plain]


def _is_handled(spec: GraphSpec, node: NodeSpec) -> bool:
    if node.each and node.on_item_error == "keep_going":
        return True
    return any(Cause.ERROR in edge.on and edge.source in (node.name, "*") for edge in spec.edges)
