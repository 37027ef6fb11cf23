"""A graph as one SVG picture: no scripts, no fonts to load, light and dark by the reader's own setting or as asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape as escape_html
from itertools import pairwise
from typing import Literal

from graph_research.graph.export.labels import short
from graph_research.graph.export.layering import ANY_NODE
from graph_research.graph.export.layout import LINE_HEIGHT, NAME_HEIGHT, Box, Layout, Route, lay_out
from graph_research.graph.export.picture import Picture

Theme = Literal["auto", "light", "dark"]

_COLOURS = {
    "ink": ("#1c2430", "#e9eef5"),
    "soft": ("#566376", "#a6b3c5"),
    "line": ("#8593a6", "#76859a"),
    "paper": ("#ffffff", "#14181f"),
    "fill": ("#f3f5f8", "#20262f"),
    "edge": ("#c3ccd8", "#414d5d"),
    "call": ("#e8effc", "#1c2a44"),
    "call-edge": ("#a9c0ea", "#3c598f"),
    "graph": ("#f0f8f4", "#16241e"),
    "graph-edge": ("#8cc3a8", "#3c7359"),
    "ask": ("#fdf1d8", "#3a301a"),
    "ask-edge": ("#e0bd6d", "#7d6531"),
    "end": ("#e6eaf0", "#2a313b"),
    "loop": ("#7d43b5", "#c59bf0"),
    "event": ("#b4472e", "#f0937c"),
    "ran": ("#1660c4", "#6db0ff"),
    "bad": ("#c0261c", "#ff8a7d"),
}
"""By name the colour on light and on dark paper."""
_LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
_DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
_RULES = """\
.gr{font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif;background:$paper}
.gr text{fill:$ink}.gr .name{font-weight:600;font-size:13px}.gr .detail{fill:$soft;font-size:11px}
.gr .box{fill:$fill;stroke:$edge;stroke-width:1.2}
.gr .run>.box,.gr .prompt>.box{fill:$call;stroke:$call-edge}
.gr .graph>.box{fill:$graph;stroke:$graph-edge;stroke-width:1.6}.gr .ask>.box{fill:$ask;stroke:$ask-edge}
.gr .end>.box{fill:$end;stroke:$line;stroke-width:2}.gr .any>.box{fill:none;stroke:$event;stroke-dasharray:4 3}
.gr .paper{fill:$paper}
.gr .way{fill:none;stroke:$line;stroke-width:1.5}.gr .head{fill:$line}
.gr .loop .way{stroke:$loop}.gr .loop .head{fill:$loop}
.gr .event .way{stroke:$event;stroke-dasharray:5 4}.gr .event .head{fill:$event}
.gr .label{font-size:11px;fill:$soft}.gr .back{fill:$paper}.gr .graph .back{fill:$graph}
.gr .loop .label{fill:$loop}.gr .event .label{fill:$event}
.gr .node.idle{opacity:.6}.gr .idle>.way,.gr .idle>.head{opacity:.5}.gr .idle>.label{opacity:.7}
.gr .ran>.box{stroke:$ran;stroke-width:2.2}
.gr .taken .way{stroke-width:2.8;stroke:$ran}.gr .taken .head{fill:$ran}
.gr .note{fill:$ran;font-size:11px}.gr .failed>.box{stroke:$bad}.gr .failed>.note{fill:$bad}
"""
_MOST_TITLE_CHARS = 500
_SEEN = 0.05
"""Pixels; what is nearer than that is the same place."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def style(theme: Theme = "auto") -> str:
    """The style sheet of a picture: colours as custom properties that follow the reader, or as they are (`light`,
    `dark`) for what knows no custom properties."""
    if theme != "auto":
        return _filled(_LIGHT if theme == "light" else _DARK)
    light, dark = _properties(_LIGHT), _properties(_DARK)
    rules = _filled({name: f"var(--gr-{name})" for name in _LIGHT})
    return f".gr{{{light}}}\n@media (prefers-color-scheme:dark){{.gr{{{dark}}}}}\n{rules}"


def colours() -> str:
    """Rules that let a page choose: `data-theme` of its root, `light` or `dark`, wins over the reader's setting."""
    chosen = (("light", _LIGHT), ("dark", _DARK))
    return "".join(f":root[data-theme={name}] .gr{{{_properties(palette)}}}\n" for name, palette in chosen)


def render_svg(picture: Picture, theme: Theme = "auto") -> str:
    """A self-contained `<svg>`; every text of the definition is escaped, what is cut is whole in a `<title>`.

    A node is a group with its path in `data-node`, an edge one with `PATH#INDEX` in `data-edge`.
    """
    layout = lay_out(picture)
    width, height = _number(layout.width), _number(layout.height)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gr" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{_escaped(f"The graph {picture.spec.name}")}">',
            f"<style>{style(theme)}</style>",
            f'<rect width="{width}" height="{height}" class="paper"/>',
            *_drawing(picture, layout, ""),
            "</svg>\n",
        ]
    )


def _properties(colours: Mapping[str, str]) -> str:
    return ";".join(f"--gr-{name}:{value}" for name, value in colours.items())


def _filled(colours: Mapping[str, str]) -> str:
    rules = _RULES
    for name in sorted(colours, key=len, reverse=True):
        rules = rules.replace(f"${name}", colours[name])
    return rules


def _drawing(picture: Picture, layout: Layout, path: str) -> list[str]:
    """Edges lie under boxes, and labels over everything."""
    idle = [route for route in layout.routes if not _taken(picture, route)]
    taken = [route for route in layout.routes if _taken(picture, route)]
    return [
        *(_edge(picture, route, path) for route in (*idle, *taken)),
        *_entry(picture, layout),
        *(_box(picture, box, path) for box in layout.boxes.values()),
        *(_label(picture, route, path) for route in layout.routes if route.label),
    ]


def _taken(picture: Picture, route: Route) -> bool:
    return bool(picture.overlay and picture.overlay.taken.get(route.edge.index))


def _box(picture: Picture, box: Box, path: str) -> str:
    node = picture.spec.nodes.get(box.name)
    stats = picture.overlay.nodes.get(box.name) if picture.overlay else None
    kind = node.kind if node else "any"
    status = "" if picture.overlay is None else " idle" if stats is None else " failed ran" if stats.errors else " ran"
    if kind == "any":
        status = ""
    radius = min(box.height / 2, 22) if kind == "end" else 8
    title = f"<title>{_escaped(short(node.summary, _MOST_TITLE_CHARS))}</title>" if node and node.summary else ""
    name = "any node" if box.name == ANY_NODE else box.name
    top = box.top + 8 if node else box.y - 9
    parts = [_text("name", box.x, top + 13, name)]
    parts += [
        _text("detail", box.x, top + NAME_HEIGHT + LINE_HEIGHT * row + 10, text) for row, text in enumerate(box.rows)
    ]
    if box.note:
        parts.append(_text("note", box.x, top + NAME_HEIGHT + LINE_HEIGHT * len(box.rows) + 10, box.note))
    inside = _inside(picture, box, path)
    data = f' data-node="{_escaped(path + box.name)}"' if node else ""
    frame = _rect("box", box.left, box.top, box.width, box.height, radius)
    return f'<g class="node {kind}{status}"{data}>{title}{frame}{"".join(parts)}{inside}</g>'


def _inside(picture: Picture, box: Box, path: str) -> str:
    if box.inner is None:
        return ""
    x, y = box.x - box.inner.width / 2, box.top + box.header
    drawing = _drawing(picture.inner[box.name], box.inner, f"{path}{box.name}/")
    return f'<g transform="translate({_pair((x, y))})">{"".join(drawing)}</g>'


def _text(kind: str, x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}">{_escaped(text)}</text>'


def _rect(kind: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    numbers = (("x", x), ("y", y), ("width", width), ("height", height), ("rx", radius))
    return f'<rect class="{kind}" ' + " ".join(f'{name}="{_number(value)}"' for name, value in numbers) + "/>"


def _edge(picture: Picture, route: Route, path: str) -> str:
    line = _cornered(route.points) if route.angular else _curved(route.points)
    return f'<g class="edge{_edge_class(picture, route)}"{_edge_data(route, path)}>' + (
        f'<path class="way" d="{line}"/>{_head(route.points)}</g>'
    )


def _edge_class(picture: Picture, route: Route) -> str:
    back = route.points[-1][1] < route.points[0][1]
    kind = " event" if route.edge.on else " loop" if route.edge.loop or back else ""
    ran = "" if picture.overlay is None else " taken" if _taken(picture, route) else " idle"
    return kind + ran


def _edge_data(route: Route, path: str) -> str:
    return f' data-edge="{_escaped(f"{path}#{route.edge.index}")}"'


def _curved(points: tuple[tuple[float, float], ...]) -> str:
    parts = [f"M{_pair(points[0])}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) / 2
        straight = abs(x0 - x1) < 0.05
        curve = f"C{_pair((x0, y0 + bend))} {_pair((x1, y1 - bend))} {_pair((x1, y1))}"
        parts.append(f"L{_pair((x1, y1))}" if straight else curve)
    return "".join(parts)


def _cornered(points: tuple[tuple[float, float], ...]) -> str:
    """Straight lines with rounded corners."""
    parts = [f"M{_pair(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(f"L{_pair(_towards(corner, before))}Q{_pair(corner)} {_pair(_towards(corner, after))}")
    return "".join(parts) + f"L{_pair(points[-1])}"


def _towards(corner: tuple[float, float], other: tuple[float, float], most: float = 8.0) -> tuple[float, float]:
    """The point at most `most` pixels from a corner, and no further than half the way."""
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(most / length, 0.5) if length else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _head(points: tuple[tuple[float, float], ...]) -> str:
    """The arrow's head, as its last stretch points that can be seen: left, up or down."""
    x, y = points[-1]
    ways = ((before_x - x, before_y - y) for before_x, before_y in reversed(points[:-1]))
    aside, above = next((way for way in ways if max(map(abs, way)) > _SEEN), (0.0, -1.0))
    shape = "l9,-4.5v9z" if aside and abs(above) <= _SEEN else "l-4.5,-9h9z" if above < 0 else "l-4.5,9h9z"
    return f'<path class="head" d="M{_pair((x, y))}{shape}"/>'


def _entry(picture: Picture, layout: Layout) -> list[str]:
    """The arrow into the start, from a dot."""
    box = layout.boxes.get(picture.spec.start)
    if box is None:
        return []
    start, end = (box.x, box.top - 24), (box.x, box.top)
    ran = " taken" if picture.overlay and picture.spec.start in picture.overlay.nodes else ""
    return [
        f'<g class="edge{ran}"><path class="way" d="M{_pair(start)}L{_pair(end)}"/>'
        f'<circle class="head" cx="{_number(start[0])}" cy="{_number(start[1])}" r="4"/>{_head((start, end))}</g>'
    ]


def _label(picture: Picture, route: Route, path: str) -> str:
    label = route.label
    if label is None:
        return ""
    cut = any(row.endswith("…") for row in label.rows)
    title = f"<title>{_escaped(short(label.whole, _MOST_TITLE_CHARS))}</title>" if cut else ""
    left, top = label.x - label.width / 2, label.y - label.height / 2
    x, anchor = (left + 4, "start") if route.angular else (label.x, "middle")
    rows = (_text("label", x, top + 13 + LINE_HEIGHT * row, text, anchor) for row, text in enumerate(label.rows))
    back = _rect("back", left, top, label.width, label.height, 4)
    kind = _edge_class(picture, route)
    return f'<g class="edge{kind}"{_edge_data(route, path)}>{title}{back}{"".join(rows)}</g>'


def _escaped(text: str) -> str:
    """For XML, which has no place for most control characters and for half of a surrogate pair."""
    return escape_html(_NOT_XML.sub("\ufffd", text))


def _pair(point: tuple[float, float]) -> str:
    return f"{_number(point[0])},{_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
