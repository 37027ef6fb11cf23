"""What an analyzer's answer comes to: quotes proved, findings scored, gaps opened and closed, contradictions kept."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

from graph_research.research.evidence.claims import Ground, claim_of, levelled
from graph_research.research.evidence.contradictions import Place, by_place, disagreements, from_answer
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.confidence import JobConfidence
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Claim, Confidence, Finding, Gap
from graph_research.research.models.ids import finding_id, gap_id
from graph_research.research.models.plan import SubQuery, TopicResult
from graph_research.research.models.source import Quality, Source
from graph_research.research.scoring.claim import job_confidence
from graph_research.research.scoring.origin import independent, origins
from graph_research.text.document import Document
from graph_research.text.language.opposites import NEGATIONS
from graph_research.text.language.stated import unstated

CONFIDENCE_RANK: Mapping[str, int] = {level.value: rank for rank, level in enumerate(Confidence)}
"""From 0 for speculation to 4 for confirmed."""

_WORDS = re.compile(r"\w+")
_MARKS = re.compile(r"(?:(?<=\s)|^)\[\d+(?:\s*[,–-]\s*\d+)*\]")  # what a citation looks like in a report
_NEGATIONS = frozenset().union(*NEGATIONS.values())
_MOST_KEPT = 1024  # texts of findings whose words are kept: each is compared with all others


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the topics of this iteration and earlier phases and iterations found, rebuilt from the handoff."""

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
    """Prove and score an answer that fits `analyzer.answer`, together with the findings known before."""
    finder = QuoteFinder(known.question, known.sources, documents)
    known, moved = _standing(known, finder)
    fresh, evidence = proved_findings(answer["findings"], finder, known.iteration)
    named, more = from_answer(answer.get("contradictions") or [], finder)
    all_evidence = {**known.evidence, **{one.id: one for one in [*evidence, *more]}}
    by_origin = origins(list(known.sources.values()), {key: document.text for key, document in documents.items()})
    places = by_place(all_evidence.values(), documents)
    contradictions = disagreements(
        [*known.contradictions, *named],
        places,
        sources=known.sources,
        documents=documents,
    )
    ground = Ground(
        question=known.question,
        sources=known.sources,
        evidence=all_evidence,
        contradictions=contradictions,
        origins=by_origin,
    )
    place_of = {one.id: place for place, one in places.items()}
    findings = _thinned(_joined(_restated(known.findings, answer.get("confidences") or []), fresh), place_of)
    findings = _united(findings, answer.get("same") or [])
    score = scored(findings, ground)
    return Analysed(
        findings=score.findings,
        evidence=list({one.id: one for one in [*moved, *evidence, *more]}.values()),
        gaps=_gaps(answer, known, fresh, all_evidence),
        contradictions=contradictions,
        claims=score.claims,
        confidence=score.confidence,
        requalified=_requalified(answer.get("quality_updates") or [], known.sources),
        quotes_dropped=finder.dropped,
    )


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Findings with the confidence that their claims allow, the claims, and the confidence of the whole."""

    findings: Sequence[Finding]
    claims: Sequence[Claim]
    confidence: JobConfidence


def scored(findings: Sequence[Finding], ground: Ground) -> Scored:
    """The findings, each with its claim scored on this ground. What the analyzer itself calls speculation stays a
    finding but is no claim, so that it does not lower the confidence of the whole."""
    pairs = [(finding, claim_of(finding, ground)) for finding in findings]
    claims = [claim for finding, claim in pairs if finding.stated is not Confidence.SPECULATION]
    return Scored(
        findings=[levelled(finding, claim, ground) for finding, claim in pairs],
        claims=claims,
        confidence=job_confidence(claims, len(ground.sources), independent(ground.origins.values())),
    )


def proved_findings(
    rows: Sequence[Mapping[str, Any]], finder: QuoteFinder, iteration: int, sub_query_id: str = ""
) -> tuple[list[Finding], list[Evidence]]:
    """Findings with at least one proved quote, these quotes and those that state or say what they do not; a finding
    whose quotes are all missing is dropped."""
    findings: dict[str, Finding] = {}
    evidence: list[Evidence] = []
    for row in rows:
        proved = finder.evidence(row["evidence"], row["content"])
        if not proved:
            continue
        content = " ".join(_MARKS.sub("", row["content"]).split())
        proved += finder.completing(proved, content)
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
            sub_query_id=sub_query_id,
        )
        findings.setdefault(finding.id, finding)
    return list(findings.values()), evidence


def _standing(known: Known, finder: QuoteFinder) -> tuple[Known, list[Evidence]]:
    """The known findings with the evidence that their sources' texts hold, and the evidence that got another place.
    Where two topics found one source, a single text of it is kept; quotes of the other text are looked up in that."""
    moved: dict[str, Evidence] = {}
    standing: dict[str, Evidence] = {}
    for name, one in known.evidence.items():
        source = known.sources.get(one.source_id)
        if source is not None and source.archive_hash == one.archive_hash:
            standing[name] = one
        elif found := finder.evidence([{"source_id": one.source_id, "quote": one.quote}]):
            moved[name] = found[0]
    if len(standing) == len(known.evidence):
        return known, []
    renamed = {**{name: name for name in standing}, **{name: one.id for name, one in moved.items()}}
    findings = []
    for finding in known.findings:
        ids = [renamed[name] for name in finding.evidence_ids if name in renamed]
        if ids:
            findings.append(finding.model_copy(update={"evidence_ids": list(dict.fromkeys(ids))}))
    evidence = {**standing, **{one.id: one for one in moved.values()}}
    return replace(known, findings=findings, evidence=evidence), list(moved.values())


def _restated(findings: Sequence[Finding], confidences: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """The findings with the confidence that the analyzer gives those it names."""
    said = {row["finding_id"]: Confidence(row["confidence"]) for row in confidences}
    return [
        finding.model_copy(update={"stated": said[finding.id]}) if finding.id in said else finding
        for finding in findings
    ]


def _thinned(findings: Sequence[Finding], places: Mapping[str, Place]) -> list[Finding]:
    """The findings, those that say the same in the same words, or add nothing, merged into the first of them, which
    keeps its id. `places` are those of the evidence."""
    kept: list[Finding] = []
    with_word: dict[str, list[int]] = defaultdict(list)  # the places in `kept` of what has a word
    for finding in findings:
        words = _words(finding.content)
        others = with_word[words[0]] if words else range(len(kept))
        place = next((place for place in others if _adds_nothing(kept[place], finding, places)), None)
        if place is None:
            for word in set(words):
                with_word[word].append(len(kept))
            kept.append(finding)
        else:
            kept[place] = _with_another(kept[place], finding)
    return kept


def _united(findings: Sequence[Finding], groups: Iterable[Sequence[str]]) -> list[Finding]:
    """The findings, those of each group merged into the first that the group names where their numbers and dates are
    the same. A finding is merged once."""
    kept = {finding.id: finding for finding in findings}
    for first, *others in (group for group in groups if group):
        for name in others:
            if first != name and first in kept and name in kept and _have_the_same_values(kept[first], kept[name]):
                kept[first] = _with_another(kept[first], kept.pop(name))
    return list(kept.values())


def _with_another(finding: Finding, other: Finding) -> Finding:
    """The finding with the evidence of another that says the same, and the higher of their stated confidences."""
    stated = max(finding.stated or "", other.stated or "", key=lambda level: CONFIDENCE_RANK.get(level, -1))
    return _enriched(finding, other.model_copy(update={"stated": stated or None}))


def _have_the_same_values(one: Finding, other: Finding) -> bool:
    return not (unstated(one.content, [other.content]) or unstated(other.content, [one.content]))


def _adds_nothing(one: Finding, other: Finding, places: Mapping[str, Place]) -> bool:
    """Whether of two findings the other one has the same words, or rests on the same passage and has only some of the
    words, in their order, with the same values and negations. A finding in other words or another order counts as
    another statement, since no score of words tells a paraphrase from another scope or role."""
    words, others = _words(one.content), _words(other.content)
    if words == others:
        return True
    rest = iter(words)
    return (
        all(word in rest for word in others)
        and _NEGATIONS.isdisjoint((Counter(words) - Counter(others)).keys())
        and _share_a_passage(one, other, places)
        and _have_the_same_values(one, other)
    )


def _share_a_passage(one: Finding, other: Finding, places: Mapping[str, Place]) -> bool:
    """Whether they have a quote in common, or quotes that overlap in the text of a source."""
    if not set(one.evidence_ids).isdisjoint(other.evidence_ids):
        return True
    mine, theirs = ([places[name] for name in each.evidence_ids if name in places] for each in (one, other))
    return any(a[0] == b[0] and max(a[1], b[1]) < min(a[2], b[2]) for a, b in product(mine, theirs))


@lru_cache(maxsize=_MOST_KEPT)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORDS.findall(text.casefold()))


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
    """Gaps that the answer names, and earlier ones that are closed now. A closed gap is not opened again; an open one
    that is named again stays that of its round, as the refiner weighed it."""
    addressed = answer.get("addressed_gaps")
    closed_before = [gap for gap in known.gaps if gap.addressed]
    closing = {gap.id for gap in known.gaps if gap.id in (addressed or ())}
    earlier = {gap.id: gap for gap in known.gaps}
    named: dict[str, Gap] = {}
    for row in answer["gaps"]:
        description = " ".join(row["description"].split())
        name = gap_id(description)
        if name not in closing and not any(_same_gap(gap, name, description) for gap in closed_before):
            gap = earlier.get(name) or Gap(id=name, description=description, iteration=known.iteration)
            asked = {"suggested_queries": row.get("suggested_queries") or [], "priority": row.get("priority") or 1}
            named[name] = gap.model_copy(update=asked)
    covered = closing if addressed is not None else _covered(known, fresh, evidence) - named.keys()
    closed = [
        gap.model_copy(update={"addressed": True, "addressed_in": known.iteration})
        for gap in known.gaps
        if not gap.addressed and gap.id in covered
    ]
    return [*named.values(), *closed]


def _same_gap(gap: Gap, name: str, description: str) -> bool:
    return gap.id == name or _words(gap.description) == _words(description)


def _covered(known: Known, fresh: Sequence[Finding], evidence: Mapping[str, Evidence]) -> set[str]:
    """Gaps for which a follow-up sub-query found a source that this iteration quotes as it was not quoted before."""
    new = [finding for finding in known.findings if finding.iteration == known.iteration]
    before = known.evidence.keys() - {name for finding in new for name in finding.evidence_ids}
    quoted = {
        evidence[name].source_id
        for finding in [*fresh, *new]
        for name in finding.evidence_ids
        if name not in before and name in evidence
    }
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
