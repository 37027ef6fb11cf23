"""Gaps: facets of the question that no sentence covers, each with queries that were not asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph_research.research.extractive.question import Facet, Question
from graph_research.research.extractive.ranking import Ranked
from graph_research.text.language.stems import content_stems

_MOST_GAPS = 3
_SHORTEST_QUERY = 10


def find_gaps(question: Question, ranked: Sequence[Ranked], asked: Sequence[str]) -> list[dict[str, Any]]:
    """At most three uncovered facets, in the question's order; the subject itself where nothing is about it."""
    around = [item.passage.stem_set | item.passage.frame_stems for item in ranked]
    open_facets = [
        facet
        for facet, _ in question.parts
        if max((facet.share(stems) for stems in around), default=0.0) < (1.0 if len(facet.stems) == 1 else 0.5)
    ]
    return [
        {
            "description": f"No passage found on “{facet.phrase}”.",
            "suggested_queries": new_queries(_suggestions(facet, question), asked)[:2],
            "priority": position,
        }
        for position, facet in enumerate(open_facets[:_MOST_GAPS], start=1)
    ]


def was_asked(query: str, asked: Sequence[str]) -> bool:
    """Whether a query with the same content words was asked before, in whatever order and form."""
    own = content_stems(query)
    return any(content_stems(other) == own for other in asked)


def new_queries(candidates: Sequence[str], asked: Sequence[str]) -> list[str]:
    """The candidates of at least ten characters that were not asked and do not repeat each other."""
    kept: list[str] = []
    for query in candidates:
        if len(query) >= _SHORTEST_QUERY and content_stems(query) and not was_asked(query, [*asked, *kept]):
            kept.append(query)
    return kept


def _suggestions(facet: Facet, question: Question) -> list[str]:
    """The facet with the subject, with the subject's common nouns only, alone, and with the other facets."""
    subject = question.subject.phrase if question.subject else ""
    if facet.phrase == subject:
        return [facet.phrase]
    common = " ".join(word for word in subject.split() if word.islower())
    others = [other.phrase for other in question.facets if other != facet]
    return [
        f"{subject} {facet.phrase}".strip(),
        f"{facet.phrase} {common}".strip(),
        facet.phrase,
        *(f"{facet.phrase} {other}" for other in others),
    ]
