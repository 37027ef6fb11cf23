"""Citations are numbered in reading order, proved to the character, and what has no support is marked."""

from __future__ import annotations

from graph_research.research.evidence.archive import Archive
from graph_research.research.evidence.citations import cite
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import Draft
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.source import Source
from tests.support.research import finished_research


def cited(draft, *pieces, contradictions=(), texts=None):
    return cite(
        Draft.model_validate(draft),
        question="What did it cost?",
        evidence=[Evidence.model_validate(piece) for piece in pieces],
        sources=[Source.model_validate(source) for source in finished_research.SOURCES],
        contradictions=[Contradiction.model_validate(one) for one in contradictions],
        archive=Archive(finished_research.texts() if texts is None else texts, finished_research.layouts()),
    )


def summary(*statements):
    return {"summary": [finished_research.paragraph(*statements)]}


def only_statement(draft, *pieces):
    (statement,) = cited(draft, *pieces).statements()
    return statement


def only_problem(piece, texts=None):
    (citation,) = cited(summary(finished_research.fact("So it is.", piece)), piece, texts=texts).citations
    assert citation.valid is (citation.problem == "")
    return citation.problem


def test_more_evidence_that_fails_its_check_is_given_by_its_quote_and_without_one_left_out():
    study = finished_research
    wrong = study.fact("The lagoon has 99 turbines.", study.TURBINES)
    unknown = study.fact("It has 98.", study.COST_AUDIT)
    result = cited({"more": [wrong, unknown, study.quote(study.FISH)]}, study.TURBINES, study.FISH)
    assert [row.text for row in result.more_evidence] == [study.TURBINES["quote"], study.FISH["quote"]]
    assert [row.evidence_id for row in result.citations] == [study.TURBINES["id"], study.FISH["id"]]


def test_sources_are_numbered_in_reading_order_and_each_passage_is_a_citation_of_its_own():
    study = finished_research
    result = cited(
        {
            "more": [study.quote(study.FISH)],
            "sections": [
                {
                    "heading": "h",
                    "blocks": [
                        study.quotes(study.quote(study.COST_AUDIT), study.quote(study.TURBINES)),
                        {"type": "table", "header": ["a"], "rows": [[study.fact("9 weeks", study.MAINTENANCE)]]},
                    ],
                }
            ],
            "summary": [study.quotes(study.quote(study.TURBINES, study.INTEREST))],
        },
        *(study.FISH, study.COST_AUDIT, study.COST_REPORT, study.TURBINES, study.INTEREST, study.MAINTENANCE),
        contradictions=study.state()["contradictions"],
    )
    pieces = (study.TURBINES, study.INTEREST, study.COST_AUDIT, study.MAINTENANCE, study.COST_REPORT, study.FISH)
    assert [one.evidence_id for one in result.citations] == [piece["id"] for piece in pieces]
    assert [one.id for one in result.citations] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert [one.n for one in result.citations] == [1, 2, 2, 1, 1, 3], "one number a source"
    quoted, cells = result.sections[0].blocks
    assert [item[0].citations for item in quoted.items] == [["c3"], ["c1"]]
    assert [[cell.citations for cell in row] for row in cells.rows] == [[["c4"]]]
    sides = result.contradictions[0].sides
    assert [side.citations for side in sides] == [["c3"], ["c5"]]
    assert [side.evidence_ids for side in sides] == [[study.COST_AUDIT["id"]], [study.COST_REPORT["id"]]]


def test_a_citation_has_the_heading_above_its_passage():
    study = finished_research
    result = cited(summary(study.quote(study.COST_AUDIT), study.quote(study.FISH)), study.COST_AUDIT, study.FISH)
    assert [citation.heading for citation in result.citations] == ["Summary", ""]


def test_a_citation_carries_selectors_that_find_the_passage_without_its_locator():
    (citation,) = cited(summary(finished_research.quote(finished_research.FISH)), finished_research.FISH).citations
    words, place = citation.selectors
    text = finished_research.FORUM.text
    assert words.prefix + words.exact + words.suffix in text and words.exact == citation.quote
    assert text[place.start : place.end] == citation.quote
    moved = {**finished_research.FISH, "locator": "char:0-5"}
    (citation,) = cited(summary(finished_research.quote(moved)), moved).citations
    assert citation.selectors == []


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
    draft = summary({"text": "The lagoon pays.", "evidence_ids": ["ev-ffffffffff"], "kind": "fact"})
    statement = only_statement(draft, finished_research.FISH)
    assert statement.citations == []
    assert statement.fabricated == ["ev-ffffffffff"]
    assert (statement.status, statement.problem) == (Status.UNSUPPORTED, "no citation")


def test_markers_that_a_model_wrote_into_a_sentence_become_citations_or_are_named_as_fabricated():
    text = f"The lagoon cost 1.61 billion euros [{finished_research.COST_AUDIT['id']}], some say [7] [ev-0123456789]."
    statement = only_statement(summary(finished_research.fact(text)), finished_research.COST_AUDIT)
    assert statement.text == "The lagoon cost 1.61 billion euros, some say."
    assert statement.citations == ["c1"]
    assert statement.fabricated == ["ev-0123456789", "[7]"]
    assert statement.status is Status.CITED


def test_a_bracketed_number_inside_a_verbatim_quote_is_left_alone():
    statement = only_statement(summary({"text": "It was opened in 2016.[3]", "evidence_ids": [], "kind": "quote"}))
    assert statement.text == "It was opened in 2016.[3]"
    assert statement.fabricated == []


def test_brackets_in_a_block_of_code_belong_to_the_code():
    code = finished_research.fact("cost = figures[3]  # [ev-0123456789]", finished_research.COST_AUDIT)
    draft = {"sections": [{"heading": "h", "blocks": [{"type": "code", "sentences": [code]}]}]}
    statement = only_statement(draft, finished_research.COST_AUDIT)
    assert (statement.text, statement.fabricated) == (code["text"], [])


def test_a_quote_statement_has_to_be_its_first_evidence_word_for_word():
    reworded = {
        **finished_research.quote(finished_research.FISH),
        "text": "I read that the turbines kill no fish at all.",
    }
    statement = only_statement(summary(reworded), finished_research.FISH)
    assert statement.problem == "not word for word what [1] quotes"


def test_a_transition_and_a_limit_need_no_citation_but_may_state_no_figure_of_their_own():
    said = [
        {"text": "The sources say:", "kind": "transition"},
        {"text": "No figure for upkeep was found.", "kind": "limit"},
        {"text": "There are 4 views:", "kind": "transition"},
    ]
    judged = [(one.kind, one.status, one.problem) for one in cited(summary(*said)).statements()]
    assert judged == [
        ("transition", Status.TRANSITION, ""),
        ("limit", Status.LIMIT, ""),
        ("transition", Status.UNSUPPORTED, "states what it may not: 4"),
    ]
