"""Ids in prompts: as short as tells them apart, and whole again in the answer."""

from __future__ import annotations

from graph_research.research.models.ids import ShortIds


def test_a_prompt_shows_as_much_of_an_id_as_tells_it_from_the_others() -> None:
    ids = ShortIds.of({"rows": [{"id": "ev-0123456789"}, {"id": "ev-01234abcde"}], "text": "[src-0123456789]"})
    assert ids.shorten("ev-0123456789, ev-01234abcde in src-0123456789") == "ev-012345, ev-01234a in src-0123"


def test_an_answer_has_whole_ids_whichever_form_it_uses() -> None:
    ids = ShortIds.of(["ev-0123456789", "src-89abcdef01"])
    answer = {"evidence_ids": ["ev-0123", "ev-0123456789", "q1"], "rows": [{"source": "src-89ab", "n": 1}]}
    assert ids.expand(answer) == {
        "evidence_ids": ["ev-0123456789", "ev-0123456789", "q1"],
        "rows": [{"source": "src-89abcdef01", "n": 1}],
    }


def test_a_text_that_looks_like_a_short_id_keeps_its_own_form() -> None:
    ids = ShortIds.of({"id": "ev-0123456789", "page": "The commit ev-0123 broke it."})
    assert ids.shorten("ev-0123456789; The commit ev-0123 broke it.") == "ev-01234; The commit ev-0123 broke it."
    assert ids.expand("The commit ev-0123 broke it.") == "The commit ev-0123 broke it."


def test_ids_that_the_material_does_not_have_stay_as_they_are() -> None:
    ids = ShortIds.of({"id": "ev-0123456789"})
    assert ids.shorten("ev-fedcba9876 sq-1-2") == "ev-fedcba9876 sq-1-2"
    assert ids.expand("ev-fedc") == "ev-fedc"
