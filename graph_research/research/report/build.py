"""Building a report: the run's state, its archived texts and the facts of the run become one `Report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from graph_research.research.evidence.citations import Archive, Citation, Cited, cite, writes_from_templates
from graph_research.research.llm.context_windows import token_limit_retries
from graph_research.research.models.decision import Decision
from graph_research.research.models.draft import Draft
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Claim, Finding, Gap
from graph_research.research.models.plan import SubQuery
from graph_research.research.models.source import Source
from graph_research.research.report.confidence import confidence_of
from graph_research.research.report.limitations import limitations_of
from graph_research.research.report.model import (
    Report,
    ReportClaim,
    ReportDecision,
    ReportGap,
    ReportSource,
    SubQueryOutcome,
)
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.report.statistics import gathering_of, statistics_of
from graph_research.research.scoring.origin import origins


def archived(state: Mapping[str, Any]) -> dict[str, str | None]:
    """Archive hash to layout hash of every text that a report of this state shows; what a caller has to fetch."""
    hashes: dict[str, str | None] = {one["archive_hash"]: None for one in state.get("evidence") or []}
    for source in state.get("sources") or []:
        hashes[source["archive_hash"]] = source.get("layout_hash")
    return hashes


def cited_texts(state: Mapping[str, Any]) -> set[str]:
    """The archive hashes, and those of the layouts, of every text that the report of this state may cite: whose
    evidence is named anywhere in its draft or in a contradiction."""
    named = orjson.dumps([state.get("draft"), state.get("contradictions")], default=str)
    evidence = state.get("evidence") or []
    cited = {one["archive_hash"] for one in evidence if orjson.dumps(one["id"]) in named}
    layouts = archived(state)
    return cited | {layout for one in cited if (layout := layouts.get(one))}


def build_report(
    state: Mapping[str, Any],
    *,
    texts: Mapping[str, str],
    layouts: Mapping[str, Mapping[str, Any]] | None = None,
    run: RunFacts,
) -> Report:
    """The report of a run that ended, however it ended; channels the state lacks count as empty.

    `texts` maps archive hash to canonical text, `layouts` the same hashes to `Document.layout()`; a missing
    text makes its citations invalid and raises no error.
    """
    sources = [Source.model_validate(one) for one in state.get("sources") or []]
    draft = state.get("draft")
    cited = cite(
        Draft.model_validate(draft or {}),
        evidence=[Evidence.model_validate(one) for one in state.get("evidence") or []],
        sources=sources,
        contradictions=[Contradiction.model_validate(one) for one in state.get("contradictions") or []],
        archive=Archive(texts, layouts),
        trust_connectives=writes_from_templates(run.models),
    )
    found_by = {source.id: texts[source.archive_hash] for source in sources if source.archive_hash in texts}
    reported = _report_sources(sources, cited.citations, origins(sources, found_by))
    return _Building(state, run, reported, cited, Draft.model_validate(draft) if draft else None).report()


class _Building:
    """One report in the making: the parts that need more than one channel."""

    def __init__(
        self,
        state: Mapping[str, Any],
        run: RunFacts,
        sources: list[ReportSource],
        cited: Cited,
        draft: Draft | None,
    ) -> None:
        self.state = state
        self.run = run
        self.cited = cited
        self.draft = draft or Draft()
        self.written = draft is not None
        self.sources = sources
        self.origins = len({source.origin for source in self.sources if source.citations})
        self.gaps = [Gap.model_validate(one) for one in state.get("gaps") or []]
        self.claims = [Claim.model_validate(one) for one in state.get("claims") or []]
        self.decisions = [_decision(Decision.model_validate(one)) for one in state.get("decisions") or []]
        self.sub_queries = _outcomes(state)
        self.gathered = gathering_of(state, run.search)
        told = [f"{one['agent']}: {one['reason']}" for one in state.get("degraded") or []]
        self.degraded = list(dict.fromkeys(told))
        self.fabricated_dropped = int((state.get("report_metadata") or {}).get("fabricated_citations") or 0)

    def report(self) -> Report:
        state, run, cited = self.state, self.run, self.cited
        return Report(
            run_id=run.run_id,
            graph=run.graph,
            question=str(state.get("question") or run.question),
            status=run.status,
            cause=run.cause,
            error=run.error,
            partial=run.status != "completed",
            model=", ".join(dict.fromkeys(", ".join(run.models.values()).split(", "))),
            models=dict(sorted(run.models.items())),
            search=list(run.search),
            started_at=run.started_at,
            finished_at=run.finished_at,
            iterations=int(state.get("iteration") or 1),
            notice=self._notice(),
            found=self.draft.found,
            written=self.written,
            searched=self.draft.searched or [one.query for one in self.sub_queries],
            research_brief=str(state.get("research_brief") or ""),
            short_answer=cited.short_answer,
            sections=cited.sections,
            contradictions=cited.contradictions,
            gaps=[_gap(gap) for gap in self._gaps_by_priority()],
            conclusions=cited.conclusions,
            confidence=confidence_of(
                state.get("confidence") or {}, claims=self.claims, gaps=self.gaps, cited=cited, origins=self.origins
            ),
            claims=self._report_claims(),
            citations=cited.citations,
            sources=self.sources,
            more_evidence=cited.more_evidence,
            limitations=self._limitations(),
            statistics=statistics_of(
                run,
                self.sources,
                self.origins,
                token_limit_retries=token_limit_retries(state.get("degraded") or []),
                gathering=self.gathered,
            ),
            sub_queries=self.sub_queries,
            decisions=self.decisions,
            degraded=self.degraded,
            quotes_dropped=int(state.get("quotes_dropped") or 0),
            fabricated_dropped=self.fabricated_dropped,
        )

    def _notice(self) -> str:
        """What the writer says of itself, after how the run ended and searched where it did not do so well."""
        return " ".join(part for part in (self._how_it_ended(), self._how_it_searched(), self.draft.notice) if part)

    def _how_it_searched(self) -> str:
        failed = bool(self.sub_queries) and all(one.status == "failed" for one in self.sub_queries)
        if self.sources or not failed or not self.state.get("search_failures"):
            return ""
        return "No search provider answered, so the missing results say nothing about the question."

    def _how_it_ended(self) -> str:
        if self.run.status == "completed":
            return ""
        facts = self.state.get("metadata") or {}
        phase = facts.get("abort_phase") or self.state.get("phase")
        how = {"cancelled": "was cancelled", "timeout": "ran out of time", "error": "failed"}.get(
            self.run.cause or "", "has not ended"
        )
        how += f" ({self.run.error})" if self.run.error and self.run.cause in {"cancelled", "timeout"} else ""
        where = f" in the phase “{phase}”" if phase else ""
        rest = (
            "This report was written before that and may lack what was still to come."
            if self.written
            else "No report had been written; what had been collected until then is listed here."
        )
        return f"Partial: the run {how}{where}. {rest}"

    def _gaps_by_priority(self) -> list[Gap]:
        return sorted(self.gaps, key=lambda gap: (gap.addressed, gap.priority, gap.id))

    def _report_claims(self) -> list[ReportClaim]:
        numbers = {citation.evidence_id: citation.n for citation in self.cited.citations}
        findings = [Finding.model_validate(one) for one in self.state.get("findings") or []]
        evidence_of = {finding.id: finding.evidence_ids for finding in findings}
        return [
            ReportClaim(
                **claim.model_dump(exclude={"finding_id"}),
                citations=sorted(numbers[one] for one in evidence_of.get(claim.finding_id, ()) if one in numbers),
            )
            for claim in self.claims
        ]

    def _limitations(self) -> list[str]:
        return limitations_of(
            cited=self.cited,
            sources=self.sources,
            gaps=[_gap(gap) for gap in self.gaps],
            sub_queries=self.sub_queries,
            decisions=self.decisions,
            search=self.run.search,
            skipped_searches=self.run.skipped_searches,
            search_failures=self.state.get("search_failures") or [],
            degraded=self.state.get("degraded") or [],
            quotes_dropped=int(self.state.get("quotes_dropped") or 0),
            fabricated_dropped=self.fabricated_dropped,
            origins=self.origins,
            gathered=self.gathered,
        )


def _report_sources(
    sources: Iterable[Source], citations: Iterable[Citation], behind: Mapping[str, str]
) -> list[ReportSource]:
    """The cited first, each group by composite score."""
    numbers: dict[str, list[int]] = {}
    for citation in citations:
        numbers.setdefault(citation.source_id, []).append(citation.n)
    reported = [_source(source, numbers.get(source.id, []), behind[source.id]) for source in sources]
    return sorted(reported, key=lambda source: (not source.citations, -source.composite, source.id))


def _source(source: Source, numbers: list[int], behind: str) -> ReportSource:
    return ReportSource(
        **source.model_dump(
            mode="json",
            include={
                *("id", "title", "authors", "publisher", "url", "doi", "tier", "published_at", "retrieved_at"),
                *("quality", "fidelity", "provider", "archive_hash", "characters"),
            },
        ),
        **{name: round(value, 4) for name, value in source.score.model_dump().items()},
        origin=behind,
        citations=numbers,
    )


def _gap(gap: Gap) -> ReportGap:
    return ReportGap(**gap.model_dump())


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
    found = {topic["sub_query_id"]: len(topic.get("source_ids") or []) for topic in state.get("topics") or []}
    return [
        SubQueryOutcome(
            **one.model_dump(include={"id", "query", "status", "iteration", "error"}), sources=found.get(one.id, 0)
        )
        for one in map(SubQuery.model_validate, state.get("sub_queries") or [])
    ]
