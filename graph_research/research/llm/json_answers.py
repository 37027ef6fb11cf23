"""The JSON in a model's reply, whatever prose, fences and thoughts stand around it, and however carelessly written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from graph_research.research.llm.json_repair import LenientReader

_MOST_CHARS = 2_000_000
_MOST_STARTS = 200
_MOST_LENIENT_STARTS = 8
_FENCED = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHTS = ("think", "thinking", "thought", "reasoning", "reflection")
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*[}\]])', re.DOTALL)
_OPENING = re.compile(r"[{\[]")


def json_candidates(text: str, *, closed: bool = False) -> Iterator[Any]:
    """Every object or array that `text` may mean as its answer, the likeliest first.

    What a reasoning model thought aloud (`<think>…</think>`) counts only where nothing stands outside of it. Commas
    before a closing bracket are forgiven; then come readings with repaired quotes, names and endings. What stands
    inside an object that does not end is a piece of an answer, never one by itself. With `closed` only what ends
    counts, however carelessly it is written. `NaN` and `Infinity` are not JSON.
    """
    text = text[:_MOST_CHARS].strip().removeprefix("\ufeff")
    seen: list[Any] = []
    for part in dict.fromkeys((_without_thoughts(text), text)):
        for read in (_strict, partial(_lenient, closed=closed)):
            for value in read(part):
                if value not in seen:
                    seen.append(value)
                    yield value
        if seen:
            return


def _without_thoughts(text: str) -> str:
    """The text outside of thinking marks; a mark that only closes ends a thought that began with the reply."""
    for mark in _THOUGHTS:
        opening, closing = f"<{mark}>", f"</{mark}>"
        if closing in text:
            text = text.rpartition(closing)[2] if opening not in text else _outside(text, opening, closing)
        elif text.startswith(opening):
            text = text.removeprefix(opening)
    return text.strip()


def _outside(text: str, opening: str, closing: str) -> str:
    parts = []
    while opening in text:
        before, _, rest = text.partition(opening)
        parts.append(before.rpartition(closing)[2])
        _, closed, text = rest.partition(closing)
        if not closed:
            return "".join(parts)
    return "".join([*parts, text])


def _strict(text: str) -> list[Any]:
    whole = _decoded(text)
    if whole is not None and text.startswith(("{", "[")):
        return [whole]  # nothing stands around it
    fenced = sorted((block.strip() for block in _FENCED.findall(text)), key=len, reverse=True)
    found = [value for value in (whole, *map(_decoded, fenced)) if value is not None]
    embedded = sorted(_embedded(text), key=lambda pair: pair[0], reverse=True)
    return found + [value for _, value in embedded if value not in found]


def _lenient(text: str, *, closed: bool) -> list[Any]:
    """What can be read of carelessly written JSON, with `closed` of what ends: of the fenced blocks, then of the text,
    longest first."""
    found: list[tuple[int, Any]] = []
    for part in dict.fromkeys((*(block.strip() for block in _FENCED.findall(text)[:_MOST_LENIENT_STARTS]), text)):
        position = 0
        for _ in range(_MOST_LENIENT_STARTS):
            start = _OPENING.search(part, position)
            if start is None:
                break
            reader = LenientReader(part, start.start())
            value, end = reader.value()
            if closed and reader.broken_off:
                break
            if value:
                found.append((end - start.start(), value))
            position = max(end, start.start() + 1) if value else start.start() + 1
    return [value for _, value in sorted(found, key=lambda pair: pair[0], reverse=True)]


def _decoded(text: str) -> Any:
    for is_written_so in (True, False):
        candidate = text if is_written_so else _STRING_OR_TRAILING_COMMA.sub(lambda match: match[1] or "", text)
        try:
            value = json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, str) and is_written_so:
            return _decoded(value)  # JSON that was written as a text
        if isinstance(value, (dict, list)):
            return value
    return None


def _embedded(text: str) -> list[tuple[int, Any]]:
    """Each outermost object or array in prose, with its length, up to the first bracket that opens and does not read
    as JSON: what comes after that may be a piece of it."""
    cleaned = _STRING_OR_TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    decoder = json.JSONDecoder(parse_constant=_refuse)
    found: list[tuple[int, Any]] = []
    position = 0
    for _ in range(_MOST_STARTS):
        start = _OPENING.search(cleaned, position)
        if start is None:
            break
        try:
            value, position = decoder.raw_decode(cleaned, start.start())
        except (ValueError, RecursionError):
            break
        if value:
            found.append((position - start.start(), value))
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
