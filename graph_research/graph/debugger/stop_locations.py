"""The lines of a graph's files that a run can stop at: nodes, edges and guards, over all subgraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import EdgeSpec

_INDEX = re.compile(r"\[\d+\]")


class BreakpointKind(StrEnum):
    """What stops a run."""

    NODE = "node"
    """A node is about to run."""
    EDGE = "edge"
    """An edge is taken."""
    GUARD = "guard"
    """The guard of an edge is tried."""
    CONDITION = "condition"
    """A condition becomes true, at any node."""


@dataclass(frozen=True, kw_only=True)
class StopLocation:
    """A node, an edge (which is taken), or an edge's guard (which is tried); lines count from 1."""

    kind: BreakpointKind
    graph: str
    file: str
    line: int
    last_line: int
    node: str
    """The node, or the edge's source, which is `*` where it leaves any node."""
    to: str = ""


def graph_at(root: Graph, path: str) -> Graph:
    """The graph in which the last node of `path` (such as `gather[2]/search`) stands."""
    graph = root
    for name in plain_path(path).split("/")[:-1]:
        graph = graph.subgraphs[graph.spec.nodes[name].target or ""]
    return graph


def graph_path(path: str) -> str:
    """The path of the graph that the node at `path` stands in."""
    return path.rpartition("/")[0]


def surrounds(outer: str, inner: str) -> bool:
    """Whether the graph at one path is the graph at another, or holds it."""
    return inner == outer or not outer or inner.startswith(f"{outer}/")


def plain_path(path: str) -> str:
    """A path without the numbers of items."""
    return _INDEX.sub("", path)


def edge_between(graph: Graph, source: str, target: str) -> EdgeSpec | None:
    """The first edge from one node to another."""
    return next((edge for edge in graph.spec.edges if (edge.source, edge.target) == (source, target)), None)


def location_at(root: Graph, file: str, line: int) -> StopLocation | None:
    """The stop location for a line: the one that begins there, else the node whose entry covers it, else the next."""
    locations = [location for location in _locations(root) if _same_file(location.file, file)]
    exact = [location for location in locations if location.line == line]
    around = [location for location in locations if location.line < line <= location.last_line]
    later = sorted((location for location in locations if location.line > line), key=lambda location: location.line)
    return next(iter([*exact, *around, *later]), None)


def stop_lines(root: Graph, file: str) -> list[int]:
    """The lines of a file that a run can stop at."""
    return sorted({location.line for location in _locations(root) if _same_file(location.file, file)})


def _locations(root: Graph) -> Iterator[StopLocation]:
    for graph in root.walk():
        spec = graph.spec
        lines: dict[str, int] = {}
        for path, place in spec.places.items():
            entry = "/".join(path.split("/")[:2]).removesuffix(":key")
            lines[entry] = max(place.line, lines.get(entry, 0))
        for node in spec.nodes.values():
            yield StopLocation(
                kind=BreakpointKind.NODE,
                graph=spec.name,
                file=spec.file,
                line=node.place.line,
                last_line=lines.get(f"nodes/{node.name}", node.place.line),
                node=node.name,
            )
        for edge in spec.edges:
            yield edge_location(graph, edge, BreakpointKind.EDGE, edge.place.line, lines.get(f"edges/{edge.index}", 0))
            guarded = f"edges/{edge.index}/when:key"
            if guarded in spec.places and spec.places[guarded].line != edge.place.line:
                yield edge_location(graph, edge, BreakpointKind.GUARD, spec.places[guarded].line)


def edge_location(graph: Graph, edge: EdgeSpec, kind: BreakpointKind, line: int, last_line: int = 0) -> StopLocation:
    """An edge or its guard, which stands in `line`."""
    return StopLocation(
        kind=kind,
        graph=graph.spec.name,
        file=graph.spec.file,
        line=line,
        last_line=max(line, last_line),
        node=edge.source,
        to=edge.target,
    )


def _same_file(file: str, named: str) -> bool:
    """Whether a graph's file is meant by a path, a relative one by its end."""
    if Path(named).is_absolute() and Path(file).resolve().exists():
        return Path(named).resolve() == Path(file).resolve()
    return Path(file).parts[-len(Path(named).parts) :] == Path(named).parts
