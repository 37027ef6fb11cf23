"""Which queries are new."""

from __future__ import annotations

import pytest

from graph_research.research.retrieval.query_novelty import asked_before

ASKED = ["maintenance cost of the Tarn tidal plant in 2020", "salmon smolts at the Tarn plant"]


@pytest.mark.parametrize(
    "query",
    [
        "Maintenance cost of the Tarn tidal plant in 2020?",
        "the Tarn tidal plant: maintenance costs 2020",
        "costs of the maintenance of Tarn tidal plants, 2020",
        "Tarn plants salmon smolt",
    ],
)
def test_the_same_question_in_other_words_was_asked_before(query: str) -> None:
    assert asked_before(query, ASKED)


@pytest.mark.parametrize(
    "query",
    [
        "maintenance cost of the Tarn tidal plant in 2021",
        "construction cost of the Tarn tidal plant in 2020",
        "eel passage at the Tarn plant",
        "smolts",
        "how is it?",
    ],
)
def test_another_year_another_thing_or_another_width_is_new(query: str) -> None:
    assert not asked_before(query, ASKED)


def test_endings_of_other_languages_make_no_new_question() -> None:
    asked = ["Was kosten die Häuser der Stadt und des Vereins?"]
    assert asked_before("die Häuser der Städte und des Vereins: was kostet?", asked)
    assert not asked_before("Was kosten die Brücken der Stadt und des Vereins?", asked)


def test_nothing_was_asked_before_the_first_question() -> None:
    assert not asked_before("anything", [])
    assert asked_before("how is it?", ["How is it"])
