"""The refiner's answer: follow-up queries for open gaps, and another round only where one of them is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.extractive.gaps import new_queries

__all__ = ["answer"]

_MOST_QUERIES = 2


def answer(material: Mapping[str, Any]) -> dict[str, Any]:
    """Severity by priority (1 critical, 2 moderate, else minor). A gap without a new query is not addressable."""
    asked = [str(row.get("query", "")) for row in material.get("sub_queries") or ()]
    gaps = [gap for gap in material.get("gaps") or () if not gap.get("addressed")]
    rows: list[dict[str, Any]] = []
    for gap in gaps:
        fresh = new_queries([str(query) for query in gap.get("suggested_queries") or ()], asked)[:_MOST_QUERIES]
        asked += fresh
        rows.append(_row(gap, fresh))
    addressable = [row["gap_id"] for row in rows if row["addressable"]]
    go_on = bool(addressable) and _rounds_left(material)
    return {
        "gap_analysis": rows,
        "iteration_recommendation": {
            "should_iterate": go_on,
            "rationale": _rationale(rows, addressable, go_on=go_on),
            "priority_gaps": addressable if go_on else [],
        },
        "report_improvements": [],
    }


def _row(gap: Mapping[str, Any], queries: Sequence[str]) -> dict[str, Any]:
    priority = int(gap.get("priority") or 1)
    return {
        "gap_id": str(gap.get("id", "")),
        "severity": "critical" if priority == 1 else "moderate" if priority == 2 else "minor",
        "addressable": bool(queries),
        "follow_up_queries": [
            {"query": query, "expected_contribution": f"Sources for: {gap.get('description', '')}"} for query in queries
        ],
    }


def _rounds_left(material: Mapping[str, Any]) -> bool:
    remaining = material.get("remaining_iterations")
    if remaining is None:
        remaining = int(material.get("max_iterations") or 1) - int(material.get("iteration") or 1)
    return int(remaining) > 0


def _rationale(rows: Sequence[Mapping[str, Any]], addressable: Sequence[str], *, go_on: bool) -> str:
    if not rows:
        return "No gap is open."
    if go_on:
        return f"{len(addressable)} of {len(rows)} open gaps have a query that was not asked yet."
    if addressable:
        return "Queries are left that were not asked yet, but no round to ask them in."
    return "Every query that the open gaps suggest was asked already."
