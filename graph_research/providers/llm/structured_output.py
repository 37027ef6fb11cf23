"""An answer's JSON Schema as a provider takes it: nothing is asked that it refuses, nothing that would change answers.

What is left out here is checked all the same when the answer has come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

_NOT_STRICT = frozenset({"allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas"})
_IGNORED_STRICT = frozenset(
    {"$schema", "$id", "title", "default", "examples", "minLength", "maxLength", "uniqueItems", "minProperties",
     "maxProperties", "format", "pattern", "minimum", "maximum", "minItems", "maxItems", "multipleOf"}
)  # fmt: skip
_FOR_READERS = frozenset({"$schema", "$id", "$comment", "title", "default", "examples"})
_NAMED = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})
_PARTS = frozenset(
    {"items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"}
)
_OPENAPI = frozenset(
    {"type", "description", "enum", "items", "minItems", "maxItems", "properties", "required", "anyOf", "minimum",
     "maximum", "minLength", "maxLength", "nullable"}
)  # fmt: skip
_MOST_DEPTH = 40
_OUTSIDE_REFERENCE = re.compile(rb'"\$ref":"(?!#)')


def is_object(schema: Mapping[str, Any]) -> bool:
    """Whether the answer is one JSON object, which is all that the providers constrain."""
    return schema.get("type") == "object"


def refers_outside(schema: Any) -> bool:
    """Whether a `$ref` names a schema that is not part of this one, which no server could look up."""
    return _OUTSIDE_REFERENCE.search(orjson.dumps(schema)) is not None


def sent_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what neither bounds the answer nor tells the model what to write: it counts as prompt. That is
    its own description, which is for readers of the schema, and annotations of its parts other than descriptions."""
    return {key: value for key, value in _changed(schema, _bounding).items() if key != "description"}


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema for OpenAI's strict mode, None where that mode cannot say the same.

    Strict mode wants every property required and no others. A schema with an optional property is not made strict: the
    model would have to write something where nothing is meant.
    """
    return _changed(schema, _strict) if _can_be_strict(schema) else None


def openapi_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema in the subset of OpenAPI 3.0 that Gemini's `responseSchema` takes, None where it cannot be said.

    References are written out, `const` and lists of types become what OpenAPI has for them, other keywords are left
    out. A schema that contains itself cannot be written out.
    """
    try:
        return _openapi(schema, schema, 0)
    except _Unsayable:
        return None


class _Unsayable(Exception):
    """A schema that OpenAPI 3.0 has no words for."""


def _can_be_strict(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(_can_be_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if _NOT_STRICT & schema.keys() or schema.get("additionalProperties") not in (None, False):
        return False
    properties = schema.get("properties")
    if schema.get("type") == "object" and not isinstance(properties, Mapping):
        return False
    if isinstance(properties, Mapping):
        if set(schema.get("required", ())) != set(properties):
            return False
        return all(map(_can_be_strict, (*properties.values(), *_below(schema))))
    return all(map(_can_be_strict, _below(schema)))


def _below(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas inside of this one that are not its properties."""
    definitions = schema.get("$defs")
    return [
        *(definitions.values() if isinstance(definitions, Mapping) else ()),
        *(schema[key] for key in ("items", "anyOf") if key in schema),
    ]


def _bounding(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _FOR_READERS}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in _IGNORED_STRICT}
    return {**kept, "additionalProperties": False} if isinstance(kept.get("properties"), Mapping) else kept


def _changed(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """The schema with `change` applied to it and to every schema inside of it, the inner ones first."""
    if isinstance(schema, list):
        return [_changed(item, change) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = dict(schema)
    for key in _NAMED & made.keys():
        if isinstance(made[key], Mapping):
            made[key] = {name: _changed(value, change) for name, value in made[key].items()}
    for key in _PARTS & made.keys():
        made[key] = _changed(made[key], change)
    return change(made)


def _openapi(schema: Any, root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        raise _Unsayable
    if isinstance(schema.get("$ref"), str):
        return _openapi({**_target(schema["$ref"], root), **_without(schema, "$ref")}, root, depth + 1)
    kept = {key: value for key, value in schema.items() if key in _OPENAPI}
    if isinstance(kept.get("type"), list):
        kept.update(_one_type(kept["type"]))
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if "enum" in kept and not all(isinstance(choice, str) for choice in kept["enum"]):
        del kept["enum"]
    if "type" not in kept and "anyOf" not in kept:
        kept["type"] = _type_of(kept)
    if kept.get("type") == "object":
        if not kept.get("properties"):
            raise _Unsayable
        kept["properties"] = {name: _openapi(below, root, depth + 1) for name, below in kept["properties"].items()}
    if kept.get("type") == "array":
        kept["items"] = _openapi(kept.get("items"), root, depth + 1)
    if "anyOf" in kept:
        kept["anyOf"] = [_openapi(choice, root, depth + 1) for choice in kept["anyOf"]]
    return kept


def _one_type(types: list[Any]) -> dict[str, Any]:
    named = [name for name in types if name != "null"]
    if len(named) != 1:
        raise _Unsayable
    return {"type": named[0], **({"nullable": True} if "null" in types else {})}


def _type_of(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "object"
    if "enum" in schema:
        return "string"
    raise _Unsayable


def _target(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in ref.removeprefix("#").strip("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not ref.startswith("#") or not isinstance(found, Mapping) or key not in found:
            raise _Unsayable
        found = found[key]
    if not isinstance(found, Mapping):
        raise _Unsayable
    return found


def _without(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != name}
