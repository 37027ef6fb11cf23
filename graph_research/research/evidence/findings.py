"""What an analyzer's answer comes to: quotes proved, findings scored, gaps opened and closed, contradictions kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.research.evidence.claims import Ground, claim_of, levelled
from graph_research.research.evidence.contradictions import by_place, disagreements, from_answer
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.confidence import JobConfidence
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Claim, Confidence, Finding, Gap
from graph_research.research.models.ids import finding_id, gap_id
from graph_research.research.models.plan import SubQuery, TopicResult
from graph_research.research.models.source import Quality, Source
from graph_research.research.scoring.job import job_confidence
from graph_research.research.scoring.origin import origins
from graph_research.text.document import Document


@dataclass(frozen=True, kw_only=True)
class Known:
    """What earlier phases and iterations found, rebuilt from the handoff."""

    question: str
    iteration: int
    sub_queries: Sequence[SubQuery]
    sources: Mapping[str, Source]
    topics: Sequence[TopicResult]
    findings: Sequence[Finding]
    evidence: Mapping[str, Evidence]
    gaps: Sequence[Gap]
    contradictions: Sequence[Contradiction]

    @classmethod
    def of(cls, handoff: Mapping[str, Any]) -> Known:
        """From the JSON of `analyzer.input`."""
        sources = [Source.model_validate(row) for row in handoff["sources"]]
        evidence = [Evidence.model_validate(row) for row in handoff.get("evidence") or []]
        return cls(
            question=handoff["original_query"],
            iteration=handoff["iteration"],
            sub_queries=[SubQuery.model_validate(row) for row in handoff["sub_queries"]],
            sources={source.id: source for source in sources},
            topics=[TopicResult.model_validate(row) for row in handoff.get("topics") or []],
            findings=[Finding.model_validate(row) for row in handoff.get("findings") or []],
            evidence={one.id: one for one in evidence},
            gaps=[Gap.model_validate(row) for row in handoff.get("gaps") or []],
            contradictions=[Contradiction.model_validate(row) for row in handoff.get("contradictions") or []],
        )


@dataclass(frozen=True, kw_only=True)
class Analysed:
    """The result. `findings` and `claims` are those of all iterations, rescored; `gaps` the new ones and those closed
    now; `requalified` the sources whose quality changed."""

    findings: Sequence[Finding]
    evidence: Sequence[Evidence]
    gaps: Sequence[Gap]
    contradictions: Sequence[Contradiction]
    claims: Sequence[Claim]
    confidence: JobConfidence
    requalified: Sequence[Source]
    quotes_dropped: int


def analyse(answer: Mapping[str, Any], known: Known, documents: Mapping[str, Document]) -> Analysed:
    """Prove and score an answer that fits `analyzer.answer`.

    What the analyzer itself calls speculation is not a claim: it does not count for the confidence of the whole.
    """
    finder = QuoteFinder(known.question, known.sources, documents)
    fresh, evidence = _findings(answer["findings"], finder, known.iteration)
    named, more = from_answer(answer.get("contradictions") or [], finder)
    all_evidence = {**known.evidence, **{one.id: one for one in [*evidence, *more]}}
    by_origin = origins(list(known.sources.values()), {key: document.text for key, document in documents.items()})
    contradictions = disagreements(
        [*known.contradictions, *named],
        by_place(all_evidence.values(), documents),
        sources=known.sources,
        documents=documents,
    )
    ground = Ground(sources=known.sources, evidence=all_evidence, contradictions=contradictions, origins=by_origin)
    findings = _joined(known.findings, fresh)
    claims = [claim_of(finding, ground) for finding in findings]
    counted = [
        claim for finding, claim in zip(findings, claims, strict=True) if finding.stated is not Confidence.SPECULATION
    ]
    return Analysed(
        findings=[levelled(finding, claim, ground) for finding, claim in zip(findings, claims, strict=True)],
        evidence=list({one.id: one for one in [*evidence, *more]}.values()),
        gaps=_gaps(answer, known, fresh, all_evidence),
        contradictions=contradictions,
        claims=claims,
        confidence=job_confidence(counted, len(known.sources), len(set(by_origin.values()))),
        requalified=_requalified(answer.get("quality_updates") or [], known.sources),
        quotes_dropped=finder.dropped,
    )


def _findings(
    rows: Sequence[Mapping[str, Any]], finder: QuoteFinder, iteration: int
) -> tuple[list[Finding], list[Evidence]]:
    """Findings with at least one proved quote; one whose quotes are all missing is dropped."""
    findings: dict[str, Finding] = {}
    evidence: list[Evidence] = []
    for row in rows:
        proved = finder.evidence(row["evidence"])
        if not proved:
            continue
        content = " ".join(row["content"].split())
        evidence += proved
        finding = Finding(
            id=finding_id(content),
            content=content,
            confidence=row["confidence"],
            source_ids=list(dict.fromkeys(one.source_id for one in proved)),
            evidence_ids=[one.id for one in proved],
            category=row.get("category"),
            iteration=iteration,
            stated=row["confidence"],
        )
        findings.setdefault(finding.id, finding)
    return list(findings.values()), evidence


def _joined(known: Sequence[Finding], fresh: Sequence[Finding]) -> list[Finding]:
    """All findings; one that is found again keeps its iteration and gains the new evidence."""
    joined = {finding.id: finding for finding in known}
    for finding in fresh:
        old = joined.get(finding.id)
        joined[finding.id] = finding if old is None else _enriched(old, finding)
    return list(joined.values())


def _enriched(old: Finding, new: Finding) -> Finding:
    return old.model_copy(
        update={
            "stated": new.stated,
            "source_ids": list(dict.fromkeys([*old.source_ids, *new.source_ids])),
            "evidence_ids": list(dict.fromkeys([*old.evidence_ids, *new.evidence_ids])),
        }
    )


def _gaps(
    answer: Mapping[str, Any], known: Known, fresh: Sequence[Finding], evidence: Mapping[str, Evidence]
) -> list[Gap]:
    """Gaps that the answer names, and earlier ones that are closed now."""
    named = {
        gap_id(row["description"]): Gap(
            id=gap_id(row["description"]),
            description=" ".join(row["description"].split()),
            suggested_queries=row.get("suggested_queries") or [],
            priority=row.get("priority") or 1,
            iteration=known.iteration,
        )
        for row in answer["gaps"]
    }
    addressed = answer.get("addressed_gaps")
    covered = set(addressed) if addressed is not None else _covered(known, fresh, evidence)
    closed = [
        gap.model_copy(update={"addressed": True, "addressed_in": known.iteration})
        for gap in known.gaps
        if not gap.addressed and gap.id in covered and gap.id not in named
    ]
    return [*named.values(), *closed]


def _covered(known: Known, fresh: Sequence[Finding], evidence: Mapping[str, Evidence]) -> set[str]:
    """Gaps for which a follow-up sub-query found a source that this iteration quotes as it was not quoted before."""
    fresh_ids = {one for finding in fresh for one in finding.evidence_ids if one not in known.evidence}
    quoted = {evidence[one].source_id for one in fresh_ids}
    found_by = {topic.sub_query_id: set(topic.source_ids) for topic in known.topics}
    return {
        sub_query.gap_id
        for sub_query in known.sub_queries
        if sub_query.gap_id and found_by.get(sub_query.id, set()) & quoted
    }


def _requalified(updates: Sequence[Mapping[str, Any]], sources: Mapping[str, Source]) -> list[Source]:
    """Sources whose quality the answer changes; a flagged source stays low."""
    changed: dict[str, Source] = {}
    for update in updates:
        source = sources.get(update["source_id"])
        quality = Quality(update["quality"])
        if source is not None and quality is not source.quality and source.tier != "FLAGGED":
            changed[source.id] = source.model_copy(update={"quality": quality})
    return list(changed.values())
