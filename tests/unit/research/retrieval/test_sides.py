"""Which searches a query about the sides of a comparison becomes."""

from __future__ import annotations

import pytest

from graph_research.research.retrieval.sides import compared, searches_by_side

QUESTION = "How do Tarn and Merrow differ in storage and recovery, and which should a harbour choose?"


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        (QUESTION, ["Tarn", "Merrow"]),
        ("Is Tarn, Merrow or Old Weir better for a harbour?", ["Tarn", "Merrow", "Old Weir"]),
        ("Tarn vs. Merrow: which is faster?", ["Tarn", "Merrow"]),
        ("Was unterscheidet Tarn und Merrow bei Sperren?", ["Tarn", "Merrow"]),
        ("How does Tarn store its pages on Linux?", []),
        ("What does the harbour cost, and who pays?", []),
    ],
)
def test_things_are_compared_that_a_question_sets_side_by_side(question: str, sides: list[str]) -> None:
    assert compared(question) == sides


def test_each_side_of_the_question_is_searched_without_the_other() -> None:
    assert searches_by_side(QUESTION, QUESTION) == [
        "How do Tarn differ in storage and recovery; and which should a harbour choose",
        "How do Merrow differ in storage and recovery; and which should a harbour choose",
    ]


def test_what_names_no_side_belongs_to_the_one_named_before_it() -> None:
    query = "backup of Tarn, page_size, locks; Merrow archiving, max_connections"
    assert searches_by_side(query, QUESTION) == [
        "backup of Tarn; page_size; locks",
        "Merrow archiving; max_connections",
    ]


def test_what_comes_before_the_sides_belongs_to_all_or_is_a_search_of_its_own() -> None:
    assert searches_by_side("backup: Tarn dump, Merrow archive", QUESTION) == [
        "backup; Tarn dump",
        "backup; Merrow archive",
    ]
    assert searches_by_side("lagoon gates; Tarn dump; Merrow archive", QUESTION) == [
        "Tarn dump",
        "Merrow archive",
        "lagoon gates",
    ]


@pytest.mark.parametrize("query", ["Tarn backup, page_size; locks", "harbour dues", "the tarn of Merrowdale"])
def test_a_query_about_one_side_or_none_is_one_search(query: str) -> None:
    assert searches_by_side(query, QUESTION) == [query]
