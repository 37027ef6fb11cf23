"""A graph as it is debugged: whoever looks at a run is not hurried by its limits."""

from __future__ import annotations

from dataclasses import replace

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import LimitsSpec

__all__ = ["untimed"]


def untimed(graph: Graph) -> Graph:
    """The graph without the time limits that would run out while somebody looks: of whole graphs, and of nodes that
    hold others or their items."""
    nodes = {
        name: replace(node, timeout_seconds=None) if node.kind == "graph" or node.each else node
        for name, node in graph.spec.nodes.items()
    }
    limits = LimitsSpec(steps=graph.spec.limits.steps)
    subgraphs = {name: untimed(inner) for name, inner in graph.subgraphs.items()}
    return replace(graph, spec=replace(graph.spec, nodes=nodes, limits=limits), subgraphs=subgraphs)
