"""Coerces an answer that nearly fits its schema, where only one value can have been meant."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.llm.json_answers import json_candidates

_DEEPEST = 12
_WHOLE = re.compile(r"-?\d{1,12}")


def wrapped_in(value: Any) -> list[Any]:
    """The objects that `value` may be a wrapping of: the one entry of a list, the one object below a single key."""
    if isinstance(value, list) and len(value) == 1:
        return [value[0]]
    if isinstance(value, Mapping) and len(value) == 1:
        [inner] = value.values()
        if isinstance(inner, str):
            return [candidate for candidate in json_candidates(inner) if isinstance(candidate, dict)]
        return [inner] if isinstance(inner, dict) else []
    return []


def coerced(value: Any, schema: Mapping[str, Any], *, root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """`value` with what only a schema can tell: keys and choices in another case or spelling, a number written as text,
    a single entry where a list is wanted, a bare list where the object has no other member, null where a member may be
    left out. What is not certain stays as it is.

    `schema` may refer into itself (`#/$defs/…`).
    """
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if depth > _DEEPEST:
        return value
    for choice in schema.get("anyOf") or schema.get("oneOf") or []:
        resolved = _resolved(choice, root)
        if _is_of(value, resolved.get("type")):
            return coerced(value, resolved, root=root, depth=depth + 1)
    if "enum" in schema:
        return _chosen(value, schema["enum"])
    types = schema.get("type")
    if _wants(types, "array") and not _wants(types, "object"):
        return _as_array(value, schema, root, depth)
    if _wants(types, "object") and not _wants(types, "array"):
        value = _as_only_member(value, schema, root)
    if isinstance(value, Mapping) and (_wants(types, "object") or "properties" in schema):
        return _as_object(value, schema, root, depth)
    return _as_scalar(value, types)


def without_misfits(
    value: Any, schema: Mapping[str, Any], left_out: list[str], *, root: Mapping[str, Any] | None = None
) -> Any:
    """`value` without the members that may be left out and are of another type, or another choice, than `schema` has
    for them; `value` is no deeper than what `coerced` goes into. Their names are added to `left_out`, each once."""
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if isinstance(value, list):
        return [without_misfits(item, schema.get("items") or {}, left_out, root=root) for item in value]
    if not isinstance(value, Mapping):
        return value
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    kept = {}
    for key, member in value.items():
        if key in required or _fits_roughly(member, _resolved(properties.get(key) or {}, root)):
            kept[key] = without_misfits(member, properties.get(key) or {}, left_out, root=root)
        elif key not in left_out:
            left_out.append(key)
    return kept


def _fits_roughly(value: Any, schema: Mapping[str, Any]) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    return "type" not in schema or _is_of(value, schema["type"])


def _as_array(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    items = schema.get("items") or {}
    if value is None:
        return [] if not _wants(schema.get("type"), "null") else None
    if isinstance(value, (Mapping, str)):
        if not value:
            return []
        if not _is_of(value, _resolved(items, root).get("type")):
            return value
        value = [value]
    if not isinstance(value, list):
        return value
    return [coerced(item, items, root=root, depth=depth + 1) for item in value]


def _as_only_member(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """A list whose entries are those of the one member that the object has, as that object."""
    properties = list((schema.get("properties") or {}).items())
    if not isinstance(value, list) or not value or len(properties) != 1:
        return value
    [(name, below)] = properties
    items = _resolved(_resolved(below, root).get("items"), root).get("type")
    return {name: value} if all(_is_of(entry, items) for entry in value) else value


def _as_object(value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or []
    named = _renamed(value, properties)
    result: dict[str, Any] = {}
    for key, given in named.items():
        below = properties.get(key)
        if below is None:
            result[key] = given
            continue
        member = coerced(given, below, root=root, depth=depth + 1)
        if member is None and key not in required and not _may_be_null(_resolved(below, root)):
            continue
        result[key] = member
    return result


def _renamed(value: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that differ from one property, and from only one, in case, blanks and signs alone take its name."""
    plain: dict[str, list[str]] = {}
    for name in properties:
        plain.setdefault(_plain(name), []).append(name)
    renamed: dict[str, Any] = {}
    for key, member in value.items():
        meant = plain.get(_plain(key), [])
        certain = key not in properties and len(meant) == 1 and meant[0] not in value and meant[0] not in renamed
        renamed[meant[0] if certain else key] = member
    return renamed


def _chosen(value: Any, choices: Sequence[Any]) -> Any:
    if value in choices or not isinstance(value, str):
        return value
    meant = [choice for choice in choices if isinstance(choice, str) and _plain(choice) == _plain(value)]
    return meant[0] if len(meant) == 1 else value


def _as_scalar(value: Any, types: Any) -> Any:
    if isinstance(value, str) and not _wants(types, "string"):
        text = value.strip()
        if (_wants(types, "integer") or _wants(types, "number")) and _WHOLE.fullmatch(text):
            return int(text)
        if _wants(types, "boolean") and text.casefold() in ("true", "false", "yes", "no"):
            return text.casefold() in ("true", "yes")
        if _wants(types, "null") and text.casefold() in ("null", "none", ""):
            return None
    if isinstance(value, float) and value.is_integer() and _wants(types, "integer") and not _wants(types, "number"):
        return int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and types == "string":
        return json.dumps(value)
    return value


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        found: Any = root
        for part in reference[2:].split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        schema = found
    return {}


def _may_be_null(schema: Mapping[str, Any]) -> bool:
    choices = [schema, *(schema.get("anyOf") or []), *(schema.get("oneOf") or [])]
    return any(_wants(choice.get("type"), "null") or None in (choice.get("enum") or []) for choice in choices)


def _wants(types: Any, name: str) -> bool:
    return name == types or (isinstance(types, list) and name in types)


def _is_of(value: Any, types: Any) -> bool:
    kinds: dict[str, type | tuple[type, ...]] = {
        "object": Mapping,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    names = types if isinstance(types, list) else [types]
    return any(isinstance(value, kinds[name]) for name in names if name in kinds)


def _plain(name: str) -> str:
    return "".join(character for character in name if character.isalnum()).casefold()
