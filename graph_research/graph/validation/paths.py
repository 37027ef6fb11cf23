"""The way to a node: the nodes that a run passes on the shortest path from the start, for counterexamples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache

from graph_research.graph.definition.spec import EdgeSpec, GraphSpec

__all__ = ["on_the_way", "ways"]


def ways(spec: GraphSpec, avoiding: Collection[str] = ()) -> Callable[[str], list[str]]:
    """Tells of a node the nodes from the start to it, both included; empty where there is no way. A way over edges
    without `on` is preferred, however long; no way goes on from a node of `avoiding`."""

    @cache
    def came_from() -> dict[str, str | None]:
        before: dict[str, str | None] = {spec.start: None} if spec.start in spec.nodes else {}
        for events in (False, True):
            rest = deque(before)
            while rest:
                name = rest.popleft()
                for target in targets(name, events=events):
                    if target not in before:
                        before[target] = name
                        rest.append(target)
        return before

    @cache
    def leaving() -> dict[str, list[EdgeSpec]]:
        edges: dict[str, list[EdgeSpec]] = {}
        for edge in spec.edges:
            if edge.target in spec.nodes:
                edges.setdefault(edge.source, []).append(edge)
        return edges

    def targets(name: str, *, events: bool) -> Iterator[str]:
        if name in avoiding:
            return
        anywhere = leaving().get("*", ()) if events and spec.nodes[name].kind != "end" else ()
        for edge in (*leaving().get(name, ()), *anywhere):
            if events or not edge.on:
                yield edge.target

    def way(node: str) -> list[str]:
        before = came_from()
        if node not in before:
            return []
        steps = [node]
        while (earlier := before[steps[-1]]) is not None:
            steps.append(earlier)
        return steps[::-1]

    return way


def on_the_way(steps: Sequence[str]) -> str:
    """A way as the end of a message; a node that the graph starts with needs none."""
    return f", on the way {' -> '.join(steps)}" if len(steps) > 1 else ""
