"""Gaps: parts of the question that no passage answers, each with queries that were not asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph_research.research.extractive.analysis import Analysis, Part
from graph_research.research.report.labels.table import Labels
from graph_research.research.retrieval.query_novelty import asked_before

_MOST_GAPS = 3
_SHORTEST_QUERY = 10


def find_gaps(analysis: Analysis, asked: Sequence[str], labels: Labels) -> list[dict[str, Any]]:
    """At most three: the parts that are not answered, in the question's order, and words that no source has."""
    return [
        {
            "description": description(part, labels),
            "suggested_queries": new_queries(_suggestions(part, analysis), asked)[:2],
            "priority": position,
        }
        for position, part in enumerate([p for p in analysis.parts if not p.found or p.absent][:_MOST_GAPS], start=1)
    ]


def description(part: Part, labels: Labels) -> str:
    """What is missing, as the report says it."""
    if part.found or part.absent:
        return labels.no_passage_on.format(words=labels.or_word.join(word.join(labels.quotes) for word in part.absent))
    return labels.no_passage_answers.format(part=part.query.own)


def new_queries(candidates: Sequence[str], asked: Sequence[str]) -> list[str]:
    """The candidates of at least ten characters that ask something new."""
    kept: list[str] = []
    for query in candidates:
        if len(query) >= _SHORTEST_QUERY and not asked_before(query, [*asked, *kept]):
            kept.append(query)
    return kept


def _suggestions(part: Part, analysis: Analysis) -> list[str]:
    """The missing words with the subject and alone, else the part itself, with and without the subject."""
    missing = " ".join(part.absent) or part.query.own
    subject = analysis.query.subject
    return [f"{subject} {missing}".strip(), missing, part.query.text]
