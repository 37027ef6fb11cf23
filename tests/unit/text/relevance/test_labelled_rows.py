"""A row of a table whose labels name another thing than the question asks does not answer it."""

from __future__ import annotations

import pytest

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.short_answer import short_answer
from tests.support.research.extractive_sources import written

TABLES = [
    """# Price list

| Procedure | Animal | Price EUR |
| --- | --- | --- |
| Castration | cat, male | 95 |
| Castration | dog | 240 |
| Cleaning of teeth | cat | 180 |
| Cleaning of teeth | horse | 310 |
| Vaccination | dog | 55 |
| Microchip | any | 40 |
""",
    """# Settings of the importer

| Setting | Type | Default | Meaning |
| --- | --- | --- | --- |
| delimiter | char | , | what stands between two fields |
| encoding | string | utf-8 | how the text of a file is encoded |
| comment | string | # | lines that begin so are left out |
| strict | boolean | false | whether a wrong line stops the import |
""",
]


def answered(question: str) -> list[str]:
    return [group.lead.text for group in short_answer(analyze(written(TABLES), question))]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What does the castration of a dog cost?", ["Castration dog 240"]),
        ("What does the vaccination of a dog cost?", ["Vaccination dog 55"]),
        ("What does the castration cost?", ["Castration dog 240", "Castration cat, male 95"]),
    ],
)
def test_the_row_with_the_labels_of_the_question_answers_alone(question: str, row: list[str]) -> None:
    assert answered(question) == row


@pytest.mark.parametrize(
    "question", ["What does the vaccination of a cat cost?", "What does the castration of a horse cost?"]
)
def test_rows_of_other_things_answer_nothing_where_the_table_labels_what_is_asked_elsewhere(question: str) -> None:
    assert answered(question) == []


def test_rows_that_the_question_does_not_tell_apart_do_not_answer_for_a_thing_that_no_document_has() -> None:
    assert answered("What does the castration of a rabbit cost?") == []


def test_a_label_for_all_things_is_none_of_another_thing() -> None:
    assert answered("What does the microchip of a cat cost?")[:1] == ["Microchip any 40"]


def test_a_row_that_is_named_by_a_column_of_its_own_answers_whatever_its_labels_are() -> None:
    assert answered("What is the default of the string delimiter setting?")[0].startswith("delimiter char")
