"""Planning: the clarifier's, planner's and decomposer's answers, from the words of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.research.extractive.question import Facet, Question, parse_question
from graph_research.research.extractive.sources import question_of
from graph_research.text.language.lexicon import MEASURES
from graph_research.text.language.phrases import common_phrases
from graph_research.text.language.stems import content_stems

_MOST_QUESTIONS = 8
_SHORTEST_QUERY = 10
_LONGEST_QUERY = 300
_DEFAULT_MOST = 5
_FEWEST = 2


@dataclass(frozen=True, kw_only=True)
class _Part:
    """What one sub-query asks for besides the subject."""

    phrases: tuple[str, ...]
    rationale: str


def plan(material: Mapping[str, Any]) -> dict[str, Any]:
    """Two to five sub-queries without overlap, the question's facets first, and a brief of two or three sentences."""
    question = parse_question(question_of(material))
    most = max(_FEWEST, min(int(material.get("max_sub_queries") or _DEFAULT_MOST), 8))
    texts = [f"{row.get('title', '')}. {row.get('text', '')}" for row in material.get("background") or ()]
    parts = _facet_parts(question, texts, most)
    if len(parts) < min(3, most):
        parts += _nearby_parts(question, texts, min(3, most) - len(parts))
    sub_queries = _sub_queries(question, parts, most)
    return {"research_brief": _brief(question, parts), "sub_queries": sub_queries}


def _facet_parts(question: Question, texts: Sequence[str], most: int) -> list[_Part]:
    """One part for each facet; where there are more facets than sub-queries, neighbours share one."""
    near = [(" ".join(phrase), content_stems(" ".join(phrase))) for phrase, _ in common_phrases(texts)]
    phrases = [_in_their_words(facet, question, near) for facet in question.facets]
    size = -(-len(phrases) // most) if phrases else 1
    chunks = [tuple(phrases[at : at + size]) for at in range(0, len(phrases), size)]
    return [_Part(phrases=chunk, rationale=f"The question asks about {_listed(chunk)}.") for chunk in chunks]


def _in_their_words(facet: Facet, question: Question, near: Sequence[tuple[str, frozenset[str]]]) -> str:
    """A one-word facet as the phrase that a first look meets most often, such as "bulb turbines" for "turbines"."""
    if len(facet.stems) > 1:
        return facet.phrase
    others = frozenset(question.weights) - facet.stems
    return next((phrase for phrase, stems in near if facet.stems < stems and not stems & others), facet.phrase)


def _nearby_parts(question: Question, texts: Sequence[str], wanted: int) -> list[_Part]:
    """Phrases that stand in most of the passages of a first look, with words that the question does not have."""
    known = set(question.weights)
    parts: list[_Part] = []
    for phrase, count in common_phrases(texts):
        joined = " ".join(phrase)
        own = content_stems(joined)
        if len(parts) == wanted:
            break
        if not own or own & known or all(word.lower() in MEASURES for word in phrase):
            continue
        known |= own
        parts.append(
            _Part(phrases=(joined,), rationale=f"“{joined}” stands in {count} of the passages found in a first look.")
        )
    return parts


def _sub_queries(question: Question, parts: Sequence[_Part], most: int) -> list[dict[str, Any]]:
    subject = question.subject.phrase if question.subject else ""
    rows = [(f"{subject} {', '.join(part.phrases)}".strip(), part.rationale) for part in parts]
    if len(rows) < _FEWEST:
        rows = [(" ".join(question.text.split()), "The question as it was asked."), *rows]
    if len(rows) < _FEWEST and subject:
        rows.append((f"{subject} overview", f"What the sources say of {subject} in general."))
    found: list[dict[str, Any]] = []
    seen: list[frozenset[str]] = []
    for query, rationale in rows:
        stems = content_stems(query)
        padded = query if len(query) >= _SHORTEST_QUERY else f"{query} overview"
        if stems and stems not in seen and len(found) < most:
            seen.append(stems)
            found.append({"query": padded[:_LONGEST_QUERY], "rationale": rationale, "priority": len(found) + 1})
    return found or [
        {"query": question.text[:_LONGEST_QUERY], "rationale": "The question as it was asked.", "priority": 1}
    ]


def _brief(question: Question, parts: Sequence[_Part]) -> str:
    subject = f"“{question.subject.phrase}”" if question.subject else "the question as written"
    phrases = [phrase for part in parts for phrase in part.phrases]
    asked = f", in particular {_listed(phrases)}" if phrases else ""
    return (
        f"The research is about {subject}{asked}. Each part is searched on its own, and sentences that answer it are "
        "taken word for word from the sources. Figures and dates that differ between sources are kept side by side."
    )


def _listed(phrases: Sequence[str]) -> str:
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def decompose(material: Mapping[str, Any]) -> dict[str, Any]:
    """The question itself first, then its facets as queries, eight at most."""
    question = question_of(material)
    planned = plan({**material, "max_sub_queries": _MOST_QUESTIONS - 1})
    asked = [question, *(row["query"] for row in planned["sub_queries"])]
    return {"questions": list(dict.fromkeys(asked))[:_MOST_QUESTIONS]}


_SHOWN_CHARS = 300
_ASK = (
    "The question holds no word that a search could look for. "
    "What is it about: which thing, place, person or event, and what of it?"
)


def clarify(material: Mapping[str, Any]) -> dict[str, Any]:
    """Asks back only where there is nothing to search for; otherwise restates the question and its facets."""
    question = parse_question(question_of(material))
    if not question.weights:
        return {"need_clarification": True, "question": _ASK, "verification": ""}
    return {"need_clarification": False, "question": "", "verification": _understanding(question)}


def _understanding(question: Question) -> str:
    asked = " ".join(question.text.split())
    shown = asked if len(asked) <= _SHOWN_CHARS else f"{asked[:_SHOWN_CHARS].rsplit(' ', 1)[0]} …"
    facets = ", ".join(facet.phrase for facet in question.facets)
    subject = f" It is read as a question about “{question.subject.phrase}”" if question.subject else ""
    return f"The question is taken as written: “{shown}”" + (
        f"{subject}, with these facets: {facets}." if subject and facets else f"{subject}." if subject else ""
    )
