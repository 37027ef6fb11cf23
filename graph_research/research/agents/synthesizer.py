"""The synthesizer: writes the report as statements with evidence ids; code proves and numbers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research import records
from graph_research.research.agents.agent import Agent
from graph_research.research.drafting import checked_draft, draft_markdown, report_metadata
from graph_research.research.models.draft import Draft
from graph_research.research.models.source import Source
from graph_research.research.reading import read_documents
from graph_research.research.services import Services

__all__ = ["synthesizer"]


def synthesizer(services: Services) -> Handler:
    """The report so far. Fallback: the findings as they are, each with its evidence."""
    agent = Agent(name="synthesizer", role="report", max_output_tokens=services.settings.report_output_tokens)

    async def synthesize(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        decision = records.dispatch(handoff, ctx, "finding_count", "gap_count", "has_research_brief")
        sources = [Source.model_validate(row) for row in handoff["sources"]]
        result = await agent.call(
            services,
            _material(handoff),
            ctx,
            local={"sources": handoff["sources"], "documents": await read_documents(sources, ctx)},
            fallback=lambda _reply: _findings_as_they_are(handoff),
        )
        known = {row["id"] for row in handoff["evidence"]}
        draft, fabricated = checked_draft(Draft.model_validate(result.output), known)
        report = draft_markdown(handoff["original_query"], draft)
        metadata = report_metadata(
            draft, report, handoff["findings"], fabricated=fabricated, iteration=handoff["iteration"]
        )
        return {
            "draft": draft.to_json(),
            "report": report,
            "report_metadata": metadata,
            "degraded": result.degradations(agent.name, ctx),
            "decisions": [records.completed(decision, has_report=True, report_length=len(report))],
        }

    return synthesize


def _material(handoff: Mapping[str, Any]) -> dict[str, Any]:
    quoted = {row["source_id"] for row in handoff["evidence"]}
    return {
        "question": handoff["original_query"],
        "research_brief": handoff.get("research_brief"),
        "findings": list(handoff["findings"]),
        "evidence": list(handoff["evidence"]),
        "sources": [row for row in handoff["sources"] if row["id"] in quoted],
        "source_count": len(handoff["sources"]),
        "gaps": list(handoff.get("gaps") or []),
        "contradictions": list(handoff.get("contradictions") or []),
        "claims": list(handoff.get("claims") or []),
        "confidence": handoff.get("confidence"),
        "sub_queries": list(handoff.get("sub_queries") or []),
        "iteration": handoff["iteration"],
        "max_iterations": handoff["max_iterations"],
        "high_quality_sources": sum(1 for row in handoff["sources"] if row["quality"] == "high"),
        "report_improvements": list(handoff.get("report_improvements") or []),
        "guidance": handoff.get("guidance"),
    }


def _findings_as_they_are(handoff: Mapping[str, Any]) -> dict[str, Any]:
    statements = [_statement(row) for row in handoff["findings"]]
    searched = [row["query"] for row in handoff.get("sub_queries") or []]
    return {
        "notice": "The report could not be written; these are the findings as they were extracted.",
        "found": bool(statements),
        "searched": searched,
        "summary": statements[:3] or [_said("Nothing was found that answers the question.")],
        "sections": [{"heading": "Findings", "statements": statements}] if statements else [],
    }


def _statement(finding: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": finding["content"], "evidence_ids": list(finding["evidence_ids"]), "kind": "fact"}


def _said(text: str) -> dict[str, Any]:
    return {"text": text, "evidence_ids": [], "kind": "connective"}
