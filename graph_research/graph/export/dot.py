"""A graph in the DOT language of Graphviz."""

from __future__ import annotations

from graph_research.graph.export.labels import edge_label, node_detail
from graph_research.graph.spec import GraphSpec, NodeKind

__all__ = ["render_dot"]

_SHAPES: dict[NodeKind, str] = {
    "run": 'shape=box style="rounded"',
    "prompt": "shape=note",
    "graph": "shape=box peripheries=2",
    "ask": "shape=hexagon",
    "set": "shape=box",
    "end": 'shape=box style="rounded,bold"',
}


def render_dot(spec: GraphSpec) -> str:
    """A `digraph`; the start has an arrow from a point, edges of `"*"` come from a node "any node"."""
    lines = [f"digraph {_quoted(spec.name)} {{", "  rankdir=TB;", '  node [fontname="sans-serif"];']
    lines += [
        f"  {_quoted(name)} [label={_quoted(name, node_detail(node))} {_SHAPES[node.kind]}];"
        for name, node in spec.nodes.items()
    ]
    if any(edge.source == "*" for edge in spec.edges):
        lines.append('  "*" [label="any node" shape=plaintext];')
    lines += ['  "" [shape=point];', f'  "" -> {_quoted(spec.start)};']
    for edge in spec.edges:
        style = " style=dashed" if edge.on else " constraint=false" if edge.loop else ""
        label = _quoted(edge_label(edge, spec))
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={label}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(*rows: str) -> str:
    escaped = (" ".join(row.split()).replace("\\", "\\\\").replace('"', '\\"') for row in rows)
    return '"' + "\\n".join(escaped) + '"'
