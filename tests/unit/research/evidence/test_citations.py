"""Citations are numbered in reading order, proved to the character, and what has no support is marked."""

from __future__ import annotations

from graph_research.research.evidence.citations import Archive, cite
from graph_research.research.models.draft import Draft
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.source import Source
from tests.support.research import finished_research


def cited(draft, *pieces, contradictions=(), texts=None, trust_connectives=True):
    return cite(
        Draft.model_validate(draft),
        evidence=[Evidence.model_validate(piece) for piece in pieces],
        sources=[Source.model_validate(source) for source in finished_research.SOURCES],
        contradictions=[Contradiction.model_validate(one) for one in contradictions],
        archive=Archive(finished_research.texts() if texts is None else texts, finished_research.layouts()),
        trust_connectives=trust_connectives,
    )


def only_problem(piece, texts=None):
    (citation,) = cited({"summary": [finished_research.fact("So it is.", piece)]}, piece, texts=texts).citations
    assert citation.valid is (citation.problem == "")
    return citation.problem


def test_numbers_follow_the_reading_order_and_one_piece_of_evidence_keeps_its_number():
    result = cited(
        {
            "more": [finished_research.quote(finished_research.FISH)],
            "sections": [
                {
                    "heading": "h",
                    "statements": [
                        finished_research.quote(finished_research.COST_AUDIT),
                        finished_research.quote(finished_research.TURBINES),
                    ],
                }
            ],
            "summary": [finished_research.quote(finished_research.TURBINES, finished_research.INTEREST)],
        },
        *(
            finished_research.FISH,
            finished_research.COST_AUDIT,
            finished_research.COST_REPORT,
            finished_research.TURBINES,
            finished_research.INTEREST,
        ),
        contradictions=finished_research.state()["contradictions"],
    )
    assert [one.evidence_id for one in result.citations] == [
        piece["id"]
        for piece in (
            finished_research.TURBINES,
            finished_research.INTEREST,
            finished_research.COST_AUDIT,
            finished_research.COST_REPORT,
            finished_research.FISH,
        )
    ]
    assert [one.n for one in result.citations] == [1, 2, 3, 4, 5]
    assert result.sections[0].statements[1].citations == [1]
    sides = result.contradictions[0].sides
    assert [side.citations for side in sides] == [[3], [4]]
    assert [side.evidence_ids for side in sides] == [
        [finished_research.COST_AUDIT["id"]],
        [finished_research.COST_REPORT["id"]],
    ]


def test_a_quote_that_stands_at_its_locator_is_valid_in_a_text_with_and_without_pages():
    assert only_problem(finished_research.COST_AUDIT) == ""
    assert only_problem(finished_research.TURBINES) == ""


def test_a_locator_that_is_off_by_one_says_what_stands_there_instead():
    start, end = finished_research.COST_AUDIT["locator"].removeprefix("char:").split("-")
    moved = {**finished_research.COST_AUDIT, "locator": f"char:{int(start) + 1}-{int(end) + 1}"}
    assert only_problem(moved) == (
        "the archived text has there: 'he construction cost of the tidal lagoon reached 1.61 billion euros. '"
    )


def test_a_changed_quote_a_locator_outside_and_one_that_is_none_are_invalid():
    assert "1.61 billion" in only_problem({**finished_research.COST_AUDIT, "quote": "The lagoon was free of charge."})
    assert "leads nowhere" in only_problem({**finished_research.COST_AUDIT, "locator": "char:99000-99010"})
    assert "leads nowhere" in only_problem({**finished_research.COST_AUDIT, "locator": "somewhere near the top"})
    assert "leads nowhere" in only_problem({**finished_research.TURBINES, "locator": "page:9:char:0-10"})


def test_an_empty_quote_proves_nothing():
    assert only_problem({**finished_research.COST_AUDIT, "quote": ""}) == "the quote is empty"


def test_a_missing_text_and_a_text_that_was_changed_are_invalid():
    assert "is missing" in only_problem(finished_research.FISH, texts={})
    changed = {finished_research.FISH["archive_hash"]: finished_research.FORUM.text.replace("no fish", "all fish")}
    assert "its hash differs" in only_problem(finished_research.FISH, texts=changed)
    appended = {finished_research.FISH["archive_hash"]: finished_research.FORUM.text + " P.S."}
    assert "its hash differs" in only_problem(finished_research.FISH, texts=appended)


def test_evidence_of_a_source_that_the_run_does_not_have_is_invalid():
    assert (
        only_problem({**finished_research.FISH, "source_id": "src-0000000000"})
        == "the run has no source src-0000000000"
    )


def test_an_id_that_no_evidence_has_is_dropped_and_named_as_fabricated():
    draft = {"summary": [{"text": "The lagoon pays.", "evidence_ids": ["ev-ffffffffff"], "kind": "fact"}]}
    (statement,) = cited(draft, finished_research.FISH).short_answer
    assert statement.citations == []
    assert statement.fabricated == ["ev-ffffffffff"]
    assert (statement.supported, statement.problem) == (False, "no citation")


def test_markers_that_a_model_wrote_into_a_sentence_become_citations_or_are_named_as_fabricated():
    text = f"The lagoon cost 1.61 billion euros [{finished_research.COST_AUDIT['id']}], some say [7] [ev-0123456789]."
    (statement,) = cited({"summary": [finished_research.fact(text)]}, finished_research.COST_AUDIT).short_answer
    assert statement.text == "The lagoon cost 1.61 billion euros, some say."
    assert statement.citations == [1]
    assert statement.fabricated == ["ev-0123456789", "[7]"]
    assert statement.supported


def test_a_bracketed_number_inside_a_verbatim_quote_is_left_alone():
    (statement,) = cited(
        {"summary": [{"text": "It was opened in 2016.[3]", "evidence_ids": [], "kind": "quote"}]}
    ).short_answer
    assert statement.text == "It was opened in 2016.[3]"
    assert statement.fabricated == []


def test_a_quote_statement_has_to_be_its_first_evidence_word_for_word():
    reworded = {
        **finished_research.quote(finished_research.FISH),
        "text": "I read that the turbines kill no fish at all.",
    }
    (statement,) = cited({"summary": [reworded]}, finished_research.FISH).short_answer
    assert statement.problem == "not word for word what [1] quotes"


def test_connecting_words_count_as_facts_when_they_hold_a_figure_or_come_from_a_model():
    words = {"text": "The sources say:", "kind": "connective"}
    figure = {"text": "There are 4 views:", "kind": "connective"}
    trusted = cited({"summary": [words, figure]}).short_answer
    assert [(one.kind, one.supported) for one in trusted] == [("connective", True), ("fact", False)]
    (untrusted,) = cited({"summary": [words]}, trust_connectives=False).short_answer
    assert (untrusted.kind, untrusted.supported) == ("fact", False)
