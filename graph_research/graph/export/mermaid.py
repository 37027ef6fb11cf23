"""A graph as a Mermaid flowchart."""

from __future__ import annotations

from graph_research.graph.export.labels import edge_label, node_detail, short
from graph_research.graph.spec import GraphSpec, NodeKind

__all__ = ["render_mermaid"]

_SHAPES: dict[NodeKind, tuple[str, str]] = {
    "run": ("[", "]"),
    "prompt": ("[", "]"),
    "graph": ("[[", "]]"),
    "ask": ("{{", "}}"),
    "set": ("(", ")"),
    "end": ("([", "])"),
}
_MOST_CHARS = 120


def render_mermaid(spec: GraphSpec) -> str:
    """A `flowchart TD`; node ids are positions, so that a name such as `end` cannot break the syntax."""
    ids = {name: f"n{index}" for index, name in enumerate(spec.nodes)}
    lines = ["flowchart TD"]
    for name, node in spec.nodes.items():
        left, right = _SHAPES[node.kind]
        label = _escaped(name) + "<br/>" + _escaped(short(node_detail(node), _MOST_CHARS))
        lines.append(f'    {ids[name]}{left}"{label}"{right}')
    if any(edge.source == "*" for edge in spec.edges):
        ids["*"] = "any"
        lines.append('    any(("any node"))')
    lines.append("    begin(( )) --> " + ids[spec.start] if spec.start in ids else "    begin(( ))")
    for edge in spec.edges:
        if edge.source in ids and edge.target in ids:
            label = _escaped(short(edge_label(edge, spec), _MOST_CHARS))
            arrow = "-.->" if edge.on else "-->"
            lines.append(f"    {ids[edge.source]} {arrow}" + (f'|"{label}"|' if label else "") + f" {ids[edge.target]}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Mermaid's entity codes for whatever it or HTML could read as syntax, so that `hits > 0` keeps its sign."""
    codes = {
        "#": "#35;",
        "&": "#amp;",
        "<": "#lt;",
        ">": "#gt;",
        '"': "#quot;",
        "`": "#96;",
        "|": "#124;",
        "\\": "#92;",
    }
    return "".join(codes.get(char, char) for char in " ".join(text.split()))
