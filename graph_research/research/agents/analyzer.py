"""The analyzer: reads the archived sources and says what they show, with quotes that code finds in their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research import records
from graph_research.research.agents.agent import Agent, AgentResult
from graph_research.research.analysis import Analysed, Known, analyse
from graph_research.research.models.source import Source
from graph_research.research.reading import read_documents
from graph_research.research.services import Services
from graph_research.text.document import Document

__all__ = ["analyzer"]

FALLBACK_CHARS = 400


def analyzer(services: Services) -> Handler:
    """Findings, gaps and contradictions of one iteration, scored. Fallback: one finding, the best passage as it stands.

    Without any source there is nothing to read: then each sub-query is a gap, and no model is asked.
    """
    agent = Agent(name="analyzer", max_output_tokens=services.settings.report_output_tokens)

    async def analyze(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        decision = records.dispatch(handoff, ctx, "source_count", "high_quality_sources")
        known = Known.of(handoff)
        documents = await read_documents(list(known.sources.values()), ctx)
        if known.sources:
            shown = _shown_first(known, handoff["iteration"])
            result = await agent.call(
                services,
                _material(handoff, shown[: services.settings.analysis_sources]),
                ctx,
                local={"sources": [source.to_json() for source in shown], "documents": documents},
                fallback=lambda _reply: _best_passage(shown, documents),
            )
        else:
            result = AgentResult(output=_nothing_read(handoff), degraded=None, attempts=0, tokens=0)
        analysed = analyse(result.output, known, documents)
        return {
            **_output(analysed),
            "degraded": result.degradations(agent.name, ctx),
            "decisions": [
                records.completed(
                    decision,
                    finding_count=len(analysed.findings),
                    gap_count=len(analysed.gaps),
                    quotes_dropped=analysed.quotes_dropped,
                )
            ],
        }

    return analyze


def _material(handoff: Mapping[str, Any], shown: Sequence[Source]) -> dict[str, Any]:
    return {
        "question": handoff["original_query"],
        "research_brief": handoff.get("research_brief"),
        "sub_queries": list(handoff["sub_queries"]),
        "sources": [source.to_json() for source in shown],
        "topics": list(handoff.get("topics") or []),
        "previous_findings": list(handoff.get("findings") or []),
        "previous_gaps": [row for row in handoff.get("gaps") or [] if not row["addressed"]],
        "iteration": handoff["iteration"],
        "guidance": handoff.get("guidance"),
    }


def _shown_first(known: Known, iteration: int) -> list[Source]:
    """Sources new in this iteration first, then by composite score (decision B10)."""
    return sorted(
        known.sources.values(),
        key=lambda source: (source.iteration != iteration, -source.score.composite, source.id),
    )


def _best_passage(shown: Sequence[Source], documents: Mapping[str, Document]) -> dict[str, Any]:
    """One finding: what the best source's best passage says, word for word."""
    source = max(shown, key=lambda source: source.score.composite)
    text = documents[source.id].text
    passages = source.metadata.get("passages") or [[0, len(text), 0.0]]
    start, end, _ = max(passages, key=lambda passage: (passage[2], -passage[0]))
    quote = _whole_words(text[start:end].strip())
    return {
        "findings": [
            {
                "content": quote,
                "confidence": "low",
                "category": None,
                "evidence": [{"source_id": source.id, "quote": quote, "start": start}],
            }
        ],
        "gaps": [],
    }


def _whole_words(text: str) -> str:
    return text if len(text) <= FALLBACK_CHARS else text[:FALLBACK_CHARS].rpartition(" ")[0] or text[:FALLBACK_CHARS]


def _nothing_read(handoff: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "findings": [],
        "gaps": [
            {"description": f"No source was found for: {row['query']}", "priority": row["priority"]}
            for row in handoff["sub_queries"]
            if row["iteration"] == handoff["iteration"]
        ],
    }


def _output(analysed: Analysed) -> dict[str, Any]:
    return {
        "findings": [finding.to_json() for finding in analysed.findings],
        "evidence": [evidence.to_json() for evidence in analysed.evidence],
        "gaps": [gap.to_json() for gap in analysed.gaps],
        "contradictions": [contradiction.to_json() for contradiction in analysed.contradictions],
        "claims": [claim.to_json() for claim in analysed.claims],
        "confidence": analysed.confidence.to_json(),
        "sources": [source.to_json() for source in analysed.requalified],
        "quality_updates": [
            {"source_id": source.id, "quality": source.quality.value} for source in analysed.requalified
        ],
        "quotes_dropped": analysed.quotes_dropped,
    }
