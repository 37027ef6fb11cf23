"""The x coordinate of each place of a layered drawing: Brandes and Köpf, "Fast and Simple Horizontal Coordinate
Assignment" (2002), with places of unequal width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_STRAIGHT = 1.0
_BEND_COST = 40.0
"""In pixels of width."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Places in layers from top to bottom, each from left to right.

    `above` and `below` are the neighbours that a place would like to stand under or over, in the layers next to its
    own. `left` and `right` say how much room a place needs on each side of its line. `stand_ins` are places of long
    edges, which are kept straight before all else.
    """

    layers: Sequence[Sequence[str]]
    above: Mapping[str, Sequence[str]]
    below: Mapping[str, Sequence[str]]
    left: Mapping[str, float]
    right: Mapping[str, float]
    stand_ins: frozenset[str]
    gap: float


def x_positions(rows: Rows) -> dict[str, float]:
    """The line of each place, from 0; neighbours of a layer never overlap. Linear in places and edges, but for sorting.

    Four drawings are made, each leaning to one corner, and the best of them and of their mean is taken.
    """
    conflicts = _type_1_conflicts(rows)
    both = {name: [*rows.above[name], *rows.below[name]] for name in rows.above}
    drawings = []
    for down in (True, False):
        layers = list(rows.layers) if down else list(reversed(rows.layers))
        neighbours = rows.above if down else rows.below
        for side in (1, -1):
            sided = [list(layer[::side]) for layer in layers]
            left, right = (rows.left, rows.right)[::side]
            roots = _vertical_alignment(sided, neighbours, conflicts)
            line = _horizontal_compaction(sided, roots, left, right, rows.gap, both)
            drawings.append((side, {name: side * x for name, x in line.items()}))
    line = _best_drawing(rows, drawings)
    low, _ = _borders(rows, line)
    return {name: x - low for name, x in line.items()}


def _type_1_conflicts(rows: Rows) -> set[tuple[str, str]]:
    """Pairs (upper, lower) that cross a straight piece of a long edge and must give way to it."""
    conflicts: set[tuple[str, str]] = set()
    for upper, lower in pairwise(rows.layers):
        place = {name: number for number, name in enumerate(upper)}
        low, checked = 0, 0
        for number, name in enumerate(lower):
            straight = next((above for above in rows.above[name] if above in rows.stand_ins), None)
            inner = straight if name in rows.stand_ins else None
            if inner is None and number < len(lower) - 1:
                continue
            high = len(upper) - 1 if inner is None else place[inner]
            for other in lower[checked : number + 1]:
                for above in rows.above[other]:
                    both = above in rows.stand_ins and other in rows.stand_ins
                    if not low <= place[above] <= high and not both:
                        conflicts.add((above, other))
            checked, low = number + 1, high
    return conflicts


def _vertical_alignment(
    layers: Sequence[Sequence[str]], neighbours: Mapping[str, Sequence[str]], conflicts: set[tuple[str, str]]
) -> dict[str, str]:
    """The head of the block that each place belongs to: a block is a vertical line through some layers."""
    place = {name: number for layer in layers for number, name in enumerate(layer)}
    root = {name: name for name in place}
    for layer in layers:
        last = -1
        for name in layer:
            others = sorted(neighbours[name], key=place.__getitem__)
            for median in dict.fromkeys(((len(others) - 1) // 2, len(others) // 2)) if others else ():
                other = others[median]
                gives_way = (name, other) in conflicts or (other, name) in conflicts
                if root[name] == name and last < place[other] and not gives_way:
                    root[name] = root[other]
                    last = place[other]
    return root


def _horizontal_compaction(
    layers: Sequence[Sequence[str]],
    root: Mapping[str, str],
    left: Mapping[str, float],
    right: Mapping[str, float],
    gap: float,
    neighbours: Mapping[str, Sequence[str]],
) -> dict[str, float]:
    """The least position of each block; then each goes on to where its neighbours are, if there is room."""
    after: dict[str, list[tuple[str, float]]] = {head: [] for head in root.values()}
    waits = dict.fromkeys(after, 0)
    for layer in layers:
        for name, other in pairwise(layer):
            after[root[name]].append((root[other], right[name] + gap + left[other]))
            waits[root[other]] += 1
    order = [head for head, count in waits.items() if not count]
    line = dict.fromkeys(after, 0.0)
    for head in order:
        for other, distance in after[head]:
            line[other] = max(line[other], line[head] + distance)
            waits[other] -= 1
            if not waits[other]:
                order.append(other)
    members: dict[str, list[str]] = {head: [] for head in order}
    for name, head in root.items():
        members[head].append(name)
    for head in reversed(order):
        others = [root[other] for name in members[head] for other in neighbours[name] if root[other] != head]
        wanted = sum(line[other] for other in others) / len(others) if others else line[head]
        room = min((line[other] - distance for other, distance in after[head]), default=line[head])
        line[head] = max(line[head], min(wanted, room))
    return {name: line[head] for name, head in root.items()}


def _best_drawing(rows: Rows, drawings: Sequence[tuple[int, Mapping[str, float]]]) -> dict[str, float]:
    """The drawings laid over each other (by their left or right border, onto the narrowest) give a fifth, the mean of
    the middle two; of the five, the one with few bends that is not wide for it."""
    borders = [_borders(rows, line) for _, line in drawings]
    narrow = min(borders, key=lambda border: border[1] - border[0])
    shifts = [
        narrow[0] - low if side > 0 else narrow[1] - high
        for (side, _), (low, high) in zip(drawings, borders, strict=True)
    ]
    laid = [{name: x + shift for name, x in line.items()} for (_, line), shift in zip(drawings, shifts, strict=True)]
    middle = {}
    for name in laid[0]:
        values = sorted(line[name] for line in laid)
        middle[name] = (values[1] + values[2]) / 2
    return min((*laid, middle), key=lambda line: _cost(rows, line))


def _cost(rows: Rows, line: Mapping[str, float]) -> float:
    """The width, and something for every bend."""
    low, high = _borders(rows, line)
    bends = sum(abs(line[name] - line[other]) > _STRAIGHT for name, others in rows.above.items() for other in others)
    return high - low + _BEND_COST * bends


def _borders(rows: Rows, line: Mapping[str, float]) -> tuple[float, float]:
    return min(x - rows.left[name] for name, x in line.items()), max(x + rows.right[name] for name, x in line.items())
