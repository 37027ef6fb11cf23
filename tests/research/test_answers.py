"""Finding the JSON in a model's reply."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.answers import NoJson, extract_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4))
def test_an_object_is_found_bare_fenced_and_in_prose(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert extract_json(text) == value
    assert extract_json(f"Here it is:\n```json\n{text}\n```\nAnything else?") == value
    assert extract_json(f"Certainly! {text} I hope this helps.") == value


def test_the_longest_of_several_objects_in_prose_is_taken() -> None:
    assert extract_json('First {"a": 1}, then {"a": 1, "b": [1, 2, 3]}, then {}.') == {"a": 1, "b": [1, 2, 3]}


def test_commas_before_a_closing_bracket_are_forgiven_but_not_inside_texts() -> None:
    assert extract_json('{"a": [1, 2,], "b": ",]",}') == {"a": [1, 2], "b": ",]"}


@pytest.mark.parametrize("text", ["", "no json here", "[", "{", '"text"', "17", '{"a": NaN}', "[" * 100_000, "{}" * 3])
def test_a_reply_without_a_usable_object_is_said_to_be_one(text: str) -> None:
    with pytest.raises(NoJson):
        extract_json(text)


def test_a_long_hostile_text_is_read_in_linear_time() -> None:
    for text in ('"' + '\\"' * 500_000, '{"a": "' + "\\" * 1_000_001, "```\n" * 100_000, ", " * 500_000, '"' * 999_999):
        with pytest.raises(NoJson):
            extract_json(text)


@given(st.text(max_size=300))
def test_any_text_gives_json_or_no_json(text: str) -> None:
    with contextlib.suppress(NoJson):
        assert isinstance(extract_json(text), (dict, list))
