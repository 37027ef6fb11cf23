"""The second step of a question in two steps."""

from __future__ import annotations

from graph_research.research.retrieval.second_step import second_step
from graph_research.text.document import Block, Document

QUESTION = "Where was the designer of the Alder Dam born?"
DAM = "The Alder Dam was built in 1931. The designer of the Alder Dam was Ines Calloway."


def documents(*texts: str) -> dict[str, Document]:
    return {
        str(n): Document(text=text, blocks=(Block("paragraph", 0, len(text)),), title=f"Page {n}")
        for n, text in enumerate(texts)
    }


def test_what_the_best_passages_name_is_asked_for_with_what_they_lack() -> None:
    assert second_step(QUESTION, [QUESTION], DAM, documents(DAM)) == "Ines Calloway born"


def test_a_name_is_asked_for_once() -> None:
    assert second_step(QUESTION, [QUESTION, "Ines Calloway born"], DAM, documents(DAM)) == ""


def test_a_question_whose_words_all_stand_in_what_was_found_has_no_second_step() -> None:
    said = "The designer of the Alder Dam, Ines Calloway, was born in Tarn."
    assert second_step(QUESTION, [QUESTION], said, documents(said)) == ""


def test_without_a_name_there_is_no_second_step() -> None:
    said = "A dam of alder wood was built here."
    assert second_step(QUESTION, [QUESTION], said, documents(said)) == ""
    assert second_step(QUESTION, [QUESTION], "", {}) == ""
