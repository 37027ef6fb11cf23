"""Values to bytes and back: JSON with tags for what JSON lacks, and large texts kept apart under their SHA-256."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import orjson

__all__ = [
    "LARGE_CHARS",
    "Apart",
    "apart",
    "canonical",
    "decode",
    "duplicate",
    "encode",
    "plain",
    "references",
    "text_hash",
]

LARGE_CHARS = 2048
"""Texts of at least this many characters are stored once, by content, and referred to."""

_TAG = "$type"
_DOLLAR = b"$"
"""Looked for before `_MARK`, because one character is found many times faster."""
_MARK = b'$type"'
_TAG_KEY = re.compile(r"\$+type")
_APART = "apart"
_BY_ID = "by_id"
_APART_MARK = b'"$type":"apart"'
_REFERENCE = re.compile(rb'"\$type":"text","value":"([0-9a-f]{64})"')
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME
_INTEGER_BITS = 63


class Apart:
    """Stands for a list whose entries are kept as the texts with the hashes `names`, each the JSON of some of them.

    With `by_id` a later entry takes the place of an earlier one of the same `id`; there are `entries` in all texts.
    """

    __slots__ = ("by_id", "entries", "names")

    def __init__(self, names: Sequence[str], entries: int, *, by_id: bool = False) -> None:
        self.names = names
        self.entries = entries
        self.by_id = by_id


def encode(value: Any, texts: MutableMapping[str, str]) -> bytes:
    """`value` as bytes; each large text in it goes to `texts` under its hash (hex).

    Takes JSON values, datetime, date, time, Decimal, bytes, tuples (they become lists), dataclasses and pydantic models
    (they become objects). Raises `TypeError` for anything else and for keys that are no text.
    """
    data = _encode_plainly(value)
    return _encode_slowly(value, texts) if data is None or len(data) > LARGE_CHARS else data


def duplicate(value: Any) -> Any:
    """What `decode` gives for `value` encoded: a copy that shares nothing with it."""
    data = _encode_plainly(value)
    return decode(_encode_slowly(value, None) if data is None else data, {})


def decode(data: bytes, texts: Mapping[str, str]) -> Any:
    """What `encode` was given, with models as objects; `texts` holds every text that `references(data)` names."""
    value = orjson.loads(data)
    return _revive(value, texts) if _DOLLAR in data and _MARK in data else value


def references(data: bytes) -> set[str]:
    """The hashes (hex) of the texts that are kept apart from `data`."""
    return {found.decode() for found in _REFERENCE.findall(data)} if _DOLLAR in data and _MARK in data else set()


def apart(data: bytes) -> dict[str, Apart]:
    """For an encoded object, the keys whose value was an `Apart`. What its texts refer to in turn, `decode` needs
    too."""
    if _APART_MARK not in data:
        return {}
    value = orjson.loads(data)
    return {
        key: Apart([reference["value"] for reference in part["value"]], part.get("entries", 0), by_id=_BY_ID in part)
        for key, part in value.items()
        if isinstance(part, dict) and part.get(_TAG) == _APART
    }


def canonical(value: Any) -> bytes:
    """Bytes that are equal for equal values, whatever the order of their keys; for hashing, not for storing."""
    try:
        return orjson.dumps(value, default=_tagged, option=_OPTIONS | orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(_shape(value, None), default=_tagged, option=_OPTIONS | orjson.OPT_SORT_KEYS)


def plain(value: Any) -> Any:
    """`value` as JSON without tags (a datetime is its ISO text), the form that JSON Schemas speak of."""
    return orjson.loads(orjson.dumps(value, default=lambda other: _tagged(other)["value"]))


def text_hash(text: str) -> str:
    """The SHA-256 (hex) of the text's UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _encode_plainly(value: Any) -> bytes | None:
    """In one pass, or None where a key looks like our tag or a value needs a closer look."""
    try:
        data = orjson.dumps(value, default=_tagged, option=_OPTIONS)
    except TypeError:
        return None
    plain = _DOLLAR not in data or _MARK not in data
    return data if plain or data.count(_MARK) == _tags_in(value) else None


def _tags_in(value: Any) -> int:
    """How many values of `value` are tagged."""
    tags = 0

    def tag(other: Any) -> Any:
        nonlocal tags
        tags += 1
        return _tagged(other)

    orjson.dumps(value, default=tag, option=_OPTIONS)
    return tags


def _encode_slowly(value: Any, texts: MutableMapping[str, str] | None) -> bytes:
    return orjson.dumps(_shape(value, texts), default=_tagged, option=_OPTIONS)


def _shape(value: Any, texts: MutableMapping[str, str] | None) -> Any:
    """A copy with large texts, large numbers and keys that look like our tag replaced; `texts` None keeps texts."""
    if isinstance(value, str):
        if texts is None or len(value) < LARGE_CHARS:
            return value
        name = text_hash(value)
        texts[name] = value
        return _reference(name)
    if isinstance(value, Apart):
        names = [_reference(name) for name in value.names]
        return {_TAG: _APART, "value": names, "entries": value.entries, **({_BY_ID: True} if value.by_id else {})}
    if isinstance(value, Mapping):
        return {_escaped(key): _shape(part, texts) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shape(part, texts) for part in value]
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
        return {_TAG: "integer", "value": str(value)}
    if hasattr(value, "model_dump"):
        return _shape(value.model_dump(), texts)
    return value


def _reference(name: str) -> dict[str, str]:
    return {_TAG: "text", "value": name}


def _escaped(key: Any) -> Any:
    return f"${key}" if isinstance(key, str) and _TAG_KEY.fullmatch(key) else key


def _revive(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_revive(part, texts) for part in value]
    if not isinstance(value, dict):
        return value
    if _TAG not in value:
        return {
            key[1:] if key.endswith("type") and _TAG_KEY.fullmatch(key) else key: _revive(part, texts)
            for key, part in value.items()
        }
    if value[_TAG] == "text":
        return texts[value["value"]]
    if value[_TAG] == _APART:
        entries = [entry for part in value["value"] for entry in decode(texts[part["value"]].encode(), texts)]
        return list({entry["id"]: entry for entry in entries}.values()) if _BY_ID in value else entries
    return _READERS[value[_TAG]](value["value"])


def _tagged(value: Any) -> dict[str, str]:
    for kind, (name, write) in _WRITERS.items():
        if isinstance(value, kind):
            return {_TAG: name, "value": write(value)}
    raise TypeError(f"a {type(value).__name__} is no JSON value and cannot be stored")


_WRITERS: Mapping[type, tuple[str, Callable[[Any], str]]] = {
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
    Decimal: ("decimal", str),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode()),
}
"""datetime before date: it is one."""

_READERS: Mapping[str, Callable[[str], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "decimal": Decimal,
    "bytes": base64.b64decode,
    "integer": int,
}
