"""Verification proves a finished report again, from the report and the archive alone."""

from __future__ import annotations

import pytest

from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import EMPTY_CELL
from graph_research.research.report.build import archived
from graph_research.research.report.model import Report
from graph_research.research.report.verification import verify
from tests.support.research import finished_research
from tests.support.research.finished_research import built


def checked(report: Report, texts=None):
    return verify(report, finished_research.texts() if texts is None else texts, finished_research.layouts())


def test_a_sound_report_is_valid_throughout():
    result = checked(built())
    assert (result.citations, result.valid, result.invalid) == (6, 6, 0)
    assert (result.statements, result.supported, result.unsupported, result.fabricated) == (7, 7, 0, 0)
    assert (result.coverage, result.problems) == (1.0, [])


def test_pages_are_found_from_the_text_where_no_page_table_is_given():
    assert verify(built(), finished_research.texts()).valid == 6


def test_each_kind_of_damage_is_counted_and_named():
    wrong_place = {**finished_research.COST_AUDIT, "locator": "char:0-10"}
    wrong_words = {**finished_research.TURBINES, "quote": "Sixteen turbines produce 999 gigawatt hours."}
    draft = {
        "summary": [
            finished_research.paragraph(
                finished_research.quote(wrong_place),
                finished_research.quote(wrong_words),
                finished_research.quote(finished_research.FISH),
                {"text": "The lagoon pays.", "evidence_ids": ["ev-ffffffffff"], "kind": "fact"},
                finished_research.fact("It turns 17 turbines.", finished_research.FISH),
            )
        ]
    }
    report = built(draft=draft, evidence=[wrong_place, wrong_words, finished_research.FISH], contradictions=[])
    result = checked(report)
    assert (result.citations, result.valid, result.invalid) == (3, 1, 2)
    assert (result.statements, result.supported, result.unsupported, result.fabricated) == (5, 1, 4, 1)
    assert result.coverage == 0.2
    told = {problem.where.split(" ")[0]: problem.what for problem in result.problems if problem.where[0] == "["}
    assert told["[1]"] == "the archived text has there: 'Review of '"
    assert "412 gigawatt hours" in told["[2]"]
    assert "ev-ffffffffff names no evidence" in {problem.what for problem in result.problems}
    assert "not in the cited quotes: 17" in {problem.what for problem in result.problems}
    assert result.kinds == {
        **dict.fromkeys(("verified", "cited", "analysis", "transition", "limit", "user"), 0),
        "quote": 1,
        "unsupported": 4,
    }


def test_a_missing_text_invalidates_what_was_quoted_from_it_and_nothing_else():
    texts = finished_research.texts()
    del texts[finished_research.FORUM.hash]
    result = checked(built(), texts)
    assert (result.valid, result.invalid, result.unsupported) == (5, 1, 1)


def test_nothing_the_report_says_of_itself_is_believed():
    report = built()
    quoted = report.citations[0].model_copy(update={"quote": "Nobody wrote this."})
    first, *others = report.short_answer[0].items
    statement = first[0].model_copy(update={"text": "Nobody wrote this.", "citations": ["c1", "c77"]})
    forged = report.model_copy(
        update={
            "citations": [quoted, *report.citations[1:]],
            "short_answer": [report.short_answer[0].model_copy(update={"items": [[statement], *others]})],
        }
    )
    assert forged.citations[0].valid and statement.status is Status.PROVED
    result = checked(forged)
    assert (result.invalid, result.fabricated, result.wrong_citations) == (1, 1, 2)
    assert result.unsupported == 2, "the short answer's statement and the section's that cites the same number"


def test_a_citation_of_a_source_that_the_report_does_not_list_is_invalid():
    report = built()
    assert checked(report.model_copy(update={"sources": report.sources[1:]})).invalid > 0


def test_citations_thrown_away_before_the_report_count_as_fabricated_and_are_not_wrong_in_it():
    result = checked(built(report_metadata={"fabricated_citations": 3}))
    assert (result.fabricated, result.fabricated_dropped, result.wrong_citations) == (3, 3, 0)


def test_the_labels_of_rows_are_counted_as_transitions_and_empty_cells_are_not_counted():
    label = {"text": "Turbines", "kind": "transition", "evidence_ids": []}
    row = [label, finished_research.quote(finished_research.TURBINES), EMPTY_CELL.to_json()]
    table = {"type": "table", "header": ["Part", "Figure", "Note"], "rows": [row]}
    kinds = checked(built(draft={"summary": [table], "sections": []}, contradictions=[])).kinds
    assert {name: count for name, count in kinds.items() if count} == {"quote": 1, "transition": 1}


def test_advice_rests_on_the_limit_before_it_in_its_item_and_on_none_of_another():
    limit = {"text": "The order of waiters was not found.", "kind": "limit", "evidence_ids": []}
    advice = {"text": "Plan as if the last one waits longest.", "kind": "analysis", "evidence_ids": []}
    for items, unsupported in (([[limit, advice]], 0), ([[limit], [advice]], 1)):
        report = built(draft={"summary": [{"type": "list", "items": items}], "sections": []}, contradictions=[])
        assert report.short_answer[0].items[-1][-1].status == (Status.UNSUPPORTED if unsupported else Status.ANALYSIS)
        assert checked(report).unsupported == unsupported


@pytest.mark.parametrize(
    ("text", "between", "is_grounded"),
    [
        ("The wait is the utilisation divided by what is left of it, times the 5 ms of the lock.", False, True),
        ("Bursts wait longer than this model says.", False, True),
        ("Bursts wait longer than this model says.", True, False),
        ("Bursts wait up to 40 ms longer.", False, False),
        ("Bursts wait longer on a Zylkreon.", False, False),
    ],
)
def test_an_analysis_may_explain_numbers_that_are_set_by_judgement_beside_it_and_bring_none_of_its_own(
    text, between, is_grounded
):
    cell = {"text": "5 ms", "kind": "analysis", "evidence_ids": [], "judged": ["5 ms"]}
    label = {"text": "At half of the bound", "kind": "transition", "evidence_ids": []}
    table = {"type": "table", "caption": "By the M/M/1 model", "header": ["Load", "Wait"], "rows": [[label, cell]]}
    prose, other = (
        {"sentences": [{"text": said, "kind": kind, "evidence_ids": []}]}
        for said, kind in ((text, "analysis"), ("The order of waiters was not found.", "limit"))
    )
    blocks = [table, *([other] if between else []), prose]
    report = built(draft={"summary": [], "sections": [{"heading": "Waits", "blocks": blocks}]}, contradictions=[])
    status = report.sections[0].blocks[-1].sentences[0].status
    assert status == (Status.ANALYSIS if is_grounded else Status.UNSUPPORTED)
    assert checked(report).unsupported == (not is_grounded)


@pytest.mark.parametrize(("text", "is_grounded"), [("A busy lock takes longer than that.", True), ("Or 40 ms.", False)])
def test_a_number_of_an_analysis_without_evidence_is_none_of_those_set_by_judgement_in_its_own_paragraph(
    text, is_grounded
):
    judged = {"text": "Plan with 5 ms for the lock.", "kind": "analysis", "evidence_ids": [], "judged": ["5 ms"]}
    sentences = [judged, {"text": text, "kind": "analysis", "evidence_ids": []}]
    section = {"heading": "Waits", "blocks": [{"sentences": sentences}]}
    report = built(draft={"summary": [], "sections": [section]}, contradictions=[])
    status = report.sections[0].blocks[0].sentences[1].status
    assert status == (Status.ANALYSIS if is_grounded else Status.UNSUPPORTED)
    assert checked(report).unsupported == (not is_grounded)


def test_a_report_that_states_nothing_is_covered_and_empty():
    result = checked(built(draft=None, contradictions=[]))
    assert (result.citations, result.statements, result.coverage) == (0, 0, 1.0)


def test_a_report_read_back_from_json_is_judged_alike():
    report = built()
    assert checked(Report.model_validate_json(report.model_dump_json())) == checked(report)


def test_the_texts_that_a_report_needs_are_those_of_its_sources_and_its_evidence():
    old = {**finished_research.FISH, "archive_hash": "sha256:" + "0" * 64}
    needed = archived(finished_research.state(evidence=[old, finished_research.COST_AUDIT]))
    assert set(needed) == {*finished_research.texts(), old["archive_hash"]}


def test_validity_support_by_kind_and_who_the_cited_sources_come_from() -> None:
    found = verify(built(), finished_research.texts(), finished_research.layouts())
    assert found.validity == 1.0
    assert found.support["quote"].statements == found.support["quote"].supported == found.kinds["quote"]
    assert (found.diversity.sources, found.diversity.domains, found.diversity.near_copies) == (3, 3, 0)
    assert found.diversity.top_share == 0.5
    copied = finished_research.texts()
    audit = built().sources[0].archive_hash
    same = verify(built(), dict.fromkeys(copied, copied[audit]), finished_research.layouts())
    assert same.diversity.near_copies == 2
