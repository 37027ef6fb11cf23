"""Functions that the graphs' expressions call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graph_research.providers.errors import BudgetReached
from graph_research.research.graph_functions import (
    abort_record,
    cut_off,
    failures_of,
    further_sub_query,
    gaps_left,
    gathering_stats,
    marked,
    pending,
    reopened,
    types_of,
    unaddressed,
)
from graph_research.research.topic_functions import (
    brought_new,
    new_sources,
    quoted_sources,
    topic_results,
    upserted,
    with_open_limits,
)


def sub_query(name: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": name, "query": f"query {name}", "status": status, "iteration": 1, "error": None, **more}


def source(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "archive_hash": text, "iteration": 1}


def test_only_pending_sub_queries_are_gathered_and_failed_ones_can_be_reopened() -> None:
    rows = [sub_query("a", "completed"), sub_query("b"), sub_query("c", "failed", error="no")]
    assert [row["id"] for row in pending(rows)] == ["b"]
    assert [(row["status"], row["error"]) for row in reopened(rows, [source("s", "x")], "query d")] == [
        ("completed", None),
        ("pending", None),
        ("pending", None),
    ]


def test_where_no_source_was_found_the_question_is_searched_for_unless_it_was() -> None:
    rows = [sub_query("a", "completed", priority=1), sub_query("b", "completed", priority=2)]
    assert reopened(rows, [source("s", "x")], "the question") == rows
    assert reopened(rows, [], "query a") == rows
    *before, asked = reopened(rows, [], "the question")
    assert before == rows
    assert {**asked, "id": "sq-1-3", "query": "the question", "status": "pending", "priority": 3} == asked


@pytest.mark.requirement("5.2")
def test_what_a_round_found_joins_what_was_known_and_takes_the_place_of_what_it_changed() -> None:
    known = [{"id": "a", "content": "old"}, {"id": "b", "content": "kept"}]
    found = [{"id": "c", "content": "new"}, {"id": "a", "content": "changed"}]
    assert [row["content"] for row in upserted(known, found)] == ["changed", "kept", "new"]
    assert upserted(known, []) == known


def test_researched_sub_queries_are_marked_and_the_others_left_alone() -> None:
    rows = [sub_query(name) for name in "abcd"]
    outputs: list[dict[str, Any]] = [
        {"topic": {"sub_query_id": "a", "error": None}},
        {"topic": {"sub_query_id": "b", "error": "nobody"}},
    ]
    errors = [{"index": 2, "item": rows[2], "type": "ProviderUnavailable", "message": "down"}]
    assert [(row["status"], row["error"]) for row in marked(rows, outputs, errors)] == [
        ("completed", None),
        ("failed", "nobody"),
        ("failed", "down"),
        ("pending", None),
    ]


@pytest.mark.requirement("2.3")
def test_a_source_found_under_two_addresses_is_kept_once_and_topics_name_that_one() -> None:
    known = [source("src-1", "text one")]
    outputs = [
        {"sources": [source("src-2", "text two")], "topic": {"sub_query_id": "a", "source_ids": ["src-2"]}},
        {
            "sources": [source("src-3", "text two"), source("src-4", "text one")],
            "topic": {"sub_query_id": "b", "source_ids": ["src-3", "src-4"]},
        },
    ]
    assert [row["id"] for row in new_sources(known, outputs)] == ["src-2"]
    assert [topic["source_ids"] for topic in topic_results(known, outputs)] == [["src-2"], ["src-2", "src-1"]]


def test_a_source_is_quoted_where_evidence_is_from_it() -> None:
    evidence = [{"id": "ev-1", "source_id": "src-2"}, {"id": "ev-2", "source_id": "src-2"}]
    assert quoted_sources([source("src-1", "one"), source("src-2", "two")], evidence) == [source("src-2", "two")]


def test_a_round_brought_something_where_a_topic_was_read_or_found_a_source_of_its_own() -> None:
    sub_queries = [{"id": "sq-1-1", "iteration": 1}, {"id": "sq-2-1", "iteration": 2}]

    def topics(found: list[str], read: Sequence[str] = ()) -> list[dict[str, Any]]:
        first = {"sub_query_id": "sq-1-1", "source_ids": ["src-1", "src-2"], "read_ids": []}
        return [first, {"sub_query_id": "sq-2-1", "source_ids": found, "read_ids": list(read)}]

    assert not brought_new(sub_queries, topics(["src-2"]), 2), "the analyzer has read it, with or without a model"
    assert not brought_new(sub_queries, topics([]), 2)
    assert brought_new(sub_queries, topics(["src-2", "src-3"]), 2)
    assert brought_new(sub_queries, topics(["src-2"], read=["src-2"]), 2), "it was read again for another question"


def test_failed_items_of_a_fan_out_become_search_failures() -> None:
    errors = [{"index": 0, "item": sub_query("a"), "type": "ProviderRefused", "message": "no key"}]
    assert failures_of(errors) == [
        {"sub_query_id": "a", "query": "query a", "provider": "all", "error": "ProviderRefused", "message": "no key"}
    ]


def test_searches_are_cut_off_where_the_limits_of_the_run_leave_no_room_for_one() -> None:
    errors = [{"index": 0, "item": sub_query("a"), "type": "ProviderRefused", "message": "no key"}]
    assert not cut_off(failures_of(errors))
    assert cut_off(failures_of([*errors, {**errors[0], "type": BudgetReached.__name__}]))


@pytest.mark.requirement("2.4")
def test_the_gatherers_numbers_count_one_iteration() -> None:
    rows = [sub_query("a", "completed"), sub_query("b", "failed"), sub_query("c", "completed", iteration=2)]
    topics = [
        {"sub_query_id": "a", "searches_performed": 2, "duplicates_skipped": 3, "source_ids": ["src-1", "src-0"]},
        {"sub_query_id": "c", "searches_performed": 5, "duplicates_skipped": 7, "source_ids": ["src-1"]},
    ]
    assert gathering_stats(rows, topics, [source("src-1", "t")], 1) == {
        "queries_executed": 2,
        "queries_failed": 1,
        "sources_collected": 1,
        "duplicates_skipped": 4,
    }


def test_what_is_left_of_a_gap_is_searched_for_with_its_own_words() -> None:
    asked, rest = "What do a ferry and a bridge cost?", "What does a bridge cost?"
    gaps = [{"id": name, "description": asked, "suggested_queries": ["ferry"]} for name in ("a", "b", "c")]
    gaps.append({**gaps[0], "id": "d", "suggested_queries": []})
    answered = [{"gap": name, "left": left} for name, left in (("a", rest), ("b", ""), ("d", rest))]
    left = [(row["id"], row["description"], row["suggested_queries"]) for row in gaps_left(gaps, answered)]
    assert left == [("a", rest, [rest]), ("c", asked, ["ferry"]), ("d", rest, [])]


def test_an_answer_that_leaves_something_else_than_a_part_of_the_gap_is_none() -> None:
    asked, rest = "what a server answers when a limit on requests is exceeded", "what is answered beyond a limit"
    gap = {"id": "a", "description": asked, "suggested_queries": []}
    assert gaps_left([gap], [{"gap": "a", "left": "the status code"}]) == [gap]
    [left] = gaps_left([gap], [{"gap": "a", "left": rest}, {"gap": "a", "left": "the status code"}])
    assert left["description"] == rest


def test_open_gaps_are_counted() -> None:
    assert unaddressed([{"addressed": False}, {"addressed": True}]) == 1


@pytest.mark.requirement("6.3", "B39", "14.2")
def test_an_abort_is_recorded_with_its_phase_whichever_of_its_nodes_was_running() -> None:
    def record(node: str, kind: str) -> dict[str, Any]:
        retried = [{"kind": "window", "retries": 2}, {"kind": "cut"}, {"kind": "window", "retries": 1}]
        made = abort_record({"node": node, "type": kind, "message": "why"}, 2, retried)
        assert made.pop("token_limit_retries") == 3
        return made

    assert record("gather", "Cancelled") == {"cancelled": True, "abort_phase": "gathering", "abort_iteration": 2}
    assert record("review_analyze", "TimeoutError") == {
        "timeout": True,
        "abort_phase": "analysis",
        "abort_iteration": 2,
    }
    assert record("review_analyze", "GraphTimeout")["timeout"]
    assert record("shout", "ProviderRefused") == {
        "error": True,
        "abort_phase": "shout",
        "abort_iteration": 2,
        "abort_reason": "why",
    }


def test_a_sub_query_is_looked_for_where_it_says_as_far_as_the_run_looks_there() -> None:
    every = ["web", "academic", "news"]
    assert types_of({"source_types": ["news", "academic"]}, every) == ["academic", "news"]
    assert types_of({"source_types": ["news"]}, ["web"]) == ["web"]
    assert types_of({"source_types": []}, every) == types_of({}, every) == every


def test_what_is_still_to_be_found_is_one_sub_query_whose_questions_can_be_told_apart() -> None:
    row = further_sub_query(["clone by depth", "merge base lost"], [{"iteration": 2}, {"iteration": 1}], 2)
    assert row["query"] == "clone by depth; merge base lost"
    assert row["id"] == "sq-2-2"


def test_a_limit_that_several_topics_tell_is_told_once_in_its_fullest_wording() -> None:
    lacking = [
        ["How long a repair of the turbine takes is not said.", "What a licence costs is not said."],
        [
            "How long the repair of a turbine takes in winter is not stated.",
            "What a repair of the turbine costs is open.",
        ],
    ]
    topics = with_open_limits([{"limits": own} for own in lacking], ["What a licence costs is not said."])
    assert [topic["limits"] for topic in topics] == [[], lacking[1]]


def test_a_limit_that_asks_less_than_an_answered_one_that_asks_the_same_is_not_open() -> None:
    short, long = "The default value of the inn's gate_wait", "The value of the inn's gate wait when none is set"
    topics = [{"limits": [short]}, {"limits": [long]}]
    assert [topic["limits"] for topic in with_open_limits(topics, [long])] == [[], []]
    assert [topic["limits"] for topic in with_open_limits(topics, [])] == [[], [long]]
