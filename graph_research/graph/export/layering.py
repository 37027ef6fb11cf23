"""Layers of a drawing and the order in each, by the method of Sugiyama, Tagawa and Toda (1981): longest paths, virtual
nodes for long edges, barycenter sweeps. Between two layers of nodes lies one for the labels of edges."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from graph_research.graph.definition.paths import reachable
from graph_research.graph.definition.spec import EdgeSpec, GraphSpec

ANY_NODE = "*"
"""The place that edges from `"*"` come from."""

_SWEEPS = 24
_CACHED_LAYERINGS = 32
_MOST_PLACES = 5_000
"""Nodes and stand-ins; in a larger graph long edges run straight, across whatever is there."""


@dataclass(frozen=True, kw_only=True)
class Layers:
    """`order` lists the places of each layer from left to right: nodes in the even layers, and a stand-in wherever an
    edge passes. `chains` leads through the places of each edge by its index, always downwards; those in `upwards` are
    edges that lead from the chain's end to its beginning. An edge from a node to itself has no chain."""

    edges: Sequence[EdgeSpec]
    order: Sequence[Sequence[str]]
    chains: Mapping[int, Sequence[str]]
    upwards: frozenset[int]

    @property
    def stand_ins(self) -> frozenset[str]:
        """Every place that is not a node."""
        return frozenset(name for chain in self.chains.values() for name in chain[1:-1])

    def label_place(self, edge: EdgeSpec) -> str | None:
        """The stand-in next to the edge's source, where its label has room; None where it has no stand-in."""
        between = self.chains.get(edge.index, ())[1:-1]
        return None if not between else between[-1] if edge.index in self.upwards else between[0]


def layers_of(spec: GraphSpec) -> Layers:
    """Deterministic; edges to or from unknown nodes are left out."""
    edges = tuple(
        edge for edge in spec.edges if edge.target in spec.nodes and (edge.source in spec.nodes or edge.source == "*")
    )
    anywhere = (ANY_NODE,) if any(edge.source == ANY_NODE for edge in edges) else ()
    return _layers(spec.start, (*spec.nodes, *anywhere), edges)


@lru_cache(maxsize=_CACHED_LAYERINGS)
def _layers(start: str, names: tuple[str, ...], edges: tuple[EdgeSpec, ...]) -> Layers:
    depths = _Depths(start, names, edges).depths
    upwards = frozenset(edge.index for edge in edges if depths[edge.source] > depths[edge.target])
    chains, places = _chains(edges, depths, upwards)
    order: list[list[str]] = [[] for _ in range(2 * max(depths.values(), default=0) + 1)]
    for name, layer in places.items():
        order[layer].append(name)
    return Layers(edges=edges, order=_with_few_crossings(order, chains), chains=chains, upwards=upwards)


class _Depths:
    """The longest path to each node from the start, over edges that do not lead back; what only `"*"` reaches stands
    as low as it can."""

    def __init__(self, start: str, names: Sequence[str], edges: Sequence[EdgeSpec]) -> None:
        self._reachable: dict[str, frozenset[str]] = {}
        self.leaving: dict[str, list[EdgeSpec]] = {name: [] for name in names}
        for edge in edges:
            self.leaving[edge.source].append(edge)
        loops = [edge for edge in edges if edge.loop is not None and edge.target in self._reachable_from(start)]
        self.back = {edge.index for edge in loops if edge.source in self._reachable_from(edge.target)}
        order = self._downwards([name for name in (start, *names) if name in self.leaving and name != ANY_NODE])
        self.depths = dict.fromkeys(names, 0)
        self._place_by_longest_path(order)
        targets = {edge.target for edge in self.leaving.get(ANY_NODE, ())}
        if targets:
            self._place_any_node(order, targets)

    def _reachable_from(self, name: str) -> frozenset[str]:
        """The node itself and those that ways without loops lead to from it."""
        if name not in self._reachable:
            self._reachable[name] = reachable([name], self._without_loops)
        return self._reachable[name]

    def _without_loops(self, name: str) -> Iterator[str]:
        return (edge.target for edge in self.leaving.get(name, ()) if edge.loop is None)

    def _place_by_longest_path(self, order: Sequence[str]) -> None:
        for name in order:
            for edge in self._forward(name):
                self.depths[edge.target] = max(self.depths[edge.target], self.depths[name] + 1)

    def _place_any_node(self, order: Sequence[str], targets: Collection[str]) -> None:
        led = {edge.target for name in order for edge in self._forward(name)}
        lowest = min((self.depths[name] for name in order if name in targets and name in led), default=None)
        self.depths[ANY_NODE] = max((max(self.depths.values()) - 1 if lowest is None else lowest) - 1, 0)
        for name in targets:
            self.depths[name] = max(self.depths[name], self.depths[ANY_NODE] + 1)
        self._place_by_longest_path(order)

    def _forward(self, name: str) -> Iterator[EdgeSpec]:
        return (edge for edge in self.leaving[name] if edge.index not in self.back)

    def _downwards(self, roots: Sequence[str]) -> list[str]:
        """The nodes in an order in which every edge leads on, but for those in `back`. Declared loops to what is
        reached without them are there before; else an edge leads back if a search from the start, depth first, is
        still inside of the node it comes to."""
        finished: dict[str, None] = {}
        for root in roots:
            inside = {} if root in finished else {root: iter(self.leaving[root])}
            while inside:
                name = next(reversed(inside))
                edge = next(inside[name], None)
                if edge is None:
                    finished[name] = None
                    del inside[name]
                elif edge.index in self.back:
                    continue
                elif edge.target in inside:
                    self.back.add(edge.index)
                elif edge.target not in finished:
                    inside[edge.target] = iter(self.leaving[edge.target])
        return list(reversed(finished))


def _chains(
    edges: Sequence[EdgeSpec], depths: Mapping[str, int], upwards: Collection[int]
) -> tuple[dict[int, list[str]], dict[str, int]]:
    """The places of each edge from top to bottom, and the layer of every place; ways up come last, so that they start
    out at the right."""
    places = {name: 2 * depth for name, depth in depths.items()}
    chains = {}
    for edge in sorted(edges, key=lambda edge: (edge.index in upwards, edge.index)):
        if edge.source == edge.target:
            continue
        ends = (edge.target, edge.source) if edge.index in upwards else (edge.source, edge.target)
        between = range(2 * depths[ends[0]] + 1, 2 * depths[ends[1]])
        stand_ins = {f"\0{edge.index}:{layer}": layer for layer in between}
        if len(places) + len(stand_ins) > _MOST_PLACES:
            stand_ins = {}
        places.update(stand_ins)
        chains[edge.index] = [ends[0], *stand_ins, ends[1]]
    return chains, places


def _with_few_crossings(order: list[list[str]], chains: Mapping[int, Sequence[str]]) -> list[list[str]]:
    """Sweep down and up, each layer by the mean place of its neighbours; the sweep with the fewest crossings counts."""
    above: dict[str, list[str]] = {name: [] for layer in order for name in layer}
    below: dict[str, list[str]] = {name: [] for name in above}
    for chain in chains.values():
        for upper, lower in pairwise(chain if len(chain) > 2 else ()):
            above[lower].append(upper)
            below[upper].append(lower)
    best, fewest = order, _crossings(order, below)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        order = _swept(order, above if down else below, down=down)
        crossings = _crossings(order, below)
        if crossings < fewest:
            best, fewest = order, crossings
    return best


def _swept(order: Sequence[Sequence[str]], neighbours: Mapping[str, Sequence[str]], *, down: bool) -> list[list[str]]:
    places = {name: (number + 0.5) / len(layer) for layer in order for number, name in enumerate(layer)}
    swept = []
    for layer in order if down else reversed(order):
        means = {
            name: sum(places[other] for other in neighbours[name]) / len(neighbours[name])
            if neighbours[name]
            else places[name]
            for name in layer
        }
        moved = sorted(layer, key=means.__getitem__)
        places.update({name: (number + 0.5) / len(moved) for number, name in enumerate(moved)})
        swept.append(moved)
    return swept if down else swept[::-1]


def _crossings(order: Sequence[Sequence[str]], below: Mapping[str, Sequence[str]]) -> int:
    """Pairs of edges that cross, counted as inversions."""
    crossings = 0
    for upper, lower in pairwise(order):
        place = {name: number for number, name in enumerate(lower)}
        seen: list[int] = []
        for name in upper:
            ends = sorted(place[other] for other in below[name])
            crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return crossings
