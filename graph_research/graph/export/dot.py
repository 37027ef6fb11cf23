"""A graph in the DOT language of Graphviz."""

from __future__ import annotations

from graph_research.graph.definition.spec import EdgeSpec, NodeKind
from graph_research.graph.export.labels import edge_rows, node_rows
from graph_research.graph.export.picture import Picture

_SHAPES: dict[NodeKind, str] = {
    "run": 'shape=box style="rounded,filled" fillcolor="#e8effc"',
    "prompt": 'shape=note style=filled fillcolor="#e8effc"',
    "graph": 'shape=box peripheries=2 style=filled fillcolor="#f0f8f4"',
    "ask": 'shape=hexagon style=filled fillcolor="#fdf1d8"',
    "set": 'shape=box style=filled fillcolor="#f3f5f8"',
    "end": 'shape=box style="rounded,filled,bold" fillcolor="#e6eaf0"',
}
_RAN = 'color="#1660c4" penwidth=2.4'


def render_dot(picture: Picture) -> str:
    """A `digraph`; the start has an arrow from a point, edges of `"*"` come from a node "any node". A subgraph is a
    cluster around its node. What a run did stands in the labels, its way is blue and strong."""
    lines = [
        f"digraph {_quoted(picture.spec.name)} {{",
        '  graph [rankdir=TB compound=true fontname="sans-serif"];',
        '  node [fontname="sans-serif" fontsize=12];',
        '  edge [fontname="sans-serif" fontsize=10 color="#6b788a" fontcolor="#3f4a5a"];',
        *_body(picture, "", "  "),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _body(picture: Picture, path: str, indent: str) -> list[str]:
    spec = picture.spec
    lines = []
    for name, node in spec.nodes.items():
        stats = picture.overlay.nodes.get(name) if picture.overlay else None
        label = _quoted(name, *node_rows(node), *([stats.note] if stats else []))
        ran = f" {_RAN}" if stats else ""
        entry = f"{indent}{_quoted(path + name)} [label={label} {_SHAPES[node.kind]}{ran}];"
        if name not in picture.inner:
            lines.append(entry)
            continue
        lines += [
            f"{indent}subgraph {_quoted(f'cluster_{path}{name}')} {{",
            f'{indent}  color="#8cc3a8"; label="";',
            f"  {entry}",
            f"{indent}  {_quoted(path + name)} -> {_quoted(f'{path}{name}/')} [style=dotted arrowhead=none];",
            *_body(picture.inner[name], f"{path}{name}/", indent + "  "),
            f"{indent}}}",
        ]
    if any(edge.source == "*" for edge in spec.edges):
        lines.append(f'{indent}{_quoted(path + "*")} [label="any node" shape=plaintext];')
    lines.append(f"{indent}{_quoted(path)} [shape=point];")
    lines.append(f"{indent}{_quoted(path)} -> {_quoted(path + spec.start)};")
    return lines + [indent + _edge(picture, edge, path) for edge in spec.edges]


def _edge(picture: Picture, edge: EdgeSpec, path: str) -> str:
    taken = picture.overlay.taken.get(edge.index, 0) if picture.overlay else 0
    rows = [*edge_rows(edge, picture.spec), *([f"taken {taken} ×"] if taken > 1 else [])]
    style = ' style=dashed color="#b4472e"' if edge.on else ' constraint=false color="#7d43b5"' if edge.loop else ""
    ran = f" {_RAN}" if taken else ""
    return f"{_quoted(path + edge.source)} -> {_quoted(path + edge.target)} [label={_quoted(*rows)}{style}{ran}];"


def _quoted(*rows: str) -> str:
    escaped = (" ".join(row.split()).replace("\\", "\\\\").replace('"', '\\"') for row in rows)
    return '"' + "\\n".join(escaped) + '"'
