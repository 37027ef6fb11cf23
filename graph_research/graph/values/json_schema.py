"""JSON Schemas of handoffs, outputs and channels: compiled once, with no access to files or network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.messages import show_value
from graph_research.graph.registry import Resolver
from graph_research.graph.values.codec import without_tags

_BASE = "schema:///"
_MOST_SHOWN = 3
_MOST_PARSED = 64


class SchemaInvalid(ValueError):
    """An invalid JSON Schema, or one that refers to a schema that the resolver does not have."""


class Contract:
    """A compiled JSON Schema (2020-12).

    `what` has the `name`: a schema, or a channel of this type. `properties` and `required` are those of the schema's
    top level, `referred` holds the schemas it refers to, by name. `$ref` may point into the schema itself or name
    another of the resolver's schemas (`evidence` or `evidence.json`); nothing is ever read from a file or a server.
    Raises `SchemaInvalid` when the schema cannot be compiled.
    """

    def __init__(
        self, schema: Mapping[str, Any], name: str, resolver: Resolver | None = None, *, what: str = "schema"
    ) -> None:
        self.name = name
        self.what = what
        self.schema = schema
        properties, required = schema.get("properties"), schema.get("required")
        self.properties: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
        self.referred: dict[str, Any] = {}
        self.required: frozenset[str] = frozenset(required if isinstance(required, list) else ())
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                _anonymous(schema),
                retriever=_retriever(resolver, self.referred),
                base_uri=_BASE,
                pattern_options=_PATTERNS,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as problem:
            raise SchemaInvalid(_reason(problem)) from problem
        self.fits: Callable[[Any], bool] = self._validator.is_valid
        """Whether a value fits."""

    def check(self, value: Any, node: str) -> None:
        """Raise `HandoffInvalid` if `value` does not fit, naming up to three misfits. Datetimes and other typed values
        count as their JSON texts."""
        if not (problems := self._problems(value)):
            return
        first = problems[0]
        lines = [f"{pointer(problem.instance_path) or 'it'}: {_reason(problem)}" for problem in problems]
        raise HandoffInvalid(
            f'node "{node}": the value does not fit {self.what} "{self.name}": {_joined(lines)}',
            node=node,
            schema=self.name,
            path=pointer(first.instance_path),
            value=first.instance,
        )

    def misfits(self, value: Any, *, is_partial: bool = False) -> str:
        """Up to three reasons why `value` does not fit, as `check` has them, without the names; empty where it fits.
        Where only parts of a value are known, it `is_partial`: a property that it lacks is no misfit."""
        problems = self._problems(value, is_partial=is_partial)
        return _joined([": ".join(filter(None, (pointer(each.instance_path), _reason(each)))) for each in problems])

    def _problems(self, value: Any, *, is_partial: bool = False) -> list[jsonschema_rs.ValidationError]:
        try:
            if self.fits(value):
                return []
        except ValueError:
            value = without_tags(value)
        errors = self._validator.iter_errors(value)
        if is_partial:
            errors = (
                error for error in errors if not isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required)
            )
        return list(islice(errors, _MOST_SHOWN + 1))


def _joined(reasons: list[str]) -> str:
    return "; ".join([*reasons[:_MOST_SHOWN], *(["and more"] if len(reasons) > _MOST_SHOWN else [])])


def pointer(path: list[str | int]) -> str:
    """The JSON Pointer (RFC 6901) of a path; empty for the whole value."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


_PATTERNS = jsonschema_rs.RegexOptions(size_limit=1_000_000)
"""The linear-time engine: a schema's pattern cannot be made to run for ever."""


def _retriever(resolver: Resolver | None, referred: dict[str, Any]) -> Callable[[str], Any]:
    def retrieve(uri: str) -> Any:
        name = uri.rpartition("/")[2].removesuffix(".json")
        resource = resolver.find(name) if resolver and uri.startswith(_BASE) else None
        if resource is None:
            raise ValueError(f'"{uri.removeprefix(_BASE)}" is not one of our schemas')
        referred[name] = _anonymous(_parsed(resource[0]))
        return referred[name]

    return retrieve


@lru_cache(maxsize=_MOST_PARSED)
def _parsed(text: str) -> Any:
    """A schema, which nobody changes: most contracts of a graph refer to the same few."""
    return json.loads(text)


def _anonymous(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without `$id`, so that a `$ref` by bare name means one of our schemas wherever the schema says it lives."""
    return {key: value for key, value in schema.items() if key != "$id"}


def _reason(problem: Exception) -> str:
    """The first line of jsonschema-rs' message, with a long value cut."""
    kind = getattr(problem, "kind", None)
    message = str(getattr(problem, "message", problem)).partition("\n")[0]
    message = message.partition("retrieving it failed: ValueError: ")[2] or message
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Type):
        return f"{show_value(getattr(problem, 'instance', None))} is not of type {' or '.join(kind.types)}"
    return message if len(message) <= 300 else message[:200] + " … " + message[-99:]
