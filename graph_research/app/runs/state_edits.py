"""Edits of a stored state: `PATH=JSON` texts, where a path leads through objects and lists to one value, such as
`sub_queries.0.query` or, as expressions write it, `sub_queries[0].query`."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graph_research.errors import Action, Hint
from graph_research.graph.errors import InputInvalid
from graph_research.graph.values.json_text import read_json

_SET = Hint(Action.SET_OPTION, options={"assignments": ""})

_INDEX = re.compile(r"\[(\d+)\]")
_NAMED_KEYS = 12
_MOST_DEPTH = 100
"""Lists and objects inside of each other; a store takes 250, and a graph puts some around what it is given."""


def edited(state: Mapping[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """The channels that the assignments touch, with their new values. `InputInvalid` says what is wrong with which."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        path, value = read_assignment(assignment)
        channel, *keys = keys_of(path)
        if not keys:
            values[channel] = value
            continue
        values.setdefault(channel, copy.deepcopy(state.get(channel)))
        owner = at_path(values, [channel, *keys[:-1]])
        _assign(owner, keys[-1], value, path)
    return values


def values_of(assignments: Sequence[str]) -> dict[str, Any]:
    """Input channels from `PATH=JSON` texts; a dotted path sets a key inside of a channel's object."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        path, value = read_assignment(assignment)
        *outer, last = keys_of(path)
        owner = values
        for key in outer:
            owner = owner.setdefault(key, {})
            if not isinstance(owner, dict):
                raise InputInvalid(f"{path[:80]}: {key!r} is not an object", help="set the whole channel", hint=_SET)
        owner[last] = value
    return values


def read_assignment(assignment: str) -> tuple[str, Any]:
    """The path and the value of one `PATH=JSON` text. Raises `InputInvalid`."""
    path, equals, text = assignment.partition("=")
    if not equals or not path:
        raise InputInvalid(f"{assignment[:80]!r} is not PATH=JSON", help="such as n=5", hint=_SET)
    try:
        value = read_json(text)
    except orjson.JSONDecodeError as error:
        raise InputInvalid(
            f"{path[:80]}: {text[:80]!r} is not valid JSON: {error}",
            help=f'write text as {path}="text", quoted',
            hint=_SET,
        ) from error
    if _is_deeper(value, _MOST_DEPTH):
        raise InputInvalid(
            f"{path[:80]}: the value is nested deeper than {_MOST_DEPTH} levels", help="give a flatter one"
        )
    return path, value


def keys_of(path: str) -> list[str]:
    """The keys, indexes and ids that a path leads through."""
    return _INDEX.sub(r".\1", path).split(".")


def at_path(value: Any, keys: Sequence[str]) -> Any:
    """The value that a path leads to: keys of objects, indexes of lists, ids of objects in lists. `InputInvalid` where
    it leads nowhere."""
    for depth, key in enumerate(keys):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and (place := _place(value, key)) is not None:
            value = value[place]
        else:
            where = ".".join(keys[:depth]) or "the state"
            raise InputInvalid(f"{where[:80]} has no {key[:80]!r}", help=_choices(value))
    return value


def _is_deeper(value: Any, most: int) -> bool:
    layer = [value]
    for _ in range(most):
        inner = [part for part in layer if isinstance(part, (dict, list))]
        layer = [value for part in inner for value in (part.values() if isinstance(part, dict) else part)]
    return any(isinstance(value, (dict, list)) for value in layer)


def _assign(owner: Any, key: str, value: Any, path: str) -> None:
    if isinstance(owner, dict):
        owner[key] = value
    elif isinstance(owner, list) and (place := _place(owner, key)) is not None:
        owner[place] = value
    else:
        raise InputInvalid(f"{path[:80]}: there is nothing to set {key[:80]!r} in", help=_choices(owner))


def _place(entries: Sequence[Any], key: str) -> int | None:
    if key.isascii() and key.isdigit() and int(key) < len(entries):
        return int(key)
    found = (i for i, entry in enumerate(entries) if isinstance(entry, Mapping) and entry.get("id") == key)
    return next(found, None)


def _choices(value: Any) -> str:
    if isinstance(value, Mapping):
        more = f" and {len(value) - _NAMED_KEYS} more" if len(value) > _NAMED_KEYS else ""
        return f"it has {', '.join(map(str, list(value)[:_NAMED_KEYS]))}{more}" if value else "it is empty"
    if isinstance(value, list):
        return f"it is a list of {len(value)}; name a place from 0 or an id"
    return f"it is {str(value)[:40]!r}"
