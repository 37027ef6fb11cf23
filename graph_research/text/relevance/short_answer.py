"""Which of the best quotations make a short answer, and how many of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from graph_research.text.language.quantities import values
from graph_research.text.language.words import language_of, words
from graph_research.text.relevance.query import Query

_YES_NO_WORDS = 50
_MOST_WORDS = 80
_MOST = 3
_WHOLE = 0.95
_LEAST_OF_BEST = 0.8  # chosen on the tuning halves of two sets; `benchmarks/evidence.py` measures it

_SPECIFIC = 1.5  # weight of a word that is no mere filling
_LABELLED = re.compile(r"([^\W\d_][^.:!?\n]{0,30}):\s+\S(?!.*[.!?。！？]$)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A quotation that may answer, with its score for what is asked and which part of the question's weight it holds,
    0 to 1."""

    text: str
    score: float
    covered: float
    is_heading: bool = field(default=False, kw_only=True)


def chosen(query: Query, candidates: Sequence[Candidate]) -> list[int]:
    """Positions of the candidates that make the answer, best first: the best, and up to two more that score nearly as
    high and fit.

    A question for yes or no gets 50 words, since it is answered by a statement, another one 80. A text that holds
    nearly all of the question stands alone. What states nothing is left out where anything else is there.
    """
    ordered = sorted(range(len(candidates)), key=lambda position: -candidates[position].score)
    stating = (position for position in ordered if states_something(query, candidates[position]))
    first = next(stating, None)
    room = _YES_NO_WORDS if query.is_yes_no else _MOST_WORDS
    picked: list[int] = []
    for position in ordered if first is None else chain([first], stating):
        one = candidates[position]
        best = candidates[picked[0]] if picked else one
        if picked and (len(picked) == _MOST or best.covered >= _WHOLE or one.score < _LEAST_OF_BEST * best.score):
            break
        length = len(words(one.text, query.language))
        if not picked or length <= room:
            picked.append(position)
            room -= length
    return picked


def states_something(query: Query, candidate: Candidate) -> bool:
    """Whether a text can answer: no heading, no labelled value (`From: Jo Ames`) whose label has no word of the
    question, and nothing that only repeats the question's words, with neither a specific word nor a value more."""
    if candidate.is_heading:
        return False
    language = language_of(candidate.text)
    asked = query.weights(language)
    labelled = _LABELLED.match(candidate.text)
    if labelled and not any(word.term in asked for word in words(labelled[1], language)):
        return False
    further = [word for word in words(candidate.text, language) if word.term not in asked]
    return any(word.weight >= _SPECIFIC for word in further) or any(
        value.start <= word.start < value.end for value in values(candidate.text) for word in further
    )
