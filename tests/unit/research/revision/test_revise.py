"""A version of a report: the state of the run, and the revisions that hold, one after another."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.models.draft import Draft
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.source import Source
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import Report
from graph_research.research.report.verification import verify
from graph_research.research.revision.model import (
    Edit,
    Exclusion,
    FollowUp,
    Refresh,
    Revision,
    Undo,
    holding,
    revision_json,
    revision_of,
)
from graph_research.research.revision.revise import revised
from graph_research.research.revision.sentences import without_evidence
from tests.support.research import finished_research as study

AT = "2026-01-01T00:00:00Z"
WITHOUT_AUDIT = Exclusion(what="Review", at=AT, source_id="src-audit00001")
REWORDED = Edit(what="turbines", at=AT, sentence=study.TURBINES["quote"], text="It has 99 turbines, I am told.")
DROPPED = Edit(what="turbines", at=AT, sentence=study.TURBINES["quote"], claim_id="claim-0000000001", drop=True)
DOUBTED = Edit(what="turbines", at=AT, claim_id="claim-0000000001", confidence=0.1)
UNDO = Undo(what="the last change", at=AT)


def report(*revisions: Revision, **changes: Any) -> Report:
    state = revised(study.state(**changes), holding(revisions), study.texts())
    return study.report_of(state)


def texts_of(report: Report) -> list[str]:
    return [statement.text for statement in report.statements()]


def test_versions_of_a_report_read_like_a_log() -> None:
    assert texts_of(report(WITHOUT_AUDIT, UNDO)) == texts_of(report())
    assert study.COST_AUDIT["quote"] not in texts_of(report(WITHOUT_AUDIT))
    assert "It has 99 turbines, I am told." in texts_of(report(WITHOUT_AUDIT, REWORDED))
    assert holding([WITHOUT_AUDIT, REWORDED, UNDO, DROPPED, UNDO, UNDO]) == []
    assert holding([UNDO, WITHOUT_AUDIT]) == [WITHOUT_AUDIT]


def test_a_lead_to_the_disagreements_goes_with_the_last_of_them() -> None:
    state = study.state()
    lead = {"text": labels_for("en").disputed_values, "kind": "transition", "evidence_ids": []}
    state["draft"]["summary"].append({"type": "paragraph", "sentences": [lead]})
    after = revised(state, [WITHOUT_AUDIT], study.texts())
    assert lead["text"] in str(state["draft"]["summary"])
    assert lead["text"] not in str(after["draft"]["summary"])


def test_a_revision_is_the_same_after_it_was_stored() -> None:
    for revision in (WITHOUT_AUDIT, REWORDED, DROPPED, DOUBTED, UNDO):
        row = type(revision).model_validate(revision_json(revision)).model_dump_json()
        assert revision_of(row) == revision


def test_without_a_source_its_sentences_findings_and_conflicts_are_gone_and_the_rest_is_numbered_anew() -> None:
    before, after = report(), report(WITHOUT_AUDIT)
    assert [source.id for source in after.sources] == ["src-report0001", "src-forum00001"]
    assert [source.n for source in after.sources] == [1, 2]
    assert {row.source_id for row in after.citations} == {"src-report0001", "src-forum00001"}
    assert [claim.text for claim in after.claims] == [study.TURBINES["quote"]]
    assert (len(before.contradictions), after.contradictions) == (1, [])
    assert after.confidence.value is not None
    checked = verify(after, study.texts(), study.layouts())
    assert (checked.invalid, checked.unsupported, checked.fabricated) == (0, 0, 0)


def test_a_disagreement_that_a_refresh_tells_anew_is_told_once() -> None:
    state = study.state()
    [old] = state["contradictions"]
    forum = {"value": "no fish", "evidence_ids": [study.FISH["id"]]}
    old["sides"].append(forum)
    anew = Contradiction.model_validate({**old, "id": "con-0000000002", "sides": [old["sides"][1], forum]})
    changed = Refresh(what="Review", at=AT, evidence_ids=[study.COST_AUDIT["id"]], contradictions=[anew])
    after = revised(state, [changed], study.texts())
    assert [row["id"] for row in after["contradictions"]] == ["con-0000000002"]


def test_a_quotation_that_another_source_has_too_quotes_that_one() -> None:
    summary = [study.quotes(study.quote(study.COST_AUDIT, study.COST_REPORT))]
    after = report(WITHOUT_AUDIT, draft={"summary": summary})
    (statement,) = after.statements()
    assert (statement.text, statement.status) == (study.COST_REPORT["quote"], "proved")


def test_a_section_that_loses_its_last_sentence_goes_and_so_does_what_only_led_to_it() -> None:
    draft = {
        "summary": [study.quotes(study.quote(study.COST_AUDIT))],
        "sections": [
            {"heading": "Cost", "level": 1, "blocks": []},
            {
                "heading": "The audit",
                "level": 2,
                "blocks": [study.paragraph({"text": "It says:", "kind": "transition"}, study.quote(study.INTEREST))],
            },
            {"heading": "Turbines", "level": 1, "blocks": [study.quotes(study.quote(study.TURBINES))]},
        ],
    }
    after = report(WITHOUT_AUDIT, draft=draft)
    assert [section.heading for section in after.sections] == ["Turbines"]
    assert [row.text for block in after.short_answer for row in block.statements()] == [study.TURBINES["quote"]]


def test_where_nothing_is_left_the_report_says_that_it_found_nothing() -> None:
    draft = {"summary": [study.quotes(study.quote(study.COST_AUDIT))]}
    assert report(WITHOUT_AUDIT, draft=draft).found is False


def test_rows_of_a_table_that_keep_only_their_label_go() -> None:
    label = {"text": "Cost", "kind": "transition"}
    table = {
        "type": "table",
        "header": ["What", "Says"],
        "rows": [[label, study.quote(study.COST_AUDIT)], [label, study.quote(study.TURBINES)]],
    }
    draft = Draft.model_validate({"summary": [table]})
    kept = without_evidence(draft, {}, {study.COST_AUDIT["id"]}, ())
    assert [[cell.text for cell in row] for row in kept.summary[0].rows] == [["Cost", study.TURBINES["quote"]]]


def test_no_cell_of_a_table_takes_the_place_of_a_summary_that_is_gone() -> None:
    table = {"type": "table", "header": ["Year", "Yield"], "rows": [[study.quote(study.TURBINES)]]}
    blocks = [table, study.quotes(study.quote(study.MAINTENANCE))]
    summary = [study.quotes(study.quote(study.COST_AUDIT))]
    draft = {"summary": summary, "sections": [{"heading": "Yield", "blocks": blocks}]}
    kept = without_evidence(Draft.model_validate(draft), {}, {study.COST_AUDIT["id"]}, ())
    assert [row.text for block in kept.summary for row in block.statements()] == [study.MAINTENANCE["quote"]]


@pytest.mark.requirement("B45")
def test_the_users_words_are_theirs_and_never_proved() -> None:
    after = report(REWORDED)
    theirs = [row for row in after.statements() if row.kind == "user"]
    assert [(row.status, row.citations, row.support) for row in theirs] == [("user", [], 0.0)] * 2
    checked = verify(after, study.texts(), study.layouts())
    assert checked.kinds["user"] == 2
    assert checked.statements == checked.supported == 5
    forged = theirs[0].model_copy(update={"status": "proved"})
    block = after.short_answer[0].model_copy(update={"items": [[forged]]})
    again = verify(after.model_copy(update={"short_answer": [block]}), study.texts(), study.layouts())
    assert again.kinds["user"] == 2


@pytest.mark.parametrize(
    ("text", "support", "is_scored"),
    [
        ("An average year brings 412 gigawatt hours by sixteen bulb turbines.", ["src-report0001"], True),
        ("Ninety bulb turbines produce 412 gigawatt hours in an average year.", [], False),
    ],
)
def test_sources_stand_for_a_claim_in_the_users_words_only_where_their_quotes_do(
    text: str, support: list[str], is_scored: bool
) -> None:
    edit = Edit(what="turbines", at=AT, sentence=study.TURBINES["quote"], claim_id="claim-0000000001", text=text)
    after = report(edit)
    [claim] = [one for one in after.claims if one.id == "claim-0000000001"]
    assert (claim.text, claim.support, claim.confidence > 0, claim.edited) == (text, support, is_scored, True)
    [row] = [one for one in after.matrix if one.claim == claim.id]
    assert row.supports == support


def test_a_claim_that_the_user_drops_or_doubts_changes_the_confidence_of_the_whole() -> None:
    dropped, doubted = report(DROPPED), report(DOUBTED)
    assert study.TURBINES["quote"] not in texts_of(dropped)
    assert [claim.id for claim in dropped.claims] == ["claim-0000000002"]
    claim = next(claim for claim in doubted.claims if claim.id == "claim-0000000001")
    assert (claim.confidence, claim.edited) == (0.1, True)
    assert doubted.confidence.value == round((0.1 + 0.667) / 2 * 0.3, 4)


def test_a_source_that_a_further_question_added_counts_only_where_a_claim_rests_on_it() -> None:
    added = Source.model_validate({**study.SOURCES[2], "id": "src-guide00001", "publisher": "Guide"})
    unanswered = FollowUp(what="Who keeps bees?", at=AT, run_id="bees", sections=[], sources=[added])
    before = report(FollowUp(what="Who keeps bees?", at=AT, run_id="bees", sections=[]))
    assert report(unanswered).confidence == before.confidence


def test_a_source_whose_evidence_is_gone_counts_no_more_than_one_that_is_left_out() -> None:
    gone = [row["id"] for row in (study.COST_AUDIT, study.INTEREST)]
    vanished = report(Refresh(what="Review", at=AT, evidence_ids=gone, source_ids=["src-audit00001"]))
    assert vanished.confidence.value == report(WITHOUT_AUDIT).confidence.value < report().confidence.value


def test_an_edit_outlives_a_later_exclusion() -> None:
    claims = {claim.id: claim.confidence for claim in report(DOUBTED, WITHOUT_AUDIT).claims}
    assert claims == {"claim-0000000001": 0.1}
