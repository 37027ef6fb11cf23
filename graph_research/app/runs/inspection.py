"""What a graph or a bundle would touch, shown before anything of it is used: handlers, models, hosts, folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from graph_research.app.graphs.catalog import graph_file
from graph_research.app.runs.bundles import opened_bundle
from graph_research.app.runs.research_state import research_state
from graph_research.app.wiring.models import hosts_of
from graph_research.app.wiring.services import definition_registry
from graph_research.app.workspace import Workspace, with_neighbours
from graph_research.graph.definition.parser import read_spec, read_text
from graph_research.graph.definition.spec import GraphSpec
from graph_research.graph.errors import GraphInvalid
from graph_research.graph.history.stored_definition import definition_texts
from graph_research.graph.registry import Registry, Resolver
from graph_research.graph.statuses import INNER_CALLS

_BUNDLE = ".grb"
_URL = re.compile(r"https?://[^\s\"'<>]+")


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What the graph, its subgraphs included, names. `unknown` are handlers, prompts, schemas and graphs that this
    program does not have. The rest is empty for a graph file: `run` are facts of a bundle's run, `hosts` those of its
    models and sources."""

    graph: str
    version: str
    summary: str
    nodes: int
    handlers: Sequence[str]
    prompts: Sequence[str]
    roles: Sequence[str]
    subgraphs: Sequence[str]
    schemas: Sequence[str]
    asks: Sequence[str]
    loops: Mapping[str, Any]
    limits: Mapping[str, Any]
    unknown: Sequence[str]
    models: Sequence[str] = ()
    searches: Sequence[str] = ()
    folders: Sequence[str] = ()
    hosts: Sequence[str] = ()
    run: Mapping[str, Any] = field(default_factory=dict)


async def inspect(workspace: Workspace, name: str) -> Inspection:
    """Look at a graph (file or name) or a bundle (a file ending in `.grb`); nothing is run, loaded or asked.
    `GraphInvalid` for YAML that is not a graph, `BundleInvalid` for an incomplete bundle."""
    if name.endswith(_BUNDLE):
        return await _bundle(workspace, name)
    file = graph_file(workspace, name)
    text = read_text(workspace.folder / file)
    if not isinstance(text, str):
        raise GraphInvalid([text])
    there = with_neighbours(workspace, name)
    return Inspection(**_definition(text, str(file), definition_registry(there), there.definitions.graphs))


async def _bundle(workspace: Workspace, name: str) -> Inspection:
    async with opened_bundle(workspace, name) as (store, packed):
        record = await store.run(packed.run_id)
        graphs = await definition_texts(store, packed.run_id, "graph")
        registry = replace(
            definition_registry(workspace),
            schemas=await definition_texts(store, packed.run_id, "schema"),
            prompts=await definition_texts(store, packed.run_id, "prompt"),
            template_names=None,
        )
        fields = _definition(graphs.texts.get(record.graph, ""), graphs.file(record.graph), registry, graphs)
        asked = next((value for value in record.metadata.values() if isinstance(value, Mapping)), {})
        roles = asked.get("roles")
        specs = [*_texts(asked.get("models")), *(_texts(roles.values()) if isinstance(roles, Mapping) else ())]
        state = await store.state(packed.run_id)
        calls = await store.call_rows(packed.run_id, None)
        kinds = Counter(call.kind for call in calls if call.kind not in INNER_CALLS)
        sources = [source.get("url") for source in research_state(state).get("sources") or []]
        return Inspection(
            **fields,
            models=sorted(set(specs)),
            searches=_texts(asked.get("search")),
            folders=_texts(asked.get("library")),
            hosts=sorted({*hosts_of(specs), *_hosts([*specs, *_texts(sources)])}),
            run={
                "run_id": record.run_id,
                "parent": record.parent,
                "status": record.status,
                "cause": record.cause,
                "question": asked.get("question"),
                "created_at": record.created_at.isoformat(),
                "steps": len(await store.steps(packed.run_id)),
                "calls": dict(kinds),
                "texts": len(await store.text_hashes(packed.run_id)),
            },
        )


def _definition(text: str, file: str, registry: Registry, graphs: Resolver) -> dict[str, Any]:
    """What a graph and those under it name."""
    specs: list[GraphSpec] = []
    waiting, asked = [(text, file)], set[str]()
    missing: list[str] = []
    while waiting:
        text, file = waiting.pop()
        spec, findings = read_spec(text, file, registry.schemas, registry.types)
        if spec is None:
            raise GraphInvalid(findings)
        specs.append(spec)
        for name in _named(spec, "graph"):
            if name in asked:
                continue
            asked.add(name)
            found = graphs.find(name)
            if found is not None:
                waiting.append(found)
            else:
                missing.append(f"graph {name}")
    return _facts_of(specs, registry, missing)


def _facts_of(specs: Sequence[GraphSpec], registry: Registry, missing: Sequence[str]) -> dict[str, Any]:
    first = specs[0]
    nodes = [node for spec in specs for node in spec.nodes.values()]
    handlers, prompts = (sorted({name for spec in specs for name in _named(spec, kind)}) for kind in ("run", "prompt"))
    schemas = {side.schema for node in nodes for side in (node.input, node.output) if side is not None}
    schemas |= {node.schema for node in nodes} | {spec.state_schema for spec in specs}
    named = sorted(name for name in schemas if name)
    known = registry.prompts.names()
    missing = [
        *missing,
        *(f"handler {name}" for name in handlers if name not in registry.handlers),
        *(f"prompt {name}" for name in prompts if not {name, f"{name}/user"} & set(known)),
        *(f"schema {name}" for name in named if registry.schemas.find(name) is None),
    ]
    return {
        "graph": first.name,
        "version": first.version,
        "summary": first.summary,
        "nodes": len(nodes),
        "handlers": handlers,
        "prompts": prompts,
        "roles": sorted({node.role for node in nodes if node.role}),
        "subgraphs": [spec.name for spec in specs[1:]],
        "schemas": named,
        "asks": [node.name for node in nodes if node.kind == "ask"],
        "loops": {name: loop.most for spec in specs for name, loop in spec.loops.items()},
        "limits": {"steps": first.limits.steps, "seconds": first.limits.seconds},
        "unknown": missing,
    }


def _named(spec: GraphSpec, kind: str) -> list[str]:
    return [node.target for node in spec.nodes.values() if node.kind == kind and node.target]


def _texts(values: Any) -> list[str]:
    """The texts in an untrusted JSON value of any shape."""
    if isinstance(values, str):
        return [values]
    if isinstance(values, Iterable) and not isinstance(values, Mapping):
        return [text for value in values for text in _texts(value)]
    return []


def _hosts(texts: Sequence[str]) -> list[str]:
    """The hosts of the addresses in these texts."""
    hosts = set()
    for text in texts:
        for url in _URL.findall(text):
            try:
                hosts.add(urlsplit(url).hostname or "")
            except ValueError:
                hosts.add(url[:80])
    return sorted(hosts - {""})
