"""Where the nodes and edges of a graph stand in a picture: layers from top to bottom, loops in lanes at the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from graph_research.graph.export.labels import edge_label, edge_rows, node_detail, short
from graph_research.graph.spec import EdgeSpec, GraphSpec

__all__ = ["ANY_NODE", "Box", "Label", "Layout", "Route", "lay_out"]

ANY_NODE = "*"
"""The box that edges from `"*"` come from."""

_NODE_HEIGHT = 46.0
_LAYER_GAP = 62.0
_NODE_GAP = 34.0
_CHAR_WIDTH = 6.6
_LANE_WIDTH = 26.0
_MARGIN = 18.0
_MOST_DETAIL_CHARS = 38
_MOST_LABEL_CHARS = 42
_SWEEPS = 24
_MOST_PLACES = 4_000
"""Nodes and stand-ins; in a larger graph long edges run straight, across whatever is there."""
_LABEL_HEIGHT = 14.0


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node: its centre, its size in pixels, and its second line."""

    name: str
    x: float
    y: float
    width: float
    height: float
    detail: str


@dataclass(frozen=True, kw_only=True)
class Label:
    """A text of some rows, centred at (or, in a lane, beginning at) `x`, its first base line at `y`; `whole` is what
    it says in full."""

    rows: tuple[str, ...]
    whole: str
    x: float
    y: float
    centred: bool

    @property
    def width(self) -> float:
        return _CHAR_WIDTH * max(len(row) for row in self.rows)


@dataclass(frozen=True, kw_only=True)
class Route:
    """An edge through `points`; `lane` where it runs back beside the graph."""

    edge: EdgeSpec
    points: tuple[tuple[float, float], ...]
    lane: bool
    label: Label | None


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A whole picture, in pixels, from its top left corner."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    routes: Sequence[Route]


def lay_out(spec: GraphSpec) -> Layout:
    """Deterministic; edges to or from unknown nodes are left out."""
    return _Sketch(spec).layout()


class _Sketch:
    """Layered drawing after Sugiyama: layers by longest path, stand-ins where an edge crosses a layer, order by the
    mean of the neighbours, positions by pulling nodes towards their neighbours."""

    def __init__(self, spec: GraphSpec) -> None:
        self.spec = spec
        self.edges = [
            edge
            for edge in spec.edges
            if edge.target in spec.nodes and (edge.source in spec.nodes or edge.source == "*")
        ]
        names = [*spec.nodes, *([ANY_NODE] if any(edge.source == "*" for edge in self.edges) else [])]
        self.details = {name: short(node_detail(spec.nodes[name]), _MOST_DETAIL_CHARS) for name in spec.nodes}
        self.widths = {
            name: max(92.0, 24 + _CHAR_WIDTH * max(len(name) + 1, len(self.details.get(name, "")))) for name in names
        }
        self.depths = self._depths(names)
        self.forward = [edge for edge in self.edges if self.depths[edge.source] < self.depths[edge.target]]
        self.chains = {edge.index: self._chain(edge) for edge in self.forward}
        self.layers = self._ordered_layers()
        self.x = self._positions()

    def _depths(self, names: Sequence[str]) -> dict[str, int]:
        """Longest path from the start over edges that do not lead back; what only `"*"` reaches stands lowest."""
        depths = dict.fromkeys(names, 0)
        order = self._downwards()
        for name in order:
            for edge in self._onwards(name):
                depths[edge.target] = max(depths[edge.target], depths[name] + 1)
        targets = {edge.target for edge in self.edges if edge.source == ANY_NODE}
        if not targets:
            return depths
        led = {edge.target for name in order for edge in self._onwards(name)}
        lowest = min((depths[name] for name in targets & led), default=max(depths.values()) - 1)
        depths[ANY_NODE] = max(lowest - 1, 0)
        for name in order:
            if name in targets - led:
                depths[name] = depths[ANY_NODE] + 1
            for edge in self._onwards(name):
                depths[edge.target] = max(depths[edge.target], depths[name] + 1)
        return depths

    def _onwards(self, name: str) -> list[EdgeSpec]:
        return [edge for edge in self.leaving[name] if edge.index not in self.back]

    def _downwards(self) -> list[str]:
        """The nodes in an order in which every edge leads on, but for those it collects in `back`: depth first from the
        start, an edge leads back if it comes to a node that the search is still inside of."""
        self.leaving: dict[str, list[EdgeSpec]] = {name: [] for name in (*self.spec.nodes, ANY_NODE)}
        for edge in self.edges:
            self.leaving[edge.source].append(edge)
        self.back: set[int] = set()
        finished: dict[str, None] = {}
        for root in (self.spec.start, *self.spec.nodes):
            if root in self.spec.nodes and root not in finished:
                self._search(root, finished)
        return list(reversed(finished))

    def _search(self, root: str, finished: dict[str, None]) -> None:
        inside = {root: iter(self.leaving[root])}
        while inside:
            name = next(reversed(inside))
            edge = next(inside[name], None)
            if edge is None:
                finished[name] = None
                del inside[name]
            elif edge.target in inside:
                self.back.add(edge.index)
            elif edge.target not in finished:
                inside[edge.target] = iter(self.leaving[edge.target])

    def _chain(self, edge: EdgeSpec) -> list[str]:
        """The edge's end points and a stand-in for each layer between them."""
        between = range(self.depths[edge.source] + 1, self.depths[edge.target])
        if len(self.depths) + len(between) > _MOST_PLACES:
            return [edge.source, edge.target]
        chain = [edge.source, *(f"{edge.index}:{depth}" for depth in between), edge.target]
        for depth, stand_in in zip(between, chain[1:-1], strict=True):
            self.depths[stand_in] = depth
            self.widths[stand_in] = 10.0
        return chain

    def _ordered_layers(self) -> list[list[str]]:
        layers: list[list[str]] = [[] for _ in range(max(self.depths.values()) + 1)]
        for name in self.depths:
            layers[self.depths[name]].append(name)
        self.above, self.below = self._neighbours()
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            places = {name: place / max(len(layer), 1) for layer in layers for place, name in enumerate(layer)}
            for layer in layers if down else reversed(layers):
                layer.sort(key=lambda name: self._mean(name, places, down=down))
                places.update({name: place / len(layer) for place, name in enumerate(layer)})
        return layers

    def _neighbours(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        above: dict[str, list[str]] = {name: [] for name in self.depths}
        below: dict[str, list[str]] = {name: [] for name in self.depths}
        for chain in self.chains.values():
            for upper, lower in pairwise(chain):
                above[lower].append(upper)
                below[upper].append(lower)
        return above, below

    def _mean(self, name: str, values: Mapping[str, float], *, down: bool) -> float:
        others = (self.above if down else self.below)[name]
        return sum(values[other] for other in others) / len(others) if others else values[name]

    def _positions(self) -> dict[str, float]:
        x: dict[str, float] = {}
        for layer in self.layers:
            total = 0.0
            for name in layer:
                x[name] = total + self.widths[name] / 2
                total += self.widths[name] + _NODE_GAP
            for name in layer:
                x[name] -= total / 2
        for _ in range(_SWEEPS):
            for layer in self.layers:
                self._pull(layer, x)
            for layer in reversed(self.layers):
                self._pull(layer, x)
        left = min(x[name] - self.widths[name] / 2 for name in x)
        return {name: value - left + _MARGIN for name, value in x.items()}

    def _pull(self, layer: Sequence[str], x: dict[str, float]) -> None:
        """Move each node of a layer to the mean of its neighbours, then apart again, evenly to both sides."""
        wanted = {}
        for name in layer:
            others = [*self.above[name], *self.below[name]]
            wanted[name] = sum(x[other] for other in others) / len(others) if others else x[name]
        rightwards = self._spread(layer, wanted, 1)
        leftwards = self._spread(list(reversed(layer)), wanted, -1)
        for name in layer:
            x[name] = (rightwards[name] + leftwards[name]) / 2

    def _spread(self, layer: Sequence[str], wanted: Mapping[str, float], side: int) -> dict[str, float]:
        placed: dict[str, float] = {}
        before: str | None = None
        for name in layer:
            position = wanted[name]
            if before is not None:
                apart = (self.widths[before] + self.widths[name]) / 2 + _NODE_GAP
                nearest = placed[before] + side * apart
                position = max(position, nearest) if side > 0 else min(position, nearest)
            placed[name] = position
            before = name
        return placed

    def layout(self) -> Layout:
        boxes = {
            name: Box(
                name=name,
                x=self.x[name],
                y=self._y(name),
                width=self.widths[name],
                height=_NODE_HEIGHT,
                detail=self.details.get(name, ""),
            )
            for name in (*self.spec.nodes, *([ANY_NODE] if ANY_NODE in self.depths else []))
        }
        right = max(self.x[name] + self.widths[name] / 2 for name in self.x)
        routes = [self._route(edge) for edge in self.forward]
        routes = self._apart(routes) + self._lanes(boxes, right)
        labels = [route.label for route in routes if route.label]
        reach = [label.x + label.width * (0.5 if label.centred else 1) for label in labels]
        lanes = [point[0] for route in routes for point in route.points]
        return Layout(
            width=max([right, *reach, *lanes]) + _MARGIN,
            height=len(self.layers) * (_NODE_HEIGHT + _LAYER_GAP) - _LAYER_GAP + 2 * _MARGIN + 14,
            boxes=boxes,
            routes=sorted(routes, key=lambda route: route.edge.index),
        )

    def _y(self, name: str) -> float:
        return _MARGIN + 14 + _NODE_HEIGHT / 2 + self.depths[name] * (_NODE_HEIGHT + _LAYER_GAP)

    def _route(self, edge: EdgeSpec) -> Route:
        chain = self.chains[edge.index]
        points = [(self._port(edge.source, edge), self._y(edge.source) + _NODE_HEIGHT / 2)]
        for name in chain[1:-1]:
            points += [
                (self.x[name], self._y(name) - _NODE_HEIGHT / 2),
                (self.x[name], self._y(name) + _NODE_HEIGHT / 2),
            ]
        points.append((self.x[edge.target], self._y(edge.target) - _NODE_HEIGHT / 2))
        (x0, y0), (x1, y1) = points[0], points[1]
        return Route(
            edge=edge,
            points=tuple(points),
            lane=False,
            label=self._label(edge, (x0 + x1) / 2, (y0 + y1) / 2 + 4, centred=True),
        )

    def _port(self, name: str, edge: EdgeSpec) -> float:
        """Edges leave a node side by side, in the order of where they go."""
        leaving = [other for other in self.forward if other.source == name]
        leaving.sort(key=lambda other: (self.x[self.chains[other.index][1]], other.index))
        step = min(18.0, (self.widths[name] - 24) / max(len(leaving), 1))
        return self.x[name] + (leaving.index(edge) - (len(leaving) - 1) / 2) * step

    def _label(self, edge: EdgeSpec, x: float, y: float, *, centred: bool) -> Label | None:
        rows = edge_rows(edge, self.spec)
        cut = tuple(short(row, _MOST_LABEL_CHARS) for row in rows)
        top = y - _LABEL_HEIGHT * (len(rows) - 1) / 2
        whole = edge_label(edge, self.spec)
        return Label(rows=cut, whole=whole, x=x, y=top, centred=centred) if rows else None

    def _apart(self, routes: Sequence[Route]) -> list[Route]:
        """Labels that would cover each other move up or down."""
        taken: list[Label] = []
        moved = []
        for route in routes:
            label = route.label
            if label:
                tries = [replace(label, y=label.y + shift * _LABEL_HEIGHT) for shift in (0, 1, -1, 1.7, -1.7)]
                label = next((one for one in tries if not any(_covers(one, other) for other in taken)), label)
                taken.append(label)
            moved.append(replace(route, label=label))
        return moved

    def _lanes(self, boxes: Mapping[str, Box], right: float) -> list[Route]:
        """Edges that lead back up, or stay: the shorter, the nearer to the graph; a free lane is used again."""
        back = [edge for edge in self.edges if edge.index not in self.chains]
        back.sort(key=lambda edge: (self.depths[edge.source] - self.depths[edge.target], edge.index))
        lanes: list[list[tuple[float, float]]] = []
        routes = []
        for edge in back:
            start, end = self._exit(boxes[edge.source], down=True), self._exit(boxes[edge.target], down=False)
            span = (end[-1][1] - _LABEL_HEIGHT, start[-1][1] + _LABEL_HEIGHT)
            number = next((n for n, lane in enumerate(lanes) if not _crosses(span, lane)), len(lanes))
            lanes += [[]] if number == len(lanes) else []
            lanes[number].append(span)
            x = right + (number + 1) * _LANE_WIDTH
            points = (*start, (x, start[-1][1]), (x, end[-1][1]), *reversed(end))
            label = self._label(edge, x + 6, (start[-1][1] + end[-1][1]) / 2 + 4, centred=False)
            routes.append(Route(edge=edge, points=points, lane=True, label=label))
        return self._apart(routes)

    def _exit(self, box: Box, *, down: bool) -> list[tuple[float, float]]:
        """From a box to where its way to the right is free: straight, or through the gap below (or above) its layer."""
        side = 1 if down else -1
        if self.layers[self.depths[box.name]][-1] == box.name:
            return [(box.x + box.width / 2, box.y + 9 * side)]
        edge_y = box.y + side * box.height / 2
        x = box.x + box.width / 2 - 14
        return [(x, edge_y), (x, edge_y + side * 13)]


def _covers(one: Label, other: Label) -> bool:
    apart = _LABEL_HEIGHT * (len(one.rows if one.y < other.y else other.rows))
    left, right = (label.x - (label.width / 2 if label.centred else 0) for label in (one, other))
    overlap = left < right + other.width + 6 and right < left + one.width + 6
    return overlap and abs(one.y - other.y) < apart


def _crosses(span: tuple[float, float], lane: Sequence[tuple[float, float]]) -> bool:
    return any(span[0] < low and high < span[1] for high, low in lane)
