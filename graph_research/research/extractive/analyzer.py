"""Analysis: findings, contradictions and gaps of a research, and the claims of a pipeline, out of one ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.research.extractive.claim_groups import Group, merge, source_sentence
from graph_research.research.extractive.gaps import find_gaps
from graph_research.research.extractive.question import Question, parse_question
from graph_research.research.extractive.ranking import Pool, Ranked, nearest, rank
from graph_research.research.extractive.sections import outline
from graph_research.research.extractive.sentences import Sentence, quotable_sentences
from graph_research.research.extractive.sources import SourceFacts, question_of, read_sources
from graph_research.text.language.stems import stem_list
from graph_research.text.relevance.conflicts import Conflict, SourceSentence, find_contradictions

_MOST_FINDINGS = 30
_LEAST_OF_BEST = 0.28
_MOST_PER_SOURCE = 7
_MOST_CANDIDATES = 240
_MOST_NEAREST = 4


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """Everything the analyzer and the writer of the report share.

    `ranked` is empty where nothing answers the question; `groups` then hold the passages that are nearest to it.
    """

    question: Question
    sources: Mapping[str, SourceFacts]
    pool: Pool
    ranked: Sequence[Ranked]
    groups: Sequence[Group]
    conflicts: Sequence[Conflict]


def analyze(material: Mapping[str, Any]) -> Analysis:
    """Reads the documents of the handoff and ranks their sentences; at most 30 groups, facets in turn."""
    question = parse_question(question_of(material))
    sources = read_sources(material)
    documents = material.get("documents") or {}
    pool = Pool(
        [
            p
            for source_id in sources
            if source_id in documents
            for p in quotable_sentences(source_id, documents[source_id])
        ]
    )
    asked = [base for query in _queries(material) for base in stem_list(query)]
    conflicts = _conflicts(pool, question, sources)
    disputed = {(q.source_id, q.start) for conflict in conflicts for side in conflict.sides for q in side.evidence}
    ranked = rank(pool, question, asked, sources, disputed)
    candidates = _in_turn(ranked, len(question.facets)) or nearest(pool, question, asked, sources)[:_MOST_NEAREST]
    groups = merge(candidates, sources, _MOST_FINDINGS)
    groups.sort(key=lambda group: (-group.score, group.lead.source_id, group.lead.start))
    return Analysis(question=question, sources=sources, pool=pool, ranked=ranked, groups=groups, conflicts=conflicts)


def find(material: Mapping[str, Any]) -> dict[str, Any]:
    """Findings, gaps, quality updates and contradictions as the analyzer's schema has them."""
    analysis = analyze(material)
    laid_out = outline(analysis.groups, analysis.question, analysis.pool, analysis.sources)
    headings = {group: section.heading for section in laid_out.sections for group in section.groups}
    relevant = {item.passage.source_id for item in analysis.ranked}
    gaps = find_gaps(analysis.question, analysis.ranked, _queries(material))
    return {
        "findings": [_finding(group, headings.get(group), analysis) for group in analysis.groups],
        "gaps": gaps,
        "addressed_gaps": _addressed(material, gaps),
        "quality_updates": [
            {"source_id": source_id, "quality": "low"} for source_id in analysis.sources if source_id not in relevant
        ],
        "contradictions": [_contradiction(conflict) for conflict in analysis.conflicts],
    }


def confidence(source_ids: Iterable[str], sources: Mapping[str, SourceFacts], *, disputed: bool) -> str:
    """Confidence by independent origins: high needs two authoritative ones, one origin is never high.

    What an authoritative source disputes is at most medium.
    """
    facts = [sources[source_id] for source_id in source_ids if source_id in sources]
    behind = {fact.origin for fact in facts}
    authoritative = {fact.origin for fact in facts if fact.authoritative}
    if len(authoritative) > 1 and not disputed:
        return "high"
    return "medium" if len(behind) > 1 or authoritative else "low"


def _queries(material: Mapping[str, Any]) -> list[str]:
    return [str(row.get("query", "")) for row in material.get("sub_queries") or ()]


def _in_turn(ranked: Sequence[Ranked], facets: int) -> list[Ranked]:
    """The candidates with every facet's best first, then every facet's second, so that no facet crowds out another."""
    least = _LEAST_OF_BEST * ranked[0].score if ranked else 0.0
    queues: dict[int, list[Ranked]] = {index: [] for index in (*range(facets), -1)}
    per_source: dict[str, int] = {}
    most = max(_MOST_PER_SOURCE, _MOST_FINDINGS // max(1, len({item.passage.source_id for item in ranked})))
    for item in ranked[:_MOST_CANDIDATES]:
        used = per_source.get(item.passage.source_id, 0)
        if item.score >= least and used < most:
            per_source[item.passage.source_id] = used + 1
            queues[item.facet].append(item)
    turns = max((len(queue) for queue in queues.values()), default=0)
    return [queue[turn] for turn in range(turns) for queue in queues.values() if turn < len(queue)]


def _conflicts(pool: Pool, question: Question, sources: Mapping[str, SourceFacts]) -> list[Conflict]:
    """Conflicts among all sentences that share the question's subject, flagged sources left out."""
    sharing = [passage for passage in pool.passages if _shares_subject(passage, question, sources)]
    return find_contradictions([source_sentence(passage, sources) for passage in sharing])


def _shares_subject(passage: Sentence, question: Question, sources: Mapping[str, SourceFacts]) -> bool:
    if sources[passage.source_id].flagged:
        return False
    around = passage.stem_set | passage.frame_stems
    if question.subject and question.subject.names:
        return question.about(around) >= 0.5
    return question.about(around) >= 0.5 or any(facet.share(passage.stem_set) >= 1.0 for facet in question.facets)


def _finding(group: Group, heading: str | None, analysis: Analysis) -> dict[str, Any]:
    source_ids = list(dict.fromkeys(passage.source_id for passage in group.passages))
    disputed = _is_disputed(group, analysis.conflicts, analysis.sources)
    return {
        "content": group.lead.text,
        "confidence": confidence(source_ids, analysis.sources, disputed=disputed) if analysis.ranked else "speculation",
        "category": heading,
        "source_ids": source_ids,
        "evidence": [
            _evidence(passage.source_id, passage.text, passage.start) | {"rank_score": round(group.score, 4)}
            for passage in group.passages
        ],
    }


def _addressed(material: Mapping[str, Any], gaps: Sequence[Mapping[str, Any]]) -> list[str]:
    """The earlier gaps that are none any more."""
    still_open = {gap["description"] for gap in gaps}
    earlier = material.get("previous_gaps") or ()
    return [str(gap["id"]) for gap in earlier if gap.get("description") not in still_open]


def _is_disputed(group: Group, conflicts: Sequence[Conflict], sources: Mapping[str, SourceFacts]) -> bool:
    """Whether an authoritative source stands on another side than the group."""
    own = {(passage.source_id, passage.start) for passage in group.passages}
    for conflict in conflicts:
        held = [any((q.source_id, q.start) in own for q in side.evidence) for side in conflict.sides]
        others = [q for side, mine in zip(conflict.sides, held, strict=True) if not mine for q in side.evidence]
        if any(held) and any(sources[quoted_.source_id].authoritative for quoted_ in others):
            return True
    return False


def _contradiction(conflict: Conflict) -> dict[str, Any]:
    return {
        "kind": conflict.kind,
        "topic": conflict.topic,
        "description": conflict.description,
        "sides": [
            {"value": side.value, "evidence": [_quoted_evidence(sentence) for sentence in side.evidence]}
            for side in conflict.sides
        ],
    }


def _quoted_evidence(sentence: SourceSentence) -> dict[str, Any]:
    return _evidence(sentence.source_id, sentence.text, sentence.start)


def _evidence(source_id: str, quote: str, start: int) -> dict[str, Any]:
    return {"source_id": source_id, "quote": quote, "start": start}


def claims(material: Mapping[str, Any]) -> dict[str, Any]:
    """The best sentences as claims; indices count the sources of the handoff from 0."""
    analysis = analyze(material)
    positions = {source_id: index for index, source_id in enumerate(analysis.sources)}
    return {"claims": [_claim(group, analysis, positions) for group in analysis.groups]}


def _claim(group: Group, analysis: Analysis, positions: Mapping[str, int]) -> dict[str, Any]:
    against = {
        quoted.source_id
        for conflict in analysis.conflicts
        if _takes_part(group, conflict)
        for side in conflict.sides
        if not any(_is_in(group, q.source_id, q.start) for q in side.evidence)
        for quoted in side.evidence
    }
    supporting = list(dict.fromkeys(positions[passage.source_id] for passage in group.passages))
    return {
        "text": group.lead.text,
        "supportingIndices": supporting,
        "contradictingIndices": sorted({positions[source_id] for source_id in against} - set(supporting)),
        "evidence": [{"source_id": p.source_id, "quote": p.text, "start": p.start} for p in group.passages],
    }


def _takes_part(group: Group, conflict: Conflict) -> bool:
    return any(_is_in(group, quoted.source_id, quoted.start) for side in conflict.sides for quoted in side.evidence)


def _is_in(group: Group, source_id: str, start: int) -> bool:
    return any(p.source_id == source_id and p.start <= start < p.end for p in group.passages)
