"""State channels, read from a graph's inline `state` or from a JSON Schema whose properties say how they reduce."""

from __future__ import annotations

import json
import keyword
from collections.abc import Collection, Mapping
from typing import Any, get_args

from graph_research.graph.definition.spec import ChannelSpec, Reducer
from graph_research.graph.definition.tree_reader import TreeReader
from graph_research.graph.definition.yaml_tree import Tree, to_json
from graph_research.graph.messages import closest, did_you_mean
from graph_research.graph.registry import Resolver
from graph_research.graph.source import Place
from graph_research.graph.values.json_schema import Contract, SchemaInvalid
from graph_research.graph.values.python_types import JSON_TYPES

__all__ = ["RESERVED_NAMES", "inline_channels", "schema_channels"]

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


def inline_channels(tree: Tree | None, shapes: TreeReader, types: Collection[str]) -> dict[str, ChannelSpec]:
    """The channels written in the graph itself as `{name: {type, default, reduce, input, output, items}}`; `types` are
    those that `type` and `items` may name beside JSON's own."""
    channels = {}
    for name, value in shapes.entries(tree, "state", "`state`").items():
        path = f"state/{name}"
        keys = shapes.keys(value, path, f'channel "{name}"', _INLINE)
        named = shapes.texts(keys.get("type"), f"{path}/type", "type")
        for index, kind in enumerate(named):
            if kind not in JSON_TYPES:
                _check_type(kind, shapes.places[f"{path}/type/{index}"], shapes, types)
        shapes.flag(keys.get("input"), "input")
        shapes.flag(keys.get("output"), "output")
        known = {key: to_json(item) for key, item in keys.items()}
        if not set(named) <= set(JSON_TYPES):
            del known["type"]
            own = [kind for kind in named if kind in types]
            if own:
                known["python"] = own[0]
            if own and not {*named} <= {own[0], "null"}:
                place = shapes.places[f"{path}/type"]
                shapes.report(place, "bad-value", f"{own[0]} stands beside other types", "register the union of them")
        if isinstance(item := known.get("items"), str):
            _check_type(item, shapes.places[f"{path}/items"], shapes, types)
            known["items"] = {"python": item} if item in types else {}
        channels[name] = _channel(name, known, shapes, path, shapes.places[f"{path}:key"])
    return channels


def _check_type(kind: str, place: Place, shapes: TreeReader, types: Collection[str]) -> None:
    if kind not in types:
        near = closest(kind, [*types, *JSON_TYPES])
        help = f'did you mean "{near}"?' if near else "register it: load_graph(…, types={NAME: CLASS})"
        shapes.report(place, "unknown-type", f'"{kind[:80]}" is no JSON type and no registered type', help)


def schema_channels(name: str, place: Place, schemas: Resolver, shapes: TreeReader) -> dict[str, ChannelSpec]:
    """The channels of the JSON Schema `name`; what is wrong with it is found at `place`, where the graph names it."""
    found = schemas.find(name)
    if found is None:
        shapes.report(place, "unknown-schema", f'no schema "{name}"', did_you_mean(name, schemas.names()))
        return {}
    try:
        schema = json.loads(found[0])
        Contract(schema, name, schemas)
        properties = schema["properties"].items()
    except (SchemaInvalid, ValueError, KeyError, AttributeError, TypeError) as problem:
        shapes.report(place, "schema-invalid", f'schema "{name}" ({found[1]}) cannot be used: {problem}', "")
        return {}
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    channels = {}
    for key, value in properties:
        properties_of = {**value, **(shared if "#/" in json.dumps(value) else {})} if isinstance(value, dict) else {}
        channels[key] = _channel(key, properties_of, shapes, "state", place)
    return channels


def _channel(name: str, written: Mapping[str, Any], shapes: TreeReader, path: str, place: Place) -> ChannelSpec:
    schema = {key: value for key, value in written.items() if key not in _OWN}
    reduce = written.get("reduce", "replace")
    if reduce not in get_args(Reducer):
        where = shapes.places.get(f"{path}/reduce", place)
        help = did_you_mean(str(reduce), get_args(Reducer))
        shapes.report(where, "bad-value", f'channel "{name}": no reducer "{str(reduce)[:40]}"', help)
        reduce = "replace"
    default = written.get("default", _EMPTY.get(reduce))
    _check_channel(name, schema, reduce, written.get("default"), shapes, path, place)
    given = written.get("input") is True
    return ChannelSpec(
        name=name,
        schema=schema,
        reduce=reduce,
        default=default,
        input=given,
        output=written.get("output") is True,
        required=given and "default" not in written,
        place=place,
    )


def _check_channel(
    name: str, schema: Mapping[str, Any], reduce: str, default: Any, shapes: TreeReader, path: str, place: Place
) -> None:
    if name in RESERVED_NAMES or keyword.iskeyword(name) or not name.isidentifier() or name.startswith("_"):
        help = "use a letter, then letters, digits and _; " + ", ".join(sorted(RESERVED_NAMES)) + " are taken"
        shapes.report(place, "name-invalid", f'"{name[:80]}" cannot be a channel\'s name', help)
    told = schema.get("type")
    types = [kind for kind in (told if isinstance(told, list) else [told]) if isinstance(kind, str)]
    wanted = _REDUCED_TYPES.get(reduce, ())
    if wanted and types and not set(types) & set(wanted):
        where = shapes.places.get(f"{path}/reduce", place)
        help = f"`{reduce}` is for {' or '.join(wanted)}"
        shapes.report(where, "reducer-type", f'channel "{name}" of type {"/".join(types)} cannot `{reduce}`', help)
    try:
        fits = default is None or Contract(schema, name).fits(default)
    except SchemaInvalid:
        fits = True
    if not fits:
        where = shapes.places.get(f"{path}/default", place)
        message = f'channel "{name}": the default does not fit type {"/".join(types) or "of its schema"}'
        shapes.report(where, "default-mismatch", message, "mend the default or the type")
