"""The order in which several processes run the tests."""

from __future__ import annotations

from tests.support.order_of_tests import longest_first


def test_each_part_begins_with_its_share_of_the_long_tests_and_no_test_is_lost() -> None:
    tests = ["A1", "A2", "B1", "C1", *"abcdefgh"]

    ordered = longest_first(tests, 3, unit_of=lambda test: test[0] if test[0].isupper() else None)

    assert ordered == ["A1", "A2", "a", "b", "B1", "c", "d", "e", "C1", "f", "g", "h"]


def test_long_tests_alone_are_dealt_out_too() -> None:
    assert longest_first(["A1", "B1", "C1", "D1"], 2, unit_of=lambda test: test) == ["A1", "C1", "B1", "D1"]
