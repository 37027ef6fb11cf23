"""Whether texts answer a question: a score from 0 to 1 of the best place in them and of what it lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph_research.text.bm25 import MOST_SATURATED
from graph_research.text.language.quantities import Value, values
from graph_research.text.language.questions import asked_only
from graph_research.text.language.superlatives import Superlative, superlatives_in
from graph_research.text.language.words import Word, stem, written_word
from graph_research.text.relevance.query import SPECIFIC, Query
from graph_research.text.relevance.ranking import Analysed, Pool, Ranked, rank

FOUND = 0.42
"""From this score on the texts count as answering. Chosen on the tuning halves so that 4 % of questions about something
else pass."""

_CONSTANT = -3.607
_MATCHED, _MISSING, _DOCUMENT, _BEST = 2.820, -1.194, 4.719, 0.793
# Fitted by benchmarks/fit_evidence.py, logistic regression with equal weight for each set, on the tuning halves of six
# sets: questions about their own texts against questions about other texts and questions without an answer.


@dataclass(frozen=True, slots=True)
class Features:
    """What the score is made of.

    `matched`: how much of the question's weight stands in the place that has the most, a unit with its neighbours,
    heading and title, in tens, since one rare word says more than one common word. `missing`: how much does not.
    `document`: the best document's BM25 score by the question's weights, as a part of what none can exceed.
    `best`: the ranking's score of the best unit, in tens, in which common words weigh more that are rare in the pool.
    """

    matched: float
    missing: float
    document: float
    best: float

    @property
    def score(self) -> float:
        """The probability that the pool answers the question, 0 to 1."""
        told = _MATCHED * self.matched + _MISSING * self.missing + _DOCUMENT * self.document + _BEST * self.best
        return 1.0 / (1.0 + math.exp(-_CONSTANT - told))


def features(pool: Pool, query: Query, ranked: Sequence[Ranked] | None = None) -> Features:
    """The features of `query` in the pool; the rest of the question counts for nothing in those of a part.

    `ranked` are the units for a query that is no part, where the caller has them. All are 0 for a query without a word
    that says anything, all but `missing` for an empty pool. Of a question for an amount of money they are those with or
    without "cost", which an amount says too, whichever score is higher.
    """
    best = next((item.score for item in (rank(pool, query.alone) if ranked is None else ranked)), 0.0)
    readings = [_features(pool, query, best, query.weights)]
    if query.value_terms:
        readings.append(_features(pool, query, best, query.weights_beside_value))
    return max(readings, key=lambda reading: reading.score)


def _features(pool: Pool, query: Query, best: float, weights_in: Callable[[str], Mapping[str, float]]) -> Features:
    missing = sum(weights_in(query.language).values())
    document = matched = 0.0
    for source, doc in pool.read.items():
        weights = weights_in(doc.language)
        total = sum(weights.values())
        document = max(document, pool.document_score(source, weights) / (MOST_SATURATED * total) if total else 0.0)
        held = max(_covered(doc, query, weights, pool.others(query)[source]), default=0.0)
        if held > matched:
            matched, missing = held, total - held
    return Features(matched / 10, missing / 10, document, best / 10)


def _covered(doc: Analysed, query: Query, weights: Mapping[str, float], others: Collection[int]) -> list[float]:
    """The weight of the terms in each unit, its neighbours and what stands above it, but for those `others`; nothing in
    a place without an amount of money where that is asked for."""
    covered = [0.0] * len(doc.units)
    for term, weight in weights.items():
        held = (position for position, _ in doc.postings.get(term, ()) if position not in others)
        near = {place for position in held for place in (position - 1, position, position + 1)}
        above = (positions for context, positions in doc.contexts.items() if term in context)
        for position in near.union(*above).intersection(range(len(covered))):
            covered[position] += weight
    if query.asked_kind != "money":
        return covered
    priced = {place for place in range(len(covered)) if doc.holds_asked_kind(query, place)}
    return [held for place, held in enumerate(covered) if not priced.isdisjoint((place - 1, place, place + 1))]


def absent_words(pool: Pool, query: Query) -> tuple[str, ...]:
    """The words of the query's own text, as written, that say something and stand in no document of the pool.

    A superlative and a value are none where a row of a table is asked for by them. Of Chinese and
    Japanese these are the stretches of which the pool has less than half of the pairs.
    """
    text = asked_only(query.own, query.language)
    missing: dict[str, list[bool]] = {}
    picking: list[Superlative | Value] = []
    if any(pool.extremes(query).values()):
        picking = [*superlatives_in(query.own, query.language)[:1], *values(query.own)]
    for word, held in _asked(pool, query):
        if word.weight >= SPECIFIC and not any(one.start <= word.start < one.end for one in picking):
            missing.setdefault(written_word(text, word.start, word.end), []).append(not held)
    return tuple(written for written, pairs in missing.items() if sum(pairs) * 2 > len(pairs))


def _asked(pool: Pool, query: Query) -> Iterator[tuple[Word, bool]]:
    """The words of the query's own text that weigh something, and whether a document of the pool has them."""
    for word in query.own_words:
        if word.weight > 0.0:
            written = query.own[word.start : word.end]
            yield word, any(_holds(doc, word, written, query.language) for doc in pool.read.values())


def _holds(doc: Analysed, word: Word, written: str, language: str) -> bool:
    return doc.totals[word.term if doc.language == language else stem(written, doc.language)] > 0
