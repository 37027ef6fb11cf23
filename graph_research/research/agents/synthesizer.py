"""The synthesizer: writes the report as statements with evidence ids; code proves and numbers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research import decision_log
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.draft import Draft, Statement
from graph_research.research.models.source import Source
from graph_research.research.report.draft import checked_draft, draft_markdown, findings_draft, report_metadata

_CERTAINTY = {"confirmed": 4.0, "high": 3.0, "medium": 2.0, "low": 1.0}

_SECTIONS = (
    Section(name="gaps", noun="gap", keep=0),
    Section(name="sub_queries", noun="sub-query", keep=0),
    Section(name="findings", noun="finding", rank=lambda row: _CERTAINTY.get(str(row["confidence"]), 0.0)),
    Section(name="contradictions", noun="contradiction", keep=0),
    Section(name="evidence", noun="quote", keep=2),
)
"""What gives way where the window is small: the least certain findings with their evidence."""


def synthesizer(services: Services) -> Handler:
    """The report so far. Fallback: the findings as they are, each with its evidence."""
    agent = Agent(
        name="synthesizer",
        role="report",
        phase="synthesis",
        max_output_tokens=services.settings.report_output_tokens,
        sections=_SECTIONS,
        settle=_settled,
    )

    async def synthesize(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        decision = decision_log.dispatch(handoff, ctx, "finding_count", "gap_count", "has_research_brief")
        sources = [Source.model_validate(row) for row in handoff["sources"]]
        result = await agent.call(
            services,
            _material(handoff),
            ctx,
            local={"sources": handoff["sources"], "documents": await read_documents(sources, ctx)},
            fallback=lambda: findings_draft(handoff).to_json(),
            windows=handoff.get("model_windows"),
        )
        result = _with_something_said(result, handoff)
        known = {row["id"] for row in handoff["evidence"]}
        draft, fabricated = checked_draft(Draft.model_validate(result.output), known)
        draft = draft.model_copy(update={"more": [*draft.more, *_left_out(handoff, result)]})
        report = draft_markdown(handoff["original_query"], draft)
        metadata = report_metadata(
            draft, report, handoff["findings"], fabricated=fabricated, iteration=handoff["iteration"]
        )
        return {
            "draft": draft.to_json(),
            "report": report,
            "report_metadata": metadata,
            "degraded": result.degradations(agent.name, ctx),
            "decisions": [decision_log.completed(decision, has_report=True, report_length=len(report))],
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


def _with_something_said(result: AgentResult, handoff: Mapping[str, Any]) -> AgentResult:
    """The result, or where it has not one statement although there are findings, those."""
    draft = Draft.model_validate(result.output)
    if not handoff["findings"] or any(row.text.strip() for row in draft.statements()):
        return result
    return replace(
        result,
        output=findings_draft(handoff).to_json(),
        truncations=(),
        degraded="the report was empty; the fallback answered",
    )


def _settled(material: dict[str, Any]) -> dict[str, Any]:
    """Only the evidence of what is shown, and only the sources and claims of that."""
    findings = material["findings"]
    sides = [side for row in material["contradictions"] for side in row["sides"]]
    cited = {evidence_id for row in (*findings, *sides) for evidence_id in row["evidence_ids"]}
    evidence = [row for row in material["evidence"] if row["id"] in cited]
    quoted, shown = {row["source_id"] for row in evidence}, {row["id"] for row in findings}
    return {
        **material,
        "evidence": evidence,
        "sources": [row for row in material["sources"] if row["id"] in quoted],
        "claims": [row for row in material["claims"] if row["finding_id"] in shown],
    }


def _left_out(handoff: Mapping[str, Any], result: AgentResult) -> list[Statement]:
    """The findings for which the writer's window had no room, as they are: they belong to the report."""
    shares = result.shown_shares("finding")
    return [
        Statement(text=row["content"], evidence_ids=list(row["evidence_ids"]))
        for row in handoff["findings"]
        if shares.get(row["id"], 1.0) == 0.0
    ]
