"""A graph's definition as JSON, spelled out: defaults filled in, short forms long, places kept."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from graph_research.graph.spec import Expression, GraphSpec, Place

__all__ = ["render_json"]

_LEFT_OUT = ("text", "places", "file")


def render_json(spec: GraphSpec) -> str:
    """One JSON object with the names of `GraphSpec`; an expression is its text, a place `[line, column]`."""
    known = {field.name: getattr(spec, field.name) for field in fields(spec) if field.name not in _LEFT_OUT}
    return json.dumps(_plain(known), indent=2, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, Place):
        return [value.line, value.column]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name.rstrip("_"): _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
