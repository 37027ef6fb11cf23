"""The refiner: weighs what is still missing, and asks for it in words that were not tried yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.citations import without_markers
from graph_research.research.evidence.contradictions import as_gap
from graph_research.research.graph_functions import first_searches, unsettled
from graph_research.research.llm.phase_budget import material_chars
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.finding import Gap
from graph_research.research.models.ids import sub_query_id
from graph_research.research.models.plan import SubQuery
from graph_research.research.quality_gates import HIGH_CONFIDENCE
from graph_research.research.retrieval.query_novelty import asked_before

REPORT_EXCERPT_CHARS = 4_000

_SECTION = re.compile(r"^(?=##)", re.MULTILINE)

_SECTIONS = (
    Section(name="report_excerpt", noun="report", least_chars=0),
    Section(name="queries_sent", noun="query"),
    Section(name="contradictions", noun="contradiction", keep=0),
    Section(name="gaps", noun="gap"),
)


def refiner(services: Services) -> Handler:
    """Follow-up sub-queries for the next iteration. Fallback: the gaps' own suggestions."""
    agent = Agent(name="refiner", phase="refinement", sections=_SECTIONS)

    async def refine(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        open_gaps = [Gap.model_validate(row) for row in handoff["gaps"] if not row["addressed"]]
        conflicts = unsettled(handoff.get("contradictions") or [], handoff["sub_queries"])
        material = {
            **prompt_context(handoff.get("report_options"), ctx),
            **_material(handoff, open_gaps, _room(services, handoff)),
            "contradictions": conflicts,
        }
        result = await agent.call(
            services,
            material,
            ctx,
            fallback=lambda: _suggestions([*open_gaps, *map(as_gap, map(Contradiction.model_validate, conflicts))]),
            windows=handoff.get("model_windows"),
        )
        known = {*(gap.id for gap in open_gaps), *(row["id"] for row in conflicts)}
        analysis = [row for row in result.output["gap_analysis"] if row["gap_id"] in known]
        recommendation = result.output["iteration_recommendation"]
        wants = recommendation["should_iterate"] and handoff["remaining_iterations"] > 0
        follow_ups = _follow_ups(analysis, recommendation["priority_gaps"], handoff) if wants else []
        return {
            "gap_analysis": analysis,
            "iteration_recommendation": recommendation,
            "report_improvements": result.output.get("report_improvements", []),
            "sub_queries": [sub_query.to_json() for sub_query in follow_ups],
            "gaps": [gap.to_json() for gap in _weighed(open_gaps, analysis)],
            "should_iterate": bool(follow_ups),
            "degraded": result.degradations(agent.name, ctx),
        }

    return refine


def _room(services: Services, handoff: Mapping[str, Any]) -> int:
    """How much of the report is shown, in characters."""
    room = material_chars(services, "research", "refinement", handoff.get("model_windows"))
    return REPORT_EXCERPT_CHARS if room is None else min(REPORT_EXCERPT_CHARS, room)


def _material(handoff: Mapping[str, Any], open_gaps: Sequence[Gap], report_chars: int) -> dict[str, Any]:
    findings = handoff.get("findings") or []
    return {
        "question": handoff["original_query"],
        "checklist": list(handoff.get("checklist") or []),
        "gaps": [gap.to_json() for gap in open_gaps],
        "sub_queries": first_searches(handoff["sub_queries"]),
        "queries_sent": _sent(handoff),
        "findings": list(findings),
        "iteration": handoff["iteration"],
        "max_iterations": handoff["max_iterations"],
        "remaining_iterations": handoff["remaining_iterations"],
        "has_report_draft": handoff["has_report_draft"],
        "report_excerpt": _outline(handoff.get("report") or "")[:report_chars],
        "source_count": handoff.get("source_count", 0),
        "high_confidence_count": sum(1 for row in findings if row["confidence"] in HIGH_CONFIDENCE),
        "guidance": handoff.get("guidance"),
        "max_sub_queries": handoff["max_sub_queries"],
    }


def _outline(report: str) -> str:
    """The summary of the report, which is its first section, and the headings of the others, without the ids of
    evidence."""
    _, *sections = _SECTION.split(report)
    summary, headings = sections[:1], [section.partition("\n")[0] for section in sections[1:]]
    return without_markers("\n".join([*summary, *headings]))[0]


def _suggestions(gaps: Sequence[Gap]) -> dict[str, Any]:
    rows = [
        {
            "gap_id": gap.id,
            "severity": "moderate",
            "addressable": bool(gap.suggested_queries),
            "follow_up_queries": [{"query": query, "expected_contribution": ""} for query in gap.suggested_queries],
        }
        for gap in gaps
    ]
    return {
        "gap_analysis": rows,
        "iteration_recommendation": {
            "should_iterate": any(row["addressable"] for row in rows),
            "rationale": "The refinement could not be read; the gaps' own suggestions are followed.",
            "priority_gaps": [gap.id for gap in gaps],
        },
    }


def _follow_ups(
    analysis: Sequence[Mapping[str, Any]], priority_gaps: Sequence[str], handoff: Mapping[str, Any]
) -> list[SubQuery]:
    """New sub-queries of the next iteration, one a gap with all its queries, priority gaps first; no query asks again
    what was asked."""
    iteration = handoff["iteration"] + 1
    asked = _sent(handoff)
    most = len(asked) + handoff["max_sub_queries"]
    rank = {gap_id: place for place, gap_id in enumerate(priority_gaps)}
    ordered = sorted(
        (row for row in analysis if row["addressable"]), key=lambda row: rank.get(row["gap_id"], len(rank))
    )
    follow_ups: list[SubQuery] = []
    for row in ordered:
        queries = []
        for query in row["follow_up_queries"]:
            text = " ".join(query["query"].split())
            if text and len(asked) < most and not asked_before(text, asked):
                asked.append(text)
                queries.append((text, query.get("expected_contribution", "")))
        if queries:
            (first, rationale), *further = queries
            number = len(follow_ups) + 1
            follow_ups.append(
                SubQuery(
                    id=sub_query_id(iteration, number),
                    query=first,
                    further_queries=[text for text, _ in further],
                    rationale=rationale,
                    priority=number,
                    iteration=iteration,
                    gap_id=row["gap_id"],
                )
            )
    return follow_ups


def _sent(handoff: Mapping[str, Any]) -> list[str]:
    """Every query that was sent, once: those of the sub-queries and what their researchers made of them. A sub-query of
    several open points was sent point by point."""
    made = list(handoff.get("queries") or [])
    planned = [search["query"] for search in first_searches(handoff["sub_queries"])]
    return list(dict.fromkeys([*(query for query in planned if not {*query.split("; ")} <= {*made}), *made]))


def _weighed(gaps: Sequence[Gap], analysis: Sequence[Mapping[str, Any]]) -> list[Gap]:
    weighed = {row["gap_id"]: {field: row[field] for field in ("severity", "addressable")} for row in analysis}
    return [gap.model_copy(update=weighed.get(gap.id, {})) for gap in gaps]
