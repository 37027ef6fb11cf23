"""Which queries take up a question, and which are made of it."""

from __future__ import annotations

import pytest

from graph_research.research.retrieval.question_queries import are_about, queries_of, takes_up

QUESTION = "How do SQLite and PostgreSQL differ in durability and crash recovery, and which suits a busy web shop?"


@pytest.mark.parametrize(
    "queries",
    [
        ["SQLite durability and crash recovery", "PostgreSQL for a web shop"],
        ["durability of SQLite", "crash recovery in PostgreSQL", "busy web shop"],
        ["SQLite 与 PostgreSQL 在持久性和崩溃恢复方面有什么不同", "网店的数据库选择"],
    ],
    ids=["its parts", "its words", "another language, with a name"],
)
def test_queries_for_what_is_asked_take_it_up(queries: list[str]) -> None:
    assert takes_up(queries, QUESTION)


@pytest.mark.parametrize(
    "queries",
    [
        ["Today is the first of March", "the passages above"],
        ["SQLite"],
        ["这是一个很好的问题"],
        [QUESTION],
        [],
    ],
    ids=["other words", "one name", "another language", "the question as a whole", "none"],
)
def test_queries_for_something_else_do_not(queries: list[str]) -> None:
    assert not takes_up(queries, QUESTION)


def test_several_queries_with_a_name_of_the_question_are_about_it_whatever_else_they_ask() -> None:
    assert are_about(["SQLite price of a licence", "support for sqlite"], QUESTION)
    assert not are_about(["SQLite price of a licence", QUESTION], QUESTION)
    assert not are_about(["a licence", "support"], QUESTION)


def test_a_question_that_asks_one_thing_is_taken_up_by_itself() -> None:
    assert takes_up(["How does SQLite recover after a crash?"], "How does SQLite recover after a crash?")


def test_no_query_stands_twice_and_the_question_comes_first() -> None:
    queries = [query for query, _ in queries_of("What did the Tarn plant cost, and when did it open?", 5)]
    assert queries[0] == "What did the Tarn plant cost, and when did it open?"
    assert len(queries) == len(set(queries)) == 3
    assert len(queries_of(QUESTION, 3)) == 3


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("Was tut die Lagune den Lachsen?", ["Lagune tut", "Lachsen tut"]),
        ("Is Larch faster than Alder?", ["Larch faster", "Alder faster"]),
    ],
)
def test_a_query_for_a_name_of_the_question_has_no_words_that_say_nothing(question: str, queries: list[str]) -> None:
    assert [query for query, _ in queries_of(question, 5)[1:]] == queries


@pytest.mark.requirement("2.2", "18.1")
@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How long do heat pumps last and what do they cost?",
            ["How long do heat pumps last", "heat pumps what do they cost"],
        ),
        (
            "How do salt marshes store carbon, and how fast do they grow?",
            ["How do salt marshes store carbon", "salt marshes how fast do they grow"],
        ),
        (
            "What did the Tarn plant cost, and when did it open?",
            ["What did the Tarn plant cost", "Tarn plant when did it open"],
        ),
    ],
)
def test_a_part_that_leaves_out_what_it_is_about_is_searched_for_with_it(question: str, parts: list[str]) -> None:
    assert [query for query, _ in queries_of(question, 5)][1:] == parts
