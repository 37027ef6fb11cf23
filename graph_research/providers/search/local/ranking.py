"""Ranking: which documents answer a question, and which of their passages, both on a scale of 0 to 1.

A passage's value is BM25 over title, headings, text and parts of identifiers, times how much of the question's weight
(the IDF of its terms) it carries. A document's is that of its three best passages, BM25 over the document with its
passages as the unit of length, and the terms in its title; less where little of it is sentences.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import orjson

from graph_research.providers.search.base import Passage
from graph_research.providers.search.local.index import Index, Row
from graph_research.providers.search.local.question import Question
from graph_research.text.terms import content_terms

__all__ = ["RankedDocument", "rank"]

_CANDIDATES = 300
_PASSAGE_SHARES = (1.0, 0.5, 0.25)  # what the first, second and third best passage add to a document
_WEIGHTS = {"passages": 0.5, "document": 0.3, "title": 0.2}
_COVERAGE_SHARE = 0.6
_ENOUGH_PROSE = 0.4
_LEAST_PROSE_FACTOR = 0.5
_K1, _B = 1.2, 0.75  # the usual constants of BM25


@dataclass(frozen=True, kw_only=True)
class RankedDocument:
    """A document's row, its relevance, and its best passages, best first."""

    row: Row
    relevance: float
    passages: Sequence[Passage]


def rank(
    index: Index, question: Question, *, folders: Sequence[int] | None, most: int, most_passages: int
) -> list[RankedDocument]:
    """The best documents, best first; each text once."""
    if not question.match:
        return []
    candidates = index.rows(
        "best_passages",
        match=question.match,
        folders=None if folders is None else orjson.dumps(list(folders)).decode(),
        limit=_CANDIDATES,
    )
    if not candidates:
        return []
    return _Ranking(index, question, candidates).best(most, most_passages)


class _Ranking:
    def __init__(self, index: Index, question: Question, candidates: Sequence[Row]) -> None:
        self._index = index
        self._size = index.rows("size")[0]
        self._spread = {term: _spread(index, term) for term in question.terms}
        self._idf = {term: self._rarity(sum(spread.values())) for term, spread in self._spread.items()}
        self._total = sum(self._idf.values()) or 1.0
        self._terms_of = self._matches(candidates)
        self._passages: dict[int, list[tuple[float, Row]]] = defaultdict(list)
        for row in candidates:
            coverage = self._weight(self._terms_of[row["id"]])
            value = row["score"] * (1 - _COVERAGE_SHARE + _COVERAGE_SHARE * coverage)
            self._passages[row["document"]].append((value, row))
        for found in self._passages.values():
            found.sort(key=lambda pair: (-pair[0], pair[1]["start"]))
        self._best_passage = max(found[0][0] for found in self._passages.values()) or 1.0

    def best(self, most: int, most_passages: int) -> list[RankedDocument]:
        ids = orjson.dumps(sorted(self._passages)).decode()
        rows = {row["id"]: row for row in self._index.rows("facts", ids=ids)}
        values = self._values(rows)
        order = sorted(values, key=lambda number: (-values[number], rows[number]["url"], rows[number]["folder"]))
        ranked: list[RankedDocument] = []
        seen: set[str] = set()
        for number in order:
            if len(ranked) < most and rows[number]["text_hash"] not in seen:
                seen.add(rows[number]["text_hash"])
                ranked.append(self._ranked(rows[number], values[number] / values[order[0]], most_passages))
        return ranked

    def _ranked(self, row: Row, share: float, most_passages: int) -> RankedDocument:
        found = self._passages[row["id"]]
        covered = self._weight(set().union(*(self._terms_of[one["id"]] for _, one in found[: len(_PASSAGE_SHARES)])))
        return RankedDocument(
            row=row,
            relevance=round(covered * (0.5 + 0.5 * share), 4),
            passages=tuple(
                Passage(start=one["start"], end=one["end"], score=round(value / self._best_passage, 4))
                for value, one in found[:most_passages]
            ),
        )

    def _values(self, rows: Mapping[int, Row]) -> dict[int, float]:
        parts = {
            "passages": {number: self._by_passages(number) for number in rows},
            "document": {number: self._by_document(row) for number, row in rows.items()},
            "title": {number: self._by_title(row) for number, row in rows.items()},
        }
        highest = {name: max(part.values()) or 1.0 for name, part in parts.items()}
        return {
            number: _prose_factor(row) * sum(_WEIGHTS[name] * parts[name][number] / highest[name] for name in _WEIGHTS)
            for number, row in rows.items()
        }

    def _by_passages(self, number: int) -> float:
        return math.fsum(
            share * value for share, (value, _) in zip(_PASSAGE_SHARES, self._passages[number], strict=False)
        )

    def _by_document(self, row: Row) -> float:
        average = self._size["passages"] / max(1, self._size["documents"])
        norm = _K1 * (1 - _B + _B * row["passages"] / average)
        counts = ((self._idf[term], spread.get(row["id"], 0)) for term, spread in self._spread.items())
        return math.fsum(idf * count * (_K1 + 1) / (count + norm) for idf, count in counts)

    def _by_title(self, row: Row) -> float:
        """The weight of the terms in the title; a title whose other words are not asked for counts less."""
        words = content_terms(_title(row))
        if not words:
            return 0.0
        asked = [term for term in self._spread if any(f'"{word}"' in term for word in words)]
        return self._weight(asked) * min(1.0, (1 + len(asked)) / (1 + len(words)))

    def _weight(self, terms: Collection[str]) -> float:
        return sum(self._idf[term] for term in self._idf if term in terms) / self._total

    def _rarity(self, count: int) -> float:
        return math.log(1 + (self._size["passages"] - count + 0.5) / (count + 0.5))

    def _matches(self, candidates: Sequence[Row]) -> Mapping[int, set[str]]:
        ids = orjson.dumps([row["id"] for row in candidates]).decode()
        terms_of: dict[int, set[str]] = {row["id"]: set() for row in candidates}
        for term in self._spread:
            for row in self._index.rows("passages_with", match=term, ids=ids):
                terms_of[row["id"]].add(term)
        return terms_of


def _spread(index: Index, term: str) -> dict[int, int]:
    """In how many passages of each document the term stands."""
    return {row["document"]: row["passages"] for row in index.rows("documents_with", match=term)}


def _prose_factor(row: Row) -> float:
    share = min(1.0, row["prose"] / _ENOUGH_PROSE)
    return _LEAST_PROSE_FACTOR + (1 - _LEAST_PROSE_FACTOR) * share


def _title(row: Row) -> str:
    return str(row["own_title"] or "")
