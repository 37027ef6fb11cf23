"""A graph's definition as JSON, spelled out: defaults filled in, short forms long, places kept."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from graph_research.graph.export.picture import Overlay, Picture
from graph_research.graph.source import Expression, Place

_LEFT_OUT = ("text", "places", "file", "channels_known")


def render_json(picture: Picture) -> str:
    """One JSON object with the names of `GraphSpec`; an expression is its text, a place `[line, column]`.

    `subgraphs` has the same by node; with a run, `run` has `{nodes, taken, facts}` of each: tallies by node, and by an
    edge's index how often it was taken.
    """
    return json.dumps(_picture(picture), indent=2, ensure_ascii=False) + "\n"


def _picture(picture: Picture) -> dict[str, Any]:
    spec = picture.spec
    values = {field.name: _plain(getattr(spec, field.name)) for field in fields(spec) if field.name not in _LEFT_OUT}
    if picture.inner:
        values["subgraphs"] = {name: _picture(inner) for name, inner in picture.inner.items()}
    if picture.overlay is not None:
        values["run"] = _run(picture.overlay)
    return values


def _run(overlay: Overlay) -> dict[str, Any]:
    return {"nodes": _plain(overlay.nodes), "taken": _plain(overlay.taken), "facts": _plain(overlay.facts)}


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
