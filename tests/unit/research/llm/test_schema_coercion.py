"""Coercion of answers that nearly fit their schema: only where one value can have been meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.llm.schema_coercion import coerced, without_misfits, wrapped_in

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["rows"],
    "properties": {
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
        "note": {"type": "string"},
        "research_complete": {"type": "boolean"},
    },
    "$defs": {
        "row": {
            "type": "object",
            "properties": {
                "confidence": {"enum": ["low", "medium", "high"]},
                "sourceId": {"type": "string"},
                "priority": {"type": "integer"},
                "category": {"type": ["string", "null"]},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"Rows": []}, {"rows": []}),
        ({"rows": [{"Confidence": "HIGH"}]}, {"rows": [{"confidence": "high"}]}),
        ({"rows": [{"source_id": "s"}]}, {"rows": [{"sourceId": "s"}]}),
        ({"rows": [{"priority": "2"}]}, {"rows": [{"priority": 2}]}),
        ({"rows": {"priority": 1}}, {"rows": [{"priority": 1}]}),
        ({"rows": None, "note": None}, {"rows": []}),
        ({"rows": [{"category": None}]}, {"rows": [{"category": None}]}),
        ({"rows": [], "researchComplete": "yes"}, {"rows": [], "research_complete": True}),
    ],
)
def test_a_value_that_can_only_mean_one_thing_is_coerced(value: Any, meant: Any) -> None:
    assert coerced(value, SCHEMA) == meant


@pytest.mark.parametrize(
    "value",
    [
        {"rows": [{"confidence": "rather high"}]},
        {"rows": [], "Note": "a", "NOTE": "b"},
        {"rows": "a text"},
        {"rows": [{"priority": "first"}]},
        {"lines": []},
        ["a"],
        7,
    ],
)
def test_what_is_not_certain_stays_as_it_is(value: Any) -> None:
    kept = coerced(value, SCHEMA)
    assert kept == value or kept == {"rows": [], "note": "a", "NOTE": "b"}


def test_members_that_may_be_left_out_and_do_not_fit_are_left_out() -> None:
    rows = [{"priority": "first", "sourceId": "s", "category": None}, {"confidence": "rather high"}]
    rest = {"rows": [{"sourceId": "s", "category": None}, {}]}
    left_out: list[str] = []
    assert without_misfits({"rows": rows, "note": 7}, SCHEMA, left_out) == rest
    assert left_out == ["priority", "confidence", "note"]
    assert without_misfits({"rows": "a text"}, SCHEMA, []) == {"rows": "a text"}, "it may not be left out"


def test_a_key_that_is_written_twice_in_other_cases_is_taken_once_and_nothing_is_lost() -> None:
    assert coerced({"rows": [], "Note": "a", "NOTE": "b"}, SCHEMA) == {"rows": [], "note": "a", "NOTE": "b"}


@pytest.mark.requirement("17.3", "18.1")
def test_a_bare_list_is_the_one_member_of_its_object() -> None:
    questions = {"type": "object", "properties": {"questions": {"type": "array", "items": {"type": "string"}}}}
    assert coerced(["What is it?"], questions) == {"questions": ["What is it?"]}
    assert coerced([1], questions) == [1]
    assert coerced([], questions) == []
    rows = {**SCHEMA, "properties": {"rows": SCHEMA["properties"]["rows"]}}
    assert coerced([{"Priority": "2"}, {}], rows) == {"rows": [{"priority": 2}, {}]}


def test_a_wrapping_is_opened() -> None:
    assert wrapped_in([{"rows": []}]) == [{"rows": []}]
    assert wrapped_in({"answer": {"rows": []}}) == [{"rows": []}]
    assert wrapped_in({"answer": '{"rows": []}'}) == [{"rows": []}]
    assert wrapped_in([1, 2]) == []
    assert wrapped_in({"a": 1, "b": 2}) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["rows", "ROWS", "note", "priority", "confidence"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_coercion_takes_any_value_and_is_idempotent(value: Any) -> None:
    once = coerced(value, SCHEMA)
    assert coerced(once, SCHEMA) == once
