"""Named Python types of channels: values are checked against them, stored as JSON, and built from it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graph_research.errors import UserMistake
from graph_research.graph.values.codec import duplicate, to_jsonable

JSON_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
KEYWORD = "python"
"""The keyword of a JSON Schema that names the type of a value."""

_FAILURES = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)


class TypeInvalid(UserMistake):
    """What is registered as a type cannot be one."""


class Misfit(ValueError):
    """A value is not of its type. `path` is the JSON Pointer of the part at fault, `kind` the type's name."""

    def __init__(self, kind: str, path: str, reason: str) -> None:
        super().__init__(f"it is not a {kind}: {path or 'it'}: {reason}")
        self.kind = kind
        self.path = path


@dataclass(frozen=True, kw_only=True)
class NamedType:
    """A pydantic model, dataclass, enum or anything else that pydantic can check. `adapter` is its `TypeAdapter`."""

    name: str
    adapter: Any

    @classmethod
    def of(cls, name: str, kind: Any) -> NamedType:
        """Raises `TypeInvalid` where the name or the type cannot be used."""
        from pydantic import TypeAdapter  # only a program that registers a type pays for it
        from pydantic.errors import PydanticUserError

        if not name.isidentifier() or name in JSON_TYPES:
            raise TypeInvalid(f'"{name[:80]}" cannot name a type', help="use a name such as Claim")
        try:
            return cls(name=name, adapter=TypeAdapter(kind))
        except PydanticUserError as problem:
            reason = str(problem).partition("\n")[0]
            raise TypeInvalid(
                f'type "{name}" cannot be used: {reason}', help="register a model or dataclass"
            ) from problem

    def from_stored(self, value: Any, path: str = "") -> Any:
        """The value of this type that is stored as the JSON `value`. Raises `Misfit`."""
        try:
            return self.adapter.validate_python(value, strict=False, by_alias=True, by_name=True)
        except _FAILURES as problem:
            raise self._misfit(problem, path) from problem

    def to_stored(self, value: Any, path: str = "") -> Any:
        """`value` as JSON with every key, from which `from_stored` builds an equal one. Raises `Misfit`."""
        built = self.from_stored(value, path)
        try:
            return duplicate(to_jsonable(built))
        except _FAILURES as problem:
            raise self._misfit(problem, path) from problem

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the stored form; empty where there is none."""
        from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

        try:
            schema: Mapping[str, Any] = self.adapter.json_schema(by_alias=False)
        except (PydanticInvalidForJsonSchema, PydanticUserError):
            return {}
        return schema

    def _misfit(self, problem: Exception, path: str) -> Misfit:
        errors = getattr(problem, "errors", None)
        if errors is None:
            return Misfit(self.name, path, str(problem) or type(problem).__name__)
        first = errors(include_url=False)[0]
        return Misfit(self.name, path + "".join(f"/{part}" for part in first["loc"]), first["msg"])


@dataclass(frozen=True, kw_only=True)
class Typed:
    """Which parts of a value are of a named type: itself, its items, all its entries, or its entries by key."""

    kind: NamedType | None = None
    items: Typed | None = None
    entries: Typed | None = None
    fields: Mapping[str, Typed] = field(default_factory=dict)

    def from_stored(self, value: Any) -> Any:
        """`value` with the parts that have a type built from their JSON; null stays null. Raises `Misfit`."""
        return self._map(value, "", stored=False)

    def to_stored(self, value: Any, path: str = "") -> Any:
        """`value` with these parts as the JSON that is stored. Raises `Misfit`."""
        return self._map(value, path, stored=True)

    def _map(self, value: Any, path: str, *, stored: bool) -> Any:
        if value is None:
            return None
        if self.kind is not None:
            return self.kind.to_stored(value, path) if stored else self.kind.from_stored(value, path)
        if self.items is not None and isinstance(value, list):
            return [self.items._map(part, f"{path}/{index}", stored=stored) for index, part in enumerate(value)]
        if isinstance(value, Mapping):
            return {
                key: typed_part._map(part, f"{path}/{key}", stored=stored)
                if (typed_part := self.fields.get(key, self.entries))
                else part
                for key, part in value.items()
            }
        return value


def named_types(types: Mapping[str, Any]) -> dict[str, NamedType]:
    """The registered types by name. Raises `TypeInvalid`."""
    return {name: kind if isinstance(kind, NamedType) else NamedType.of(name, kind) for name, kind in types.items()}


def typed(schema: Any, types: Mapping[str, NamedType]) -> Typed | None:
    """Which parts of the values of a JSON Schema have a type, by its keyword `python`; None if none has."""
    if not isinstance(schema, Mapping):
        return None
    name = schema.get(KEYWORD)
    if isinstance(name, str) and name in types:
        return Typed(kind=types[name])
    properties = schema.get("properties")
    typed_fields = (
        {key: typed(part, types) for key, part in properties.items()} if isinstance(properties, Mapping) else {}
    )
    fields = {key: part for key, part in typed_fields.items() if part is not None}
    items, entries = typed(schema.get("items"), types), typed(schema.get("additionalProperties"), types)
    return Typed(items=items, entries=entries, fields=fields) if items or entries or fields else None


def type_names(schema: Any) -> Iterator[str]:
    """The types that a JSON Schema names."""
    if not isinstance(schema, Mapping):
        return
    if isinstance(name := schema.get(KEYWORD), str):
        yield name
    properties = schema.get("properties")
    parts = list(properties.values()) if isinstance(properties, Mapping) else []
    for part in (*parts, schema.get("items"), schema.get("additionalProperties")):
        yield from type_names(part)


def described(schema: Mapping[str, Any], types: Mapping[str, NamedType]) -> Mapping[str, Any]:
    """A channel's schema with what is known of the types that it, or its items, name."""
    for part, within in ((schema, False), (schema.get("items"), True)):
        name = part.get(KEYWORD) if isinstance(part, Mapping) else None
        if part is not None and isinstance(name, str) and name in types:
            known = {**types[name].schema, **part}
            return {**schema, "items": known, "$defs": known.get("$defs", {})} if within else known
    return schema


def schema_of(tree: ast.expr, scope: Mapping[str, Any]) -> Any:
    """The JSON Schema of an expression that hands on whole values of `scope` (name to schema), their items or entries;
    None for any that makes something new."""
    match tree:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(value=inner, attr=key):
            return _entry(schema_of(inner, scope), key)
        case ast.Subscript(value=inner, slice=ast.Slice()):
            return schema_of(inner, scope)
        case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
            return _entry(schema_of(inner, scope), key)
        case ast.Subscript(value=inner):
            source_schema = schema_of(inner, scope)
            return (
                source_schema.get("items") or source_schema.get("additionalProperties")
                if isinstance(source_schema, Mapping)
                else None
            )
        case ast.IfExp(body=body, orelse=other):
            return _common([schema_of(part, scope) for part in (body, other) if not _is_null(part)])
        case ast.BoolOp(values=values):
            return _common([schema_of(part, scope) for part in values if not _is_null(part)])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _common([schema_of(left, scope), schema_of(right, scope)])
        case ast.List(elts=[*parts]) if parts:
            return _list_of(_common([schema_of(part, scope) for part in parts]))
        case ast.ListComp(elt=part, generators=[ast.comprehension(target=ast.Name(id=name), iter=source)]):
            source_schema = schema_of(source, scope)
            return _list_of(
                schema_of(
                    part, {**scope, name: source_schema.get("items") if isinstance(source_schema, Mapping) else None}
                )
            )
    return None


def _entry(schema: Any, key: str) -> Any:
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    return properties.get(key) if isinstance(properties, Mapping) else schema.get("additionalProperties")


def _common(schemas: list[Any]) -> Any:
    return schemas[0] if schemas and all(schema == schemas[0] for schema in schemas) else None


def _list_of(schema: Any) -> Any:
    return None if schema is None else {"type": "array", "items": schema}


def _is_null(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and tree.value is None
