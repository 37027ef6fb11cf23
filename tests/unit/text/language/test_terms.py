"""Which words of a question a text holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.language.terms import STOP_WORDS, content_terms, lower_case_words, occurring

TEXTS = st.text(alphabet="abAB 1_-.ÉéİßΣς\n", max_size=40)


@given(TEXTS, TEXTS)
def test_a_term_occurs_where_it_is_one_of_the_texts_words(question: str, text: str) -> None:
    assert occurring(lower_case_words(question), text) == set(lower_case_words(question)) & set(lower_case_words(text))


def test_a_part_of_a_word_is_no_word() -> None:
    text = "Subtide under_tide low-tides; a tideline, and Tide"
    assert occurring(["tide", "tides", "line", "sub"], text) == {"tide", "tides"}
    assert occurring(["tide"], "subtide tideline tidetide") == frozenset()


def test_one_word_without_end_is_looked_through_once() -> None:
    assert occurring(["tide"], "tide" * 1_000_000) == frozenset()


@pytest.mark.requirement("11.14")
def test_content_words_are_split_at_spaces_and_punctuation_in_lower_case_without_stop_words() -> None:
    assert content_terms("What is the MORTALITY of salmon, in well-built turbines?") == [
        "mortality",
        "salmon",
        "well",
        "built",
        "turbines",
    ]
    assert {"the", "of", "is", "what", "in", "doesn", "t"} <= STOP_WORDS
    assert content_terms("It is what it is.") == []
