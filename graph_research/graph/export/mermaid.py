"""A graph as a Mermaid flowchart."""

from __future__ import annotations

from dataclasses import dataclass, field

from graph_research.graph.definition.spec import EdgeSpec, NodeKind
from graph_research.graph.export.labels import edge_label, node_rows, short
from graph_research.graph.export.picture import Picture

_SHAPES: dict[NodeKind, tuple[str, str]] = {
    "run": ("[", "]"),
    "prompt": ("[", "]"),
    "graph": ("[[", "]]"),
    "ask": ("{{", "}}"),
    "set": ("(", ")"),
    "end": ("([", "])"),
}
_MOST_CHARS = 120


def render_mermaid(picture: Picture) -> str:
    """A `flowchart TD`; node ids are positions, so that a name such as `end` cannot break the syntax. A subgraph stands
    in a frame with its node. What a run did stands in the labels; its way is thick."""
    chart = _Chart()
    chart.add(picture, "n", "    ")
    lines = ["flowchart TD", *chart.lines]
    if picture.overlay is not None:
        lines.append("    classDef ran stroke:#1660c4,stroke-width:3px")
        lines += [f"    class {','.join(chart.ran)} ran"] if chart.ran else []
        lines += [f"    linkStyle {','.join(map(str, chart.taken))} stroke:#1660c4"] if chart.taken else []
    return "\n".join(lines) + "\n"


@dataclass
class _Chart:
    lines: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    links: int = 0

    def add(self, picture: Picture, prefix: str, indent: str) -> None:
        spec = picture.spec
        ids = {name: f"{prefix}{index}" for index, name in enumerate(spec.nodes)}
        for name in spec.nodes:
            self._node(picture, name, ids[name], indent)
        if any(edge.source == "*" for edge in spec.edges):
            ids["*"] = f"{prefix}any"
            self.lines.append(f'{indent}{ids["*"]}(("any node"))')
        start = ids.get(spec.start)
        self._link(f"{prefix}begin(( ))" + (f" --> {start}" if start else ""), indent, links=bool(start))
        for edge in spec.edges:
            if edge.source in ids and edge.target in ids:
                self._edge(picture, edge, ids, indent)

    def _node(self, picture: Picture, name: str, own: str, indent: str) -> None:
        node = picture.spec.nodes[name]
        stats = picture.overlay.nodes.get(name) if picture.overlay else None
        rows = [name, *node_rows(node), *([stats.note] if stats else [])]
        left, right = _SHAPES[node.kind]
        label = "<br/>".join(_escaped(short(row, _MOST_CHARS)) for row in rows)
        entry = f'{own}{left}"{label}"{right}'
        self.ran += [own] if stats else []
        if name not in picture.inner:
            self.lines.append(indent + entry)
            return
        self.lines += [f'{indent}subgraph {own}s [" "]', f"{indent}    {entry}"]
        self._link(f"{own} -.- {own}xbegin", indent + "    ")
        self.add(picture.inner[name], f"{own}x", indent + "    ")
        self.lines.append(f"{indent}end")

    def _edge(self, picture: Picture, edge: EdgeSpec, ids: dict[str, str], indent: str) -> None:
        times = picture.overlay.taken.get(edge.index, 0) if picture.overlay else 0
        parts = [edge_label(edge, picture.spec), *([f"taken {times} ×"] if times > 1 else [])]
        label = _escaped(short(" · ".join(part for part in parts if part), _MOST_CHARS + 20))
        arrow = "-.->" if edge.on else "==>" if times else "-->"
        self.taken += [self.links] if times else []
        self._link(f"{ids[edge.source]} {arrow}" + (f'|"{label}"|' if label else "") + f" {ids[edge.target]}", indent)

    def _link(self, text: str, indent: str, *, links: bool = True) -> None:
        self.lines.append(indent + text)
        self.links += links


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
