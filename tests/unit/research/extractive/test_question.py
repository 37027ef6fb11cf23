"""A question taken apart into subject and facets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.extractive.question import parse_question


@pytest.mark.parametrize(
    ("text", "subject", "facets"),
    [
        (
            "How does asyncio TaskGroup handle exceptions and cancellation?",
            "asyncio TaskGroup",
            ["exceptions", "cancellation"],
        ),
        ("What did the Alder Dam cost, and what does it do to fish and birds?", "Alder Dam", ["cost", "fish", "birds"]),
        ("How do heat pumps work in cold climates?", "heat pumps", ["cold climates"]),
        ("When was the Alder Dam completed and how high is it?", "Alder Dam", ["completed", "high"]),
        ("Is nuclear power cheaper than wind power?", "nuclear power", ["wind power"]),
    ],
)
def test_the_first_name_or_phrase_is_the_subject(text: str, subject: str, facets: list[str]) -> None:
    question = parse_question(text)
    assert question.subject is not None
    assert (question.subject.phrase, [facet.phrase for facet in question.facets]) == (subject, facets)


@pytest.mark.parametrize("text", ["?", "a", "is it the one?", "  "])
def test_a_question_without_content_has_no_terms(text: str) -> None:
    assert parse_question(text).weights == {}


def test_what_how_many_asks_for_is_counted() -> None:
    assert parse_question("How many gates and how many people does it have?").counted == {"gate", "peopl"}


def test_a_camel_case_name_is_known_in_two_words() -> None:
    question = parse_question("What is a TaskGroup?")
    assert question.about(["task", "group", "wait"]) == 1.0
    assert question.about(["except", "group"]) == 0.0


@given(st.text(max_size=400))
def test_any_text_can_be_taken_apart(text: str) -> None:
    question = parse_question(text)
    assert 0.0 <= question.coverage([question.weights]) <= 1.0 + 1e-9
