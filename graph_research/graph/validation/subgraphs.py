"""How the ends of a subgraph are met: one that does not end `completed` is an error of the node that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from graph_research.graph.compiler import Graph
from graph_research.graph.errors import Finding
from graph_research.graph.spec import GraphSpec, NodeSpec
from graph_research.graph.validation.ways import ways

__all__ = ["check_subgraphs"]


def check_subgraphs(graph: Graph) -> Iterator[Finding]:
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
        if ends and all(status != "completed" for status, _ in ends):
            path = " -> ".join(ends[0][1])
            message = (
                f'node "{node.name}": graph "{node.target}" never ends completed, so the node always fails ({path})'
            )
            yield Finding.at(place, "subgraph-end", message, "give it an end `completed`", warning=handled)
            continue
        for status, way in [] if handled else ends:
            if status != "completed":
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
    way = ways(spec)
    found = [(node.target or "", way(name)) for name, node in spec.nodes.items() if node.kind == "end"]
    return [(status, steps) for status, steps in found if steps and set(pairwise(steps)) <= plain]


def _is_handled(spec: GraphSpec, node: NodeSpec) -> bool:
    if node.each and node.on_item_error == "keep_going":
        return True
    return any("error" in edge.on and edge.source in (node.name, "*") for edge in spec.edges)
