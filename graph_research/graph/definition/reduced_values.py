"""What a channel's reducer works on: the type of an operand, and of the value that it adds to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.definition.spec import ChannelSpec
from graph_research.graph.messages import show_value

_KINDS: Mapping[str, tuple[Any, str]] = {
    "append": (list, "an array"),
    "upsert": (list, "an array of objects with an id"),
    "merge": (Mapping, "an object"),
    "add": ((int, float), "a number"),
}


def is_reducible(spec: ChannelSpec, value: Any) -> bool:
    """Whether `value` is of the type that the channel's reducer works on; the entries of an array are not looked at."""
    kind = _KINDS[spec.reduce][0] if spec.reduce in _KINDS else object
    return value is None or (isinstance(value, kind) and (spec.reduce == "replace" or not isinstance(value, bool)))


def operand_misfit(spec: ChannelSpec, operand: Any) -> str:
    """Why the channel's reducer cannot take `operand`; empty where it can."""
    if not is_reducible(spec, operand):
        words = _KINDS[spec.reduce][1]
        return f"{spec.reduce} takes {words}, not {show_value(operand)}"
    if spec.reduce == "upsert":
        for entry in operand or ():
            if not isinstance(entry, Mapping) or not isinstance(entry.get("id"), (str, int)):
                return f'upsert takes objects with an "id", not {show_value(entry)}'
    return ""


def value_misfit(spec: ChannelSpec, value: Any) -> str:
    """Why the channel cannot hold `value` for its reducer to add to; empty where it can."""
    if (misfit := operand_misfit(spec, value)) or spec.reduce != "upsert":
        return misfit
    seen: set[str | int] = set()
    for entry in value or ():
        if entry["id"] in seen:
            return f"upsert takes one object for each id, not two of {show_value(entry['id'])}"
        seen.add(entry["id"])
    return ""
