"""The type of an answer, as a prompt states it: a JSON Schema in the notation of TypeScript, a third of its length."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Set
from functools import lru_cache
from typing import Any

_NAME = re.compile(r"[A-Za-z_]\w*")
_REFERENCE = re.compile(r"#/\$defs/([A-Za-z_]\w*)")
_SAID = frozenset({"type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "$ref"})
_LIMITS = {
    "minItems": "items: at least {}",
    "maxItems": "items: at most {}",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "characters: at most {}",
    "pattern": "matches {}",
    "format": "{}",
}
_UNSAID = frozenset({"$schema", "$id", "$defs", "title", "default", "examples", "minLength", "uniqueItems", "python"})
"""Keywords without which the answer's type is understood."""


class _NotSaid(Exception):
    """A keyword of JSON Schema that the notation has no words for."""


def answer_type(schema: Mapping[str, Any], unasked: Collection[str] = ()) -> str:
    """The declaration of the type `answer` and of the types that it names, or the JSON Schema itself where the notation
    cannot say all of it. The schema's own description, which is for readers of the schema, is left out, and so are the
    `unasked` members that no object requires: a prompt explains a member only where it asks for it."""
    return _declared(json.dumps(_without(schema, frozenset(unasked)), ensure_ascii=False))


def _without(schema: Any, unasked: Set[str]) -> Any:
    """The schema without these members of its objects, but for those that an object requires."""
    if isinstance(schema, list):
        return [_without(part, unasked) for part in schema]
    if not isinstance(schema, Mapping) or not unasked:
        return schema
    left_out = unasked - {*schema.get("required", ())} if isinstance(schema.get("properties"), Mapping) else set()
    parts = {name: _without(part, unasked) for name, part in schema.items()}
    if left_out:
        parts["properties"] = {name: part for name, part in parts["properties"].items() if name not in left_out}
    return parts


@lru_cache(maxsize=64)
def _declared(schema_text: str) -> str:
    schema = json.loads(schema_text)
    definitions = schema.get("$defs") or {}
    whole = {name: value for name, value in schema.items() if name != "description"}
    declared = {"answer": whole, **definitions}
    if "answer" in definitions or not all(map(_NAME.fullmatch, declared)):
        return schema_text
    try:
        return "\n".join(f"type {name} = {_type(part)}" for name, part in declared.items())
    except _NotSaid:
        return schema_text


def _type(schema: Any) -> str:
    """A type with its limits and its description as a comment."""
    if schema is True or schema == {}:
        return "any"
    if not isinstance(schema, Mapping):
        raise _NotSaid
    if unknown := schema.keys() - _SAID - _UNSAID - _LIMITS.keys() - {"description", "additionalProperties"}:
        raise _NotSaid(*unknown)
    if schema.get("additionalProperties") not in (None, False):
        raise _NotSaid
    notes = [schema["description"]] if schema.get("description") else []
    notes += [words.format(schema[name]) for name, words in _LIMITS.items() if name in schema and _bounds(schema, name)]
    comment = f" /* {'; '.join(notes).replace('*/', '* /')} */" if notes else ""
    return _bare(schema) + comment


def _bounds(schema: Mapping[str, Any], limit: str) -> bool:
    """Whether the limit says more than that a number counts from 0 or 1."""
    return limit != "minimum" or schema[limit] not in (0, 1) or "maximum" in schema


def _bare(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        reference = _REFERENCE.fullmatch(schema["$ref"])
        if reference is None:
            raise _NotSaid
        return reference[1]
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " | ".join(map(_type, schema[choice]))
    kinds = schema.get("type", "any")
    return " | ".join(_of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _is_union(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (
        bool({"enum", "anyOf", "oneOf"} & schema.keys()) or not isinstance(schema.get("type", ""), str)
    )


def _of_kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        items = schema.get("items", True)
        entry = _type(items)
        return f"({entry})[]" if entry.endswith("*/") or _is_union(items) else f"{entry}[]"
    if kind == "object" and "properties" in schema:
        required = schema.get("required", ())
        members = [
            f"{_member(name)}{'' if name in required else '?'}: {_type(part)}"
            for name, part in schema["properties"].items()
        ]
        return "{" + ", ".join(members) + "}"
    return kind


def _member(name: str) -> str:
    """The name of an object's member, in quotes only where it needs them."""
    return name if _NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)
