"""What makes two graphs the same: the definition that is stored with a run, and how another one differs from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.parser import without_summary
from graph_research.graph.definition.yaml_tree import parse_yaml, to_json
from graph_research.graph.values.codec import text_hash

_MOST_DETAILS = 8
_ORDER = "the order of the edges out of"

Key = tuple[str, str]
"""Kind and name of a part of a definition, such as `("schema", "planner.input")`."""


class ChangeKind(StrEnum):
    """How a part of a definition differs from the stored one; the value is its wording."""

    CHANGED = "changed"
    NEW = "is new"
    GONE = "is gone"


@dataclass(frozen=True)
class Change:
    """A difference of one part, such as `Change("node", "plan", ChangeKind.CHANGED)`."""

    part: str
    name: str
    kind: ChangeKind
    details: tuple[Change, ...] = ()
    """For a changed graph, its nodes, edges and channels that differ."""

    def __str__(self) -> str:
        words = " ".join(filter(None, (self.part, self.name, self.kind)))
        shown = [str(detail) for detail in self.details[:_MOST_DETAILS]]
        more = len(self.details) - len(shown)
        return f"{words} ({', '.join([*shown, *([f'{more} more'] if more else [])])})" if shown else words


def definition(graph: Graph) -> tuple[bytes, dict[str, str]]:
    """Everything a run depends on, as JSON `{"KIND NAME": {hash, text}}` where `text` is the hash under which the
    second result holds its text: the graph and its subgraphs, the schemas they use, the prompts they can reach. A graph
    has also `file`, the name of its file without the folder, for errors."""
    entries: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    for each in graph.walk():
        key = text_hash(each.spec.text)
        texts[key] = each.spec.text
        entries[f"graph {each.spec.name}"] = {"hash": each.spec.hash, "text": key, "file": each.spec.file_name}
    for kind, name, meaning, text in _used_parts(graph):
        key = text_hash(text)
        texts[key] = text
        entries[f"{kind} {name}"] = {"hash": key if meaning == text else text_hash(meaning), "text": key}
    return orjson.dumps(entries, option=orjson.OPT_SORT_KEYS), texts


def parts(stored: bytes) -> dict[Key, dict[str, str]]:
    """The entries of a stored definition by kind and name."""
    split = ((name.partition(" "), entry) for name, entry in orjson.loads(stored).items())
    return {(kind, name): entry for (kind, _, name), entry in split}


def differences(stored: bytes, graph: Graph) -> list[Change]:
    """What differs between a stored definition and `graph`."""
    old, new = parts(stored), parts(definition(graph)[0])
    return [
        *(Change(*key, ChangeKind.NEW) for key in new if key not in old),
        *(Change(*key, ChangeKind.GONE) for key in old if key not in new),
        *(Change(*key, ChangeKind.CHANGED) for key in old if key in new and old[key]["hash"] != new[key]["hash"]),
    ]


async def detailed_changes(read_text: Callable[[str], Awaitable[str]], stored: bytes, graph: Graph) -> list[Change]:
    """`differences`, those of a changed graph with `details`."""
    old, new = parts(stored), {each.spec.name: each.spec.text for each in graph.walk()}
    changes = []
    for change in differences(stored, graph):
        details: list[Change] = []
        if change.part == "graph" and change.kind is ChangeKind.CHANGED:
            details = text_differences(await read_text(old["graph", change.name]["text"]), new[change.name])
        changes.append(Change(change.part, change.name, change.kind, tuple(details)))
    return changes


def text_differences(old: str, new: str) -> list[Change]:
    """What differs between two texts of a graph. Comments, layout and summaries do not count."""
    before, after = _text_parts(old), _text_parts(new)
    for key in [key for key in {**before, **after} if key[0] == _ORDER]:
        if sorted(before.get(key, ())) != sorted(after.get(key, ())):
            before.pop(key, None)
            after.pop(key, None)
    return [
        *(Change(*key, ChangeKind.CHANGED) for key in before if key in after and before[key] != after[key]),
        *(Change(*key, ChangeKind.NEW) for key in after if key not in before),
        *(Change(*key, ChangeKind.GONE) for key in before if key not in after),
    ]


def _used_parts(root: Graph) -> Iterator[tuple[str, str, str, str]]:
    """Kind, name, meaning and text of what the graph and its subgraphs use. Of several schemas of one name that of the
    last graph counts."""
    schemas: dict[str, Any] = {}
    types: dict[str, Any] = {}
    for graph in root.walk():
        schemas |= _schemas_of(graph)
        types |= {kind.name: kind.schema for kind in graph.types_used()}
    for name, schema in schemas.items():
        meaning = orjson.dumps(schema).decode()
        resource = root.registry.schemas.find(name)
        yield "schema", name, meaning, resource[0] if resource else meaning
    for name, schema in types.items():
        text = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
        yield "type", name, text, text
    for name in root.registry.prompts.names():
        if (prompt := root.registry.prompts.find(name)) is not None:
            yield "prompt", name, prompt[0], prompt[0]


def _schemas_of(graph: Graph) -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    for contract in (*graph.contracts.values(), *graph.channels.values()):
        schemas = {**contract.referred, **schemas}
    schemas |= {name: contract.schema for name, contract in graph.contracts.items()}
    if graph.spec.state_schema is not None:
        schemas[graph.spec.state_schema] = {
            name: {"schema": channel.schema, "reduce": channel.reduce, "default": channel.default}
            for name, channel in graph.spec.channels.items()
        }
    return schemas


def _text_parts(text: str) -> dict[Key, Any]:
    tree, _ = parse_yaml(text, "")
    top = to_json(tree) if tree is not None else {}
    meanings: dict[Key, Any] = {}
    for key, kind in (("state", "channel"), ("nodes", "node"), ("loops", "loop")):
        value = top.pop(key, {})
        named = value if isinstance(value, Mapping) else {"": value}
        meanings |= {(kind, name): without_summary(part) for name, part in named.items()}
    edges: dict[Key, list[Any]] = defaultdict(list)
    order: dict[Key, list[Any]] = defaultdict(list)
    for edge in top.pop("edges", ()):
        edges["edge", f"{edge.get('from')} -> {edge.get('to')}"].append(edge)
        order[_ORDER, str(edge.get("from"))].append(edge.get("to"))
    meanings |= {**edges, **order}
    return meanings | {("", f"`{name}`"): value for name, value in top.items() if name != "summary"}
