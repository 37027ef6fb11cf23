"""The pipeline's two answers: sub-questions of a question, and claims with the sources for and against each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.research.contradictions import Conflict
from graph_research.research.extractive import planner
from graph_research.research.extractive.analyzer import Analysis, analyze
from graph_research.research.extractive.claim_groups import Group
from graph_research.research.extractive.sources import question_of

__all__ = ["claims", "decompose"]

_MOST_QUESTIONS = 8


def decompose(material: Mapping[str, Any]) -> dict[str, Any]:
    """The question itself first, then its facets as queries, eight at most."""
    question = question_of(material)
    planned = planner.answer({**material, "max_sub_queries": _MOST_QUESTIONS - 1})
    asked = [question, *(row["query"] for row in planned["sub_queries"])]
    return {"questions": list(dict.fromkeys(asked))[:_MOST_QUESTIONS]}


def claims(material: Mapping[str, Any]) -> dict[str, Any]:
    """The best sentences as claims; indices count the sources of the handoff from 0."""
    analysis = analyze(material)
    positions = {source_id: index for index, source_id in enumerate(analysis.sources)}
    return {"claims": [_claim(group, analysis, positions) for group in analysis.groups]}


def _claim(group: Group, analysis: Analysis, positions: Mapping[str, int]) -> dict[str, Any]:
    against = {
        quoted.source_id
        for conflict in analysis.conflicts
        if _takes_part(group, conflict)
        for side in conflict.sides
        if not any(_is_in(group, q.source_id, q.start) for q in side.evidence)
        for quoted in side.evidence
    }
    supporting = list(dict.fromkeys(positions[passage.source_id] for passage in group.passages))
    return {
        "text": group.lead.text,
        "supportingIndices": supporting,
        "contradictingIndices": sorted({positions[source_id] for source_id in against} - set(supporting)),
        "evidence": [{"source_id": p.source_id, "quote": p.text, "start": p.start} for p in group.passages],
    }


def _takes_part(group: Group, conflict: Conflict) -> bool:
    return any(_is_in(group, quoted.source_id, quoted.start) for side in conflict.sides for quoted in side.evidence)


def _is_in(group: Group, source_id: str, start: int) -> bool:
    return any(p.source_id == source_id and p.start <= start < p.end for p in group.passages)
