"""What makes two graphs the same: the definition that is stored with a run, part by part with hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import orjson

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.values.codec import text_hash

__all__ = ["changes", "definition"]


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
