"""Looking a further question up in archived sources: which are near it, and what none of them answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.services import Services
from graph_research.research.models.plan import SubQuery, SubQueryStatus
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.language.quantities import values
from graph_research.text.language.questions import counted_words
from graph_research.text.language.words import terms, words
from graph_research.text.relevance.answerability import features
from graph_research.text.relevance.open_points import Told, left_open
from graph_research.text.relevance.query import Query, parse
from graph_research.text.relevance.ranking import Analysed, Pool, rank
from graph_research.text.relevance.statements import row_text
from graph_research.text.relevance.units import Unit

_MOST_SOURCES = 12
_RANKED = 200
_MOST_BETWEEN = 3
_ENOUGH = 0.75
"""The calibrated score of a part from which no search is made for it. Below it, texts about the same subject often lack
just what is asked, and a search costs less than an answer beside the point; not where a sentence or row has all words
of the part."""
_ARCHIVED = "What the sources of the research say."
_MISSING = "No archived source answers this part."


def archive_lookup(services: Services) -> Handler:  # noqa: ARG001 -- every handler is made with the services
    """The sources whose units rank best for the question, and a pending sub-query for each part that the archive does
    not answer: its calibrated score is below `_ENOUGH` and no unit has all its words, or it asks for a number of things
    and no unit gives one. No model and no search is asked."""

    async def look_up(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources = [Source.model_validate(row) for row in handoff["sources"]]
        documents = await read_documents(sources, ctx)
        nearest, missing = await asyncio.to_thread(_look_up, str(handoff["question"]), documents)
        by_id = {row["id"]: row for row in handoff["sources"]}
        return {
            "sources": [by_id[name] for name in nearest],
            "sub_queries": [row.to_json() for row in _sub_queries(str(handoff["question"]), missing)],
        }

    return look_up


def _look_up(question: str, documents: Mapping[str, Document]) -> tuple[list[str], list[str]]:
    """The ids of the nearest sources, best first, and the parts that are not answered."""
    query, pool = parse(question), Pool(documents)
    ranked = rank(pool, query)[:_RANKED]
    nearest = list(dict.fromkeys(item.source for item in ranked))[:_MOST_SOURCES]
    told = [_told(documents[item.source], item.unit) for item in ranked]
    return nearest, [part.text for part in query.parts if not _is_answered(pool, part, told)]


def _told(document: Document, unit: Unit) -> Told:
    row = row_text(document.columns_at(unit.start))
    return Told(text=row or unit.text, under=". ".join((document.title, unit.heading, unit.header)))


def _is_answered(pool: Pool, part: Query, told: Sequence[Told]) -> bool:
    if features(pool, part).score < _ENOUGH and left_open(part.text, told):
        return False
    thing = next(iter(terms(counted_words(part.own, part.language), part.language)), "")
    return not thing or any(
        _counts(doc.units[position].text, thing, doc.language)
        or _has_column(pool.documents[source].columns_at(doc.units[position].start), thing, doc.language)
        for source, doc in pool.read.items()
        if doc.language == part.language
        for position in _holding(doc, thing)
    )


def _holding(doc: Analysed, term: str) -> list[int]:
    """The positions of the units that have a term, or stand below it."""
    below = (positions for context, positions in doc.contexts.items() if term in context)
    return sorted({position for position, _ in doc.postings.get(term, ())}.union(*below))


def _counts(text: str, thing: str, language: str) -> bool:
    """Whether a text gives a number of the thing: one that stands at most three words before its term."""
    written = words(text, language)
    return any(
        thing in [word.term for word in written if word.start >= value.end][:_MOST_BETWEEN]
        for value in values(text)
        if value.kind == "number"
    )


def _has_column(cells: Sequence[tuple[str, str]], thing: str, language: str) -> bool:
    """Whether a row of a table has a value in the column of the thing."""
    return any(thing in terms(header, language) and values(cell) for header, cell in cells[1:])


def _sub_queries(question: str, missing: Sequence[str]) -> list[SubQuery]:
    archived = SubQuery(id="sq-1-1", query=question, rationale=_ARCHIVED, status=SubQueryStatus.COMPLETED)
    searched = [
        SubQuery(id=f"sq-1-{number}", query=text, rationale=_MISSING) for number, text in enumerate(missing, start=2)
    ]
    return [archived, *searched]
