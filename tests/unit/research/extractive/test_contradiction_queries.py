"""Conflicts of sources that no query tried to settle: each gets a sub-query with the thing's name and both values."""

from __future__ import annotations

from typing import Any

from graph_research.research.extractive import reviews

CONFLICT: dict[str, Any] = {
    "id": "con-0000000001",
    "kind": "number",
    "topic": "Construction cost Tarn plant",
    "sides": [
        {"value": "1.61 billion euros", "evidence_ids": ["ev-0000000001"]},
        {"value": "1.37 billion euros", "evidence_ids": ["ev-0000000002"]},
    ],
}


def test_a_conflict_is_asked_for_with_both_values_once() -> None:
    material = {"gaps": [], "contradictions": [CONFLICT], "sub_queries": [], "remaining_iterations": 1}
    answer = reviews.refine(material)
    [row] = answer["gap_analysis"]
    [query] = row["follow_up_queries"]
    assert row["gap_id"] == CONFLICT["id"]
    assert query["query"] == "Construction cost Tarn plant 1.61 billion euros 1.37 billion euros"
    assert answer["iteration_recommendation"]["should_iterate"]
    again = reviews.refine({**material, "sub_queries": [{"query": query["query"]}]})
    assert not again["iteration_recommendation"]["should_iterate"]
