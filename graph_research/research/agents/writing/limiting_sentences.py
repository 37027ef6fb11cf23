"""Sentences of the sources that may tell of a case in which what a text says of all cases does not hold."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from graph_research.text.language.opposites import is_absolute, tells_exception
from graph_research.text.language.words import language_of, term_weights, whole_word_weights
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Analysed, Pool, Ranked

_LEAST_SHARED = 0.45
"""Of a clause, by weight and by rarity in the sources, a sentence has so much, else it is about something else."""
_LEAST_WORDS = 2
"""So many of the words that they share are no names of the question, which all sources are about."""
_CLAUSE = re.compile(r"(?<=[.;:])\s+|(?<=[。；：])")


def limiting(pool: Pool, text: str, context: str, question: str) -> Iterator[Ranked]:
    """The sentences, nearest first, that hold a word such as "unless" or "might", and much of a clause of the text that
    says something of all cases, with its `context`, such as the row of a cell; none that itself speaks of all cases:
    that says the same again."""
    language = language_of(f"{context} {text}")
    clauses = [clause for clause in _CLAUSE.split(text) if is_absolute(clause, language)]
    asked = {term for name in parse(question).names for term in term_weights(name)}
    found = chain.from_iterable(_near(pool, f"{context} {clause}", asked) for clause in clauses)
    yield from sorted(found, key=lambda item: -item.score)


def _near(pool: Pool, clause: str, asked: Collection[str]) -> Iterator[Ranked]:
    for source, read in pool.read.items():
        weights = _by_rarity(pool, clause, read.language, asked)
        total = sum(weights.values())
        for position, shared in _shared(read, weights).items():
            held = sum(weights[term] for term in shared)
            unit = read.units[position]
            if len(shared) < _LEAST_WORDS or held < _LEAST_SHARED * total:
                continue
            if tells_exception(unit.text, read.language) and not is_absolute(unit.text, read.language):
                own = sum(_by_rarity(pool, unit.text, read.language, asked).values())
                yield Ranked(source, position, unit, held / math.sqrt(own + total), held / total)


def _shared(read: Analysed, weights: Mapping[str, float]) -> dict[int, list[str]]:
    shared: dict[int, list[str]] = {}
    for term in weights:
        for position, _ in read.postings.get(term, ()):
            shared.setdefault(position, []).append(term)
    return shared


def _by_rarity(pool: Pool, text: str, language: str, asked: Collection[str]) -> dict[str, float]:
    """The words of a text besides those of `asked`."""
    weights = whole_word_weights(text, language)
    return {term: weight * pool.rarity(term) for term, weight in weights.items() if term not in asked}
