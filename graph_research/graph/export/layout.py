"""Where everything in a picture of a graph stands, in pixels: nodes in layers, edges around them, labels with room."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.export.labels import edge_label, edge_rows, node_rows, short, wrapped
from graph_research.graph.export.layering import ANY_NODE, layers_of
from graph_research.graph.export.picture import Picture
from graph_research.graph.export.x_positions import Rows, x_positions

LINE_HEIGHT = 14.0
NAME_HEIGHT = 17.0
_PADDING = 8.0
_NAME_CHAR_WIDTH = 8.4
_CHAR_WIDTH = 6.7
_MARGIN = 16.0
_ENTRY = 20.0
_GAP = 26.0
_LEVEL_GAP = 19.0
_SLOPE = 0.1
_MOST_LEVEL_GAP = 64.0
_PORT_STEP = 16.0
_MOST_DETAIL_CHARS = 40
_LABEL_CHARS = 36
_MOST_LABEL_ROWS = 3
_SELF_LOOP = 24.0


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node: its centre and size, its rows of text, what a run noted, and the drawing of its subgraph, which stands
    `header` below the top."""

    name: str
    x: float
    y: float
    width: float
    height: float
    rows: tuple[str, ...] = ()
    note: str = ""
    header: float = 0.0
    inner: Layout | None = None

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, kw_only=True)
class Label:
    """A text of some rows in the middle of `x` and `y`; `whole` is what it says in full."""

    rows: tuple[str, ...]
    whole: str
    x: float
    y: float

    @property
    def width(self) -> float:
        return _CHAR_WIDTH * max(len(row) for row in self.rows) + 8

    @property
    def height(self) -> float:
        return LINE_HEIGHT * len(self.rows) + 4


@dataclass(frozen=True, kw_only=True)
class Route:
    """An edge through `points`, from its source to its target; `angular` where it has corners instead of curves."""

    edge: EdgeSpec
    points: tuple[tuple[float, float], ...]
    label: Label | None
    angular: bool = False


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A whole picture from its top left corner."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    routes: Sequence[Route]


def lay_out(picture: Picture) -> Layout:
    """Deterministic. Boxes, labels and the edges of others keep clear of each other, but in graphs of thousands."""
    return _Sketch(picture).layout()


_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")


class _Sketch:
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.layers = layers_of(picture.spec)
        self.level = {name: number for number, layer in enumerate(self.layers.order) for name in layer}
        self.nodes = [name for name in self.level if name in picture.spec.nodes or name == ANY_NODE]
        self.boxes = {name: self._box(name) for name in self.nodes}
        self.labels = {edge.index: label for edge in self.layers.edges if (label := self._label(edge))}
        self.homes = {
            place: self.labels[edge.index]
            for edge in self.layers.edges
            if edge.index in self.labels and (place := self.layers.label_place(edge))
        }
        self.loops = _grouped((edge.source, edge) for edge in self.layers.edges if edge.source == edge.target)
        self.x = x_positions(self._rows())
        self.ports = self._ports()
        self.tops, self.heights = self._levels()

    def _box(self, name: str) -> Box:
        node = self.picture.spec.nodes.get(name)
        if node is None:
            return Box(name=name, x=0, y=0, width=92, height=30)
        stats = self.picture.overlay.nodes.get(name) if self.picture.overlay else None
        note = stats.note if stats else ""
        rows = tuple(short(row, _MOST_DETAIL_CHARS) for row in node_rows(node))
        texts = [*rows, *([note] if note else [])]
        width = max(92.0, _NAME_CHAR_WIDTH * len(name) + 24, *(_CHAR_WIDTH * len(text) + 24 for text in texts))
        header = NAME_HEIGHT + LINE_HEIGHT * len(texts) + 2 * _PADDING
        inner = lay_out(self.picture.inner[name]) if name in self.picture.inner else None
        return Box(
            name=name,
            x=0,
            y=0,
            width=max(width, inner.width + 2 * _PADDING) if inner else width,
            height=header + inner.height + _PADDING if inner else header,
            rows=rows,
            note=note,
            header=header,
            inner=inner,
        )

    def _label(self, edge: EdgeSpec) -> Label | None:
        taken = self.picture.overlay.taken.get(edge.index, 0) if self.picture.overlay else 0
        rows = [
            part for row in edge_rows(edge, self.picture.spec) for part in wrapped(row, _LABEL_CHARS, _MOST_LABEL_ROWS)
        ]
        rows += [f"taken {taken} ×"] if taken > 1 else []
        return Label(rows=tuple(rows), whole=edge_label(edge, self.picture.spec), x=0, y=0) if rows else None

    def _rows(self) -> Rows:
        above: dict[str, list[str]] = {name: [] for name in self.level}
        below: dict[str, list[str]] = {name: [] for name in self.level}
        stand_ins = self.layers.stand_ins
        for edge in sorted(self.layers.edges, key=self._is_aside):
            chain = self.layers.chains.get(edge.index, ())
            aside = self._is_aside(edge)
            for upper, lower in pairwise(chain if len(chain) > 2 else ()):
                if not (aside and below[upper]) or upper in stand_ins:
                    below[upper].append(lower)
                if not (aside and above[lower]) or lower in stand_ins:
                    above[lower].append(upper)
        half = {name: self._half_width(name) for name in self.level}
        right = {name: half[name] + self._loops_width(name) for name in self.level}
        return Rows(
            layers=self.layers.order,
            above=above,
            below=below,
            left=half,
            right=right,
            stand_ins=stand_ins,
            gap=_GAP,
        )

    def _is_aside(self, edge: EdgeSpec) -> bool:
        """Whether an edge gives way to others when nodes are put below each other."""
        return edge.index in self.layers.upwards or bool(edge.on or edge.loop)

    def _half_width(self, name: str) -> float:
        if name in self.boxes:
            return self.boxes[name].width / 2
        return self.homes[name].width / 2 if name in self.homes else 4.0

    def _loops_width(self, name: str) -> float:
        labels = [self.labels[edge.index].width for edge in self.loops.get(name, ()) if edge.index in self.labels]
        return _SELF_LOOP + 8 + max(labels, default=0.0) if name in self.loops else 0.0

    def _ports(self) -> dict[tuple[int, str], float]:
        """Where on its node each edge begins and ends: side by side in the order of where they go; the one that goes
        straight on keeps the middle."""
        sides = _grouped(
            item
            for index, chain in self.layers.chains.items()
            for item in (((chain[0], "below"), (index, chain[1])), ((chain[-1], "above"), (index, chain[-2])))
        )
        ports = {}
        for (name, _), ends in sides.items():
            ends.sort(key=lambda end: (self.x[end[1]], end[0]))
            away = [abs(self.x[place] - self.x[name]) for _, place in ends]
            straight = away.index(min(away))
            middle = straight if away[straight] < 6 else (len(ends) - 1) / 2
            room = self.boxes[name].width / 2 - 14
            step = min(_PORT_STEP, room / max(len(ends) - 1 - middle, middle, 1))
            for number, (index, _) in enumerate(ends):
                ports[index, name] = self.x[name] + (number - middle) * step
        return ports

    def _levels(self) -> tuple[list[float], list[float]]:
        """The top and the height of each level; where edges go far sideways, the gap above is higher."""
        heights = [
            max(
                (
                    self.boxes[name].height if name in self.boxes else self.homes[name].height
                    for name in layer
                    if name in self.boxes or name in self.homes
                ),
                default=0.0,
            )
            for layer in self.layers.order
        ]
        sideways = [0.0] * len(heights)
        for index, chain in self.layers.chains.items():
            for upper, lower in pairwise(chain):
                away = abs(self._line(index, upper) - self._line(index, lower))
                sideways[self.level[lower]] = max(sideways[self.level[lower]], away)
        tops = [_MARGIN + _ENTRY]
        for number in range(1, len(heights)):
            gap = min(_LEVEL_GAP + _SLOPE * sideways[number], _MOST_LEVEL_GAP)
            tops.append(tops[-1] + heights[number - 1] + gap)
        return tops, heights

    def _line(self, index: int, place: str) -> float:
        return self.ports.get((index, place), self.x[place])

    def layout(self) -> Layout:
        boxes = {name: self._placed(self.boxes[name]) for name in self.nodes}
        routes = [self._route(edge, boxes) for edge in self.layers.edges if edge.source != edge.target]
        routes += [route for name in self.loops for route in self._self_loops(boxes[name])]
        edges = [self.x[name] + self._half_width(name) + self._loops_width(name) for name in self.x]
        return Layout(
            width=max(edges, default=0.0) + 2 * _MARGIN,
            height=self.tops[-1] + self.heights[-1] + _MARGIN,
            boxes=boxes,
            routes=sorted(routes, key=lambda route: route.edge.index),
        )

    def _placed(self, box: Box) -> Box:
        level = self.level[box.name]
        return replace(box, x=_MARGIN + self.x[box.name], y=self.tops[level] + self.heights[level] / 2)

    def _route(self, edge: EdgeSpec, boxes: Mapping[str, Box]) -> Route:
        chain = self.layers.chains[edge.index]
        points = []
        for place in chain:
            level, x = self.level[place], _MARGIN + self._line(edge.index, place)
            top, bottom = self.tops[level], self.tops[level] + self.heights[level]
            if place == chain[0]:
                points += [(x, boxes[place].bottom), (x, bottom)]
            elif place == chain[-1]:
                points += [(x, top), (x, boxes[place].top)]
            else:
                points += [(x, top), (x, bottom)]
        if edge.index in self.layers.upwards:
            points.reverse()
        return Route(
            edge=edge,
            points=tuple(point for point, before in zip(points, [None, *points], strict=False) if point != before),
            label=self._placed_label(edge),
        )

    def _placed_label(self, edge: EdgeSpec) -> Label | None:
        label, place = self.labels.get(edge.index), self.layers.label_place(edge)
        if label is None:
            return None
        if place is None:
            level, x = self.level[edge.source], self.x[edge.source]
            return replace(label, x=_MARGIN + x, y=self.tops[level] + self.heights[level] + label.height / 2)
        level = self.level[place]
        return replace(label, x=_MARGIN + self.x[place], y=self.tops[level] + self.heights[level] / 2)

    def _self_loops(self, box: Box) -> list[Route]:
        """At the right of the box, each a little further out."""
        routes = []
        right = box.x + box.width / 2
        for number, edge in enumerate(self.loops[box.name]):
            out, half = right + _SELF_LOOP - 8 * number / len(self.loops[box.name]), 9.0 - number
            label = self.labels.get(edge.index)
            placed = None
            if label:
                y = box.y + (number - (len(self.loops[box.name]) - 1) / 2) * label.height
                placed = replace(label, x=right + _SELF_LOOP + 6 + label.width / 2, y=y)
            points = ((right, box.y + half), (out, box.y + half), (out, box.y - half), (right, box.y - half))
            routes.append(Route(edge=edge, points=points, label=placed, angular=True))
        return routes


def _grouped(pairs: Iterable[tuple[_Key, _Item]]) -> dict[_Key, list[_Item]]:
    groups: dict[_Key, list[_Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
