"""Loads a graph and its subgraphs: reads, compiles and checks them, and reports all findings at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph_research.graph.definition.compiler import Graph, compile_graph
from graph_research.graph.definition.parser import read_spec, read_text
from graph_research.graph.definition.spec import GraphSpec
from graph_research.graph.errors import Finding, GraphInvalid, Severity
from graph_research.graph.graph_cache import GraphCache
from graph_research.graph.messages import did_you_mean
from graph_research.graph.registry import Handler, Registry
from graph_research.graph.resources import FolderResolver, SchemaResolver, beside
from graph_research.graph.source import Place
from graph_research.graph.validation import validate
from graph_research.graph.values.python_types import named_types


def load_graph(
    path: str | Path,
    *,
    registry: Registry | None = None,
    handlers: Mapping[str, Handler] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    errors: Sequence[type[Exception]] = (),
    types: Mapping[str, Any] | None = None,
    text: str | None = None,
) -> Graph:
    """The graph in the YAML file `path`, or in `text` with `path` as the name to show.

    `handlers`, `functions`, `errors` and `types` (models, dataclasses, enums that channels name) are added to those of
    `registry`. Without one, the subgraphs and schemas of a file are those that lie beside it. Raises `GraphInvalid`
    with every finding if one of them is an error (warnings are in `Graph.warnings`), `UserMistake` if the file cannot
    be opened.
    """
    base = registry or (_registry_beside(path) if text is None else Registry())
    extended = replace(
        base,
        handlers={**base.handlers, **(handlers or {})},
        read_only_handlers=frozenset(base.read_only_handlers) - (handlers or {}).keys(),
        functions={**base.functions, **(functions or {})},
        errors=(*base.errors, *errors),
        types=named_types({**base.types, **(types or {})}),
    )
    read = read_text(Path(path)) if text is None else text
    if isinstance(read, Finding):
        raise GraphInvalid([read])
    file = str(path)
    graph, findings = _CACHE.load(read, file, extended, lambda recording: _Loader(recording).load(read, file, ()))
    findings = sorted(set(findings))
    if graph is None or any(finding.severity == Severity.ERROR for finding in findings):
        raise GraphInvalid(findings)
    return replace(graph, warnings=tuple(findings))


def check_graph(path: str | Path, **parts: Any) -> list[Finding]:
    """Every finding about a graph, sorted by place; empty when it is clean. Takes what `load_graph` takes, and raises
    only what that raises for a file that cannot be opened."""
    try:
        return list(load_graph(path, **parts).warnings)
    except GraphInvalid as invalid:
        return list(invalid.findings)


def _registry_beside(path: str | Path) -> Registry:
    """What lies beside a graph's file: subgraphs in its folder and in `graphs/` there, schemas in `schemas/`."""
    home, flat = beside(Path(path))
    return Registry(
        graphs=FolderResolver(home / "graphs", suffix=".yaml", flat=flat), schemas=SchemaResolver(home / "schemas")
    )


_CACHE = GraphCache()


class _Loader:
    """Loads a graph and, first, those it names; `ancestors` are the names of the graphs around it."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.loaded: dict[str, Graph] = {}

    def load(self, text: str, file: str, ancestors: tuple[str, ...]) -> tuple[Graph | None, list[Finding]]:
        spec, findings = read_spec(text, file, self.registry.schemas, self.registry.types)
        if spec is None:
            return None, findings
        subgraphs, child_findings = self._children(spec, (*ancestors, spec.name))
        graph, compile_findings = compile_graph(spec, self.registry, subgraphs)
        checked = validate(graph, well_shaped=not findings, all_compiled=not compile_findings)
        return graph, [*findings, *child_findings, *compile_findings, *checked]

    def _children(self, spec: GraphSpec, ancestors: tuple[str, ...]) -> tuple[dict[str, Graph], list[Finding]]:
        children: dict[str, Graph] = {}
        findings: list[Finding] = []
        for node in spec.nodes.values():
            if node.kind == "graph" and node.target and node.target not in children:
                child, problems = self._child(node.target, spec.place(f"nodes/{node.name}/graph"), ancestors)
                findings.extend(problems)
                if child:
                    children[node.target] = child
        return children, findings

    def _child(self, name: str, place: Place, ancestors: tuple[str, ...]) -> tuple[Graph | None, list[Finding]]:
        if name in self.loaded:
            return self.loaded[name], []
        if name in ancestors:
            chain = " -> ".join((*ancestors, name))
            help = "take one of these nodes out; what repeats goes into a loop"
            return None, [Finding.at(place, "recursive-graph", f"a graph cannot contain itself: {chain}", help)]
        found = self.registry.graphs.find(name)
        if found is None:
            help = did_you_mean(name, self.registry.graphs.names(), f"write it as graphs/{name}.yaml beside this one")
            return None, [Finding.at(place, "unknown-graph", f'no graph "{name}"', help)]
        graph, findings = self.load(*found, ancestors)
        if graph is not None:
            self.loaded[name] = graph
        return graph, findings
