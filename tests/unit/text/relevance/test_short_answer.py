"""The short answer is made of the best texts that state something."""

import pytest

from graph_research.text.relevance.query import parse
from graph_research.text.relevance.short_answer import Candidate, chosen, states_something

QUESTION = parse("What is the start of operation of the Marrow Bay lagoon?")
ANSWER = Candidate("The Marrow Bay tidal lagoon began commercial operation on 14 March 2016.", 0.9, 0.7)


@pytest.mark.parametrize(
    "text",
    [
        "Operator Marrow Bay Lagoon Company",
        "Subject: operation of the Marrow Bay lagoon since 2016",
        "From: Jo Ames",
        "When did the Marrow Bay lagoon start?",
    ],
)
def test_what_states_nothing_is_not_the_answer(text: str) -> None:
    assert chosen(QUESTION, [Candidate(text, 1.0, 0.8), ANSWER]) == [1]


def test_a_heading_is_not_the_answer() -> None:
    heading = Candidate("How the Marrow Bay lagoon prepared for its commercial operation", 1.0, 0.9, is_heading=True)
    assert chosen(QUESTION, [heading, ANSWER]) == [1]


def test_it_is_where_nothing_else_is_there() -> None:
    assert chosen(QUESTION, [Candidate("Operator Marrow Bay Lagoon Company", 1.0, 0.8)]) == [0]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who operates the lagoon?", "Operator Marrow Bay Lagoon Company"),
        ("What is the installed capacity of the lagoon?", "Installed capacity 240 megawatts"),
        ("When is the next meeting?", "Date of next meeting: 8 Sep 2024"),
        ("Who runs the plant stall?", "Plant stall: J. R. Okonjo."),
        ("貸出カードの再発行はいくらですか。", "再発行には二百円かかります。"),
    ],
)
def test_a_label_with_the_value_that_is_asked_for_states_it(question: str, text: str) -> None:
    assert states_something(parse(question), Candidate(text, 1.0, 1.0))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie oft muss der Filter gereinigt werden?", "Der Filter muss alle zwölf Monate gereinigt werden."),
        ("How often must the filter be cleaned?", "The filter must be cleaned every six months."),
    ],
)
def test_a_value_of_common_words_states_something(question: str, text: str) -> None:
    assert states_something(parse(question), Candidate(text, 1.0, 1.0))


def test_further_texts_score_nearly_as_high_and_fit() -> None:
    far = Candidate("The seawall has a length of 9.5 kilometres.", 0.7, 0.3)
    near = Candidate("Electricity reached the grid for the first time on 9 January 2016.", 0.85, 0.2)
    long = Candidate("The licence names " + "many conditions for fish and mud, " * 12 + "among others.", 0.88, 0.5)
    assert chosen(QUESTION, [ANSWER, long, near, far]) == [0, 2]


def test_a_text_that_holds_nearly_all_of_the_question_stands_alone() -> None:
    whole = Candidate("The start of operation of the Marrow Bay lagoon was on 14 March 2016.", 1.0, 1.0)
    assert chosen(QUESTION, [whole, ANSWER]) == [0]


def test_no_candidate_gives_no_answer() -> None:
    assert chosen(QUESTION, []) == []
