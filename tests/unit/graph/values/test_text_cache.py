"""The texts that are held in memory: at most so many characters, the least recently read go first."""

from __future__ import annotations

from graph_research.graph.values.text_cache import TextCache


def test_what_was_asked_for_last_is_kept() -> None:
    texts = TextCache(most_chars=10)
    texts.add("a", "aaaa")
    texts.add("b", "bbbb")
    assert texts.get("a") == "aaaa"
    texts.add("c", "cccc")
    assert (texts.get("a"), texts.get("b"), texts.get("c")) == ("aaaa", None, "cccc")


def test_a_text_that_is_too_long_is_not_kept() -> None:
    texts = TextCache(most_chars=3)
    texts.add("a", "aaaa")
    texts.add("b", "bbb")
    assert (texts.get("a"), texts.get("b")) == (None, "bbb")


def test_a_text_added_twice_counts_once() -> None:
    texts = TextCache(most_chars=8)
    texts.add("a", "aaaa")
    texts.add("a", "aaaa")
    texts.add("b", "bbbb")
    assert texts.get("a") == "aaaa"
