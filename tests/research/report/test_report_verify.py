"""Verification proves a finished report again, from the report and the archive alone."""

from __future__ import annotations

import study

from graph_research.research.report.build import archived, build_report
from graph_research.research.report.model import Report
from graph_research.research.report.verification import verify


def built(**changes) -> Report:
    return build_report(study.state(**changes), texts=study.texts(), layouts=study.layouts(), run=study.facts())


def checked(report: Report, texts=None):
    return verify(report, study.texts() if texts is None else texts, study.layouts())


def test_a_sound_report_is_valid_throughout():
    result = checked(built())
    assert (result.citations, result.valid, result.invalid) == (6, 6, 0)
    assert (result.statements, result.supported, result.unsupported, result.fabricated) == (7, 7, 0, 0)
    assert (result.coverage, result.problems) == (1.0, [])


def test_pages_are_found_from_the_text_where_no_page_table_is_given():
    assert verify(built(), study.texts()).valid == 6


def test_each_kind_of_damage_is_counted_and_named():
    wrong_place = {**study.COST_AUDIT, "locator": "char:0-10"}
    wrong_words = {**study.TURBINES, "quote": "Sixteen turbines produce 999 gigawatt hours."}
    draft = {
        "summary": [
            study.quote(wrong_place),
            study.quote(wrong_words),
            study.quote(study.FISH),
            {"text": "The lagoon pays.", "evidence_ids": ["ev-ffffffffff"], "kind": "fact"},
            study.fact("It turns 17 turbines.", study.FISH),
        ]
    }
    report = built(draft=draft, evidence=[wrong_place, wrong_words, study.FISH], contradictions=[])
    result = checked(report)
    assert (result.citations, result.valid, result.invalid) == (3, 1, 2)
    assert (result.statements, result.supported, result.unsupported, result.fabricated) == (5, 1, 4, 1)
    assert result.coverage == 0.2
    told = {problem.where.split(" ")[0]: problem.what for problem in result.problems if problem.where[0] == "["}
    assert told["[1]"] == "the archived text has there: 'Review of '"
    assert "412 gigawatt hours" in told["[2]"]
    assert "ev-ffffffffff names no evidence" in {problem.what for problem in result.problems}
    assert "not in the cited quotes: 17" in {problem.what for problem in result.problems}


def test_a_missing_text_invalidates_what_was_quoted_from_it_and_nothing_else():
    texts = study.texts()
    del texts[study.FORUM.hash]
    result = checked(built(), texts)
    assert (result.valid, result.invalid, result.unsupported) == (5, 1, 1)


def test_nothing_the_report_says_of_itself_is_believed():
    report = built()
    quoted = report.citations[0].model_copy(update={"quote": "Nobody wrote this."})
    statement = report.short_answer[0].model_copy(update={"text": "Nobody wrote this.", "citations": [1, 77]})
    forged = report.model_copy(
        update={
            "citations": [quoted, *report.citations[1:]],
            "short_answer": [statement, *report.short_answer[1:]],
        }
    )
    assert forged.citations[0].valid and forged.short_answer[0].supported
    result = checked(forged)
    assert (result.invalid, result.fabricated) == (1, 1)
    assert result.unsupported == 2, "the short answer's statement and the section's that cites the same number"


def test_a_citation_of_a_source_that_the_report_does_not_list_is_invalid():
    report = built()
    assert checked(report.model_copy(update={"sources": report.sources[1:]})).invalid > 0


def test_citations_thrown_away_before_the_report_count_as_fabricated():
    assert checked(built(report_metadata={"fabricated_citations": 3})).fabricated == 3


def test_a_report_that_states_nothing_is_covered_and_empty():
    result = checked(built(draft=None, contradictions=[]))
    assert (result.citations, result.statements, result.coverage) == (0, 0, 1.0)


def test_a_report_read_back_from_json_is_judged_alike():
    report = built()
    assert checked(Report.model_validate_json(report.model_dump_json())) == checked(report)


def test_the_texts_that_a_report_needs_are_those_of_its_sources_and_its_evidence():
    old = {**study.FISH, "archive_hash": "sha256:" + "0" * 64}
    needed = archived(study.state(evidence=[old, study.COST_AUDIT]))
    assert set(needed) == {*study.texts(), old["archive_hash"]}
