"""Planning: the clarifier's, planner's and decomposer's answers, from the words of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.checklist import question_points
from graph_research.research.extractive.sources import labels_of, question_of
from graph_research.research.retrieval.query_novelty import asked_before
from graph_research.research.retrieval.question_queries import queries_of
from graph_research.text.language.questions import asked_only
from graph_research.text.language.words import terms, words
from graph_research.text.relevance.query import Query, parse
from graph_research.text.wording import shortened

_MOST_QUESTIONS = 8
_SHORTEST_QUERY = 10
_LONGEST_QUERY = 300
_DEFAULT_MOST = 5
_FEWEST = 2
_SHOWN_CHARS = 300
_ASK = (
    "The question holds no word that a search could look for. "
    "What is it about: which thing, place, person or event, and what of it?"
)


def plan(material: Mapping[str, Any]) -> dict[str, Any]:
    """The question itself, then its parts, or the sides of a comparison; two to eight."""
    query = parse(question_of(material))
    overview = labels_of(material).overview
    most = max(_FEWEST, min(int(material.get("max_sub_queries") or _DEFAULT_MOST), _MOST_QUESTIONS))
    rows = queries_of(query.text, most)
    general = f"{_subject(query)} {overview}"
    if len(rows) < _FEWEST and not asked_before(general, [query.text]):
        rows.append((general, f"What the sources say of {_subject(query)} in general."))
    return {
        "research_brief": _brief(query),
        "sub_queries": _rows(rows, overview),
        "checklist": question_points(query.text),
    }


def decompose(material: Mapping[str, Any]) -> dict[str, Any]:
    """The question itself first, then its parts as queries, eight at most."""
    planned = plan({**material, "max_sub_queries": _MOST_QUESTIONS})
    return {"questions": [row["query"] for row in planned["sub_queries"]]}


def clarify(material: Mapping[str, Any]) -> dict[str, Any]:
    """Asks back only where there is nothing to search for; otherwise restates the question and its parts."""
    query = parse(question_of(material))
    if not terms(query.text, query.language):
        return {"need_clarification": True, "question": _ASK, "verification": ""}
    asked = f"The question is taken as written: “{shortened(query.text, _SHOWN_CHARS)}”."
    parts = [part.own for part in query.parts] if len(query.parts) > 1 else []
    about = f" It is read as asking, of {_subject(query)}: {'; '.join(parts)}." if parts else ""
    return {"need_clarification": False, "question": "", "verification": asked + about}


def _subject(query: Query) -> str:
    """The question's subject, else of several things that it asks the phrase that all are about, else its two rarest
    words."""
    if query.subject or (len(query.parts) > 1 and query.phrase):
        return query.subject or query.phrase
    asked = words(asked_only(query.text, query.language), query.language)
    telling = [word for word in asked if word.weight > 0.0] or asked
    rarest = sorted(telling, key=lambda word: -word.weight)[:2]
    return " ".join(query.text[word.start : word.end] for word in sorted(rarest, key=lambda word: word.start))


def _rows(queries: Sequence[tuple[str, str]], overview: str) -> list[dict[str, Any]]:
    return [
        {
            "query": (query if len(query) >= _SHORTEST_QUERY else f"{query} {overview}")[:_LONGEST_QUERY],
            "rationale": rationale,
            "priority": priority,
        }
        for priority, (query, rationale) in enumerate(queries, start=1)
    ]


def _brief(query: Query) -> str:
    parts = "; ".join(f"“{part.own}”" for part in query.parts) if len(query.parts) > 1 else f"“{query.text}”"
    return (
        f"The research looks for answers to {shortened(parts, _LONGEST_QUERY)}. The question and each part are "
        "searched on their own, and sentences that answer them are taken word for word from the sources. Figures and "
        "dates that differ between sources are kept side by side."
    )
