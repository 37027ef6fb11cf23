"""Values to bytes and back: JSON with tags for what JSON lacks, and large texts kept apart under their SHA-256."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from enum import Enum
from typing import Any

import orjson

from graph_research.errors import GraphResearchError
from graph_research.graph.messages import type_name
from graph_research.graph.values.tags import READERS, TAG, WRITERS, tagged

LARGE_CHARS = 2048
"""Texts of at least this many characters are stored once, by content, and referred to."""

_DOLLAR = ord("$")
"""Looked for before `_MARK`, because one character is found many times faster, and a number before a text: `in` tries
to make a number of whatever it is given, and drops the error."""
_MARK = b'$type"'
_ESCAPED_MARK = b'$$type"'
_TAG_KEY = re.compile(r"\$+type")
_APART = "apart"
_BY_ID = "by_id"
_APART_MARK = b'"$type":"apart"'
_REFERENCE = re.compile(rb'"\$type":"text","value":"([0-9a-f]{64})"')
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_NULL = b"null"
_ESCAPED_QUOTE = b'\\"'
_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_LEAST_INTEGER, _MOST_INTEGER = -(2**63), 2**64 - 1
"""What orjson writes as a number, so that a value has the same bytes beside others that take the long way."""
_MOST_LEVELS = 254
"""As deep as orjson writes."""
_LEAVES = frozenset({int, bool, type(None)})
_NESTED = frozenset({dict, list})


class NotStorable(GraphResearchError, TypeError):
    """A value that is not JSON and has no tag; NaN and the infinities are such values, and never become null."""


class ChunkedList:
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

    Takes JSON values, datetime, date, time, timedelta, Decimal, bytes, tuples (they become lists), enums (they become
    their values), dataclasses and pydantic models (they become objects, the sets in them sorted lists). Raises
    `NotStorable` for anything else, for NaN and the infinities, and for keys that are not strings.
    """
    data = _encode_plainly(value)
    if data is None:
        return _encode_slowly(value, texts)
    if not (places := _large_texts(data)):
        return data
    return _with_large_apart(data, places, texts) if _is_untagged(data) else _encode_slowly(value, texts)


def encode_with_copy(value: Any, texts: MutableMapping[str, str]) -> tuple[bytes, Any]:
    """`encode`, with what `decode` gives for it: its large texts are those of `texts`."""
    try:
        data = orjson.dumps(value, default=tagged, option=_OPTIONS)
    except TypeError:
        data = b""
    if not data or not _is_untagged(data):
        data = encode(value, texts)
        return data, decode(data, texts)
    apart = _with_large_apart(data, places, texts) if (places := _large_texts(data)) else data
    copy = decode(apart, texts)
    if data.find(_NULL) >= 0:
        _refuse_infinite(value, copy)
    return apart, copy


def encode_each(parts: Mapping[str, Any], texts: MutableMapping[str, str]) -> bytes:
    """`encode` of an object, each of its values by itself, so that one which JSON has no form for does not make the
    others take the long way."""
    encoded = (orjson.dumps(_escaped(key)) + b":" + encode(part, texts) for key, part in parts.items())
    return b"{" + b",".join(encoded) + b"}"


def duplicate(value: Any) -> Any:
    """What `decode` gives for `value` encoded: a copy that shares nothing with it that can be changed."""
    if type(value) is dict and _is_flat(value):
        return value.copy()
    try:
        data = orjson.dumps(value, default=tagged, option=_OPTIONS)
    except TypeError:
        return decode(_encode_slowly(value, None), {})
    if not _is_untagged(data):
        data = _encode_plainly(value) or _encode_slowly(value, None)
        return decode(data, {})
    copy = orjson.loads(data)
    if data.find(_NULL) >= 0:
        _refuse_infinite(value, copy)
    return copy


def decode(data: bytes, texts: Mapping[str, str]) -> Any:
    """What `encode` was given, with models as objects; `texts` holds every text that `references(data)` names."""
    value = orjson.loads(data)
    if type(value) not in _NESTED or _is_untagged(data):
        return value
    return _revive(value, texts, has_escaped=_ESCAPED_MARK in data)


def references(data: bytes) -> set[str]:
    """The hashes (hex) of the texts that are kept apart from `data`."""
    return {match.decode() for match in _REFERENCE.findall(data)} if _DOLLAR in data and _MARK in data else set()


def chunked_lists(data: bytes) -> dict[str, ChunkedList]:
    """For an encoded object, the keys whose value was an `ChunkedList`. What its texts refer to in turn, `decode` needs
    too."""
    if _APART_MARK not in data:
        return {}
    value = orjson.loads(data)
    return {
        key: ChunkedList(
            [reference["value"] for reference in part["value"]], part.get("entries", 0), by_id=_BY_ID in part
        )
        for key, part in value.items()
        if isinstance(part, dict) and part.get(TAG) == _APART
    }


def canonical(value: Any) -> bytes:
    """Bytes that are equal for equal values, whatever the order of their keys; for hashing, not for storing."""
    try:
        return orjson.dumps(value, default=tagged, option=_OPTIONS | orjson.OPT_SORT_KEYS)
    except TypeError:
        return _encode_slowly(value, None, orjson.OPT_SORT_KEYS)


def without_tags(value: Any) -> Any:
    """`value` as JSON without tags (a datetime is its ISO text), the form that JSON Schemas speak of."""
    return orjson.loads(orjson.dumps(value, default=lambda other: tagged(other)["value"]))


def text_hash(text: str) -> str:
    """The SHA-256 (hex) of the text's UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def unstorable(value: Any, path: str = "", level: int = 0) -> str | None:
    """Where in `value` something cannot be stored and what it is, such as `NaN at /scores/0`; None if nothing is."""
    if value is None or isinstance(value, int):
        return None
    if level > _MOST_LEVELS:
        return f"more than {_MOST_LEVELS} levels"
    where = f" at {path}" if path else ""
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{_FLOATS.get(str(value), str(value))}{where}"
    if isinstance(value, Mapping):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            return f"the key {odd!r:.40} (not a string){where}"
        parts = list(value.items())
    elif isinstance(value, (list, tuple)):
        parts = [(str(index), part) for index, part in enumerate(value)]
    else:
        try:
            dumped = _dumped(value)
            if dumped is not value:
                return unstorable(dumped, path, level + 1)
            orjson.dumps(value, default=tagged, option=_OPTIONS)
        except TypeError:
            kind = "a string with an unpaired surrogate" if isinstance(value, str) else type_name(value)
            return None if isinstance(value, ChunkedList) else f"{kind}{where}"
        return None
    return next((place for key, part in parts if (place := unstorable(part, f"{path}/{key}", level + 1))), None)


def _is_flat(value: dict[Any, Any]) -> bool:
    """Whether it is an object of texts, whole numbers, flags and nulls, which all encodings leave as they are."""
    for key, part in value.items():
        kind = type(part)
        if type(key) is not str or not key.isascii() or not (part.isascii() if kind is str else kind in _LEAVES):
            return False
    return True


def _encode_plainly(value: Any) -> bytes | None:
    """In one pass, or None where a key looks like our tag or a value needs a closer look."""
    try:
        data = orjson.dumps(value, default=tagged, option=_OPTIONS)
    except TypeError:
        return None
    if data.find(_NULL) >= 0:
        _refuse_infinite(value, orjson.loads(data))
    return data if _is_untagged(data) or data.count(_MARK) == _tags_in(value) else None


def _is_untagged(data: bytes) -> bool:
    return _DOLLAR not in data or _MARK not in data


def _large_texts(data: bytes) -> list[tuple[int, int]]:
    """Where the texts of the JSON `data` stand that could be large ones, quotes included."""
    if len(data) <= LARGE_CHARS:
        return []
    plain = _without_escaped_quotes(data)
    places = []
    counted = quotes = 0
    for start, end in _large_stretches(plain):
        quotes += plain.count(b'"', counted, start)
        counted = start
        if quotes % 2 == 0:
            places.append((start, end))
    return places


def _large_stretches(data: bytes) -> Iterator[tuple[int, int]]:
    """From a quote to the next one, where this is far: a large text, or much between two texts."""
    at = data.find(b'"')
    while at >= 0:
        far = at + 1 + LARGE_CHARS
        if (last := data.rfind(b'"', at + 1, far)) < 0:
            last = data.find(b'"', far)
            if last >= 0:
                yield at, last + 1
        at = last


def _without_escaped_quotes(data: bytes) -> bytes:
    """The JSON `data`, as long as before, with blanks in place of the quotes within its texts."""
    return data.replace(rb"\\", b"  ").replace(_ESCAPED_QUOTE, b"  ") if data.find(_ESCAPED_QUOTE) >= 0 else data


def _with_large_apart(data: bytes, places: Iterable[tuple[int, int]], texts: MutableMapping[str, str]) -> bytes:
    """The untagged JSON `data` with each large text at one of `places` that is a value, not a key, replaced."""
    kept: list[bytes] = []
    written = 0
    for start, end in places:
        if data[end : end + 1] != b":":
            text = orjson.loads(data[start:end])
            if len(text) >= LARGE_CHARS:
                name = text_hash(text)
                texts[name] = text
                kept += [data[written:start], orjson.dumps(_reference(name))]
                written = end
    return b"".join([*kept, data[written:]])


def _refuse_infinite(value: Any, written: Any) -> None:
    """orjson writes NaN and the infinities as null, so that what it wrote (`written`) is another value then. A value
    that never reads as itself, such as a tuple, has json look at it."""
    if written == value:
        return
    try:
        json.dumps(value, allow_nan=False, default=lambda _: None)
    except ValueError:
        raise _not_storable(value) from None


def _not_storable(value: Any) -> NotStorable:
    what = unstorable(value) or type_name(value)
    return NotStorable(
        f"{what} cannot be stored: it is not a JSON value", help="give a string, a number or null instead"
    )


def _tags_in(value: Any) -> int:
    """How many values of `value` are tagged."""
    tags = 0

    def tag(other: Any) -> Any:
        nonlocal tags
        tags += 1
        return tagged(other)

    orjson.dumps(value, default=tag, option=_OPTIONS)
    return tags


def _encode_slowly(value: Any, texts: MutableMapping[str, str] | None, more_options: int = 0) -> bytes:
    try:
        return orjson.dumps(_shape(value, texts), default=tagged, option=_OPTIONS | more_options)
    except NotStorable:
        raise
    except (TypeError, RecursionError) as problem:
        raise _not_storable(value) from problem


def _shape(value: Any, texts: MutableMapping[str, str] | None) -> Any:
    """A copy with large texts, large numbers and keys that look like our tag replaced; `texts` None keeps texts."""
    if isinstance(value, str):
        if texts is None or len(value) < LARGE_CHARS:
            return value
        name = text_hash(value)
        texts[name] = value
        return _reference(name)
    if value is None or isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return [_shape(part, texts) for part in value]
    if isinstance(value, ChunkedList):
        names = [_reference(name) for name in value.names]
        return {TAG: _APART, "value": names, "entries": value.entries, **({_BY_ID: True} if value.by_id else {})}
    if isinstance(value, (dict, Mapping)):
        return {
            _escaped(key): part if type(part) is str and len(part) < LARGE_CHARS else _shape(part, texts)
            for key, part in value.items()
        }
    dumped = _dumped(value)
    return value if dumped is value else _shape(dumped, texts)


def _number(value: Any) -> Any:
    if isinstance(value, int) and not _LEAST_INTEGER <= value <= _MOST_INTEGER:
        return {TAG: "integer", "value": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError
    return value


def _dumped(value: Any) -> Any:
    """The plain form of a model or dataclass, of which it can be made again; anything else as it is."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        names = type(value).model_fields
        parts = {**{name: getattr(value, name) for name in names}, **(value.model_extra or {})}
        return to_jsonable(parts["root"] if names.keys() == {"root"} else parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: to_jsonable(getattr(value, name)) for name in fields}
    return value


def to_jsonable(value: Any) -> Any:
    """A part of a model or dataclass with sets as sorted lists, keys as texts, and leaves that JSON knows as such."""
    if isinstance(value, Mapping):
        return {_key_text(key): to_jsonable(part) for key, part in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(to_jsonable, value), key=canonical)
    if isinstance(value, (list, tuple)):
        return [to_jsonable(part) for part in value]
    if isinstance(value, Enum):
        return to_jsonable(value.value)
    if value is None or isinstance(value, (str, int, float, *WRITERS)):
        return value
    if hasattr(value, "get_secret_value"):
        raise NotStorable(f"a {type(value).__name__} is never stored", help="keep secrets in the environment")
    dumped = _dumped(value)
    return _json_text(value) if dumped is value else dumped


def _key_text(key: Any) -> str:
    key = key.value if isinstance(key, Enum) else key
    return key if isinstance(key, str) else str(_json_text(key))


def _json_text(value: Any) -> Any:
    """What JSON has for a UUID, a path, an address and the like."""
    from pydantic_core import to_jsonable_python  # only pydantic models have such parts, so that it is loaded already

    try:
        return to_jsonable_python(value)
    except ValueError as problem:
        raise TypeError from problem


def _reference(name: str) -> dict[str, str]:
    return {TAG: "text", "value": name}


def _escaped(key: Any) -> Any:
    return f"${key}" if isinstance(key, str) and key.endswith("type") and _TAG_KEY.fullmatch(key) else key


def _revive(value: Any, texts: Mapping[str, str], *, has_escaped: bool) -> Any:
    """What the dict or list stands for, which comes from orjson, so that exact type checks suffice, and is changed;
    `has_escaped` tells whether there may be keys that looked like our tag."""
    if type(value) is list:
        for place, part in enumerate(value):
            if type(part) in _NESTED:
                value[place] = _revive(part, texts, has_escaped=has_escaped)
        return value
    if TAG not in value:
        for key, part in value.items():
            if type(part) in _NESTED:
                value[key] = _revive(part, texts, has_escaped=has_escaped)
        return {_unescaped(key): part for key, part in value.items()} if has_escaped else value
    if value[TAG] == "text":
        return texts[value["value"]]
    if value[TAG] == _APART:
        entries = [entry for part in value["value"] for entry in decode(texts[part["value"]].encode(), texts)]
        return list({entry["id"]: entry for entry in entries}.values()) if _BY_ID in value else entries
    return READERS[value[TAG]](value["value"])


def _unescaped(key: str) -> str:
    return key[1:] if key.endswith("type") and _TAG_KEY.fullmatch(key) else key
