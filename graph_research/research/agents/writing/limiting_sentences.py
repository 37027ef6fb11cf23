"""Sentences of sources that may tell when what is said of all cases does not hold, or one side of a contradiction, or
what a cell lacks that the cells beside it have."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from graph_research.research.models.evidence import is_open
from graph_research.text.language.opposites import is_absolute, tells_exception
from graph_research.text.language.words import language_of, term_weights, whole_word_weights
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Analysed, Pool, Ranked, rank

_LEAST_SHARED = 0.45
"""Of a clause, by weight and by rarity in the sources, a sentence has so much, else it is about something else."""
_LEAST_ALIKE = 0.4
"""The geometric mean of the shares of both that they share, else they only have a few words in common."""
_LEAST_OF_ROW = 0.3
"""Of a row, by weight, a sentence has so much: the other cells tell of other things than the one that is empty."""
_LEAST_WORDS = 2
"""So many of the words that they share are no names of the question, which all sources are about."""
_OF_SUBJECT = 4
"""A source is about the names of the question that it writes a quarter as often at least as the one it writes most."""
_CLAUSE = re.compile(r"(?<=[.;:])\s+|(?<=[。；：])")


def limiting(pool: Pool, text: str, context: str, question: str, cited: Collection[str] = ()) -> Iterator[Ranked]:
    """The sentences, nearest first, that hold a word such as "unless" or "might", and much of a clause of the text that
    says something of all cases, with its `context`, such as the row of a cell; none that itself speaks of all cases:
    that says the same again. Where a question names two things, none of sources about the other thing than the `cited`
    ones."""
    language = language_of(f"{context} {text}")
    clauses = [clause for clause in _CLAUSE.split(text) if is_absolute(clause, language)]
    asked = _names(question)
    sources = on_same(pool, question, cited) if clauses else []
    found = chain.from_iterable(_near(pool, f"{context} {clause}", asked, sources) for clause in clauses)
    yield from sorted(found, key=lambda item: -item.score)


def on_same(pool: Pool, question: str, cited: Collection[str]) -> list[str]:
    """The sources without those that are about another thing that the question names than the `cited` ones."""
    asked = _names(question)
    subjects = {source: _subjects(read, asked) for source, read in pool.read.items()}
    own = {term for source in cited for term in subjects.get(source, ())}
    return [source for source, about in subjects.items() if not (own and about) or own & about]


def settling(pool: Pool, conflict: Mapping[str, Any]) -> Iterator[Ranked]:
    """The sentences nearest to what sources contradict each other on, by its topic and what the sides say: they may
    tell the mode, scope or version in which each holds. None where that is known."""
    if not is_open(conflict):
        return
    values = (side["value"] for side in conflict["sides"])
    for item in rank(pool, parse(". ".join([conflict["topic"], *values]))):
        if item.covered >= _LEAST_SHARED:
            yield item


def of_row(pool: Pool, row: str, sources: Collection[str]) -> Iterator[Ranked]:
    """The sentences of these sources, which the column of an empty cell cites, nearest first to what its row says: they
    seldom name what they are all about."""
    for item in rank(pool, parse(row)) if sources else ():
        if item.source in sources and item.covered >= _LEAST_OF_ROW:
            yield item


def _names(question: str) -> set[str]:
    return {term for name in parse(question).names for term in term_weights(name)}


def _subjects(read: Analysed, asked: Collection[str]) -> set[str]:
    """The names of the question that a source is about."""
    written = {term: sum(count for _, count in read.postings.get(term, ())) for term in asked}
    most = max(written.values(), default=0)
    return {term for term, count in written.items() if count and count * _OF_SUBJECT >= most}


def _near(pool: Pool, clause: str, asked: Collection[str], sources: Iterable[str]) -> Iterator[Ranked]:
    for source in sources:
        read = pool.read[source]
        weights = _by_rarity(pool, clause, read.language, asked)
        total = sum(weights.values())
        for position, shared in _shared(read, weights).items():
            held = sum(weights[term] for term in shared)
            unit = read.units[position]
            if len(shared) < _LEAST_WORDS or held < _LEAST_SHARED * total:
                continue
            if tells_exception(unit.text, read.language) and not is_absolute(unit.text, read.language):
                own = sum(_by_rarity(pool, unit.text, read.language, asked).values())
                if held >= _LEAST_ALIKE * math.sqrt(own * total):
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
