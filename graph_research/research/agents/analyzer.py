"""The analyzer: findings, gaps and contradictions of the archived sources, with quotes that are looked up there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research import decision_log
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.findings import Analysed, Known, analyse
from graph_research.research.evidence.quotes import any_quote_stands, find_quote
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.source import Source
from graph_research.research.retrieval.excerpts import best_passage, reading_of
from graph_research.text.document import Document

LEAST_CHARS = 300
"""Less of a source is not worth showing."""

KEPT_SOURCES = 6
"""So many sources stay before the topics' findings give way."""

_LEVELS = ((0.9, "full"), (0.6, "condensed"), (0.3, "compressed"), (0.15, "key_points"), (0.0, "headline"))
"""Fidelity levels by the least share of a text that is shown."""

_NUMBERED = re.compile(r"(?:sources?\s*)?[\[(]?(\d{1,3})[\])]?", re.IGNORECASE)


def analyzer(services: Services) -> Handler:
    """Findings, gaps and contradictions of one iteration, scored. Fallback: one finding, the best passage as it stands.

    Without any source there is nothing to read: then each sub-query is a gap, and no model is asked.
    """

    async def analyze(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        decision = decision_log.dispatch(handoff, ctx, "source_count", "high_quality_sources")
        known = Known.of(handoff)
        documents = await read_documents(list(known.sources.values()), ctx)
        if known.sources:
            shown = sorted(known.sources.values(), key=lambda source: _reading_order(source, handoff["iteration"]))
            agent = _agent(services, shown, documents)
            rows = _rows(services, handoff, shown, documents, fitted=agent.fits_windows(services, ctx))
            result = await agent.call(
                services,
                _material(handoff, rows),
                ctx,
                local={"sources": [source.to_json() for source in shown], "documents": documents},
                fallback=lambda: _best_passage(shown, documents),
                windows=handoff.get("model_windows"),
            )
            result = _with_a_finding(result, known, documents, shown)
        else:
            result = AgentResult(output=_nothing_read(handoff))
        analysed = analyse(result.output, known, documents)
        return {
            **_output(analysed),
            "sources": [source.to_json() for source in _with_fidelity(analysed.requalified, known, result)],
            "degraded": result.degradations("analyzer", ctx),
            "decisions": [
                decision_log.completed(
                    decision,
                    finding_count=len(analysed.findings),
                    gap_count=len(analysed.gaps),
                    quotes_dropped=analysed.quotes_dropped,
                )
            ],
        }

    return analyze


def _agent(services: Services, shown: Sequence[Source], documents: Mapping[str, Document]) -> Agent:
    """The agent for these sources. In a small window they give way first: all to the same length, the last ones out."""
    by_id = {source.id: source for source in shown}

    def shorter(row: Mapping[str, Any], most_chars: int) -> str:
        return reading_of(by_id[row["id"]], documents, most_chars, to_quote=True)

    sources = Section(name="sources", noun="source", text="content", least_chars=LEAST_CHARS, shorten=shorter)
    return Agent(
        name="analyzer",
        phase="analysis",
        max_output_tokens=services.settings.report_output_tokens,
        sections=(
            replace(sources, least_chars=2 * LEAST_CHARS, keep=KEPT_SOURCES),
            Section(name="topics", noun="topic", text="found", keep=0),
            sources,
            Section(name="previous_findings", noun="earlier finding", keep=0),
            Section(name="sub_queries", noun="sub-query"),
            Section(name="previous_gaps", noun="earlier gap", keep=0),
        ),
    )


def _rows(
    services: Services,
    handoff: Mapping[str, Any],
    shown: Sequence[Source],
    documents: Mapping[str, Document],
    *,
    fitted: bool,
) -> list[dict[str, Any]]:
    """The sources as the prompt shows them: as much as the settings allow, which is then fitted to the window; else
    the first ones with their short contents."""
    settings = services.settings
    if not fitted:
        return [source.to_json() for source in shown[: settings.analysis_sources]]
    topics = [topic for topic in handoff.get("topics") or [] if _compressed(topic)]
    compressed = {source_id for topic in topics for source_id in topic["source_ids"]}
    return [
        {
            **source.to_json(),
            "content": reading_of(
                source,
                documents,
                settings.content_chars if source.id in compressed else settings.source_chars,
                to_quote=True,
            ),
        }
        for source in shown
    ]


def _compressed(topic: Mapping[str, Any]) -> str:
    return topic.get("compressed_findings") or ""


def _found(handoff: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the compressor put in order for this iteration's topics; what earlier iterations found stands in
    the earlier findings."""
    own = {row["id"] for row in handoff["sub_queries"] if row["iteration"] == handoff["iteration"]}
    topics = [topic for topic in handoff.get("topics") or [] if topic["sub_query_id"] in own and _compressed(topic)]
    return [{"id": topic["sub_query_id"], "found": _compressed(topic)} for topic in topics]


def _material(handoff: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "question": handoff["original_query"],
        "research_brief": handoff.get("research_brief"),
        "sub_queries": list(handoff["sub_queries"]),
        "sources": list(shown),
        "topics": _found(handoff),
        "previous_findings": list(handoff.get("findings") or []),
        "previous_gaps": [row for row in handoff.get("gaps") or [] if not row["addressed"]],
        "iteration": handoff["iteration"],
        "guidance": handoff.get("guidance"),
    }


def _reading_order(source: Source, iteration: int) -> tuple[bool, float, str]:
    """Sources new in this iteration first, then by composite score."""
    return source.iteration != iteration, -source.score.composite, source.id


def _best_passage(shown: Sequence[Source], documents: Mapping[str, Document]) -> dict[str, Any]:
    """One finding: what the best source's best passage says, word for word."""
    source = max(shown, key=lambda source: source.score.composite)
    quote = best_passage(source, documents[source.id])
    finding = {"content": quote["quote"], "confidence": "low", "category": None, "evidence": [quote]}
    return {"findings": [finding], "gaps": []}


def _with_a_finding(
    result: AgentResult, known: Known, documents: Mapping[str, Document], shown: Sequence[Source]
) -> AgentResult:
    """The result with its quotes under their sources. Where no quote stands in any source there is no finding; then the
    best passage stands for one, unless an earlier round found something or code itself found nothing to quote."""
    answer = _attributed(result, known, documents)
    result = replace(result, output=answer)
    if any_quote_stands(answer["findings"], documents) or known.findings or result.by_code:
        return result
    passage = {**answer, "findings": _best_passage(shown, documents)["findings"]}
    reason = "no finding of the answer stands in a source; the best passage was taken for one"
    return replace(result, output=passage, degraded=result.degraded or reason)


def _attributed(result: AgentResult, known: Known, documents: Mapping[str, Document]) -> dict[str, Any]:
    """The answer with each quote under the id of its source, where the model wrote the source's number or a wrong id:
    the shown source of that number, or the only one in which the quote stands."""
    order = [row["id"] for row in result.shown.get("sources") or ()]

    def mend(quote: Mapping[str, Any]) -> Mapping[str, Any]:
        if quote["source_id"] in known.sources:
            return quote
        number = _NUMBERED.fullmatch(quote["source_id"].strip())
        meant = order[int(number[1]) - 1] if number and 0 < int(number[1]) <= len(order) else None
        if meant is None or find_quote(documents[meant].text, quote["quote"]) is None:
            holding = [name for name in known.sources if find_quote(documents[name].text, quote["quote"]) is not None]
            meant = holding[0] if len(holding) == 1 else None
        return quote if meant is None else {**quote, "source_id": meant}

    findings = [{**row, "evidence": [mend(quote) for quote in row["evidence"]]} for row in result.output["findings"]]
    return {**result.output, "findings": findings}


def _with_fidelity(requalified: Sequence[Source], known: Known, result: AgentResult) -> list[Source]:
    """The sources whose quality changed, and those of which the prompt showed less than there is: the most that any
    analysis showed of a source counts."""
    changed = {source.id: source for source in requalified}
    shares = result.shown_shares("source")
    for source_id, source in known.sources.items():
        before = source.metadata.get("shown_share", -1.0 if source.iteration == known.iteration else 1.0)
        share = shares.get(source_id, 1.0)
        if share <= before:
            continue
        if share == 1.0 and "shown_share" not in source.metadata:
            continue
        level = next(level for least, level in _LEVELS if share >= least) if share else "dropped"
        now = changed.get(source_id, source)
        changed[source_id] = now.model_copy(
            update={
                "fidelity": _lower(now, level),
                "metadata": {"gathered_fidelity": now.fidelity, **now.metadata, "shown_share": share},
            }
        )
    return list(changed.values())


def _lower(source: Source, shown: str) -> str:
    """What was gathered of a source, or what was shown of that, whichever is less."""
    gathered = source.metadata.get("gathered_fidelity", source.fidelity)
    names = [name for _, name in _LEVELS]
    return shown if gathered not in names or shown not in names else max(gathered, shown, key=names.index)


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
        "quality_updates": [
            {"source_id": source.id, "quality": source.quality.value} for source in analysed.requalified
        ],
        "quotes_dropped": analysed.quotes_dropped,
    }
