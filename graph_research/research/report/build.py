"""Building a report: the run's state, its archived texts and the facts of the run become one `Report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Self, TypeVar

import orjson

from graph_research.research.evidence.archive import Archive
from graph_research.research.evidence.citations import cite
from graph_research.research.evidence.cited import Citation, Cited
from graph_research.research.llm.context_windows import token_limit_retries
from graph_research.research.models.decision import Decision
from graph_research.research.models.draft import Draft, StatementVerdict, stored_draft
from graph_research.research.models.evidence import Comparison, Contradiction, Evidence
from graph_research.research.models.fidelity import ContentFidelity, FidelityLevel
from graph_research.research.models.finding import Claim, Finding, Gap
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.models.record import Record
from graph_research.research.models.report_options import report_language
from graph_research.research.models.source import Source
from graph_research.research.report.confidence import confidence_of, explained
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.left_open import (
    gaps_left_open,
    gaps_of,
    outcomes_left_open,
    outcomes_of,
    told_in,
)
from graph_research.research.report.limitations import limitations_of
from graph_research.research.report.matrix import matrix_of
from graph_research.research.report.model import (
    NamedVersion,
    Report,
    ReportClaim,
    ReportDecision,
    ReportGap,
    ReportMetadata,
    ReportRevision,
    ReportSource,
    SubQueryOutcome,
)
from graph_research.research.report.notice import notice_of
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.report.statistics import gathering_of, statistics_of
from graph_research.research.retrieval.fidelity import content_fidelity_of
from graph_research.research.scoring.origin import independent, origins
from graph_research.research.scoring.tiers import Makers
from graph_research.research.scoring.versions import newest_versions
from graph_research.text.relevance.statements import Nature

AnyRecord = TypeVar("AnyRecord", bound=Record)


def archived(state: Mapping[str, Any]) -> dict[str, str | None]:
    """Archive hash to layout hash of every text that a report of this state shows; what a caller has to fetch."""
    hashes: dict[str, str | None] = {row["archive_hash"]: None for row in _with_texts(state, "evidence")}
    for source in _with_texts(state, "sources"):
        hashes[source["archive_hash"]] = source.get("layout_hash")
    return hashes


def cited_texts(state: Mapping[str, Any]) -> set[str]:
    """The archive hashes, and those of the layouts, of every text that the report of this state may cite: whose
    evidence is named anywhere in its draft or in a contradiction."""
    named = orjson.dumps([state.get("draft"), state.get("contradictions")], default=str)
    evidence = _with_texts(state, "evidence")
    cited = {row["archive_hash"] for row in evidence if orjson.dumps(row["id"]) in named}
    layouts = archived(state)
    return cited | {layout for text_hash in cited if (layout := layouts.get(text_hash))}


def _with_texts(state: Mapping[str, Any], channel: str) -> list[Mapping[str, Any]]:
    """The rows that name an archived text; none of a graph whose channel of that name holds something else."""
    rows = state.get(channel)
    named = {"id", "archive_hash"}
    return [row for row in rows if isinstance(row, Mapping) and named <= {*row}] if isinstance(rows, list) else []


def build_report(
    state: Mapping[str, Any],
    *,
    texts: Mapping[str, str],
    layouts: Mapping[str, Mapping[str, Any]] | None = None,
    run: RunFacts,
    version: int = 1,
    revisions: Sequence[ReportRevision] = (),
) -> Report:
    """The report of a run that ended, however it ended; channels the state lacks count as empty.

    `texts` maps archive hash to canonical text, `layouts` the same hashes to `Document.layout()`; a missing
    text makes its citations invalid and raises no error. `revisions` are those that `state` has in this `version`.
    """
    rows = _Rows.of(state, run)
    archive = Archive(texts, layouts)
    cited = cite(
        rows.draft,
        question=rows.question,
        evidence=rows.evidence,
        sources=rows.sources,
        contradictions=rows.contradictions,
        verdicts=rows.verdicts,
        archive=archive,
        language=rows.language,
    )
    rows = rows.beside(cited)
    source_texts = {row.id: texts[row.archive_hash] for row in rows.sources if row.archive_hash in texts}
    fidelity = content_fidelity_of(state, {name: len(text) for name, text in texts.items()})
    behind = origins(rows.sources, source_texts)
    sources = _report_sources(rows.sources, cited.citations, behind, archive, fidelity)
    claims = _report_claims(rows, cited.citations, sources)
    return Report(
        **_of_run(run),
        **_of_state(state),
        **_of_draft(rows, cited),
        **_account(state, run, rows, cited, sources, claims, fidelity),
        question=rows.question,
        language=rows.language,
        notice=notice_of(
            state,
            run,
            rows.labels,
            draft_notice=rows.draft.notice,
            cited=cited,
            sub_queries=rows.outcomes,
            version=version,
            revisions=revisions,
        ),
        claims=claims,
        matrix=matrix_of(claims, sources, rows.evidence, cited.contradictions, _judged(state, rows.claims)),
        sources=sources,
        newest_versions=[
            NamedVersion(name=name, version=version)
            for name, version in newest_versions(rows.question, rows.sources, state.get("background") or ()).items()
        ],
        version=version,
        revisions=list(revisions),
    )


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """The channels of a state as models, and the words of the report's language."""

    question: str
    language: str
    labels: Labels
    draft: Draft
    sources: Sequence[Source]
    evidence: Sequence[Evidence]
    findings: Sequence[Finding]
    claims: Sequence[Claim]
    gaps: Sequence[Gap]
    contradictions: Sequence[Contradiction]
    verdicts: Sequence[StatementVerdict]
    decisions: Sequence[Decision]
    outcomes: Sequence[SubQueryOutcome]

    def beside(self, cited: Cited) -> Self:
        """The rows with what the text of the report leaves open."""
        told = told_in(cited)
        outcomes = outcomes_left_open(self.outcomes, told, self.sources)
        return replace(self, gaps=gaps_left_open(self.gaps, told), outcomes=outcomes)

    @classmethod
    def of(cls, state: Mapping[str, Any], run: RunFacts) -> Self:
        question = str(state.get("question") or run.question)
        language = report_language(state.get("report_options"), question)
        draft = stored_draft(state.get("draft") or {})
        return cls(
            question=question,
            language=language,
            labels=labels_for(language),
            draft=draft,
            sources=_models(Source, state, "sources"),
            evidence=_models(Evidence, state, "evidence"),
            findings=_models(Finding, state, "findings"),
            claims=_models(Claim, state, "claims"),
            gaps=gaps_of(_models(Gap, state, "gaps"), draft, int(state.get("iteration") or 1)),
            contradictions=[
                row for row in _models(Contradiction, state, "contradictions") if row.nature != Nature.NONE
            ],
            verdicts=_models(StatementVerdict, state, "statement_verdicts"),
            decisions=_models(Decision, state, "decisions"),
            outcomes=outcomes_of(state),
        )


def _models(model: type[AnyRecord], state: Mapping[str, Any], channel: str) -> list[AnyRecord]:
    return [model.model_validate(row) for row in state.get(channel) or []]


def _of_draft(rows: _Rows, cited: Cited) -> dict[str, Any]:
    """The fields that are text to read, and what it cites."""
    return {
        "title": rows.draft.title,
        "found": rows.draft.found,
        "searched": rows.draft.searched or [outcome.query for outcome in rows.outcomes],
        "short_answer": cited.short_answer,
        "sections": cited.sections,
        "contradictions": cited.contradictions,
        "gaps": [ReportGap(**gap.model_dump()) for gap in sorted(rows.gaps, key=_gap_order)],
        "conclusions": cited.conclusions,
        "more_evidence": cited.more_evidence,
        "citations": cited.citations,
    }


def _account(
    state: Mapping[str, Any],
    run: RunFacts,
    rows: _Rows,
    cited: Cited,
    sources: Sequence[ReportSource],
    claims: Sequence[ReportClaim],
    fidelity: ContentFidelity,
) -> dict[str, Any]:
    """The fields in which the program says how the report came about and how sure it is."""
    origin_count = independent(source.origin for source in sources if source.citations)
    failed = sum(outcome.status == SubQueryStatus.FAILED for outcome in rows.outcomes)
    decisions = [_decision(decision) for decision in rows.decisions]
    gathered = gathering_of(state, run.search)
    fabricated_dropped = int((state.get("report_metadata") or {}).get("fabricated_citations") or 0)
    return {
        "confidence": confidence_of(
            state.get("confidence") or {},
            rows.labels,
            claims=claims,
            gaps=rows.gaps,
            limits=sum(len(outcome.limits) for outcome in rows.outcomes),
            cited=cited,
            origins=origin_count,
            failures=failed + run.is_partial,
        ),
        "limitations": limitations_of(
            state,
            run,
            rows.labels,
            cited=cited,
            sources=sources,
            claims=claims,
            gaps=rows.gaps,
            sub_queries=rows.outcomes,
            decisions=decisions,
            fabricated_dropped=fabricated_dropped,
            origins=origin_count,
            gathered=gathered,
            fidelity=fidelity,
            language=rows.language,
        ),
        "statistics": statistics_of(
            run,
            sources,
            cited,
            origin_count,
            token_limit_retries=token_limit_retries(state.get("degraded") or []),
            gathering=gathered,
            fidelity=fidelity,
        ),
        "sub_queries": rows.outcomes,
        "decisions": decisions,
        "metadata": ReportMetadata(agent_decisions=list(rows.decisions)),
        "fabricated_dropped": fabricated_dropped,
    }


def _judged(state: Mapping[str, Any], claims: Sequence[Claim]) -> dict[frozenset[str], str]:
    """What a model found two claims to be to each other, by their ids."""
    claim_of = {claim.finding_id: claim.id for claim in claims}
    comparisons = [Comparison.model_validate(row) for row in state.get("comparisons") or []]
    return {frozenset(claim_of.get(name, name) for name in row.about): row.verdict for row in comparisons}


def _of_run(run: RunFacts) -> dict[str, Any]:
    """The fields that say which run it was, and how it ended."""
    return {
        "run_id": run.run_id,
        "graph": run.graph,
        "graph_hash": run.graph_hash,
        "status": run.status,
        "cause": run.cause,
        "error": run.error,
        "partial": run.is_partial,
        "model": ", ".join(dict.fromkeys(", ".join(run.models.values()).split(", "))),
        "models": dict(sorted(run.models.items())),
        "search": list(run.search),
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }


def _of_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are a channel of the state."""
    degraded = state.get("degraded") or []
    return {
        "iterations": int(state.get("iteration") or 1),
        "written": state.get("draft") is not None,
        "research_brief": str(state.get("research_brief") or ""),
        "degraded": list(dict.fromkeys(f"{row['agent']}: {row['reason']}" for row in degraded)),
        "quotes_dropped": int(state.get("quotes_dropped") or 0),
    }


def _gap_order(gap: Gap) -> tuple[bool, int, str]:
    """Open ones first, by priority."""
    return gap.addressed, gap.priority, gap.id


def _report_claims(rows: _Rows, citations: Iterable[Citation], sources: Iterable[ReportSource]) -> list[ReportClaim]:
    names = {citation.evidence_id: citation.id for citation in citations}
    evidence_of = {finding.id: finding.evidence_ids for finding in rows.findings}
    quotes = {row.id: row.quote for row in rows.evidence}
    by_id = {source.id: source for source in sources}
    makers = Makers(rows.question, by_id.values())
    return [
        explained(
            ReportClaim(
                **claim.model_dump(exclude={"finding_id"}),
                citations=[names[key] for key in evidence_of.get(claim.finding_id, ()) if key in names],
            ),
            by_id,
            makers,
            [quotes[key] for key in evidence_of.get(claim.finding_id, ()) if key in quotes],
            rows.labels,
        )
        for claim in rows.claims
    ]


def _report_sources(
    sources: Iterable[Source],
    citations: Iterable[Citation],
    behind: Mapping[str, str],
    archive: Archive,
    fidelity: ContentFidelity,
) -> list[ReportSource]:
    """The cited by their numbers, then the others by composite score."""
    cited: dict[str, list[Citation]] = {}
    for citation in citations:
        cited.setdefault(citation.source_id, []).append(citation)
    reported = [
        _source(
            source,
            cited.get(source.id, []),
            behind[source.id],
            archive.layout(source.archive_hash),
            fidelity.items[source.id].current_level,
        )
        for source in sources
    ]
    return sorted(reported, key=lambda source: (source.n or inf, -source.composite, source.id))


def _source(
    source: Source, citations: Sequence[Citation], behind: str, layout: Mapping[str, Any], fidelity: FidelityLevel
) -> ReportSource:
    return ReportSource(
        **source.model_dump(
            mode="json",
            include={
                *("id", "title", "authors", "publisher", "url", "doi", "tier", "published_at", "retrieved_at"),
                *("quality", "provider", "retrieval_method", "archive_hash", "characters"),
            },
        ),
        **{name: round(value, 4) for name, value in source.score.model_dump().items()},
        fidelity=fidelity,
        origin=behind,
        n=citations[0].n if citations else None,
        citations=[citation.id for citation in citations],
        superseded=source.metadata.get("superseded"),
        bytes_hash=source.metadata.get("bytes_hash"),
        folder=source.folder,
        licence=source.metadata.get("licence") or layout.get("licence"),
        warnings=list(layout.get("warnings") or ()),
    )


def _decision(decision: Decision) -> ReportDecision:
    return ReportDecision(
        agent=decision.agent,
        action=decision.action,
        rationale=decision.rationale,
        timestamp=decision.timestamp,
        phase=str(decision.inputs.get("phase") or decision.inputs.get("current_phase") or ""),
        issues=[str(issue) for issue in (decision.outputs or {}).get("issues") or []],
    )
