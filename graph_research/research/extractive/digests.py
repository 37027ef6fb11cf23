"""The digest of a source without a language model: what it says to the question, in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.research.models.digest import MOST_KEY_POINT_CHARS, MOST_KEY_POINTS
from graph_research.text.document import Document
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank

_SUMMARY_SENTENCES = 3


def condense(material: Mapping[str, Any]) -> dict[str, Any]:
    """The best ranked sentences: the first ones, in the order of the text, as summary, the others as key points."""
    document: Document = material["document"]
    pool = Pool({"source": document})
    ranked = rank(pool, parse(material["question"]))[: _SUMMARY_SENTENCES + MOST_KEY_POINTS]
    best = sorted(ranked[:_SUMMARY_SENTENCES], key=lambda item: item.unit.start)
    others = [text for item in ranked[_SUMMARY_SENTENCES:] if len(text := item.unit.text) <= MOST_KEY_POINT_CHARS]
    return {"summary": " ".join(item.unit.text for item in best) or document.title, "key_points": others}
