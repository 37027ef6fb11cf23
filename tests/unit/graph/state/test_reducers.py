"""Channels and their reducers: what an update does, and that folding a log of deltas gives the same state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.graph.definition.reduced_values import value_misfit
from graph_research.graph.definition.spec import ChannelSpec, Reducer
from graph_research.graph.source import Place
from graph_research.graph.state.reducers import DeltaRefused, State, make_delta, replaced
from graph_research.graph.values.codec import decode, encode

REDUCERS: tuple[Reducer, ...] = ("replace", "append", "upsert", "merge", "add")
PLACE = Place("test.yaml", 1, 1)
CHANNELS = {name: ChannelSpec(name=name, schema={}, reduce=name, place=PLACE) for name in REDUCERS}

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
objects = st.dictionaries(st.sampled_from("abc"), scalars, max_size=3)
entries = st.lists(
    st.builds(lambda id, value: {"id": id, "value": value}, st.sampled_from("pqrst"), scalars), max_size=6
)
updates = st.fixed_dictionaries(
    {},
    optional={
        "replace": scalars,
        "append": st.none() | st.lists(scalars, max_size=3),
        "upsert": st.none() | entries,
        "merge": st.none() | objects,
        "add": st.none() | st.integers(-9, 9),
    },
)


def applied(values: dict[str, Any], *several: dict[str, Any]) -> dict[str, Any]:
    state = State(values)
    for update in several:
        state.apply(make_delta(CHANNELS, update, state.values))
    return state.values


@settings(deadline=None)
@given(st.lists(updates, max_size=8))
def test_reducers_do_what_the_language_says(several: list[dict[str, Any]]) -> None:
    values = applied({}, *several)
    given = {name: [update[name] for update in several if name in update] for name in REDUCERS}
    present = {name: [operand for operand in operands if operand is not None] for name, operands in given.items()}
    if given["replace"]:
        assert values["replace"] == given["replace"][-1]
    assert values.get("append", []) == [entry for operand in present["append"] for entry in operand]
    assert values.get("add", 0) == sum(present["add"])
    merged: dict[str, Any] = {}
    for operand in present["merge"]:
        merged |= operand
    assert values.get("merge", {}) == merged
    latest = {entry["id"]: entry for operand in present["upsert"] for entry in operand}
    assert values.get("upsert", []) == list(latest.values())


@settings(deadline=None)
@given(st.lists(updates, max_size=8))
def test_a_log_of_encoded_deltas_folds_to_the_same_state(several: list[dict[str, Any]]) -> None:
    live, folded = State({}), State({})
    for update in several:
        texts: dict[str, str] = {}
        delta = make_delta(CHANNELS, update, live.values)
        live.apply(delta)
        folded.apply(decode(encode(delta, texts), texts))
    assert folded.values == live.values


@settings(deadline=None)
@given(st.lists(updates, min_size=1, max_size=4), st.lists(updates, max_size=4))
def test_a_state_can_be_put_back(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    old = applied({}, *before)
    later = applied({name: old.get(name) for name in REDUCERS}, *after)
    state = State(later)
    state.apply(replaced(later, {name: old.get(name) for name in REDUCERS}))
    assert state.values == {name: old.get(name) for name in REDUCERS}


def test_values_that_were_given_out_do_not_change() -> None:
    state = State({"append": [1], "upsert": [{"id": "a", "n": 1}], "merge": {"a": 1}})
    held = dict(state.values)
    state.apply({"append": {"append": [2]}, "upsert": {"upsert": [{"id": "a", "n": 2}]}, "merge": {"merge": {"a": 2}}})
    assert held == {"append": [1], "upsert": [{"id": "a", "n": 1}], "merge": {"a": 1}}
    assert state.values == {"append": [1, 2], "upsert": [{"id": "a", "n": 2}], "merge": {"a": 2}}


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"append": 3}, 'channel "append": append takes an array, not 3'),
        ({"upsert": [{"name": "x"}]}, 'channel "upsert": upsert takes objects with an "id"'),
        ({"merge": [1]}, "takes an object"),
        ({"add": "1"}, "takes a number"),
        ({"add": True}, "takes a number"),
        ({"other": 1}, 'there is no channel "other"'),
    ],
)
def test_what_a_reducer_cannot_take_is_refused_by_name(update: dict[str, Any], words: str) -> None:
    with pytest.raises(DeltaRefused) as refused:
        make_delta(CHANNELS, update, {})
    assert words in str(refused.value)


def test_a_reducer_does_not_add_to_a_value_of_another_type() -> None:
    with pytest.raises(DeltaRefused, match='channel "append" holds'):
        make_delta(CHANNELS, {"append": [1]}, {"append": "text"})


def test_an_entry_without_an_id_in_a_damaged_state_is_named() -> None:
    state = State({"upsert": [{"name": "x"}]})
    with pytest.raises(DeltaRefused, match='channel "upsert" holds an entry without an "id"'):
        state.apply(make_delta(CHANNELS, {"upsert": [{"id": 1}]}, state.values))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([{"name": "x"}], 'takes objects with an "id"'),
        ([{"id": 1, "n": 1}, {"id": 1, "n": 2}], "takes one object for each id, not two of 1"),
        ([{"id": 1}, {"id": "1"}], ""),
        (None, ""),
    ],
)
def test_the_whole_value_of_an_upsert_channel_has_one_object_for_each_id(value: Any, words: str) -> None:
    misfit = value_misfit(CHANNELS["upsert"], value)
    assert words in misfit
    assert bool(words) == bool(misfit)
