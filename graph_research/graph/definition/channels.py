"""State channels, read from a graph's inline `state` or from a JSON Schema whose properties say how they reduce."""

from __future__ import annotations

import json
import keyword
from collections.abc import Collection, Mapping
from typing import Any, get_args

from graph_research.graph.definition.reduced_values import value_misfit
from graph_research.graph.definition.schemas import find_schema
from graph_research.graph.definition.spec import ChannelSpec, Reducer
from graph_research.graph.definition.tree_reader import TreeReader
from graph_research.graph.definition.yaml_tree import Tree, to_json
from graph_research.graph.errors import Finding
from graph_research.graph.messages import closest, did_you_mean
from graph_research.graph.registry import Resolver
from graph_research.graph.source import Place
from graph_research.graph.values.json_schema import Contract, SchemaInvalid
from graph_research.graph.values.python_types import JSON_TYPES

RESERVED_NAMES = frozenset({"loops", "output", "outputs", "errors", "error", "index"})
"""What an expression can see beside the channels."""

_INLINE = ("type", "default", "reduce", "input", "output", "items")
_OWN = ("reduce", "input", "output", "default")
_REDUCED_TYPES: Mapping[str, tuple[str, ...]] = {
    "append": ("array",),
    "upsert": ("array",),
    "merge": ("object",),
    "add": ("integer", "number"),
}
_EMPTY: Mapping[str, Any] = {"append": [], "upsert": [], "merge": {}, "add": 0}
"""What a channel without a default starts with; null for `replace`."""


def inline_channels(tree: Tree | None, reader: TreeReader, types: Collection[str]) -> dict[str, ChannelSpec]:
    """The channels written in the graph itself as `{name: {type, default, reduce, input, output, items}}`; `types` are
    those that `type` and `items` may name beside JSON's own."""
    channels = {}
    for name, value in reader.entries(tree, "state", "`state`").items():
        path = f"state/{name}"
        keys = reader.keys(value, path, f'channel "{name}"', _INLINE)
        named = reader.texts(keys.get("type"), f"{path}/type", "type")
        for index, kind in enumerate(named):
            if kind not in JSON_TYPES:
                _check_type(kind, reader.places[f"{path}/type/{index}"], reader, types)
        reader.flag(keys.get("input"), "input")
        reader.flag(keys.get("output"), "output")
        written = {key: to_json(item) for key, item in keys.items()}
        if not set(named) <= set(JSON_TYPES):
            del written["type"]
            own = [kind for kind in named if kind in types]
            if own:
                written["python"] = own[0]
            if own and not {*named} <= {own[0], "null"}:
                place = reader.places[f"{path}/type"]
                reader.report(place, "bad-value", f"{own[0]} stands beside other types", "register the union of them")
        if isinstance(item := written.get("items"), str):
            if item not in JSON_TYPES:
                _check_type(item, reader.places[f"{path}/items"], reader, types)
            written["items"] = _item_schema(item, types)
        channels[name] = _channel(name, written, reader, path, reader.places[f"{path}:key"])
    return channels


def _item_schema(kind: str, types: Collection[str]) -> dict[str, str]:
    """The schema of an array's items that a type's name stands for."""
    if kind in types:
        return {"python": kind}
    return {"type": kind} if kind in JSON_TYPES else {}


def _check_type(kind: str, place: Place, reader: TreeReader, types: Collection[str]) -> None:
    if kind not in types:
        near = closest(kind, [*types, *JSON_TYPES])
        help = f'did you mean "{near}"?' if near else "register it: load_graph(…, types={NAME: CLASS})"
        reader.report(place, "unknown-type", f'"{kind[:80]}" is neither a JSON type nor a registered type', help)


def schema_channels(name: str, place: Place, schemas: Resolver, reader: TreeReader) -> dict[str, ChannelSpec] | None:
    """The channels of the JSON Schema `name`, which the graph names at `place`; None where they cannot be known."""
    found = find_schema(name, place, schemas)
    if isinstance(found, Finding):
        reader.findings.append(found)
        return None
    schema = found.schema
    if not isinstance(schema.get("properties"), Mapping):
        help = "give it `properties`, one for each channel"
        reader.report(place, "schema-invalid", f'schema "{name}" has no properties', help)
        return None
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    channels = {}
    for key, value in found.properties.items():
        properties_of = {**value, **(shared if "#/" in json.dumps(value) else {})} if isinstance(value, dict) else {}
        channels[key] = _channel(key, properties_of, reader, "state", place)
    return channels


def _channel(name: str, written: Mapping[str, Any], reader: TreeReader, path: str, place: Place) -> ChannelSpec:
    schema = {key: value for key, value in written.items() if key not in _OWN}
    reduce = written.get("reduce", "replace")
    if reduce not in get_args(Reducer):
        where = reader.places.get(f"{path}/reduce", place)
        help = did_you_mean(str(reduce), get_args(Reducer))
        reader.report(where, "bad-value", f'channel "{name}": no reducer "{str(reduce)[:40]}"', help)
        reduce = "replace"
    default = written.get("default", _EMPTY.get(reduce))
    given = written.get("input") is True
    channel = ChannelSpec(
        name=name,
        schema=schema,
        reduce=reduce,
        default=default,
        input=given,
        output=written.get("output") is True,
        required=given and "default" not in written,
        place=place,
    )
    if _check_channel(channel, reader, path) and written.get("default") is not None:
        _check_default(channel, reader, path)
    return channel


def _check_channel(channel: ChannelSpec, reader: TreeReader, path: str) -> bool:
    """Report what is wrong with a channel's name or reducer; whether the reducer suits its type."""
    name, reduce, place = channel.name, channel.reduce, channel.place
    if name in RESERVED_NAMES or keyword.iskeyword(name) or not name.isidentifier() or name.startswith("_"):
        help = "use a letter, then letters, digits and _; " + ", ".join(sorted(RESERVED_NAMES)) + " are taken"
        reader.report(place, "name-invalid", f'"{name[:80]}" cannot be a channel\'s name', help)
    declared = channel.schema.get("type")
    types = [kind for kind in (declared if isinstance(declared, list) else [declared]) if isinstance(kind, str)]
    wanted = _REDUCED_TYPES.get(reduce, ())
    if wanted and types and not set(types) & set(wanted):
        where = reader.places.get(f"{path}/reduce", place)
        help = f"`{reduce}` is for {' or '.join(wanted)}"
        reader.report(where, "reducer-type", f'channel "{name}" of type {"/".join(types)} cannot `{reduce}`', help)
        return False
    return True


def _check_default(channel: ChannelSpec, reader: TreeReader, path: str) -> None:
    try:
        misfits = Contract(channel.schema, channel.name).misfits(channel.default)
    except SchemaInvalid:
        misfits = ""
    if misfits := misfits or value_misfit(channel, channel.default):
        where = reader.places.get(f"{path}/default", channel.place)
        message = f'channel "{channel.name}": the default does not fit: {misfits}'
        reader.report(where, "default-mismatch", message, "correct the default or the type")
