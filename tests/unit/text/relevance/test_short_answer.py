"""The short answer is made of the best texts that state something."""

import pytest

from graph_research.text.relevance.query import parse
from graph_research.text.relevance.short_answer import Candidate, chosen, states_something

QUESTION = parse("What is the start of operation of the Marrow Bay lagoon?")
ANSWER = Candidate("The Marrow Bay tidal lagoon began commercial operation on 14 March 2016.", 0.9)


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
    assert chosen(QUESTION, [Candidate(text, 1.0), ANSWER]) == [1]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is a cat allowed in the flat?", "A cat is allowed."),
        ("Flat: is a cat allowed?", "A cat is allowed."),
        ("Ist eine Katze in der Wohnung erlaubt?", "Eine Katze ist erlaubt."),
    ],
)
def test_a_question_for_yes_or_no_is_answered_by_the_sentence_that_repeats_it(question: str, answer: str) -> None:
    assert states_something(parse(question), Candidate(answer, 1.0))
    assert not states_something(parse(question), Candidate(answer.rstrip("."), 1.0))


def test_to_repeat_the_topic_before_a_colon_answers_no_question() -> None:
    question = parse("Regulated exercise intensity: does it improve the health of patients?")
    assert not states_something(question, Candidate("Exercise intensity was regulated.", 1.0))


def test_a_question_for_yes_or_no_is_answered_by_a_statement_before_figures() -> None:
    statement = Candidate("The lagoon kept more smolts alive than the weir did.", 0.9)
    figures = Candidate("Of the smolts in the lagoon 83 of 212 (39 %) died, 95 % CI 31 to 47.", 1.0)
    assert chosen(parse("Does the lagoon harm the smolts?"), [figures, statement])[0] == 1
    assert chosen(parse("How many smolts died in the lagoon?"), [figures, statement])[0] == 0


def test_the_number_that_is_asked_for_comes_first() -> None:
    parties = Candidate("This contract for bottles is made between Arne Foods and Severn Glass.", 1.0)
    price = Candidate("The price of a bottle is 36 pence, paid within a month.", 0.7)
    assert chosen(parse("How much does a bottle from Severn Glass cost?"), [parties, price]) == [1, 0]
    assert chosen(parse("Who makes bottles for Severn Glass?"), [parties, price])[0] == 0


def test_a_label_is_the_answer_where_its_value_has_all_of_the_question() -> None:
    question = parse("Who borrows a forklift from the harbour?")
    task = Candidate("Ragnhild: borrow a forklift from the harbour", 1.0)
    other = Candidate("Ragnhild: sweep the harbour", 1.0)
    assert states_something(question, task)
    assert not states_something(question, other)


def test_a_heading_is_not_the_answer() -> None:
    heading = Candidate("How the Marrow Bay lagoon prepared for its commercial operation", 1.0, kind="heading")
    assert chosen(QUESTION, [heading, ANSWER]) == [1]


def test_neither_code_nor_a_question_is_the_answer() -> None:
    code = Candidate("start = lagoon.begin(operation=True, bay='Marrow Bay')", 1.0, kind="line")
    asked = Candidate("Does anyone know the start of operation of the lagoon at Skerrow?", 1.0)
    assert chosen(QUESTION, [code, asked, ANSWER]) == [2]


def test_it_is_where_nothing_else_is_there() -> None:
    assert chosen(QUESTION, [Candidate("Operator Marrow Bay Lagoon Company", 1.0)]) == [0]


def test_a_row_that_holds_the_whole_question_with_its_header_stands_alone() -> None:
    question = parse("How many overnight stays did the Gelbwand hut have in August?")
    row = Candidate("August 1305 1688", 1.0, kind="row", above="Overnight stays Month Arbel hut Gelbwand hut")
    other = Candidate("The shower of the Gelbwand hut stays closed until the end of August.", 0.8)
    more = Candidate("How many overnight stays there were in winter is not known for the Gelbwand hut's cellar.", 0.8)
    assert chosen(question, [row, other]) == [0]
    again = Candidate("August 90 88", 0.9, kind="row", above=row.above)
    assert chosen(question, [row, other, again]) == [0, 2]
    assert chosen(question, [Candidate(row.text, 1.0, kind="row"), other]) == [0, 1]
    assert chosen(parse("How many overnight stays did the Gelbwand hut have in winter?"), [row, more]) == [0, 1]


def test_only_rows_that_hold_as_much_of_the_question_stand_beside_a_row_of_their_table() -> None:
    ships = ("Alder Bay 2015 Cyprus", "Birch Bay 2003 Liberia", "Tarn Bay 2021 Liberia")
    rows = [Candidate(ship, 0.9, kind="row", above="Ships of the line: ship built flag") for ship in ships]
    assert chosen(parse("Which flag does the ship Alder Bay have?"), rows) == [0]
    assert chosen(parse("Which ships have the flag of Liberia?"), [*rows[1:], rows[0]]) == [0, 1]


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
    assert states_something(parse(question), Candidate(text, 1.0))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie oft muss der Filter gereinigt werden?", "Der Filter muss alle zwölf Monate gereinigt werden."),
        ("How often must the filter be cleaned?", "The filter must be cleaned every six months."),
    ],
)
def test_a_value_of_common_words_states_something(question: str, text: str) -> None:
    assert states_something(parse(question), Candidate(text, 1.0))


def test_further_texts_hold_what_the_first_leaves_of_the_question() -> None:
    question = parse("Which river does the barrage of Selwick cross, and who surveyed it?")
    first = Candidate("The barrage of Selwick is a dam across the river Ottle.", 1.0)
    again = Candidate("The barrage of Selwick stands on a river of chalk, the Ottle.", 0.9)
    other = Candidate("Ida Brandt surveyed the bed in 1931.", 0.5)
    assert chosen(question, [first, again, other]) == [0, 2, 1]


def test_a_word_that_only_fills_the_question_makes_no_text_further() -> None:
    texts = [
        "The lagoon killed 4 percent of the smolts.",
        "Salmon of the lagoon die as smolts in two turbines.",
        "The licence does not name the chamber.",
    ]
    candidates = [Candidate(text, 1.0 - 0.1 * n) for n, text in enumerate(texts)]
    assert chosen(parse("What does the lagoon do to smolts?"), candidates) == [0, 1]


def test_further_texts_fit() -> None:
    long = Candidate("The start of operation was delayed: " + "many conditions for fish and mud, " * 12, 0.88)
    short = Candidate("Operation of the lagoon was tested from 9 January 2016.", 0.5)
    assert chosen(QUESTION, [ANSWER, long, short]) == [0, 2]


def test_what_was_not_ranked_for_the_question_is_left_out() -> None:
    assert chosen(QUESTION, [ANSWER, Candidate("The lagoon's start was wet.", 0.0)]) == [0]


def test_no_candidate_gives_no_answer() -> None:
    assert chosen(QUESTION, []) == []


def test_several_common_words_together_are_an_answer() -> None:
    query = parse("When is the siren at Bergheide tested?")
    assert states_something(
        query, Candidate("The siren at Bergheide is tested on the first Saturday of each month.", 1.0)
    )
    assert not states_something(query, Candidate("The siren at Bergheide is tested then.", 1.0))


def test_a_share_goes_before_a_number_of_other_things_than_are_counted() -> None:
    others = Candidate("A control group of 60 smolts was released, so that deaths in the turbines could be told.", 0.9)
    share = Candidate("Salmon smolt mortality at the lagoon was 4.2 percent.", 0.7)
    assert chosen(parse("How many young salmon die in the turbines?"), [others, share]) == [1, 0]
    counted = Candidate("In spring 300 young salmon were caught in the turbines.", 0.6)
    assert chosen(parse("How many young salmon die in the turbines?"), [others, counted]) == [1, 0]
