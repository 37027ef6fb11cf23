"""The synthesizer's answer: a draft of verbatim quotes in sections, a short answer, or what was nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.research.extractive.claim_groups import Group
from graph_research.research.extractive.question import Question, parse_question
from graph_research.research.extractive.ranking import Pool, best_facet, rank
from graph_research.research.extractive.sections import Outline, outline
from graph_research.research.extractive.sentences import Sentence, quotable_sentences
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.extractive.sources import SourceFacts, question_of, read_sources
from graph_research.research.models.draft import Draft, DraftSection, Statement, StatementKind
from graph_research.text.document import Document
from graph_research.text.errors import LocatorInvalid
from graph_research.text.language.stems import stem_list
from graph_research.text.locators import resolve

NOTICE = (
    "No language model took part. The sentences below were selected by code and are quoted word for word from the "
    "sources; nothing is paraphrased, inferred or judged."
)
_DISPUTED = "For figures and dates on which the sources differ, see the contradictions, where each side is quoted."
_NEAREST = "The sources do not answer the question as asked. These passages are the nearest to it."
_UNRELATED = "No passage in the sources shares a word with the question. These are among what the search came upon."
_NOTHING = "No passage in the sources is near the question."
_LEAST_COVERAGE = 0.5
_BEST = 12
_MOST_MORE = 12
_MOST_NEAREST = 4


@dataclass(frozen=True, kw_only=True)
class _Cited:
    """A group with the evidence ids that prove it, the lead's first."""

    group: Group
    evidence_ids: tuple[str, ...]


def answer(material: Mapping[str, Any]) -> dict[str, Any]:
    """A `Draft` as JSON; it cites only evidence of the handoff."""
    question = parse_question(question_of(material))
    sources = read_sources(material)
    pool = _pool(material, sources)
    cited = _cited_groups(material, question, pool, sources)
    ids = {entry.group: entry.evidence_ids for entry in cited}
    groups = [entry.group for entry in cited]
    picked = short_answer(groups, question, sources)
    coverage = question.coverage(group.lead.stem_set | group.lead.frame_stems for group in groups[:_BEST])
    if not picked or picked[0].score == 0.0 or coverage < _LEAST_COVERAGE:
        return _not_found(groups, ids, material, question).to_json()
    laid_out = outline(groups, question, pool, sources)
    return _found(laid_out, picked, ids, material).to_json()


def _found(
    laid_out: Outline, picked: Sequence[Group], ids: Mapping[Group, tuple[str, ...]], material: Mapping[str, Any]
) -> Draft:
    summary = [_quote(group, ids) for group in picked]
    disputed = _disputed_evidence(material)
    if any(disputed.intersection(statement.evidence_ids) for statement in summary):
        summary.append(Statement(text=_DISPUTED, kind=StatementKind.CONNECTIVE))
    return Draft(
        notice=NOTICE,
        found=True,
        searched=_searched(material),
        summary=summary,
        sections=[
            DraftSection(heading=section.heading, statements=[_quote(group, ids) for group in section.groups])
            for section in laid_out.sections
        ],
        more=[_quote(group, ids) for group in laid_out.rest[:_MOST_MORE]],
    )


def _not_found(
    groups: Sequence[Group], ids: Mapping[Group, tuple[str, ...]], material: Mapping[str, Any], question: Question
) -> Draft:
    nearest = groups[:_MOST_NEAREST]
    related = any((g.lead.stem_set | g.lead.frame_stems) & question.weights.keys() for g in nearest)
    opening = Statement(
        text=_NEAREST if related else _UNRELATED if nearest else _NOTHING, kind=StatementKind.CONNECTIVE
    )
    return Draft(
        notice=NOTICE,
        found=False,
        searched=_searched(material),
        summary=[opening, *(_quote(group, ids) for group in nearest)],
        more=[_quote(group, ids) for group in groups[_MOST_NEAREST : _MOST_NEAREST + _MOST_MORE]],
    )


def _quote(group: Group, ids: Mapping[Group, tuple[str, ...]]) -> Statement:
    return Statement(text=group.lead.text, evidence_ids=list(ids[group]), kind=StatementKind.QUOTE)


def _searched(material: Mapping[str, Any]) -> list[str]:
    asked = [str(row.get("query", "")) for row in material.get("sub_queries") or ()]
    return list(dict.fromkeys(query for query in asked if query)) or [question_of(material)]


def _disputed_evidence(material: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        evidence_id
        for conflict in material.get("contradictions") or ()
        for side in conflict.get("sides") or ()
        for evidence_id in side.get("evidence_ids") or ()
    )


def _pool(material: Mapping[str, Any], sources: Mapping[str, SourceFacts]) -> Pool:
    documents: Mapping[str, Document] = material.get("documents") or {}
    return Pool(
        [
            p
            for source_id in sources
            if source_id in documents
            for p in quotable_sentences(source_id, documents[source_id])
        ]
    )


def _cited_groups(
    material: Mapping[str, Any], question: Question, pool: Pool, sources: Mapping[str, SourceFacts]
) -> list[_Cited]:
    """The findings as groups with a score from ranking them against the question, best first."""
    evidence = {str(row["id"]): row for row in material.get("evidence") or ()}
    documents: Mapping[str, Document] = material.get("documents") or {}
    places = {(p.source_id, p.start, p.text): p for p in pool.passages}
    asked = [base for row in material.get("sub_queries") or () for base in stem_list(str(row.get("query", "")))]
    contested = _disputed_evidence(material)
    disputed = {
        (p.source_id, p.start)
        for key in contested & evidence.keys()
        for p in (_passage(evidence[key], documents, places),)
    }
    scores = {id(item.passage): item.score for item in rank(pool, question, asked, sources, disputed)}
    found: dict[str, _Cited] = {}
    for finding in material.get("findings") or ():
        ids = [
            key for key in finding.get("evidence_ids") or () if key in evidence and not _lost(evidence[key], sources)
        ]
        ids = [key for key in dict.fromkeys(ids) if not sources[evidence[key]["source_id"]].flagged]
        members = [_passage(evidence[key], documents, places) for key in ids]
        if not members or members[0].text in found:
            continue
        score = max(scores.get(id(member), 0.0) for member in members)
        facet = best_facet(members[0], question, pool)
        group = Group(lead=members[0], others=tuple(members[1:]), score=score, facet=facet)
        found[members[0].text] = _Cited(group=group, evidence_ids=tuple(ids))
    return sorted(found.values(), key=lambda entry: -entry.group.score)


def _lost(row: Mapping[str, Any], sources: Mapping[str, SourceFacts]) -> bool:
    return row.get("source_id") not in sources


def _passage(
    row: Mapping[str, Any],
    documents: Mapping[str, Document],
    places: Mapping[tuple[str, int, str], Sentence],
) -> Sentence:
    source_id, quote = str(row["source_id"]), str(row["quote"])
    document = documents.get(source_id)
    start = _start(str(row.get("locator", "")), quote, document)
    return places.get((source_id, start, quote)) or Sentence(source_id, start, start + len(quote), quote)


def _start(locator: str, quote: str, document: Document | None) -> int:
    """The offset in the canonical text that a locator means, or the quote's first place where it means none."""
    if document is None:
        return 0
    try:
        start, _ = resolve(document.text, locator, document.pages)
    except LocatorInvalid:
        return max(0, document.text.find(quote))
    return start
