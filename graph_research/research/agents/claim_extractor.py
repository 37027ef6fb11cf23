"""The claim extractor of the pipeline: factual claims with the sources for and against each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.claims import Ground, levelled, scored_claim
from graph_research.research.evidence.contradictions import by_place, disagreements
from graph_research.research.evidence.quotes import QuoteFinder, any_quote_stands
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.finding import Claim, Confidence, Finding
from graph_research.research.models.ids import finding_id
from graph_research.research.models.source import Source
from graph_research.research.retrieval.excerpts import reading_of
from graph_research.research.retrieval.reading import chars_of_each
from graph_research.research.scoring.claim import job_confidence
from graph_research.research.scoring.origin import independent, origins
from graph_research.text.document import Document

_UNPROVED = "no claim of the answer is proved by a source; code selected claims"


def claim_extractor(services: Services) -> Handler:
    """Scored claims, and the confidence of them all. Fallback: what code selects from the sources."""

    async def extract(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources = [Source.model_validate(row) for row in handoff["sources"]]
        documents = await read_documents(sources, ctx)
        result = AgentResult(output={"claims": []})
        if sources:
            agent = _agent(sources, documents)
            rows = _rows(services, sources, documents, fitted=agent.fits_windows(services, ctx))
            material = {"question": handoff["original_query"], "sources": list(rows)}
            local = {"documents": documents}
            result = await agent.call(services, material, ctx, local=local, windows=handoff.get("model_windows"))
            if not (any_quote_stands(result.output["claims"], documents) or result.by_code):
                answer = await services.models.quoted(agent.name, {**material, **local}, ctx)
                claims = [*result.output["claims"], *answer["claims"]]
                result = replace(result, output={"claims": claims}, degraded=result.degraded or _UNPROVED)
        output = _scored(result.output["claims"], handoff["original_query"], sources, documents)
        return {**output, "degraded": result.degradations("claim_extractor", ctx)}

    return extract


def _agent(sources: Sequence[Source], documents: Mapping[str, Document]) -> Agent:
    """The agent for these sources; in a small window each is shortened around the passages that were found in it."""
    by_id = {source.id: source for source in sources}

    def shorter(row: Mapping[str, Any], most_chars: int) -> str:
        return reading_of(by_id[row["id"]], documents, most_chars, to_quote=True)

    sections = (Section(name="sources", noun="source", text="content", shorten=shorter),)
    return Agent(name="claim_extractor", phase="analysis", sections=sections, quotes=True)


def _rows(
    services: Services, sources: Sequence[Source], documents: Mapping[str, Document], *, fitted: bool
) -> list[dict[str, Any]]:
    settings = services.settings
    if not fitted:
        return [
            {**source.to_json(), "content": reading_of(source, {}, settings.content_chars)}
            for source in sources[: settings.analysis_sources]
        ]
    each = chars_of_each(settings, [len(documents[source.id].text) for source in sources])
    return [{**source.to_json(), "content": reading_of(source, documents, each, to_quote=True)} for source in sources]


def _scored(
    rows: Sequence[Mapping[str, Any]], question: str, sources: Sequence[Source], documents: Mapping[str, Document]
) -> dict[str, Any]:
    by_id = {source.id: source for source in sources}
    finder = QuoteFinder(question, by_id, documents)
    by_origin = origins(sources, {source_id: document.text for source_id, document in documents.items()})
    ground = Ground(question=question, sources=by_id, evidence={}, contradictions=(), origins=by_origin)
    findings: dict[str, Finding] = {}
    claims: dict[str, Claim] = {}
    evidence: dict[str, Evidence] = {}
    for row in _joined(rows):
        support, against = (_ids(row[key], sources) for key in ("supportingIndices", "contradictingIndices"))
        proved = finder.evidence(row.get("evidence") or [])
        finding = _finding(row["text"], support, proved)
        claim = scored_claim(finding, support, [source_id for source_id in against if source_id not in support], ground)
        evidence.update((quote.id, quote) for quote in proved)
        findings[finding.id] = levelled(finding, claim, ground)
        claims[finding.id] = claim
    contradictions = disagreements([], by_place(evidence.values(), documents), sources=by_id, documents=documents)
    return {
        "findings": [finding.to_json() for finding in findings.values()],
        "evidence": [quote.to_json() for quote in evidence.values()],
        "contradictions": [contradiction.to_json() for contradiction in contradictions],
        "claims": [claim.to_json() for claim in claims.values()],
        "confidence": job_confidence(list(claims.values()), len(sources), independent(by_origin.values())).to_json(),
    }


def _joined(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The claims, each text once, with what all rows of it have for and against it."""
    joined: dict[str, dict[str, Any]] = {}
    for row in rows:
        text = " ".join(row["text"].split())
        lists = {key: list(row.get(key) or []) for key in ("supportingIndices", "contradictingIndices", "evidence")}
        known = joined.get(text, {})
        joined[text] = {"text": text, **{key: [*known.get(key, []), *listed] for key, listed in lists.items()}}
    return list(joined.values())


def _ids(indices: Sequence[int], sources: Sequence[Source]) -> list[str]:
    return list(dict.fromkeys(sources[index].id for index in indices if 0 <= index < len(sources)))


def _finding(content: str, support: Sequence[str], proved: Sequence[Evidence]) -> Finding:
    return Finding(
        id=finding_id(content),
        content=content,
        confidence=Confidence.HIGH if len(support) > 1 else Confidence.MEDIUM,
        source_ids=list(support),
        evidence_ids=[quote.id for quote in proved],
    )
