"""What a model writes in the place of sentences whose sources changed."""

from __future__ import annotations

import pytest

from graph_research.research.models.draft import Draft, DraftSection, Statement, StatementKind, paragraphs_of
from graph_research.research.revision.mending import Mending, touched_sections, with_answers_of


def _fact(text: str, number: int) -> Statement:
    return Statement(text=text, kind=StatementKind.FACT, evidence_ids=[f"ev-{number:010}"])


def _quote(text: str, number: int) -> Statement:
    return Statement(text=text, kind=StatementKind.QUOTE, evidence_ids=[f"ev-{number:010}"])


@pytest.mark.parametrize(
    ("mended", "one", "two"),
    [
        (["A stands.", "New one.", "New two.", "B stands."], "New one.", "New two."),
        (["A stands.", "New one.", "Old two.", "B stands."], "New one.", "Two, quoted."),
        (["A stands.", "Old two.", "B stands."], None, "Two, quoted."),
        (["A stands.", "Old one.", "New two.", "B stands."], "One, quoted.", "New two."),
        (["A stands.", "Old one.", "B stands."], "One, quoted.", None),
        (["A stands.", "B stands."], None, None),
    ],
)
def test_a_sentence_that_the_model_keeps_is_quoted_whatever_becomes_of_its_neighbour(
    mended: list[str], one: str | None, two: str | None
) -> None:
    written = [_fact("A stands.", 1), _fact("Old one.", 2), _fact("Old two.", 3), _fact("B stands.", 1)]
    sentences = {"Old one.": _quote("One, quoted.", 4), "Old two.": _quote("Two, quoted.", 5)}
    draft = Draft(sections=[DraftSection(heading="Gates", level=1, blocks=paragraphs_of(written))])
    [touched] = touched_sections(draft, Mending([], sentences, {}, {}, {}), {})
    answered = touched.section.model_copy(update={"blocks": paragraphs_of([_fact(text, 4) for text in mended])})
    found = with_answers_of(sentences, touched, answered)
    assert {old: new.text for old, new in found.items()} == {
        old: new for old, new in (("Old one.", one), ("Old two.", two)) if new is not None
    }
