"""A cache of compiled graphs, each used again as long as everything that it was made of is the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import Finding
from graph_research.graph.registry import Registry, Resolver
from graph_research.graph.resources import TextResolver
from graph_research.graph.validation.handlers import is_not_async

Loaded = tuple[Graph | None, Sequence[Finding]]
"""A graph as far as it could be compiled, and every finding about it."""


@dataclass
class _RecordingResolver:
    """A resolver that records its answers."""

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

    def agrees(self, resolver: Resolver) -> bool:
        """Whether `resolver` gives the recorded answers."""
        return all(resolver.find(name) == answer for name, answer in self.found.items()) and (
            self.listed is None or resolver.names() == self.listed
        )


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What was loaded, without the handlers and the prompter, and the answers of the resolvers that it depends on.
    `registry` keeps the functions alive whose ids stand in the key."""

    loaded: Loaded
    registry: Registry
    recorded: tuple[_RecordingResolver, ...]

    def is_valid(self, registry: Registry) -> bool:
        pairs = zip(self.recorded, _resolvers(registry), strict=True)
        return all(recorded.agrees(resolver) for recorded, resolver in pairs)


class GraphCache:
    """The `size` graphs that were used last."""

    def __init__(self, size: int = 32) -> None:
        self._size = size
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()

    def load(self, text: str, file: str, registry: Registry, load: Callable[[Registry], Loaded]) -> Loaded:
        """What `load` makes of a definition with `registry`, from the cache where it holds that.

        A graph depends on its text and file name, on the names of the handlers and whether they are async, on the
        functions, errors, roles and the reader of templates themselves and on what the resolvers answer; these are
        asked again each time. Graphs with types of the caller's own are not cached.
        """
        if registry.types:
            return load(registry)
        key = _key(text, file, registry)
        entry = self._entries.pop(key, None)
        if entry is None or not entry.is_valid(registry):
            entry = _loaded(registry, load)
        self._entries[key] = entry
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)
        graph, findings = entry.loaded
        return graph and _with_registry(graph, registry, {}), findings


def _key(text: str, file: str, registry: Registry) -> Hashable:
    handlers = tuple((name, is_not_async(handler)) for name, handler in registry.handlers.items())
    functions = tuple((name, id(function)) for name, function in registry.functions.items())
    return text, file, handlers, functions, tuple(registry.errors), registry.template_names, tuple(registry.roles)


def _loaded(registry: Registry, load: Callable[[Registry], Loaded]) -> _Entry:
    schemas, graphs, prompts = recorded = tuple(_RecordingResolver(resolver) for resolver in _resolvers(registry))
    graph, findings = load(replace(registry, schemas=schemas, graphs=graphs, prompts=prompts))
    for resolver in recorded:
        resolver.resolver = TextResolver({})
    bare = Registry(functions=registry.functions, errors=registry.errors)
    return _Entry(loaded=(graph and _with_registry(graph, bare, {}), findings), registry=bare, recorded=tuple(recorded))


def _resolvers(registry: Registry) -> tuple[Resolver, Resolver, Resolver]:
    return registry.schemas, registry.graphs, registry.prompts


def _with_registry(graph: Graph, registry: Registry, done: dict[str, Graph]) -> Graph:
    """The graph with another registry; each subgraph is copied once, so that equal ones stay the same object."""
    subgraphs = {}
    for name, child in graph.subgraphs.items():
        if name not in done:
            done[name] = _with_registry(child, registry, done)
        subgraphs[name] = done[name]
    return replace(graph, registry=registry, subgraphs=subgraphs)
