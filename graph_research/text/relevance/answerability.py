"""Whether texts answer a question: a score from 0 to 1 out of how much of the question stands together in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from graph_research.text.bm25 import MOST_SATURATED
from graph_research.text.relevance.query import Query
from graph_research.text.relevance.ranking import Analysed, Pool

FOUND = 0.4
"""From this score on the texts count as answering. Chosen on the tuning halves so that 5 % of questions about something
else pass."""

_INTERCEPT = -4.39
_MATCHED, _DOCUMENT, _DENSITY = 3.21, 5.43, 5.40
# Fitted by benchmarks/fit_evidence.py, logistic regression with equal weight for each set, on the tuning halves of six
# sets: questions about their own texts against questions about other texts and questions without an answer.


@dataclass(frozen=True, slots=True)
class Features:
    """What the score is made of, for the best place in the pool: a unit with its neighbours, heading and title.

    `covered`: which part of the question's weight (0 to 1) stands there. `matched`: that weight itself, in tens, since
    one rare word says more than one common word. `document`: the best document's BM25 score by the question's weights,
    as a part of what no document can exceed. `density`: the mean covered part over the units of the place's document.
    """

    covered: float
    matched: float
    document: float
    density: float

    @property
    def score(self) -> float:
        """The probability that the pool answers the question, 0 to 1."""
        linear = _INTERCEPT + _MATCHED * self.matched + _DOCUMENT * self.document + _DENSITY * self.density
        return 1.0 / (1.0 + math.exp(-linear))


NOTHING = Features(0.0, 0.0, 0.0, 0.0)


def features(pool: Pool, query: Query) -> Features:
    """The features of `query` in the pool; all 0 for a query without a word that says anything, or an empty pool."""
    best, document = NOTHING, 0.0
    for source, doc in pool.read.items():
        weights = query.weights(doc.language)
        total = sum(weights.values())
        if total <= 0.0:
            return NOTHING
        document = max(document, pool.document_score(source, weights) / (MOST_SATURATED * total))
        covered = max(_covered(doc, weights), default=0.0)
        if covered > best.covered * total:
            own = [sum(weight for term, weight in weights.items() if counts[term]) for counts in doc.counts]
            best = Features(covered / total, covered / 10, 0.0, sum(own) / len(own) / total)
    return replace(best, document=document)


def _covered(doc: Analysed, weights: Mapping[str, float]) -> Iterator[float]:
    """The weight of the terms in each unit, its neighbours and what stands above it."""
    held = [frozenset(term for term in weights if counts[term]) for counts in doc.counts]
    for position in range(len(held)):
        near = held[position].union(*held[max(0, position - 1) : position + 2])
        yield sum(weight for term, weight in weights.items() if term in near or term in doc.around[position])
