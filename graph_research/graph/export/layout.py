"""Where the nodes and edges of a graph stand in a picture: layers from top to bottom, loops in lanes at the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from graph_research.graph.export.labels import edge_label, node_detail, short
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
_SWEEPS = 12
_LABEL_HEIGHT = 15.0


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
    """A text centred at (or, in a lane, beginning at) `x`; `whole` where it had to be cut."""

    text: str
    whole: str
    x: float
    y: float
    centred: bool


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
        """Longest path from the start over edges that close no cycle; what only `"*"` reaches stands lowest."""
        depths = dict.fromkeys(names, 0)
        plain = [edge for edge in self.edges if edge.source != "*" and not self._goes_back(edge)]
        for _ in names:
            for edge in plain:
                depths[edge.target] = min(max(depths[edge.target], depths[edge.source] + 1), len(names))
        targets = {edge.target for edge in self.edges if edge.source == "*"}
        if ANY_NODE in depths:
            led = {edge.target for edge in plain}
            lowest = max(depths.values())
            depths[ANY_NODE] = max(lowest - 2, 0)
            for name in sorted(targets - led):
                self._sink(name, depths[ANY_NODE] + 1, depths, plain)
        return depths

    def _sink(self, name: str, depth: int, depths: dict[str, int], plain: Sequence[EdgeSpec]) -> None:
        if depth > depths[name] and depth <= 2 * len(depths):
            depths[name] = depth
            for edge in plain:
                if edge.source == name:
                    self._sink(edge.target, depth + 1, depths, plain)

    def _goes_back(self, edge: EdgeSpec) -> bool:
        order = list(self.spec.nodes)
        return (
            bool(edge.loop)
            or edge.source == edge.target
            or (bool(edge.on) and order.index(edge.target) < order.index(edge.source))
        )

    def _chain(self, edge: EdgeSpec) -> list[str]:
        """The edge's end points and a stand-in for each layer between them."""
        between = range(self.depths[edge.source] + 1, self.depths[edge.target])
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
        reach = [
            label.x + _CHAR_WIDTH * len(label.text) * (0.5 if label.centred else 1)
            for route in routes
            if (label := route.label)
        ]
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
        whole = edge_label(edge, self.spec)
        return Label(text=short(whole, _MOST_LABEL_CHARS), whole=whole, x=x, y=y, centred=centred) if whole else None

    def _apart(self, routes: Sequence[Route]) -> list[Route]:
        """Labels that would cover each other move up or down."""
        taken: list[tuple[float, float, float]] = []
        moved = []
        for route in routes:
            label = route.label
            if label:
                half = _CHAR_WIDTH * len(label.text) / 2
                shifts = (0, _LABEL_HEIGHT, -_LABEL_HEIGHT, 1.6 * _LABEL_HEIGHT, -1.6 * _LABEL_HEIGHT)
                y = next(
                    (label.y + shift for shift in shifts if not _covers(taken, label.x, label.y + shift, half)), label.y
                )
                taken.append((label.x, y, half))
                route = replace(route, label=replace(label, y=y))
            moved.append(route)
        return moved

    def _lanes(self, boxes: Mapping[str, Box], right: float) -> list[Route]:
        """Edges that lead back up, or stay: the shorter, the nearer to the graph."""
        back = [edge for edge in self.edges if edge.index not in self.chains]
        back.sort(key=lambda edge: (self.depths[edge.source] - self.depths[edge.target], edge.index))
        routes = []
        for number, edge in enumerate(back, 1):
            source, target = boxes[edge.source], boxes[edge.target]
            lane = right + number * _LANE_WIDTH
            low, high = source.y + 9, target.y - 9
            points = (
                (source.x + source.width / 2, low),
                (lane, low),
                (lane, high),
                (target.x + target.width / 2, high),
            )
            label = self._label(edge, lane + 6, (low + high) / 2 + 4 + _LABEL_HEIGHT * (number % 2), centred=False)
            routes.append(Route(edge=edge, points=points, lane=True, label=label))
        return routes


def _covers(taken: Sequence[tuple[float, float, float]], x: float, y: float, half: float) -> bool:
    return any(
        abs(y - other_y) < _LABEL_HEIGHT and abs(x - other_x) < half + other_half + 6
        for other_x, other_y, other_half in taken
    )
