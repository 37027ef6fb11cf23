"""Search over the nodes of a graph, breadth first: what can be reached, and the shortest path to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from graph_research.graph.definition.spec import EdgeSpec, GraphSpec


class Search:
    """A search from some nodes; `before` has for each node that was reached the one before it, None for a start."""

    def __init__(self, starts: Iterable[str]) -> None:
        self.before: dict[str, str | None] = dict.fromkeys(starts)

    def run(self, targets: Callable[[str], Iterable[str]]) -> Search:
        """Go on from all that was reached so far, over what `targets` names for a node."""
        waiting = deque(self.before)
        while waiting:
            name = waiting.popleft()
            for target in targets(name):
                if target not in self.before:
                    self.before[target] = name
                    waiting.append(target)
        return self

    def path_to(self, node: str) -> list[str]:
        """The nodes from a start to `node`, both included; empty if it was not reached."""
        steps: list[str] = []
        at: str | None = node if node in self.before else None
        while at is not None:
            steps.append(at)
            at = self.before[at]
        return steps[::-1]


def reachable(starts: Iterable[str], targets: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """The starts, and every node that can be reached from them."""
    return frozenset(Search(starts).run(targets).before)


class Links:
    """Which nodes follow a node and which stand before it, in the order of the edges."""

    def __init__(self, nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> None:
        self._after: dict[str, dict[str, None]] = {name: {} for name in nodes}
        self._before: dict[str, dict[str, None]] = {name: {} for name in self._after}
        self.add(edges)

    def add(self, edges: Iterable[tuple[str, str]]) -> None:
        """Add edges between the nodes."""
        for source, target in edges:
            self._after[source][target] = None
            self._before[target][source] = None

    def remove(self, edges: Iterable[tuple[str, str]]) -> None:
        """Remove edges."""
        for source, target in edges:
            del self._after[source][target], self._before[target][source]

    def after(self, starts: Iterable[str]) -> frozenset[str]:
        """The starts that there are, and every node that can be reached from them."""
        return reachable((name for name in starts if name in self._after), self._after.__getitem__)

    def up_to(self, ends: Iterable[str]) -> frozenset[str]:
        """The ends, and every node from which one of them can be reached."""
        return reachable(ends, self._before.__getitem__)

    def before(self, name: str) -> frozenset[str]:
        """Every node from which an edge or more lead to `name`: itself only if it is in a cycle."""
        return self.up_to(self._before[name])

    def cycle(self) -> list[str]:
        """The nodes of the first cycle that a search in depth meets, in their order; empty where there is none."""
        done: set[str] = set()
        for start in self._after:
            path = [] if start in done else [start]
            ahead = [iter(self._after[name]) for name in path]
            while path:
                target = next(ahead[-1], None)
                if target is None:
                    done.add(path.pop())
                    ahead.pop()
                elif target in path:
                    return path[path.index(target) :]
                elif target not in done:
                    path.append(target)
                    ahead.append(iter(self._after[target]))
        return []


class ShortestPaths:
    """Paths from the start of a graph. A path over edges without `on` is preferred, however long; no path goes on from
    a node of `avoiding`."""

    def __init__(self, spec: GraphSpec, avoiding: Collection[str] = ()) -> None:
        self._spec = spec
        self._avoiding = avoiding

    def to(self, node: str) -> list[str]:
        """The nodes from the start to `node`, both included; empty where there is no path."""
        return self._search.path_to(node)

    @cached_property
    def _search(self) -> Search:
        search = Search([self._spec.start] if self._spec.start in self._spec.nodes else [])
        return search.run(self._plain_targets).run(self._targets)

    @cached_property
    def _leaving(self) -> Mapping[str, Sequence[EdgeSpec]]:
        edges: dict[str, list[EdgeSpec]] = {}
        for edge in self._spec.edges:
            if edge.target in self._spec.nodes:
                edges.setdefault(edge.source, []).append(edge)
        return edges

    def _plain_targets(self, name: str) -> Iterator[str]:
        leaving = () if name in self._avoiding else self._leaving.get(name, ())
        return (edge.target for edge in leaving if not edge.on)

    def _targets(self, name: str) -> Iterator[str]:
        if name in self._avoiding:
            return iter(())
        anywhere = self._leaving.get("*", ()) if self._spec.nodes[name].kind != "end" else ()
        return (edge.target for edge in (*self._leaving.get(name, ()), *anywhere))


def after_path(steps: Sequence[str]) -> str:
    """A path as the end of a message; empty for the node that the graph starts with."""
    return f", on the way {' -> '.join(steps)}" if len(steps) > 1 else ""
