"""The clarifier's answer: a question with content words is taken as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.research.extractive.question import Question, parse_question
from graph_research.research.extractive.sources import question_of

__all__ = ["answer"]

_SHOWN_CHARS = 300
_ASK = (
    "The question holds no word that a search could look for. "
    "What is it about: which thing, place, person or event, and what of it?"
)


def answer(material: Mapping[str, Any]) -> dict[str, Any]:
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
