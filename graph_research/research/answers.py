"""The JSON in a model's reply, whatever prose and fences stand around it."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["NoJson", "extract_json"]

_MOST_CHARS = 2_000_000
_MOST_STARTS = 200
_FENCED = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*[}\]])', re.DOTALL)


class NoJson(ValueError):
    """A reply without a JSON object or array in it."""


def extract_json(text: str) -> Any:
    """The object or array in `text`: the whole of it, else a fenced block's, else the longest that stands in the prose.

    Commas before a closing bracket are forgiven, `NaN` and `Infinity` are not. Raises `NoJson`.
    """
    text = text[:_MOST_CHARS].strip().removeprefix("\ufeff")
    for candidate in (text, *(block.strip() for block in _FENCED.findall(text))):
        found = _decoded(candidate)
        if found is not None:
            return found
    longest = max(_embedded(text), key=lambda pair: pair[0], default=None)
    if longest is None:
        raise NoJson("the reply holds no JSON object or array")
    return longest[1]


def _decoded(text: str) -> Any:
    for candidate in (text, _STRING_OR_TRAILING_COMMA.sub(lambda match: match[1] or "", text)):
        try:
            value = json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, (dict, list)):
            return value
    return None


def _embedded(text: str) -> list[tuple[int, Any]]:
    """Each outermost object or array in prose, with its length."""
    cleaned = _STRING_OR_TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    decoder = json.JSONDecoder(parse_constant=_refuse)
    found: list[tuple[int, Any]] = []
    position = 0
    for _ in range(_MOST_STARTS):
        start = re.compile(r"[{\[]").search(cleaned, position)
        if start is None:
            break
        try:
            value, position = decoder.raw_decode(cleaned, start.start())
        except (ValueError, RecursionError):
            position = start.start() + 1
            continue
        if value:
            found.append((position - start.start(), value))
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
