"""Whether texts answer a question: a score from 0 to 1 out of how much of the question stands together in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graph_research.text.bm25 import MOST_SATURATED
from graph_research.text.language.quantities import Value, values
from graph_research.text.language.questions import asked_only
from graph_research.text.language.superlatives import Superlative, superlatives_in
from graph_research.text.language.words import Word, stem, written_word
from graph_research.text.relevance.query import SPECIFIC, Query
from graph_research.text.relevance.ranking import Analysed, Pool

FOUND = 0.44
"""From this score on the texts count as answering. Chosen on the tuning halves so that 4 % of questions about something
else pass."""

_CONSTANT = -4.503
_MATCHED, _DOCUMENT = 3.403, 7.535
# Fitted by benchmarks/fit_evidence.py, logistic regression with equal weight for each set, on the tuning halves of six
# sets: questions about their own texts against questions about other texts and questions without an answer.


@dataclass(frozen=True, slots=True)
class Features:
    """What the score is made of, for the best place in the pool: a unit with its neighbours, heading and title.

    `matched`: how much of the question's weight stands there, in tens, since one rare word says more than one common
    word. `document`: the best document's BM25 score by the question's weights, as a part of what none can exceed.
    """

    matched: float
    document: float

    @property
    def score(self) -> float:
        """The probability that the pool answers the question, 0 to 1."""
        linear = _CONSTANT + _MATCHED * self.matched + _DOCUMENT * self.document
        return 1.0 / (1.0 + math.exp(-linear))


def features(pool: Pool, query: Query) -> Features:
    """The features of `query` in the pool; all 0 for a query without a word that says anything, or an empty pool."""
    covered = document = 0.0
    for source, doc in pool.read.items():
        weights = query.weights(doc.language)
        most = MOST_SATURATED * sum(weights.values())
        document = max(document, pool.document_score(source, weights) / most if most else 0.0)
        covered = max(covered, max(_covered(doc, weights), default=0.0))
    return Features(covered / 10, document)


def _covered(doc: Analysed, weights: Mapping[str, float]) -> list[float]:
    """The weight of the terms in each unit, its neighbours and what stands above it."""
    covered = [0.0] * len(doc.units)
    for term, weight in weights.items():
        held = (position for position, _ in doc.postings.get(term, ()))
        near = {place for position in held for place in (position - 1, position, position + 1)}
        above = (positions for context, positions in doc.contexts.items() if term in context)
        for position in near.union(*above).intersection(range(len(covered))):
            covered[position] += weight
    return covered


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
