"""What a run starts from: its channels' first values, and the definition that is stored with it by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from graph_research.graph.codec import duplicate, text_hash, unstorable
from graph_research.graph.compiler import Graph
from graph_research.graph.errors import HandoffInvalid, InputInvalid
from graph_research.graph.state import DeltaRefused, make_delta
from graph_research.graph.visit import check

__all__ = ["changes", "definition", "first_values", "refuse_unstorable"]


def first_values(graph: Graph, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every channel's value at the start: what is given, else its default. Raises `InputInvalid`.

    Where no channel is declared as input, each may be given: such a graph is tried out, not called by others.
    """
    channels = graph.spec.channels
    inputs = [name for name, channel in channels.items() if channel.input] or list(channels)
    for name in given:
        if name not in inputs:
            what = "is no input" if name in channels else "does not exist"
            raise InputInvalid(
                f'channel "{name}" of graph "{graph.spec.name}" {what}',
                help=f"inputs are {', '.join(inputs)}",
            )
    for name in inputs:
        if channels[name].required and name not in given:
            raise InputInvalid(f'graph "{graph.spec.name}" needs "{name}"', help="give it as input")
    if graph.typed:
        given = duplicate(given)
    for name, value in given.items():
        try:
            check(graph.channels[name], value, graph.spec.start)
        except HandoffInvalid as problem:
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}": {problem.message}') from problem
    try:
        make_delta(channels, given, {})
    except DeltaRefused as problem:
        raise InputInvalid(f'input of graph "{graph.spec.name}": {problem.message}') from problem
    values: dict[str, Any] = duplicate({name: given.get(name, channel.default) for name, channel in channels.items()})
    try:
        return dict(graph.plain(values, {}, graph.spec.start))
    except HandoffInvalid as problem:
        raise InputInvalid(f'input of graph "{graph.spec.name}": {problem.message}') from problem


def refuse_unstorable(graph: Graph, given: Mapping[str, Any]) -> None:
    """Raise `InputInvalid` where an input holds what no store can keep, such as NaN."""
    for name, value in given.items():
        if found := unstorable(value):
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}" holds {found}, which cannot be stored')


def definition(graph: Graph) -> tuple[bytes, dict[str, str]]:
    """Everything a run depends on, as JSON `{name: {hash, text}}` where `text` is the hash under which the second
    result holds its text: the graph and its subgraphs, the schemas they use, the prompts they can reach. A graph has
    also `file`, the name of its file without the folder, which its errors tell."""
    names: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    for name, hashed, text in _parts(graph):
        key = text_hash(text)
        texts[key] = text
        names[name] = {"hash": hashed, "text": key}
    for one in _graphs(graph):
        names[f"graph {one.spec.name}"]["file"] = one.spec.file_name
    return orjson.dumps(names, option=orjson.OPT_SORT_KEYS), texts


def changes(stored: bytes, graph: Graph) -> list[str]:
    """What differs between a stored definition and `graph`, in words such as `schema planner.input changed`."""
    old, new = orjson.loads(stored), orjson.loads(definition(graph)[0])
    words = [f"{name} is new" for name in new if name not in old]
    words += [f"{name} is gone" for name in old if name not in new]
    return words + [f"{name} changed" for name in old if name in new and old[name]["hash"] != new[name]["hash"]]


def _graphs(graph: Graph) -> Iterator[Graph]:
    yield graph
    for subgraph in graph.subgraphs.values():
        yield from _graphs(subgraph)


def _parts(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Name, hash of the meaning, and text of each part."""
    yield f"graph {graph.spec.name}", graph.spec.hash, graph.spec.text
    schemas = {name: contract.schema for name, contract in graph.contracts.items()}
    for contract in (*graph.contracts.values(), *graph.channels.values()):
        schemas = {**contract.referred, **schemas}
    if graph.spec.state_schema is not None:
        schemas[graph.spec.state_schema] = {
            name: {"schema": channel.schema, "reduce": channel.reduce, "default": channel.default}
            for name, channel in graph.spec.channels.items()
        }
    for name, schema in schemas.items():
        meaning = orjson.dumps(schema).decode()
        found = graph.registry.schemas.find(name)
        yield f"schema {name}", hashlib.sha256(meaning.encode()).hexdigest(), found[0] if found else meaning
    for kind in graph.types_used():
        text = orjson.dumps(kind.schema, option=orjson.OPT_SORT_KEYS).decode()
        yield f"type {kind.name}", hashlib.sha256(text.encode()).hexdigest(), text
    for name in graph.registry.prompts.names():
        found = graph.registry.prompts.find(name)
        if found is not None:
            yield f"prompt {name}", hashlib.sha256(found[0].encode()).hexdigest(), found[0]
    for subgraph in graph.subgraphs.values():
        yield from _parts(subgraph)
