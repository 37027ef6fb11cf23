"""The shape of a graph: what can be reached, whether everything ends, which cycles are bounded, what branches do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

import networkx

from graph_research.graph.compiler import Graph
from graph_research.graph.errors import Finding
from graph_research.graph.naming import nearest
from graph_research.graph.spec import EdgeSpec, GraphSpec, NodeSpec

__all__ = ["check_flow", "predecessors"]

_MOST_CYCLES = 20
"""As many unbounded cycles are reported; who has more sees the next after mending."""


def check_flow(graph: Graph) -> Iterator[Finding]:
    """Findings about reachability, ends, cycles, loops, forks and joins."""
    spec = graph.spec
    edges = _known_edges(spec)
    reached = _reachable(spec, edges)
    for name, node in spec.nodes.items():
        if name not in reached and spec.start in spec.nodes:
            message = f'node "{name}" cannot be reached from "{spec.start}"'
            yield Finding.at(node.place, "unreachable-node", message, "lead an edge to it, or remove it")
    yield from _check_ends(spec, edges, reached)
    yield from _check_cycles(spec, edges)
    yield from _check_loops(graph, edges)
    yield from _check_branches(spec, edges)
    yield from _check_joins(spec, edges)
    yield from _check_parallel_writers(graph, edges)


def predecessors(spec: GraphSpec) -> Callable[[str], set[str]]:
    """Tells of a node every node that can have run before it (itself only if it stands in a cycle)."""
    digraph = _digraph(spec, _known_edges(spec))

    @cache
    def before(name: str) -> set[str]:
        ancestors: set[str] = set(networkx.ancestors(digraph, name))
        return ancestors | ({name} if any(after in {name} | ancestors for after in digraph.successors(name)) else set())

    return before


def _known_edges(spec: GraphSpec) -> list[EdgeSpec]:
    """The edges between known nodes; one whose target is a slip leads to what was probably meant."""
    edges = []
    for edge in spec.edges:
        target = edge.target if edge.target in spec.nodes else nearest(edge.target, spec.nodes)
        source = edge.source if edge.source in (*spec.nodes, "*") else nearest(edge.source, spec.nodes)
        if source and target:
            edges.append(replace(edge, source=source, target=target))
    return edges


def _digraph(spec: GraphSpec, edges: Iterable[EdgeSpec]) -> networkx.DiGraph[str]:
    """`"*"` stands for every node that can be reached without it."""
    digraph: networkx.DiGraph[str] = networkx.DiGraph()
    digraph.add_nodes_from(spec.nodes)
    digraph.add_edges_from((edge.source, edge.target) for edge in edges if edge.source != "*")
    plain = {spec.start, *networkx.descendants(digraph, spec.start)} if spec.start in digraph else set()
    running = [name for name in spec.nodes if name in plain and spec.nodes[name].kind != "end"]
    digraph.add_edges_from((name, edge.target) for edge in edges if edge.source == "*" for name in running)
    return digraph


def _reachable(spec: GraphSpec, edges: Iterable[EdgeSpec]) -> set[str]:
    digraph = _digraph(spec, edges)
    return {spec.start, *networkx.descendants(digraph, spec.start)} if spec.start in digraph else set(spec.nodes)


def _check_ends(spec: GraphSpec, edges: list[EdgeSpec], reached: set[str]) -> Iterator[Finding]:
    digraph: networkx.DiGraph[str] = networkx.DiGraph()
    digraph.add_nodes_from(spec.nodes)
    digraph.add_edges_from((edge.source, edge.target) for edge in edges if edge.source != "*")
    ends = [name for name, node in spec.nodes.items() if node.kind == "end"]
    ending = set(ends).union(*(networkx.ancestors(digraph, name) for name in ends))
    leading = {edge.source for edge in edges if not edge.on}
    for name in ends:
        edge = next((edge for edge in edges if edge.source == name), None)
        if edge:
            message = f'edge "{name} -> {edge.target}" leaves an end'
            yield Finding.at(edge.place, "edge-from-end", message, "remove it, or make the node no end")
    stuck = digraph.subgraph([name for name in spec.nodes if name in reached and name not in ending])
    for component in networkx.strongly_connected_components(stuck):
        if all(target in component for name in component for target in stuck.successors(name)):
            name = next(name for name in spec.nodes if name in component)
            message = f'node "{name}": no way leads from here to an end'
            yield Finding.at(spec.nodes[name].place, "no-end", message, "lead an edge towards a node of kind `end`")
    for name in spec.nodes:
        if name in ending and name not in ends and name not in leading:
            message = f'node "{name}": no edge leaves it when it has succeeded'
            yield Finding.at(spec.nodes[name].place, "no-end", message, "add an edge without `on`")


def _check_cycles(spec: GraphSpec, edges: list[EdgeSpec]) -> Iterator[Finding]:
    digraph = _digraph(spec, [edge for edge in edges if not edge.loop and not _leaves_end(spec, edge)])
    for _ in range(_MOST_CYCLES):
        try:
            cycle = [source for source, _ in networkx.find_cycle(digraph)]
        except networkx.NetworkXNoCycle:
            return
        steps = set(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        closing = [edge for edge in edges if not edge.loop and _closes(edge, steps)][-1]
        first = cycle.index(closing.target)
        path = " -> ".join([*cycle[first:], *cycle[:first], closing.target])
        help = "declare a loop under `loops` and mark this edge with `loop: NAME`"
        yield Finding.at(closing.place, "unbounded-cycle", f"no declared loop bounds the cycle {path}", help)
        digraph.remove_edges_from([step for step in steps if step[1] == closing.target])


def _leaves_end(spec: GraphSpec, edge: EdgeSpec) -> bool:
    return edge.source in spec.nodes and spec.nodes[edge.source].kind == "end"


def _closes(edge: EdgeSpec, steps: set[tuple[str, str]]) -> bool:
    if edge.source == "*":
        return any(target == edge.target for _, target in steps)
    return (edge.source, edge.target) in steps


def _check_loops(graph: Graph, edges: list[EdgeSpec]) -> Iterator[Finding]:
    digraph = _digraph(graph.spec, edges)
    for name, loop in graph.spec.loops.items():
        marked = [edge for edge in edges if edge.loop == name]
        if not marked:
            help = "mark the edge that leads back, or remove it"
            yield Finding.at(loop.place, "unused-loop", f"no edge is marked `loop: {name}`", help, warning=True)
        body: set[str] = set()
        for edge in marked:
            around = _around(digraph, edge)
            if not around:
                message = f'edge "{edge.source} -> {edge.target}" closes no cycle, so loop "{name}" never goes round'
                yield Finding.at(edge.place, "loop-without-cycle", message, "leave `loop` out", warning=True)
            body |= around
        yield from _check_loop_changes(graph, name, body)


def _around(digraph: networkx.DiGraph[str], edge: EdgeSpec) -> set[str]:
    """The nodes of the cycles that an edge closes."""
    after = {edge.target, *networkx.descendants(digraph, edge.target)}
    if edge.source == "*" or edge.source not in after:
        return after if edge.source == "*" else set()
    return after & {edge.source, *networkx.ancestors(digraph, edge.source)}


def _check_loop_changes(graph: Graph, name: str, body: set[str]) -> Iterator[Finding]:
    condition = graph.loops.get(name)
    if not body or condition is None or not condition.names or "loops" in condition.names:
        return
    if not any(condition.names & graph.writes(node) for node in body):
        message = f'loop "{name}": nothing in it changes {", ".join(sorted(condition.names))}'
        help = "its `while` stays as it is until `most` is reached"
        yield Finding.at(condition.expression.place, "loop-never-changes", message, help, warning=True)


def _check_branches(spec: GraphSpec, edges: list[EdgeSpec]) -> Iterator[Finding]:
    """`ask` and `end` between a fork and its join."""
    onwards: dict[str, list[str]] = {name: [] for name in (*spec.nodes, "*")}
    for edge in edges:
        if not edge.on:
            onwards[edge.source].append(edge.target)
    for name, node in spec.nodes.items():
        inside, joins = _branch(spec, onwards, node) if node.fork_all else (set(), set())
        for other in sorted(inside, key=list(spec.nodes).index) if joins else ():
            kind = spec.nodes[other].kind
            if kind in ("ask", "end"):
                message = f'node "{other}": `{kind}` stands between the fork "{name}" and its join'
                help = "put it after the join" if kind == "ask" else "lead this branch to the join"
                yield Finding.at(spec.nodes[other].place, f"{kind}-in-branch", message, help)


def _branch(spec: GraphSpec, onwards: Mapping[str, list[str]], fork: NodeSpec) -> tuple[set[str], set[str]]:
    inside: set[str] = set()
    joins: set[str] = set()
    rest = [fork.name]
    while rest:
        for target in onwards[rest.pop()]:
            if spec.nodes[target].join:
                joins.add(target)
            elif target not in inside and target != fork.name:
                inside.add(target)
                rest.append(target)
    return inside, joins


def _check_joins(spec: GraphSpec, edges: list[EdgeSpec]) -> Iterator[Finding]:
    for name, node in spec.nodes.items():
        for index, source in enumerate(node.join):
            if source in spec.nodes and not any(edge.source == source and edge.target == name for edge in edges):
                place = spec.place(f"nodes/{name}/join/{index}")
                message = f'node "{name}" joins "{source}", but no edge leads from there'
                yield Finding.at(place, "join-without-edge", message, f"add {{from: {source}, to: {name}}}")


def _check_parallel_writers(graph: Graph, edges: list[EdgeSpec]) -> Iterator[Finding]:
    """Two nodes that a fork starts for certain in one step, and that replace one channel."""
    certain = [edge for edge in edges if edge.source in graph.spec.nodes and not (edge.when or edge.loop or edge.on)]
    first: dict[tuple[str, str], str] = {}
    for edge in certain:
        if not graph.spec.nodes[edge.source].fork_all:
            continue
        for channel in sorted(graph.writes(edge.target) & graph.spec.channels.keys()):
            other = first.setdefault((edge.source, channel), edge.target)
            if other != edge.target and graph.spec.channels[channel].reduce == "replace":
                message = f'nodes "{other}" and "{edge.target}" run at once and both replace channel "{channel}"'
                help = "give the channel another `reduce`, or write it after the join"
                yield Finding.at(graph.spec.nodes[edge.target].place, "parallel-writers", message, help)
