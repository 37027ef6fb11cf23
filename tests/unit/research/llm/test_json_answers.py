"""Finding the JSON in a model's reply."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.llm.json_answers import json_candidates


def first_json(text: str) -> object:
    return next(json_candidates(text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.requirement("2.10")
@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4))
def test_an_object_is_found_alone_in_a_code_block_and_in_prose(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert first_json(text) == value
    assert first_json(f"Here it is:\n```json\n{text}\n```\nAnything else?") == value
    assert first_json(f"Certainly! {text} I hope this helps.") == value


def test_the_longest_of_several_objects_in_prose_is_taken() -> None:
    assert first_json('First {"a": 1}, then {"a": 1, "b": [1, 2, 3]}, then {}.') == {"a": 1, "b": [1, 2, 3]}


def test_commas_before_a_closing_bracket_are_dropped_but_not_inside_texts() -> None:
    assert first_json('{"a": [1, 2,], "b": ",]",}') == {"a": [1, 2], "b": ",]"}


@pytest.mark.parametrize("text", ["", "no json here", "[", "{", '"text"', "17", '{"a": NaN}', "[" * 100_000, "{}" * 3])
def test_a_reply_without_a_usable_object_is_said_to_be_one(text: str) -> None:
    with pytest.raises(StopIteration):
        first_json(text)


def test_a_long_hostile_text_is_read_in_linear_time() -> None:
    for text in ('"' + '\\"' * 500_000, '{"a": "' + "\\" * 1_000_001, "```\n" * 100_000, ", " * 500_000, '"' * 999_999):
        with pytest.raises(StopIteration):
            first_json(text)


@given(st.text(max_size=300))
def test_any_text_gives_json_or_no_json(text: str) -> None:
    with contextlib.suppress(StopIteration):
        assert isinstance(first_json(text), (dict, list))


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ('<think>Perhaps {"a": 0}? No.</think>\n{"a": 1}', {"a": 1}),
        ('Perhaps {"a": 0}.</think> {"a": 1}', {"a": 1}),
        ('<think>{"a": 1}</think>', {"a": 1}),
        ("{'a': 'it\\'s', 'b': 'don't'}", {"a": "it's", "b": "don't"}),
        ("{a: 1, b_c: True, d: None,}", {"a": 1, "b_c": True, "d": None}),
        ("{“a”: “quoted”}", {"a": "quoted"}),
        ('{"a": 1 // one\n, /* two */ "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": "\\ud83d\\ude00 \\u00e9", b: 1}', {"a": "😀 é", "b": 1}),
        ('```json\n{"a": [1, 2], "b": {"c": [3', {"a": [1, 2], "b": {"c": []}}),
        ('{"rows": [{"x": "whole"}, {"x": "bro', {"rows": [{"x": "whole"}]}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": 1}\n{"a": 1, "b": 2}', {"a": 1, "b": 2}),
    ],
)
def test_a_careless_reply_is_read_as_it_was_meant(reply: str, meant: object) -> None:
    assert meant in list(json_candidates(reply))


def test_what_breaks_off_loses_what_is_incomplete_and_keeps_the_rest() -> None:
    reply = '{"rows": [{"x": "first"}, {"x": "second"}, {"x": "thi'
    assert {"rows": [{"x": "first"}, {"x": "second"}]} in list(json_candidates(reply))
    assert {"a": 1} in list(json_candidates('{"a": 1, "b": "half a sent'))


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), st.data())
def test_an_answer_cut_anywhere_never_gains_anything(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text)))]
    for found in json_candidates(cut):
        assert len(json.dumps(found)) <= len(text)


def test_a_piece_of_an_answer_that_breaks_off_is_not_an_answer() -> None:
    assert {"x": "whole"} not in list(json_candidates('{"rows": [{"x": "whole"}, {"x": "bro'))


def test_with_closed_only_complete_json_counts() -> None:
    assert list(json_candidates('So: {"rows": [{"x": "whole"}, {"x": "bro', closed=True)) == []
    assert list(json_candidates('So: {"x": 1} and then', closed=True)) == [{"x": 1}]
    assert list(json_candidates("So: {'x': 1,} and then", closed=True)) == [{"x": 1}]
    assert list(json_candidates("So: {'rows': [{'x': 'whole'}, {'x': 'bro", closed=True)) == []
