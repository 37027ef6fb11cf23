"""The plain methods to beat: BM25 over stemmed words, and shared words."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import snowballstemmer

from graph_research.text.language.terms import STOP_WORDS

_WORD = re.compile(r"[^\W_]+")
_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def terms(text: str) -> list[str]:
    """Lower-case words without stop words, as English stems."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


class BM25:
    """Scores units by an inverted index; k1 is 1.2, b .75, and the weights come from all the units."""

    def __init__(self, texts: Iterable[str]) -> None:
        bags = [Counter(terms(text)) for text in texts]
        self.lengths = [bag.total() for bag in bags]
        self.mean = sum(self.lengths) / max(1, len(bags))
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, bag in enumerate(bags):
            for term, count in bag.items():
                self.postings[term].append((number, count))

    def idf(self, term: str) -> float:
        holding = len(self.postings.get(term, ()))
        return math.log(1 + (len(self.lengths) - holding + 0.5) / (holding + 0.5))

    def scores(self, query: str) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        for term in sorted(set(terms(query))):
            for number, count in self.postings.get(term, ()):
                norm = 1.2 * (0.25 + 0.75 * self.lengths[number] / self.mean)
                found[number] += self.idf(term) * count * 2.2 / (count + norm)
        return found

    def most(self, query: str) -> float:
        """What no unit can exceed."""
        return 2.2 * sum(self.idf(term) for term in sorted(set(terms(query)))) or 1.0


def best(scores: Mapping[int, float], units: Iterable[int], most: int) -> list[int]:
    return sorted(units, key=lambda number: (-scores.get(number, 0.0), number))[:most]


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a positive scores above a negative; ties count half, nothing to compare is 0.5."""
    if not positive or not negative:
        return 0.5
    ordered = sorted(negative)
    wins = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in positive)
    return wins / 2 / len(positive) / len(negative)


def rouge_l(text: str, reference: str) -> float:
    """F1 of the longest common subsequence of lower-case words."""
    mine, theirs = _WORD.findall(text.lower()), _WORD.findall(reference.lower())
    row = [0] * (len(theirs) + 1)
    for word in mine:
        last = 0
        for at, other in enumerate(theirs, 1):
            last, row[at] = row[at], last + 1 if word == other else max(row[at], row[at - 1])
    return 2 * row[-1] / (len(mine) + len(theirs)) if row[-1] else 0.0


def mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 0.0
