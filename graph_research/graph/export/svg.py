"""A graph as one SVG picture: no scripts, no fonts to load, light and dark by the reader's own setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from graph_research.graph.export.layout import ANY_NODE, Box, Label, Layout, Route, lay_out
from graph_research.graph.spec import GraphSpec

__all__ = ["Overlay", "render_svg"]


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """What a run did: a note for each node that ran (such as `2 × · 3.1 s`), and the indexes of the edges it took."""

    notes: Mapping[str, str] = field(default_factory=dict)
    taken: frozenset[int] = frozenset()


_STYLE = """\
.gr{--gr-ink:#1c2430;--gr-soft:#5d6b7e;--gr-line:#8593a6;--gr-paper:#fff;--gr-fill:#f4f6f9;--gr-edge:#c3ccd8;\
--gr-call:#e8effc;--gr-graph:#e6f4ee;--gr-ask:#fdf1d8;--gr-end:#eceff3;--gr-loop:#8a4fbf;--gr-event:#b4472e;--gr-ran:#1a6fd6;\
font:12px ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif;background:var(--gr-paper)}
@media (prefers-color-scheme:dark){.gr{--gr-ink:#e6ebf2;--gr-soft:#9eabbd;--gr-line:#7b899c;--gr-paper:#14181f;\
--gr-fill:#20262f;--gr-edge:#3d4857;--gr-call:#1d2b45;--gr-graph:#1a342a;--gr-ask:#3b311a;--gr-end:#2a313b;\
--gr-loop:#c59bf0;--gr-event:#f0937c;--gr-ran:#6db0ff}}
.gr text{fill:var(--gr-ink)}.gr .name{font-weight:600;font-size:13px}.gr .detail{fill:var(--gr-soft);font-size:11px}
.gr rect{fill:var(--gr-fill);stroke:var(--gr-edge);stroke-width:1.2}.gr .inner{fill:none}
.gr .run rect,.gr .prompt rect{fill:var(--gr-call)}
.gr .graph rect{fill:var(--gr-graph)}.gr .ask rect{fill:var(--gr-ask)}
.gr .end rect{fill:var(--gr-end);stroke:var(--gr-line);stroke-width:2}.gr .any rect{fill:none;stroke-dasharray:4 3}
.gr .graph .inner{fill:none}.gr .paper{fill:var(--gr-paper);stroke:none}
.gr path{fill:none;stroke:var(--gr-line);stroke-width:1.4}.gr .loop path{stroke:var(--gr-loop)}
.gr .event path{stroke:var(--gr-event);stroke-dasharray:5 4}.gr .head{fill:var(--gr-line);stroke:none}
.gr .loop .head{fill:var(--gr-loop)}.gr .event .head{fill:var(--gr-event)}.gr .event path.head{stroke-dasharray:none}
.gr .label{font-size:11px;fill:var(--gr-soft);paint-order:stroke;\
stroke:var(--gr-paper);stroke-width:4px;stroke-linejoin:round}
.gr .loop .label{fill:var(--gr-loop)}.gr .event .label{fill:var(--gr-event)}
.gr .ran rect{stroke:var(--gr-ran);stroke-width:2.4}.gr .ran path{stroke-width:2.6}
.gr .note{fill:var(--gr-ran);font-size:11px}
"""


def render_svg(spec: GraphSpec, overlay: Overlay | None = None) -> str:
    """A self-contained `<svg>`; every text of the definition is escaped, what is cut is whole in a `<title>`."""
    layout = lay_out(spec)
    overlay = overlay or Overlay()
    width, height = _number(layout.width), _number(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gr" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(f"The graph {spec.name}")}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" class="paper"/>',
        *(_path(route, ran=route.edge.index in overlay.taken) for route in layout.routes),
        _entry(spec, layout),
        *(_box(spec, box, overlay) for box in layout.boxes.values()),
        *(_label(route.label, _edge_class(route)) for route in layout.routes if route.label),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _box(spec: GraphSpec, box: Box, overlay: Overlay) -> str:
    node = spec.nodes.get(box.name)
    kind = node.kind if node else "any"
    ran = " ran" if box.name in overlay.notes else ""
    left, top = box.x - box.width / 2, box.y - box.height / 2
    round_ = box.height / 2 if kind == "end" else 8
    inner = _rect(left + 3.5, top + 3.5, box.width - 7, box.height - 7, 5, ' class="inner"') if kind == "graph" else ""
    title = f"<title>{escape(node.summary)}</title>" if node and node.summary else ""
    name = "any node" if box.name == ANY_NODE else box.name
    lines = _text("name", box.x, box.y + (-4 if box.detail else 4), name)
    if box.detail:
        lines += _text("detail", box.x, box.y + 13, box.detail)
    if ran:
        lines += _text("note", left + box.width + 14, top - 4, overlay.notes[box.name], anchor="end")
    return f'<g class="{kind}{ran}">{title}{_rect(left, top, box.width, box.height, round_)}{inner}{lines}</g>'


def _text(kind: str, x: float, y: float, text: str, *, anchor: str = "middle") -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'


def _rect(x: float, y: float, width: float, height: float, radius: float, more: str = "") -> str:
    numbers = (("x", x), ("y", y), ("width", width), ("height", height), ("rx", radius))
    return "<rect " + " ".join(f'{name}="{_number(value)}"' for name, value in numbers) + f"{more}/>"


def _path(route: Route, *, ran: bool) -> str:
    classes = " ".join(part for part in ("edge", _edge_class(route), "ran" if ran else "") if part)
    line = _lane(route.points) if route.lane else _curve(route.points)
    return f'<g class="{classes}"><path d="{line}"/>{_head(route)}</g>'


def _edge_class(route: Route) -> str:
    return "event" if route.edge.on else "loop" if route.edge.loop else ""


def _curve(points: tuple[tuple[float, float], ...]) -> str:
    parts = [f"M{_pair(points[0])}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) / 2
        parts.append(
            f"L{_pair((x1, y1))}"
            if x0 == x1
            else f"C{_pair((x0, y0 + bend))} {_pair((x1, y1 - bend))} {_pair((x1, y1))}"
        )
    return "".join(parts)


def _lane(points: tuple[tuple[float, float], ...]) -> str:
    """Straight lines with rounded corners."""
    parts = [f"M{_pair(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(f"L{_pair(_towards(corner, before))}Q{_pair(corner)} {_pair(_towards(corner, after))}")
    return "".join(parts) + f"L{_pair(points[-1])}"


def _towards(corner: tuple[float, float], other: tuple[float, float], most: float = 10.0) -> tuple[float, float]:
    """The point at most `most` pixels from a corner, and no further than half the way."""
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(most / length, 0.5) if length else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _head(route: Route) -> str:
    x, y = route.points[-1]
    if route.lane and route.points[-2][1] == y:
        return f'<path class="head" d="M{_pair((x, y))}l9,-4.5v9z"/>'
    return f'<path class="head" d="M{_pair((x, y))}l-4.5,-9h9z"/>'


def _entry(spec: GraphSpec, layout: Layout) -> str:
    """The arrow into the start."""
    box = layout.boxes.get(spec.start)
    if box is None:
        return ""
    top = box.y - box.height / 2
    return (
        f'<g class="edge"><path d="M{_pair((box.x, top - 22))}L{_pair((box.x, top))}"/>'
        f'<path class="head" d="M{_pair((box.x, top))}l-4.5,-9h9z"/></g>'
    )


def _label(label: Label, kind: str) -> str:
    title = f"<title>{escape(label.whole)}</title>" if label.whole != " · ".join(label.rows) else ""
    anchor = "middle" if label.centred else "start"
    rows = (_text("label", label.x, label.y + 14 * row, text, anchor=anchor) for row, text in enumerate(label.rows))
    return f'<g class="{kind}">{title}{"".join(rows)}</g>'


def _pair(point: tuple[float, float]) -> str:
    return f"{_number(point[0])},{_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
