"""Graphs that this process has loaded: one is used again as long as all that it was made of is still the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import Finding
from graph_research.graph.registry import Registry, Resolver

__all__ = ["Loaded", "remembered"]

Loaded = tuple[Graph | None, Sequence[Finding]]
"""A graph as far as it could be made, and everything about it."""

_MOST_GRAPHS = 32
"""A research loads one or two; an editor that is open on a folder some more."""


@dataclass
class _Asked:
    """A resolver that keeps what it was asked, with the answers."""

    resolver: Resolver
    found: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    listed: list[str] | None = None

    def find(self, name: str) -> tuple[str, str] | None:
        if name not in self.found:
            self.found[name] = self.resolver.find(name)
        return self.found[name]

    def names(self) -> list[str]:
        if self.listed is None:
            self.listed = self.resolver.names()
        return list(self.listed)

    def would_answer(self, resolver: Resolver) -> bool:
        """Whether `resolver` says the same."""
        return all(resolver.find(name) == answer for name, answer in self.found.items()) and (
            self.listed is None or resolver.names() == self.listed
        )


@dataclass(frozen=True, kw_only=True)
class _Memory:
    """What was loaded, and what for: nothing of a run is kept, neither its handlers nor its prompter."""

    loaded: Loaded
    registry: Registry
    asked: tuple[_Asked, ...]

    def holds(self, registry: Registry) -> bool:
        return all(asked.would_answer(one) for asked, one in zip(self.asked, _resolvers(registry), strict=True))


@dataclass
class _Slot:
    memory: _Memory | None = None


def remembered(text: str, file: str, registry: Registry, load: Callable[[Registry], Loaded]) -> Loaded:
    """What `load` makes of a definition with `registry`, or made of it before.

    A graph depends on its text and file name, on the names of the handlers, on the functions and errors themselves and
    on what the resolvers answer; these are asked again each time. Graphs with types of the caller's own are made anew.
    """
    if registry.types:
        return load(registry)
    functions = tuple((name, id(function)) for name, function in registry.functions.items())
    slot = _slot(text, file, tuple(registry.handlers), functions, tuple(registry.errors))
    memory = slot.memory
    if memory is None or not memory.holds(registry):
        memory = slot.memory = _made(registry, load)
    graph, findings = memory.loaded
    return graph and _with(graph, registry, {}), findings


def _made(registry: Registry, load: Callable[[Registry], Loaded]) -> _Memory:
    asked = tuple(_Asked(resolver) for resolver in _resolvers(registry))
    schemas, graphs, prompts = asked
    loaded = load(replace(registry, schemas=schemas, graphs=graphs, prompts=prompts))
    for one in asked:
        one.resolver = Registry().schemas
    bare = Registry(functions=registry.functions, errors=registry.errors)
    graph, findings = loaded
    return _Memory(loaded=(graph and _with(graph, bare, {}), findings), registry=bare, asked=asked)


def _resolvers(registry: Registry) -> tuple[Resolver, Resolver, Resolver]:
    return registry.schemas, registry.graphs, registry.prompts


def _with(graph: Graph, registry: Registry, done: dict[str, Graph]) -> Graph:
    """The graph, and each one in it once, with another registry."""
    subgraphs = {}
    for name, child in graph.subgraphs.items():
        if name not in done:
            done[name] = _with(child, registry, done)
        subgraphs[name] = done[name]
    return replace(graph, registry=registry, subgraphs=subgraphs)


@lru_cache(maxsize=_MOST_GRAPHS)
def _slot(*_key: object) -> _Slot:
    """The slot of a definition; those longest unused are given up. What a key names by its id lives in the slot."""
    return _Slot()
