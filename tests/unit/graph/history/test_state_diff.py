"""What differs between two states: by keys, by ids where entries have them, else by places."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.graph.history.state_diff import Change, changes_between, first_difference


def test_equal_states_have_no_differences_and_a_number_is_no_truth() -> None:
    assert list(changes_between({"a": [1, {"id": "x"}]}, {"a": [1, {"id": "x"}]})) == []
    assert list(changes_between({"a": 1}, {"a": True})) == [Change(path="a", change="changed", old=1, new=True)]


def test_entries_with_ids_are_compared_by_them_wherever_they_stand() -> None:
    old = {"found": [{"id": "x", "n": 1}, {"id": "y", "n": 2}]}
    new = {"found": [{"id": "z", "n": 0}, {"id": "x", "n": 3}]}
    assert list(changes_between(old, new)) == [
        Change(path="found.x.n", change="changed", old=1, new=3),
        Change(path="found.y", change="removed", old={"id": "y", "n": 2}),
        Change(path="found.z", change="added", new={"id": "z", "n": 0}),
    ]


def test_another_order_of_the_same_entries_is_a_difference() -> None:
    old, new = [{"id": "x"}, {"id": "y"}], [{"id": "y"}, {"id": "x"}]
    assert list(changes_between(old, new, "list")) == [
        Change(path="list", change="changed", old=["x", "y"], new=["y", "x"])
    ]


def test_entries_without_ids_are_compared_by_their_places() -> None:
    assert list(changes_between({"log": ["a", "b"]}, {"log": ["a", "c", "d"]})) == [
        Change(path="log.1", change="changed", old="b", new="c"),
        Change(path="log.2", change="added", new="d"),
    ]
    assert list(changes_between([], None, "log")) == [Change(path="log", change="changed", old=[], new=None)]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            {"q": "a" * 100 + "b"},
            {"q": "a" * 100 + "c"},
            f'; a recorded one differs in q: "…{"a" * 20}c" instead of "…{"a" * 20}b"',
        ),
        ({"q": [1, 2]}, {"q": [1, 3]}, "; a recorded one differs in q.1: 3 instead of 2"),
        ({"q": 1}, {"q": 1, "p": 2}, "; a recorded one differs in p, which is new"),
        ({"q": 1, "p": 2}, {"q": 1}, "; a recorded one differs in p, which is gone"),
        ("x", "xy", '; the recorded one is another: "xy" instead of "x"'),
        ("x", "x", ", only fewer like it"),
    ],
)
def test_the_first_difference_of_two_requests_is_reported_in_words(old: Any, new: Any, told: str) -> None:
    assert first_difference(old, new) == told
