"""Ranking: which documents answer a question, and which of their passages, both on a scale of 0 to 1.

A passage's value is BM25 over title, headings, text and parts of identifiers, times how much of the question's weight
(the IDF of its terms) it carries. A document's is that of its three best passages, BM25 over the document with its
passages as the unit of length, and the terms in its title and path; times the weight that its best passages carry
together, and less where little of it is sentences. A term is as rare as it is in the folders that are searched, not
in the whole index: where every document is about one lagoon, the word tells nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import orjson

from graph_research.providers.search.base import Passage
from graph_research.providers.search.local.index import Index, Row
from graph_research.providers.search.local.query import IndexQuery, Term
from graph_research.text.bm25 import inverse_frequency, saturation
from graph_research.text.language.terms import content_terms

_CANDIDATES = 300
_PASSAGE_SHARES = (1.0, 0.5, 0.25)  # what the first, second and third best passage add to a document
_WEIGHTS = {"passages": 0.5, "document": 0.3, "title": 0.2}
_COVERAGE_SHARE = 0.6
_PHRASE_SHARE = 0.5
_ENOUGH_PROSE = 0.4
_LEAST_PROSE_FACTOR = 0.5
_ENOUGH_CHARS = 250  # shorter passages are often a date or a byline, and BM25 favours short ones
_LEAST_IDF = 1e-6  # what FTS5 takes for a phrase in more than half of the rows


@dataclass(frozen=True, kw_only=True)
class RankedDocument:
    """A document's row, its relevance, and its best passages, best first."""

    row: Row
    relevance: float
    passages: Sequence[Passage]


def rank(
    index: Index, question: IndexQuery, *, folders: Sequence[int] | None, most: int, most_passages: int
) -> list[RankedDocument]:
    """The best documents, best first; each text once."""
    if not question.match:
        return []
    within = None if folders is None else orjson.dumps(list(folders)).decode()
    candidates = index.rows("best_passages", match=question.match, folders=within, limit=_CANDIDATES)
    if not candidates:
        return []
    statistics = _Statistics(index, question, within)
    return _Ranking(index, statistics, _Scores(index, statistics, candidates)).best(most, most_passages)


class _Statistics:
    """How often each term of the question stands in the folders that are searched."""

    def __init__(self, index: Index, question: IndexQuery, folders: str | None) -> None:
        [size] = index.rows("size", folders=folders)
        self.passages, self.documents = int(size["passages"]), int(size["documents"])
        self.all_passages = int(index.rows("size", folders=None)[0]["passages"])
        self.terms = tuple(question.terms)
        self.phrases = tuple(question.phrases)
        self.spread = {term: _spread(index, _any(term), folders) for term in (*self.terms, *self.phrases)}
        self.titled = {term: _spread(index, f"{{title}} : ({_any(term)})", folders) for term in self.terms}
        self.idf = {
            term: inverse_frequency(self.passages, sum(counts.values())) for term, counts in self.spread.items()
        }
        self._total = math.fsum(self.idf[term] for term in self.terms) or 1.0

    def weight(self, terms: Collection[Term]) -> float:
        """Which part of the question's weight these terms are, 0 to 1."""
        return math.fsum(self.idf[term] for term in self.terms if term in terms) / self._total


class _Scores:
    """The value of each candidate passage, by document, and the terms that it contains."""

    def __init__(self, index: Index, statistics: _Statistics, candidates: Sequence[Row]) -> None:
        self._index = index
        self._statistics = statistics
        self._ids = orjson.dumps([row["id"] for row in candidates]).decode()
        self.terms_of: dict[int, set[Term]] = defaultdict(set)
        sums: dict[int, list[float]] = defaultdict(list)
        for term in (*statistics.terms, *statistics.phrases):
            share = _PHRASE_SHARE if term in statistics.phrases else 1.0
            for number, frequency in self._frequencies(term).items():
                sums[number].append(share * statistics.idf[term] * frequency)
                self.terms_of[number].add(term)
        self.by_document: dict[int, list[tuple[float, Row]]] = defaultdict(list)
        for row in candidates:
            self.by_document[row["document"]].append((self._value(row, math.fsum(sums[row["id"]])), row))
        for found in self.by_document.values():
            found.sort(key=lambda pair: (-pair[0], pair[1]["start"]))

    def _value(self, row: Row, bm25: float) -> float:
        coverage = self._statistics.weight(self.terms_of[row["id"]])
        length = min(1.0, float(row["end"] - row["start"]) / _ENOUGH_CHARS)
        return bm25 * (1 - _COVERAGE_SHARE + _COVERAGE_SHARE * coverage) * (0.5 + 0.5 * length)

    def _frequencies(self, term: Term) -> dict[int, float]:
        """BM25's saturated, length-normed frequency in each candidate: FTS5's score without its IDF."""
        frequencies: dict[int, float] = defaultdict(float)
        for spelling in term:
            rows = self._index.rows("scores", match=spelling, ids=self._ids)
            if not rows:
                continue
            hits = self._index.rows("matching", match=spelling)[0]["passages"]
            idf = math.log((self._statistics.all_passages - hits + 0.5) / (hits + 0.5))
            for row in rows:
                frequencies[row["id"]] += row["score"] / (idf if idf > 0 else _LEAST_IDF)
        return frequencies


class _Ranking:
    """Documents in order."""

    def __init__(self, index: Index, statistics: _Statistics, scores: _Scores) -> None:
        self._statistics = statistics
        self._scores = scores
        ids = orjson.dumps(sorted(scores.by_document)).decode()
        self._rows = {row["id"]: row for row in index.rows("facts", ids=ids)}
        self._best_passage = max(found[0][0] for found in scores.by_document.values()) or 1.0

    def best(self, most: int, most_passages: int) -> list[RankedDocument]:
        values = self._values()
        order = sorted(values, key=lambda n: (-values[n], self._rows[n]["url"], self._rows[n]["folder"]))
        scale = self._covered(order[0]) / (values[order[0]] or 1.0)
        ranked: list[RankedDocument] = []
        seen: set[str] = set()
        for number in order:
            row = self._rows[number]
            if len(ranked) < most and row["text_hash"] not in seen:
                seen.add(row["text_hash"])
                passages = self._passages(number, most_passages)
                ranked.append(RankedDocument(row=row, relevance=round(scale * values[number], 4), passages=passages))
        return ranked

    def _passages(self, number: int, most: int) -> tuple[Passage, ...]:
        return tuple(
            Passage(start=row["start"], end=row["end"], score=round(value / self._best_passage, 4))
            for value, row in self._scores.by_document[number][:most]
        )

    def _values(self) -> dict[int, float]:
        parts = {
            "passages": {number: self._by_passages(number) for number in self._rows},
            "document": {number: self._by_document(row) for number, row in self._rows.items()},
            "title": {number: self._by_title(row) for number, row in self._rows.items()},
        }
        highest = {name: max(part.values()) or 1.0 for name, part in parts.items()}
        return {
            number: _prose_factor(row)
            * (1 - _COVERAGE_SHARE + _COVERAGE_SHARE * self._covered(number))
            * math.fsum(_WEIGHTS[name] * parts[name][number] / highest[name] for name in _WEIGHTS)
            for number, row in self._rows.items()
        }

    def _covered(self, number: int) -> float:
        """How much of the question's weight a document's best passages carry together, 0 to 1."""
        best = self._scores.by_document[number][: len(_PASSAGE_SHARES)]
        return self._statistics.weight(set().union(*(self._scores.terms_of[row["id"]] for _, row in best)))

    def _by_passages(self, number: int) -> float:
        best = self._scores.by_document[number]
        return math.fsum(share * value for share, (value, _) in zip(_PASSAGE_SHARES, best, strict=False))

    def _by_document(self, row: Row) -> float:
        average = self._statistics.passages / max(1, self._statistics.documents)
        counts = [(term, self._statistics.spread[term].get(row["id"], 0)) for term in self._statistics.terms]
        return math.fsum(
            self._statistics.idf[term] * saturation(count, row["passages"], average) for term, count in counts
        )

    def _by_title(self, row: Row) -> float:
        """The weight of the terms in the title and path; one with many other words counts less."""
        asked = [term for term, documents in self._statistics.titled.items() if row["id"] in documents]
        words = max(1, len(content_terms(row["own_title"])))
        return self._statistics.weight(asked) * min(1.0, (1 + len(asked)) / (1 + words))


def _spread(index: Index, match: str, folders: str | None) -> dict[int, int]:
    """In how many passages of each document the expression matches."""
    rows = index.rows("documents_with", match=match, folders=folders)
    return {row["document"]: row["passages"] for row in rows}


def _any(term: Term) -> str:
    return " OR ".join(term)


def _prose_factor(row: Row) -> float:
    share = min(1.0, float(row["prose"]) / _ENOUGH_PROSE)
    return _LEAST_PROSE_FACTOR + (1 - _LEAST_PROSE_FACTOR) * share
