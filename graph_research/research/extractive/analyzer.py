"""Findings, gaps and contradictions of a research, and the claims of a pipeline, out of one analysis; digests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.extractive.analysis import Analysis, Group, Quote, analyze, confidence
from graph_research.research.extractive.gaps import find_gaps
from graph_research.research.extractive.sections import outline
from graph_research.research.extractive.sources import SourceFacts, labels_of, options_of
from graph_research.research.models.digest import MOST_KEY_POINT_CHARS, MOST_KEY_POINTS
from graph_research.text.document import Document
from graph_research.text.relevance.conflicts import Conflict
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from graph_research.text.relevance.statements import SourceSentence

_SUMMARY_SENTENCES = 3


def find(material: Mapping[str, Any]) -> dict[str, Any]:
    """Findings, gaps, quality updates and contradictions as the analyzer's schema has them."""
    analysis = analyze(material)
    sections = outline(analysis, options_of(material).words, material.get("documents") or {})
    headings = {group: section.heading or None for section in sections for group in section.groups}
    cited = {quote.source_id for group in analysis.groups for quote in group.quotes} if analysis.found else set()
    asked = [str(row.get("query", "")) for row in material.get("sub_queries") or ()]
    gaps = find_gaps(analysis, asked, labels_of(material))
    return {
        "findings": [_finding(group, headings.get(group), analysis) for group in analysis.groups],
        "gaps": gaps,
        "addressed_gaps": _addressed(material, gaps),
        "quality_updates": [
            {"source_id": source_id, "quality": "low"} for source_id in analysis.sources if source_id not in cited
        ],
        "contradictions": [_contradiction(conflict, analysis.groups) for conflict in analysis.conflicts],
    }


def claims(material: Mapping[str, Any]) -> dict[str, Any]:
    """The best sentences as claims; indices count the sources of the handoff from 0."""
    analysis = analyze(material)
    positions = {source_id: index for index, source_id in enumerate(analysis.sources)}
    return {"claims": [_claim(group, analysis, positions) for group in analysis.groups]}


def condense(material: Mapping[str, Any]) -> dict[str, Any]:
    """A digest: the best ranked sentences, the first ones in the order of the text as summary, the others as key
    points."""
    document: Document = material["document"]
    pool = Pool({"source": document})
    ranked = rank(pool, parse(material["question"]))[: _SUMMARY_SENTENCES + MOST_KEY_POINTS]
    best = sorted(ranked[:_SUMMARY_SENTENCES], key=lambda item: item.unit.start)
    others = [text for item in ranked[_SUMMARY_SENTENCES:] if len(text := item.unit.text) <= MOST_KEY_POINT_CHARS]
    return {"summary": " ".join(item.unit.text for item in best) or document.title, "key_points": others}


def opposing(group: Group, conflicts: Sequence[Conflict]) -> list[tuple[str, SourceSentence]]:
    """Value and sentence of the other sides of the conflicts in which a quotation of the group takes part."""
    found = []
    for conflict in conflicts:
        held = [any(_is_in(group, sentence) for sentence in side.evidence) for side in conflict.sides]
        if any(held):
            others = [side for side, mine in zip(conflict.sides, held, strict=True) if not mine]
            found += [(side.value, sentence) for side in others for sentence in side.evidence]
    return found


def _finding(group: Group, heading: str | None, analysis: Analysis) -> dict[str, Any]:
    source_ids = list(dict.fromkeys(quote.source_id for quote in group.quotes))
    disputed = _is_disputed(group, analysis.conflicts, analysis.sources)
    level = confidence(source_ids, analysis.sources, disputed=disputed)
    return {
        "content": group.lead.text,
        "confidence": level if analysis.parts[group.lead.part].found else "speculation",
        "category": heading,
        "source_ids": source_ids,
        "evidence": [_evidence(quote) | {"rank_score": quote.score} for quote in group.quotes],
    }


def _is_disputed(group: Group, conflicts: Sequence[Conflict], sources: Mapping[str, SourceFacts]) -> bool:
    """Whether an authoritative source stands on another side than the group."""
    return any(sources[sentence.source_id].authoritative for _, sentence in opposing(group, conflicts))


def _addressed(material: Mapping[str, Any], gaps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of the earlier gaps that are closed."""
    still_open = {gap["description"] for gap in gaps}
    earlier = material.get("previous_gaps") or ()
    return [str(gap["id"]) for gap in earlier if gap.get("description") not in still_open]


def _contradiction(conflict: Conflict, groups: Sequence[Group]) -> dict[str, Any]:
    """The conflict by the quotations of the findings that hold its sentences: one place is one piece of evidence."""
    quotes = [quote for group in groups for quote in group.quotes]
    return {
        "kind": conflict.kind,
        "topic": conflict.topic,
        "description": conflict.description,
        "sides": [
            {"value": side.value, "evidence": [_evidence(_holding(sentence, quotes)) for sentence in side.evidence]}
            for side in conflict.sides
        ],
    }


def _evidence(quote: Quote | SourceSentence) -> dict[str, Any]:
    return {"source_id": quote.source_id, "quote": quote.text, "start": quote.start}


def _claim(group: Group, analysis: Analysis, positions: Mapping[str, int]) -> dict[str, Any]:
    supporting = list(dict.fromkeys(positions[quote.source_id] for quote in group.quotes))
    against = {positions[sentence.source_id] for _, sentence in opposing(group, analysis.conflicts)}
    return {
        "text": group.lead.text,
        "supportingIndices": supporting,
        "contradictingIndices": sorted(against - set(supporting)),
        "evidence": [_evidence(quote) for quote in group.quotes],
    }


def _is_in(group: Group, sentence: SourceSentence) -> bool:
    return any(_holds(quote, sentence) for quote in group.quotes)


def _holding(sentence: SourceSentence, quotes: Sequence[Quote]) -> Quote | SourceSentence:
    return next((quote for quote in quotes if _holds(quote, sentence)), sentence)


def _holds(quote: Quote, sentence: SourceSentence) -> bool:
    return quote.source_id == sentence.source_id and quote.start <= sentence.start < quote.end
