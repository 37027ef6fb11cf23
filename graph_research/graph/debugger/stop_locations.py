"""The lines of a graph's files that a run can stop at: nodes, edges and guards, over all subgraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import EdgeSpec

__all__ = ["Target", "all_graphs", "edge_between", "graph_at", "plain_path", "stop_lines", "target_at"]

_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A node, an edge (which is taken), or an edge's guard (which is tried); lines count from 1."""

    kind: Literal["node", "edge", "guard"]
    graph: str
    file: str
    line: int
    last_line: int
    node: str
    """The node, or the edge's source, which is `*` where it leaves any node."""
    to: str = ""


def all_graphs(root: Graph) -> Iterator[Graph]:
    """The graph and its subgraphs, each once."""
    seen: set[str] = set()
    rest = [root]
    while rest:
        graph = rest.pop(0)
        if graph.spec.name not in seen:
            seen.add(graph.spec.name)
            yield graph
            rest.extend(graph.subgraphs.values())


def graph_at(root: Graph, path: str) -> Graph:
    """The graph in which the last node of `path` (such as `gather[2]/search`) stands."""
    graph = root
    for name in plain_path(path).split("/")[:-1]:
        graph = graph.subgraphs[graph.spec.nodes[name].target or ""]
    return graph


def plain_path(path: str) -> str:
    """A path without the numbers of items."""
    return _INDEX.sub("", path)


def edge_between(graph: Graph, source: str, target: str) -> EdgeSpec | None:
    """The first edge from one node to another."""
    return next((edge for edge in graph.spec.edges if (edge.source, edge.target) == (source, target)), None)


def target_at(root: Graph, file: str, line: int) -> Target | None:
    """What can be stopped at on a line: what stands there, the node whose entry goes over it, else what comes next."""
    targets = [target for target in _targets(root) if _same_file(target.file, file)]
    exact = [target for target in targets if target.line == line]
    around = [target for target in targets if target.line < line <= target.last_line]
    later = sorted((target for target in targets if target.line > line), key=lambda target: target.line)
    return next(iter([*exact, *around, *later]), None)


def stop_lines(root: Graph, file: str) -> list[int]:
    """The lines of a file that a run can stop at."""
    return sorted({target.line for target in _targets(root) if _same_file(target.file, file)})


def _targets(root: Graph) -> Iterator[Target]:
    for graph in all_graphs(root):
        spec = graph.spec
        lines: dict[str, int] = {}
        for path, place in spec.places.items():
            entry = "/".join(path.split("/")[:2]).removesuffix(":key")
            lines[entry] = max(place.line, lines.get(entry, 0))
        for node in spec.nodes.values():
            yield Target(
                kind="node",
                graph=spec.name,
                file=spec.file,
                line=node.place.line,
                last_line=lines.get(f"nodes/{node.name}", node.place.line),
                node=node.name,
            )
        for edge in spec.edges:
            yield _edge_target(graph, edge, "edge", edge.place.line, lines.get(f"edges/{edge.index}", 0))
            guarded = f"edges/{edge.index}/when:key"
            if guarded in spec.places and spec.places[guarded].line != edge.place.line:
                yield _edge_target(graph, edge, "guard", spec.places[guarded].line, 0)


def _edge_target(graph: Graph, edge: EdgeSpec, kind: Literal["edge", "guard"], line: int, last_line: int) -> Target:
    return Target(
        kind=kind,
        graph=graph.spec.name,
        file=graph.spec.file,
        line=line,
        last_line=max(line, last_line),
        node=edge.source,
        to=edge.target,
    )


def _same_file(known: str, named: str) -> bool:
    """Whether a graph's file is meant by a path, a relative one by its end."""
    if Path(named).is_absolute() and Path(known).resolve().exists():
        return Path(named).resolve() == Path(known).resolve()
    return Path(known).parts[-len(Path(named).parts) :] == Path(named).parts
