"""Building a report: the run's state, its archived texts and the facts of the run become one `Report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

import orjson

from graph_research.graph.statuses import Cause, RunStatus
from graph_research.research.evidence.archive import Archive
from graph_research.research.evidence.citations import Citation, Cited, cite
from graph_research.research.llm.context_windows import token_limit_retries
from graph_research.research.models.decision import Decision
from graph_research.research.models.draft import Draft, StatementVerdict, stored_draft
from graph_research.research.models.evidence import Comparison, Contradiction, Evidence
from graph_research.research.models.finding import Claim, Finding, Gap
from graph_research.research.models.plan import SubQuery, SubQueryStatus
from graph_research.research.models.report_options import report_language
from graph_research.research.models.source import Source
from graph_research.research.report.confidence import confidence_of, explained
from graph_research.research.report.formatting import one_line
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.limitations import limitations_of
from graph_research.research.report.matrix import matrix_of
from graph_research.research.report.model import (
    Report,
    ReportClaim,
    ReportDecision,
    ReportGap,
    ReportMetadata,
    ReportRevision,
    ReportSource,
    SubQueryOutcome,
)
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.report.statistics import content_fidelity_of, gathering_of, statistics_of
from graph_research.research.scoring.origin import origins
from graph_research.text.relevance.statements import Nature


def archived(state: Mapping[str, Any]) -> dict[str, str | None]:
    """Archive hash to layout hash of every text that a report of this state shows; what a caller has to fetch."""
    hashes: dict[str, str | None] = {evidence["archive_hash"]: None for evidence in state.get("evidence") or []}
    for source in state.get("sources") or []:
        hashes[source["archive_hash"]] = source.get("layout_hash")
    return hashes


def cited_texts(state: Mapping[str, Any]) -> set[str]:
    """The archive hashes, and those of the layouts, of every text that the report of this state may cite: whose
    evidence is named anywhere in its draft or in a contradiction."""
    named = orjson.dumps([state.get("draft"), state.get("contradictions")], default=str)
    evidence = state.get("evidence") or []
    cited = {row["archive_hash"] for row in evidence if orjson.dumps(row["id"]) in named}
    layouts = archived(state)
    return cited | {layout for text_hash in cited if (layout := layouts.get(text_hash))}


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
    sources = [Source.model_validate(row) for row in state.get("sources") or []]
    draft = stored_draft(state.get("draft") or {})
    question = str(state.get("question") or run.question)
    language = report_language(state.get("report_options"), question)
    labels = labels_for(language)
    cited = _cited(state, draft, question, sources, Archive(texts, layouts))
    source_texts = {source.id: texts[source.archive_hash] for source in sources if source.archive_hash in texts}
    reported = _report_sources(sources, cited.citations, origins(sources, source_texts))
    origin_count = len({source.origin for source in reported if source.citations})
    gaps = [Gap.model_validate(row) for row in state.get("gaps") or []]
    claims = [Claim.model_validate(row) for row in state.get("claims") or []]
    sub_queries = _outcomes(state)
    evidence = [Evidence.model_validate(row) for row in state.get("evidence") or []]
    explained_claims = _report_claims(state, claims, cited.citations, evidence, reported, labels)
    failed = sum(outcome.status == SubQueryStatus.FAILED for outcome in sub_queries)
    failures = failed + (run.status != RunStatus.COMPLETED)
    agent_decisions = [Decision.model_validate(row) for row in state.get("decisions") or []]
    decisions = [_decision(decision) for decision in agent_decisions]
    degraded = state.get("degraded") or []
    gathered = gathering_of(state, run.search)
    fidelity = content_fidelity_of(state)
    fabricated_dropped = int((state.get("report_metadata") or {}).get("fabricated_citations") or 0)
    notices = (
        _how_it_was_revised(version, revisions, labels),
        _how_it_ended(state, run, labels),
        _how_it_searched(state, reported, sub_queries, labels),
        draft.notice,
    )
    return Report(
        **_of_run(run),
        **_of_state(state),
        question=question,
        language=language,
        notice=" ".join(filter(None, notices)),
        found=draft.found,
        searched=draft.searched or [outcome.query for outcome in sub_queries],
        short_answer=cited.short_answer,
        sections=cited.sections,
        contradictions=cited.contradictions,
        gaps=[ReportGap(**gap.model_dump()) for gap in sorted(gaps, key=_gap_order)],
        conclusions=cited.conclusions,
        confidence=confidence_of(
            state.get("confidence") or {},
            labels,
            claims=explained_claims,
            gaps=gaps,
            cited=cited,
            origins=origin_count,
            failures=failures,
        ),
        claims=explained_claims,
        matrix=matrix_of(explained_claims, reported, evidence, cited.contradictions, _judged(state, claims)),
        citations=cited.citations,
        sources=reported,
        more_evidence=cited.more_evidence,
        limitations=limitations_of(
            state,
            run,
            labels,
            cited=cited,
            sources=reported,
            gaps=gaps,
            sub_queries=sub_queries,
            decisions=decisions,
            fabricated_dropped=fabricated_dropped,
            origins=origin_count,
            gathered=gathered,
            fidelity=fidelity,
            language=language,
        ),
        statistics=statistics_of(
            run,
            reported,
            cited,
            origin_count,
            token_limit_retries=token_limit_retries(degraded),
            gathering=gathered,
            fidelity=fidelity,
        ),
        sub_queries=sub_queries,
        decisions=decisions,
        metadata=ReportMetadata(agent_decisions=agent_decisions),
        fabricated_dropped=fabricated_dropped,
        version=version,
        revisions=list(revisions),
    )


def _cited(state: Mapping[str, Any], draft: Draft, question: str, sources: Sequence[Source], archive: Archive) -> Cited:
    contradictions = [Contradiction.model_validate(row) for row in state.get("contradictions") or []]
    return cite(
        draft,
        question=question,
        evidence=[Evidence.model_validate(row) for row in state.get("evidence") or []],
        sources=sources,
        contradictions=[row for row in contradictions if row.nature != Nature.NONE],
        verdicts=[StatementVerdict.model_validate(row) for row in state.get("statement_verdicts") or []],
        archive=archive,
    )


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
        "partial": run.status != RunStatus.COMPLETED,
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


def _how_it_searched(
    state: Mapping[str, Any], sources: Sequence[ReportSource], sub_queries: Sequence[SubQueryOutcome], labels: Labels
) -> str:
    failed = bool(sub_queries) and all(outcome.status == SubQueryStatus.FAILED for outcome in sub_queries)
    if sources or not failed or not state.get("search_failures"):
        return ""
    return labels.no_search_answered


def _how_it_was_revised(version: int, revisions: Sequence[ReportRevision], labels: Labels) -> str:
    changes = [labels.revisions[row.kind].format(what=one_line(row.what)) for row in revisions]
    return labels.revised.format(n=version, changes=labels.semicolon.join(changes)) if changes else ""


def _how_it_ended(state: Mapping[str, Any], run: RunFacts, labels: Labels) -> str:
    if run.status == RunStatus.COMPLETED:
        return ""
    phase = (state.get("metadata") or {}).get("abort_phase") or state.get("phase")
    how = labels.ended_how.get(run.cause or "", labels.ended_how[""])
    how += f" ({run.error})" if run.error and run.cause in (Cause.CANCELLED, Cause.TIMEOUT) else ""
    rest = labels.ended_with_report if state.get("draft") is not None else labels.ended_without_report
    template = labels.ended_in_phase if phase else labels.ended
    return template.format(how=how, phase=labels.phases.get(phase, phase) if phase else "", rest=rest)


def _report_claims(
    state: Mapping[str, Any],
    claims: Iterable[Claim],
    citations: Iterable[Citation],
    evidence: Iterable[Evidence],
    sources: Iterable[ReportSource],
    labels: Labels,
) -> list[ReportClaim]:
    names = {citation.evidence_id: citation.id for citation in citations}
    findings = [Finding.model_validate(row) for row in state.get("findings") or []]
    evidence_of = {finding.id: finding.evidence_ids for finding in findings}
    quotes = {one.id: one.quote for one in evidence}
    by_id = {source.id: source for source in sources}
    return [
        explained(
            ReportClaim(
                **claim.model_dump(exclude={"finding_id"}),
                citations=[names[key] for key in evidence_of.get(claim.finding_id, ()) if key in names],
            ),
            by_id,
            [quotes[key] for key in evidence_of.get(claim.finding_id, ()) if key in quotes],
            labels,
        )
        for claim in claims
    ]


def _report_sources(
    sources: Iterable[Source], citations: Iterable[Citation], behind: Mapping[str, str]
) -> list[ReportSource]:
    """The cited by their numbers, then the others by composite score."""
    cited: dict[str, list[Citation]] = {}
    for citation in citations:
        cited.setdefault(citation.source_id, []).append(citation)
    reported = [_source(source, cited.get(source.id, []), behind[source.id]) for source in sources]
    return sorted(reported, key=lambda source: (source.n or inf, -source.composite, source.id))


def _source(source: Source, citations: Sequence[Citation], behind: str) -> ReportSource:
    return ReportSource(
        **source.model_dump(
            mode="json",
            include={
                *("id", "title", "authors", "publisher", "url", "doi", "tier", "published_at", "retrieved_at"),
                *("quality", "fidelity", "provider", "retrieval_method", "archive_hash", "characters"),
            },
        ),
        **{name: round(value, 4) for name, value in source.score.model_dump().items()},
        origin=behind,
        n=citations[0].n if citations else None,
        citations=[citation.id for citation in citations],
        superseded=source.metadata.get("superseded"),
        bytes_hash=source.metadata.get("bytes_hash"),
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


def _outcomes(state: Mapping[str, Any]) -> list[SubQueryOutcome]:
    topics = {topic["sub_query_id"]: topic for topic in state.get("topics") or []}
    answered = set(state.get("answered_limits") or [])
    return [
        SubQueryOutcome(
            **sub_query.model_dump(include={"id", "query", "status", "iteration", "error"}),
            sources=len(topics.get(sub_query.id, {}).get("source_ids") or []),
            limits=[limit for limit in topics.get(sub_query.id, {}).get("limits") or [] if limit not in answered],
        )
        for sub_query in map(SubQuery.model_validate, state.get("sub_queries") or [])
    ]
