"""State channels, read from a graph's inline `state` or from a JSON Schema whose properties say how they reduce."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from typing import Any, get_args

from graph_research.graph.contracts import Contract, SchemaInvalid
from graph_research.graph.naming import suggestion
from graph_research.graph.registry import Resolver
from graph_research.graph.shapes import Shapes
from graph_research.graph.spec import ChannelSpec, Place, Reducer
from graph_research.graph.yaml_tree import Tree, to_json

__all__ = ["RESERVED_NAMES", "inline_channels", "schema_channels"]

RESERVED_NAMES = frozenset({"loops", "output", "outputs", "errors", "error", "index"})
"""What an expression can see beside the channels."""

_INLINE = ("type", "default", "reduce", "input", "output", "items")
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_OWN = ("reduce", "input", "output", "default")
_REDUCED_TYPES: Mapping[str, tuple[str, ...]] = {
    "append": ("array",),
    "upsert": ("array",),
    "merge": ("object",),
    "add": ("integer", "number"),
}
_EMPTY: Mapping[str, Any] = {"append": [], "upsert": [], "merge": {}, "add": 0}
"""What a channel without a default starts with; null for `replace`."""


def inline_channels(tree: Tree | None, shapes: Shapes) -> dict[str, ChannelSpec]:
    """The channels written in the graph itself as `{name: {type, default, reduce, input, output, items}}`."""
    channels = {}
    for name, value in shapes.entries(tree, "state", "`state`").items():
        path = f"state/{name}"
        keys = shapes.keys(value, path, f'channel "{name}"', _INLINE)
        types = shapes.texts(keys.get("type"), f"{path}/type", "type")
        for index, kind in enumerate(types):
            if kind not in _TYPES:
                place = shapes.places[f"{path}/type/{index}"]
                shapes.report(place, "bad-value", f'"{kind}" is no JSON type', suggestion(kind, _TYPES))
        shapes.flag(keys.get("input"), "input")
        shapes.flag(keys.get("output"), "output")
        known = {key: to_json(item) for key, item in keys.items()}
        if not set(types) <= set(_TYPES):
            known.pop("type")
        channels[name] = _channel(name, known, shapes, path, shapes.places[f"{path}:key"])
    return channels


def schema_channels(name: str, place: Place, schemas: Resolver, shapes: Shapes) -> dict[str, ChannelSpec]:
    """The channels of the JSON Schema `name`; what is wrong with it is found at `place`, where the graph names it."""
    found = schemas.find(name)
    if found is None:
        shapes.report(place, "unknown-schema", f'no schema "{name}"', suggestion(name, schemas.names()))
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


def _channel(name: str, written: Mapping[str, Any], shapes: Shapes, path: str, place: Place) -> ChannelSpec:
    schema = {key: value for key, value in written.items() if key not in _OWN}
    reduce = written.get("reduce", "replace")
    if reduce not in get_args(Reducer):
        where = shapes.places.get(f"{path}/reduce", place)
        help = suggestion(str(reduce), get_args(Reducer))
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
    name: str, schema: Mapping[str, Any], reduce: str, default: Any, shapes: Shapes, path: str, place: Place
) -> None:
    if name in RESERVED_NAMES or keyword.iskeyword(name) or not name.isidentifier() or name.startswith("_"):
        help = "use a letter, then letters, digits and _; " + ", ".join(sorted(RESERVED_NAMES)) + " are taken"
        shapes.report(place, "name-invalid", f'"{name[:80]}" cannot be a channel\'s name', help)
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type") or []
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
