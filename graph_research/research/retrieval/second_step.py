"""The second step of a question in two steps: who or what its best passages name, with what they leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from graph_research.text.document import Document
from graph_research.text.language.terms import content_terms, occurring
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank

_UNITS_READ = 3
_MOST_NAMES = 4


def second_step(question: str, asked: Sequence[str], found: str, documents: Mapping[str, Document]) -> str:
    """What to search for next: the names in the three units that answer the question best and that no query `asked`
    had, with the words of the question that what was `found` in the best document lacks. "Who directed the film that
    won in 1999?" finds the film, and asks then for its name with "directed". Empty where nothing is lacking, or no unit
    names anything new.
    """
    terms = content_terms(question)
    held = occurring(frozenset(terms), found)
    lacking = [term for term in terms if term not in held]
    if not lacking:
        return ""
    known = " ".join([question, *asked]).casefold()
    best = islice(rank(Pool(documents), parse(question)), _UNITS_READ)
    names = dict.fromkeys(name for ranked in best for name in parse(ranked.unit.text).names)
    new = [name for name in names if name.casefold() not in known][:_MOST_NAMES]
    return " ".join([*new, *lacking]) if new else ""
