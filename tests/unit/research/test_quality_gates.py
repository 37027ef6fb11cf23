"""The gates' exact rules and scores."""

from __future__ import annotations

import pytest

from graph_research.research.quality_gates import findings_gate, plan_gate, refinement_gate, report_gate, source_gate


def plan(*queries: str) -> list[dict[str, str]]:
    return [{"query": query} for query in queries]


def sources(*qualities: str) -> list[dict[str, str]]:
    return [{"quality": quality} for quality in qualities]


def statuses(*values: str) -> list[dict[str, str]]:
    return [{"status": value} for value in values]


def findings(*rows: tuple[str, list[str]]) -> list[dict[str, object]]:
    return [{"confidence": confidence, "source_ids": ids} for confidence, ids in rows]


@pytest.mark.requirement("3.1")
@pytest.mark.parametrize(("count", "score"), [(2, 5.0), (3, 7.5), (4, 10.0), (5, 10.0)])
def test_a_plan_scores_two_and_a_half_points_a_sub_query_up_to_ten(count: int, score: float) -> None:
    result = plan_gate(plan(*["a query of some length"] * count), "A brief.", 5)
    assert result.valid
    assert result.quality_score == score


@pytest.mark.requirement("3.1")
def test_a_plan_of_one_short_query_without_a_brief_has_three_issues() -> None:
    result = plan_gate(plan("short"), None, 5)
    assert not result.valid
    assert result.issues == (
        "Insufficient sub-queries (minimum: 2)",
        "Missing research brief",
        "Sub-query too short: short",
    )
    assert result.quality_score == 2.5


@pytest.mark.requirement("3.1")
def test_a_query_of_ten_characters_is_long_enough_and_one_of_nine_is_not() -> None:
    assert plan_gate(plan("0123456789", "0123456789"), "b", 5).valid
    assert plan_gate(plan("0123456789", "012345678"), "b", 5).issues == ("Sub-query too short: 012345678",)


@pytest.mark.requirement("3.1")
def test_a_plan_may_not_have_more_sub_queries_than_allowed() -> None:
    assert plan_gate(plan(*["a query of some length"] * 4), "b", 3).issues == ("Too many sub-queries (max: 3)",)


@pytest.mark.requirement("3.2", "B8")
def test_three_sources_with_one_of_high_quality_pass() -> None:
    result = source_gate(sources("high", "low", "medium"), statuses("completed", "failed"))
    assert result.valid
    assert result.quality_score == 4.5


@pytest.mark.requirement("3.2")
def test_sources_of_middling_quality_alone_are_an_issue() -> None:
    assert source_gate(sources("medium", "medium", "medium"), []).issues == ("No high-quality sources found",)


@pytest.mark.requirement("3.2")
def test_no_source_at_all_is_one_issue_and_not_two() -> None:
    assert source_gate([], statuses("completed")).issues == ("Insufficient sources (minimum: 3)",)


@pytest.mark.requirement("3.2")
def test_less_than_half_of_the_sub_queries_completed_is_an_issue() -> None:
    result = source_gate(sources(*["high"] * 8), statuses("completed", "failed", "pending"))
    assert result.issues == ("Low sub-query completion rate: 1/3",)
    assert result.quality_score == 10.0


@pytest.mark.requirement("3.3")
def test_findings_score_two_points_each_and_one_more_where_confidence_is_high() -> None:
    result = findings_gate(findings(("high", ["a"]), ("low", ["b"])), sources("high", "low", "low"))
    assert result.valid
    assert result.quality_score == 5.0


@pytest.mark.requirement("3.3", "B9")
def test_a_confirmed_finding_counts_as_one_of_high_confidence() -> None:
    assert findings_gate(findings(("confirmed", ["a"]), ("low", ["b"])), sources("low")).valid


@pytest.mark.requirement("3.3")
def test_findings_must_cite_three_tenths_of_the_sources() -> None:
    rows = findings(("high", ["a"]), ("high", ["a", "b"]))
    assert findings_gate(rows, sources(*["low"] * 6)).valid
    assert findings_gate(rows, sources(*["low"] * 7)).issues == ("Low source citation coverage: 29%",)


@pytest.mark.requirement("3.3")
def test_no_findings_about_no_sources_do_not_divide_by_zero() -> None:
    result = findings_gate([], [])
    assert result.issues == ("Insufficient findings (minimum: 2)", "Low source citation coverage: 0%")
    assert result.quality_score == 0.0


@pytest.mark.requirement("3.4")
def test_a_missing_report_scores_nothing_and_no_further_rule_is_looked_at() -> None:
    for missing in (None, ""):
        result = report_gate(missing)
        assert result.issues == ("Missing report",)
        assert result.quality_score == 0.0


@pytest.mark.requirement("3.4")
def test_a_report_of_99_characters_without_sections_has_two_issues() -> None:
    assert report_gate("x" * 99).issues == (
        "Report too short (minimum: 100 chars)",
        "Report missing section structure",
    )


@pytest.mark.requirement("3.4")
def test_a_report_scores_one_point_for_500_characters_up_to_ten() -> None:
    assert report_gate("## a" + "x" * 996).quality_score == 2.0
    assert report_gate("## a" + "x" * 9_996).quality_score == 10.0


@pytest.mark.requirement("3.5")
def test_refinement_is_always_valid_and_loses_two_points_a_gap() -> None:
    gaps = [{"addressed": False}, {"addressed": True}, {"addressed": False}]
    result = refinement_gate(gaps, 1, 3)
    assert result.valid
    assert result.issues == ()
    assert result.quality_score == 6.0


@pytest.mark.requirement("3.5")
def test_gaps_left_at_the_last_iteration_are_an_issue_that_stops_nothing() -> None:
    result = refinement_gate([{"addressed": False}] * 6, 3, 3)
    assert result.valid
    assert result.issues == ("Unaddressed gaps remain but iteration limit reached",)
    assert result.quality_score == 0.0
