"""Decisions on how to go on: the answers of reflector, refiner and supervisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.evidence.contradictions import as_gap
from graph_research.research.extractive.gaps import new_queries
from graph_research.research.extractive.sources import question_of
from graph_research.research.models.evidence import Contradiction
from graph_research.text.relevance.query import parse

_ENOUGH_SOURCES = 3


def reflect(material: Mapping[str, Any]) -> dict[str, Any]:
    """A search for each part of the sub-query, which commas part, then for its second step, if it has one; complete
    after these, with three sources."""
    query, count = material["sub_query"], material["source_count"]
    candidates = [*_parts(query, material), *filter(None, [material.get("second_step")])]
    refined = next(iter(new_queries(candidates, [query, *material["queries"]])), None)
    go_on = refined is not None and material["searches_left"] > 0
    why = f"“{refined}” was not asked yet" if go_on else "there is no other query to try"
    return {
        "continue_searching": go_on,
        "refined_query": refined if go_on else None,
        "research_complete": not go_on and count >= _ENOUGH_SOURCES,
        "rationale": f"{count} sources; {why}.",
    }


def _parts(query: str, material: Mapping[str, Any]) -> list[str]:
    """A sub-query that joins several things by commas, as one query for each, all with the question's subject."""
    subject = parse(question_of(material)).subject
    opening = subject if query.startswith(subject) else ""
    parts = [part.strip() for part in query.removeprefix(opening).split(",")]
    return [f"{opening} {part}".strip() for part in parts] if len(parts) > 1 else []


_MOST_QUERIES = 2


def refine(material: Mapping[str, Any]) -> dict[str, Any]:
    """Severity by priority (1 critical, 2 moderate, else minor). A gap without a new query is not addressable.
    A conflict is a gap of priority 2 whose query has both values."""
    asked = [str(row.get("query", "")) for row in material.get("sub_queries") or ()]
    conflicts = [as_gap(Contradiction.model_validate(row)).to_json() for row in material.get("contradictions") or ()]
    gaps = [gap for gap in (*(material.get("gaps") or ()), *conflicts) if not gap.get("addressed")]
    rows: list[dict[str, Any]] = []
    for gap in gaps:
        fresh = new_queries([str(query) for query in gap.get("suggested_queries") or ()], asked)[:_MOST_QUERIES]
        asked += fresh
        rows.append(_row(gap, fresh))
    addressable = [row["gap_id"] for row in rows if row["addressable"]]
    go_on = bool(addressable) and material["remaining_iterations"] > 0
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


def _rationale(rows: Sequence[Mapping[str, Any]], addressable: Sequence[str], *, go_on: bool) -> str:
    if not rows:
        return "No gap is open."
    if go_on:
        return f"{len(addressable)} of {len(rows)} open gaps have a query that was not asked yet."
    if addressable:
        return "Queries are left that were not asked yet, but no round to ask them in."
    return "Every query that the open gaps suggest was asked already."


def supervise(material: Mapping[str, Any]) -> dict[str, Any]:
    """Always `proceed`: an answer made by code from the same material would be the same after a retry."""
    gate: Mapping[str, Any] = material.get("gate") or {}
    issues = [str(issue) for issue in gate.get("issues") or ()]
    phase = str(material.get("phase") or material.get("current_phase") or "phase")
    score = min(10.0, max(1.0, float(gate.get("quality_score") or 0.0)))
    passed = bool(gate.get("valid", not issues))
    return {
        "action": "proceed",
        "rationale": f"The gate of {phase} passed."
        if passed
        else f"The gate of {phase} found: {'; '.join(issues)}. Going on: the same material would give the same answer.",
        "quality_assessment": {"score": score, "strengths": [], "weaknesses": issues},
        "guidance": None,
    }
