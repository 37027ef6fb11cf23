"""The reflector's answer: whether what was found covers the sub-query, and what to ask next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.extractive.gaps import new_queries
from graph_research.research.extractive.question import parse_question
from graph_research.research.extractive.sources import question_of
from graph_research.text.language.phrases import common_phrases
from graph_research.text.language.stems import content_stems, stem, words

__all__ = ["answer"]

_ENOUGH_SOURCES = 3
_ENOUGH_COVERAGE = 0.7


def answer(material: Mapping[str, Any]) -> dict[str, Any]:
    """Complete with three relevant sources that cover the sub-query and each of its parts, which commas part; else a
    query that was not asked, if there is one.

    A source is relevant where its title, snippet or content holds at least half of the sub-query's content words.
    Where the handoff has only their titles, their number decides, and the titles say which words are not covered.
    """
    query = _query(material)
    wanted = content_stems(query)
    texts = _texts(material)
    relevant = [text for text in texts if len(wanted & content_stems(text)) * 2 >= len(wanted)]
    count = len(relevant) if texts else int(material.get("source_count") or 0)
    read = relevant or [str(title) for title in material.get("titles") or ()]
    covered = frozenset().union(*(content_stems(text) for text in read)) & wanted
    enough = not texts or len(covered) >= _ENOUGH_COVERAGE * len(wanted)
    found = f"{count} relevant sources, with {len(covered)} of the sub-query's {len(wanted)} words"
    part = next(iter(new_queries(_parts(query, material), [query, *_asked(material)])), None)
    if part is not None and _searches_left(material):
        return _verdict(part, done=False, why=f"{found}; “{part}” was not asked on its own.")
    if count >= _ENOUGH_SOURCES and enough:
        return _verdict(None, done=True, why=f"{found}.")
    refined = _refined(query, wanted - covered, read, material)
    if refined is None or not _searches_left(material):
        return _verdict(None, done=False, why=f"{found}; there is no other query to try.")
    return _verdict(refined, done=False, why=f"{found}; other words may find more.")


def _verdict(refined: str | None, *, done: bool, why: str) -> dict[str, Any]:
    return {
        "continue_searching": refined is not None,
        "refined_query": refined,
        "research_complete": done,
        "rationale": why,
    }


def _query(material: Mapping[str, Any]) -> str:
    sub_query = material.get("sub_query")
    return str(sub_query.get("query", "")) if isinstance(sub_query, Mapping) else str(sub_query or "")


def _asked(material: Mapping[str, Any]) -> list[str]:
    return [str(query) for query in material.get("queries") or ()]


def _parts(query: str, material: Mapping[str, Any]) -> list[str]:
    """A sub-query that joins several things, as one query for each, all with the question's subject."""
    subject = parse_question(question_of(material)).subject
    opening = subject.phrase if subject and query.startswith(subject.phrase) else ""
    parts = [part.strip() for part in query.removeprefix(opening).split(",")]
    return [f"{opening} {part}".strip() for part in parts] if len(parts) > 1 else []


def _texts(material: Mapping[str, Any]) -> list[str]:
    rows: Sequence[Mapping[str, Any]] = material.get("sources") or ()
    return [f"{row.get('title', '')}. {row.get('snippet', '')}. {row.get('content') or ''}" for row in rows]


def _searches_left(material: Mapping[str, Any]) -> bool:
    left = material.get("searches_left")
    if left is None:
        left = int(material.get("max_searches") or 0) - len(material.get("queries") or ())
    return int(left) > 0


def _refined(query: str, missing: frozenset[str], texts: Sequence[str], material: Mapping[str, Any]) -> str | None:
    """The uncovered words beside the question's subject, else a phrase that stands in several of the texts found."""
    subject = parse_question(question_of(material)).subject
    opening = subject.phrase if subject else ""
    uncovered = " ".join(dict.fromkeys(word for word in words(query) if stem(word) in missing))
    known = content_stems(query)
    phrases = [" ".join(phrase) for phrase, _ in common_phrases(texts)]
    fresh = [phrase for phrase in phrases if not content_stems(phrase) & known]
    candidates = [f"{opening} {uncovered}".strip(), uncovered] if uncovered else []
    candidates += [f"{query} {phrase}" for phrase in fresh[:2]]
    return next(iter(new_queries(candidates, [query, *_asked(material)])), None)
