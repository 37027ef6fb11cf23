"""What differs between a stored definition of a graph and the one at hand, down to its nodes, edges and channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import orjson

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.identity import changes
from graph_research.graph.definition.yaml_tree import parse_yaml, to_json

__all__ = ["part_changes", "told_changes"]

_MOST_TOLD = 8
_ORDER = "the order of the edges out of"


async def told_changes(read_text: Callable[[str], Awaitable[str]], stored: bytes, graph: Graph) -> list[str]:
    """The words of `changes`, for each changed graph with the parts of it that differ."""
    entries = orjson.loads(stored)
    now = {f"graph {one.spec.name}": one.spec.text for one in _graphs(graph)}
    told = []
    for words in changes(stored, graph):
        name = words.removesuffix(" changed")
        if name in now and name in entries:
            parts = part_changes(await read_text(entries[name]["text"]), now[name])
            more = [f"{len(parts) - _MOST_TOLD} more"] if len(parts) > _MOST_TOLD else []
            words += f" ({', '.join([*parts[:_MOST_TOLD], *more])})" if parts else ""
        told.append(words)
    return told


def part_changes(old: str, new: str) -> list[str]:
    """What differs between two texts of a graph, in words such as `node plan changed`, `edge a -> b is new`. Comments,
    layout and summaries do not count."""
    before, after = _parts(old), _parts(new)
    for name in [name for name in {**before, **after} if name.startswith(_ORDER)]:
        if sorted(before.get(name, ())) != sorted(after.get(name, ())):
            before.pop(name, None)
            after.pop(name, None)
    words = [f"{name} changed" for name in before if name in after and before[name] != after[name]]
    words += [f"{name} is new" for name in after if name not in before]
    return words + [f"{name} is gone" for name in before if name not in after]


def _graphs(graph: Graph) -> Iterator[Graph]:
    yield graph
    yield from chain.from_iterable(_graphs(one) for one in graph.subgraphs.values())


def _parts(text: str) -> dict[str, Any]:
    tree, _ = parse_yaml(text, "")
    whole = to_json(tree) if tree is not None else {}
    parts: dict[str, Any] = {}
    for key, one in (("state", "channel"), ("nodes", "node"), ("loops", "loop")):
        value = whole.pop(key, {})
        named = value if isinstance(value, Mapping) else {"": value}
        parts |= {f"{one} {name}".strip(): _told(part) for name, part in named.items()}
    edges: dict[str, list[Any]] = defaultdict(list)
    order: dict[str, list[Any]] = defaultdict(list)
    for edge in whole.pop("edges", ()):
        edges[f"edge {edge.get('from')} -> {edge.get('to')}"].append(edge)
        order[f"{_ORDER} {edge.get('from')}"].append(edge.get("to"))
    parts |= {**edges, **order}
    return parts | {f"`{name}`": value for name, value in whole.items() if name != "summary"}


def _told(part: Any) -> Any:
    return {key: value for key, value in part.items() if key != "summary"} if isinstance(part, Mapping) else part
