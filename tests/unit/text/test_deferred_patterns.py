"""Patterns that are compiled at their first use do what compiled ones do."""

from __future__ import annotations

import re

import pytest

from graph_research.text import deferred_patterns
from graph_research.text.deferred_patterns import compile_deferred, deferred


def test_a_deferred_pattern_is_compiled_when_it_is_used() -> None:
    pattern = deferred(r"(?P<n>\d+) M", re.IGNORECASE)
    assert pattern.pattern == r"(?P<n>\d+) M"
    assert "_compiled" not in vars(pattern)
    assert [found["n"] for found in pattern.finditer("12 m, 3 M")] == ["12", "3"]
    assert pattern.sub("x", "12 m") == "x"
    assert pattern.flags == re.compile("", re.IGNORECASE).flags


def test_all_are_compiled_at_once() -> None:
    pattern = deferred("one|two")
    compile_deferred()
    assert vars(pattern)["_compiled"] == re.compile("one|two")


def test_one_that_is_not_a_pattern_is_told_at_its_first_use() -> None:
    broken = deferred("(")
    with pytest.raises(re.error):
        broken.search("")
    deferred_patterns._deferred.pop()
