"""Values survive the store as they were: types that JSON lacks, keys that look like tags, large texts kept once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from graph_research.graph.values.codec import (
    LARGE_CHARS,
    NotStorable,
    canonical,
    decode,
    duplicate,
    encode,
    encode_each,
    encode_with_copy,
    references,
    text_hash,
    without_tags,
)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(fold=0))
    | st.dates()
    | st.times().map(lambda moment: moment.replace(fold=0))
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.binary()
    | st.just("é" * LARGE_CHARS)
)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(
    ["$type", "$$type", "type", "value"]
)
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=12)


@given(values)
def test_every_value_comes_back_equal_and_of_the_same_types(value: Any) -> None:
    texts: dict[str, str] = {}
    data = encode(value, texts)
    assert references(data) == set(texts)
    back = decode(data, texts)
    assert back == value
    assert repr(back) == repr(value)
    assert encode(back, {}) == data
    assert duplicate(value) == value


@given(st.dictionaries(keys, values))
@example({"n": [2**63], "$type": None})
@example({"n": [-(2**63)], "$type": None})
@example({"n": [2**64, -(2**63) - 1], "$type": None})
def test_an_object_whose_values_are_encoded_one_by_one_has_the_same_bytes_and_texts(value: dict[str, Any]) -> None:
    whole: dict[str, str] = {}
    each: dict[str, str] = {}
    assert encode_each(value, each) == encode(value, whole)
    assert each == whole


@given(values)
def test_a_value_encoded_with_its_copy_has_the_same_bytes_and_texts_and_the_copy_is_what_they_decode_to(
    value: Any,
) -> None:
    alone: dict[str, str] = {}
    beside: dict[str, str] = {}
    data, copy = encode_with_copy(value, beside)
    assert (data, beside) == (encode(value, alone), alone)
    assert repr(copy) == repr(decode(data, beside))


@given(values)
def test_a_canonical_form_does_not_depend_on_the_order_of_keys(value: Any) -> None:
    assert canonical({"a": value, "b": 1}) == canonical({"b": 1, "a": value})


def test_a_large_text_is_kept_apart_once_under_its_hash() -> None:
    text = "word " * 1000
    texts: dict[str, str] = {}
    data = encode({"a": text, "b": [text, text[: LARGE_CHARS - 1]]}, texts)
    assert texts == {text_hash(text): text}
    assert len(data) < LARGE_CHARS + 300
    assert decode(data, texts)["b"][0] == text


@pytest.mark.parametrize("beside", [1, date(2026, 1, 2), {"$type": "data"}])
def test_large_texts_are_kept_apart_wherever_they_stand_and_large_keys_are_not(beside: Any) -> None:
    first, last, key = 'é\\"' * 1000, "a: [b], " * 300, 'k"' * 2000
    value = {"of": [first, {key: last, "at": beside}], key: {"short": "s", "last": last}, "": ["", '"', "\\"]}
    texts: dict[str, str] = {}
    data = encode(value, texts)
    assert decode(data, texts) == value
    assert texts == {text_hash(first): first, text_hash(last): last}
    assert references(data) == texts.keys()


def test_data_that_imitates_a_reference_is_data() -> None:
    value = {"$type": "text", "value": "0" * 64}
    assert references(encode(value, {})) == set()
    assert decode(encode(value, {}), {}) == value


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 1, 2, 3, 4, 5, 6, timezone(timedelta(hours=2))),
        date(2026, 1, 2),
        time(3, 4),
        timedelta(days=-2, microseconds=7),
        timedelta.min,
        timedelta.max,
        Decimal("1.10"),
        b"\x00\xff",
        2**80,
    ],
)
def test_a_type_that_json_lacks_is_tagged(value: Any) -> None:
    assert decode(encode([value], {}), {}) == [value]
    assert "$type" in orjson.loads(encode([value], {}))[0]


class Colour(Enum):
    RED = "red"


class Thing(BaseModel):
    when: date
    inner: dict[str, Colour]


@dataclass
class Pair:
    left: int
    right: tuple[int, ...]


class Roomy(BaseModel):
    tags: set[str]
    by_colour: dict[Colour, int]
    by_number: dict[int, str]
    id: UUID
    file: Path


class Secretive(BaseModel):
    key: SecretStr


def test_models_become_objects_and_enums_their_values() -> None:
    thing = Thing(when=date(2026, 1, 2), inner={"a": Colour.RED})
    assert duplicate({"thing": thing, "pair": Pair(1, (2, 3))}) == {
        "thing": {"when": date(2026, 1, 2), "inner": {"a": "red"}},
        "pair": {"left": 1, "right": [2, 3]},
    }


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({1, 2}, "a set cannot"),
        ([{"a": object()}], "an object at /0/a cannot"),
        ({"b": {1: 2}}, "the key 1 (not a string) at /b cannot"),
        (lambda: 1, "a function cannot"),
        (nested(300), "more than 254 levels cannot"),
        (nested(100_000), "more than 254 levels cannot"),
        (endless(), "more than 254 levels cannot"),
        ({"scores": [1.0, math.nan], "none": None}, "NaN at /scores/1 cannot"),
        (math.inf, "Infinity cannot"),
        ([-math.inf, 2**80], "-Infinity at /0 cannot"),
        ({"x": "y" * 5000, "deep": [{"n": math.nan}]}, "NaN at /deep/0/n cannot"),
        (Pair(math.nan, ()), "NaN at /left cannot"),
        ([Secretive(key=SecretStr("k"))], "a SecretStr is never stored"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_place(value: Any, words: str) -> None:
    for refusing in (duplicate, lambda value: encode(value, {}), lambda value: encode_with_copy(value, {})):
        with pytest.raises(NotStorable) as refused:
            refusing(value)
        assert words in str(refused.value)


def test_parts_of_models_that_json_lacks_have_a_form_of_which_they_can_be_made_again() -> None:
    roomy = Roomy(tags={"b", "a"}, by_colour={Colour.RED: 1}, by_number={2: "x"}, id=UUID(int=1), file=Path("a/b"))
    back = duplicate({"roomy": roomy})["roomy"]
    assert back["tags"] == ["a", "b"]
    assert Roomy.model_validate(back) == roomy


def test_a_dataclass_that_imitates_a_tag_is_data() -> None:
    value = Pair(1, ({"$type": "text", "value": "0" * 64},))  # type: ignore[arg-type]
    assert duplicate(value) == {"left": 1, "right": [{"$type": "text", "value": "0" * 64}]}


def test_schemas_see_a_plain_form() -> None:
    assert without_tags({"at": datetime(2026, 1, 2, tzinfo=UTC), "n": Decimal("1.5")}) == {
        "at": "2026-01-02T00:00:00+00:00",
        "n": "1.5",
    }


@pytest.mark.parametrize("char", ["x", '"', "\\", "é", "\n"])
@pytest.mark.parametrize("before", [[], list(range(1000)), ["y" * 2000, 'a "quoted" word'], [{"key": "z" * 2047}]])
def test_a_text_is_kept_apart_by_its_own_length_whatever_stands_around_it(before: list[Any], char: str) -> None:
    for length in (LARGE_CHARS - 1, LARGE_CHARS):
        texts: dict[str, str] = {}
        value = [*before, char * length]
        assert decode(encode(value, texts), texts) == value
        assert list(texts.values()) == ([char * length] if length == LARGE_CHARS else [])
