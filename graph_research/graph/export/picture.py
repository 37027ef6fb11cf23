"""The input of all renderers: a definition, those of its subgraphs, and an overlay of what a run did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import GraphSpec

_DEEPEST = 3
_MOST_NODES = 300
"""Subgraphs beyond these are drawn as plain nodes, however often a graph repeats another."""


@dataclass(frozen=True, kw_only=True)
class NodeStats:
    """What one node did in a run, all visits together; `calls` and `tokens` include those of its subgraph."""

    visits: int = 0
    items: int = 0
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    errors: int = 0

    @property
    def note(self) -> str:
        """Such as `2 × · 3.1 s · 1,204 tokens · 1 error`."""
        parts = [f"{self.visits} ×" if not self.items else f"{self.visits} × · {self.items} items"]
        parts += [_seconds(self.seconds)] if self.seconds >= 0.001 else []
        parts += [f"{self.tokens:,} tokens"] if self.tokens else []
        parts += [f"{self.errors} error{'s' if self.errors > 1 else ''}"] if self.errors else []
        return " · ".join(parts)


@dataclass(frozen=True, kw_only=True)
class NodeVisit:
    """One attempt of a node, or of one of its items, in full; `where` is its path with the items around it,
    `started_at` is for reading.

    `input`, `output` and the requests and answers of `calls` are JSON values; None where nothing is known. The `output`
    of what failed is its error.
    """

    where: str
    visit: int
    attempt: int
    status: str
    started_at: str
    seconds: float
    input: Any = None
    output: Any = None
    calls: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """What a run did: by node, and by the index of each edge how often it was taken. `inner` is the same for the
    subgraph of a node, over all its items; `facts` are words about the whole run."""

    nodes: Mapping[str, NodeStats] = field(default_factory=dict)
    taken: Mapping[int, int] = field(default_factory=dict)
    inner: Mapping[str, Overlay] = field(default_factory=dict)
    visits: Mapping[str, Sequence[NodeVisit]] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A definition to draw. `inner` has a picture for each node whose subgraph is shown; `sources` has the texts
    behind a node (prompts, schemas) by their names; `overlay` is None without a run."""

    spec: GraphSpec
    inner: Mapping[str, Picture] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    overlay: Overlay | None = None

    def with_overlay(self, overlay: Overlay | None) -> Picture:
        """The same picture, here and inside, with what a run did."""
        inner = {
            name: picture.with_overlay(None if overlay is None else overlay.inner.get(name, Overlay()))
            for name, picture in self.inner.items()
        }
        return replace(self, inner=inner, overlay=overlay)


def picture_of(graph: Graph, *, flat: bool = False, overlay: Overlay | None = None) -> Picture:
    """The graph with its subgraphs inside the nodes that run them, or (`flat`) without."""
    left = [0 if flat else _MOST_NODES]
    return _picture(graph, 0 if flat else _DEEPEST, left).with_overlay(overlay)


def _picture(graph: Graph, levels: int, left: list[int]) -> Picture:
    inner = {}
    for name, node in graph.spec.nodes.items():
        subgraph = graph.subgraphs.get(node.target or "") if node.kind == "graph" else None
        if subgraph and levels and len(subgraph.spec.nodes) <= left[0]:
            left[0] -= len(subgraph.spec.nodes)
            inner[name] = _picture(subgraph, levels - 1, left)
    return Picture(spec=graph.spec, inner=inner, sources=_sources(graph))


def _sources(graph: Graph) -> dict[str, dict[str, str]]:
    """The prompts and schemas that each node names, or that go by the name of its handler."""
    sources = {}
    for name, node in graph.spec.nodes.items():
        texts = {}
        for part in (f"{node.target}", f"{node.target}/system", f"{node.target}/user"):
            if node.kind in ("run", "prompt") and (found := graph.registry.prompts.find(part)):
                texts[f"prompt {part}"] = found[0]
        named = (node.input.schema if node.input else None, node.output.schema if node.output else None, node.schema)
        for schema in named:
            if schema and (found := graph.registry.schemas.find(schema)):
                texts[f"schema {schema}"] = found[0]
        sources[name] = texts
    return sources


def _seconds(seconds: float) -> str:
    if seconds >= 60:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"
