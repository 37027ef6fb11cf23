"""Ranking of quotable units: BM25 with the words around a unit, its document's score, and links by title.

The constants were chosen on the tuning halves of two sets (claims with abstracts, two-hop questions);
`benchmarks/evidence.py` prints what each part gains.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import pairwise

from graph_research.text.bm25 import inverse_frequency, saturation
from graph_research.text.document import Document
from graph_research.text.language.words import language_of, terms, written_in
from graph_research.text.relevance.embedding import Embedder, nearness
from graph_research.text.relevance.extremes import extreme_rows, other_rows, rows_holding
from graph_research.text.relevance.query import RARE, Query
from graph_research.text.relevance.units import Unit, units

_MOST_KEPT = 128  # documents whose words are kept: the agents of a run rank the same ones again and again


# What each part adds to a unit's own BM25 score.
_AROUND = 0.5
"""Of the query's terms in title, heading and table header that the unit lacks."""
_PASSAGE = 0.8
"""Of the BM25 score of its passage."""
_DOCUMENT = 0.4
"""How much of a passage's score is that of its whole document, so that the page on a matter goes before pages that
mention it."""
_LINKED = 0.3
"""Of the score of one of the best three units of other documents, for a document whose title stands there."""
_LENGTH = 0.5
"""For each natural logarithm of the unit's words, since a lone word is rarely an answer."""
_EXTREME = 2.0
"""Where the query asks for the largest or smallest value of a column, of what it says of the table, for its row."""
_OTHER = 0.3
"""Which part of its score the row of a table keeps whose labels name another thing than the query."""
_VALUED = 0.3
"""Where the query asks for a date, a number or an amount of money, of the score again for a unit that holds one."""
_COUNTED = 0.3
"""The same once more for a unit with a number of the things that are counted ("16 turbines"), or a share."""
MEANING = 8.0
"""For the cosine of the query's and the unit's vectors above 0.3, in a pool with an embedder."""
_IN_POOL = 0.5
"""Which part of a term's weight is its rarity in the pool, the rest its rarity in the language."""

OLD_VERSION = 0.8
"""What a passage of a superseded document is worth beside one of a current document."""
_LINKING = 3
_PASSAGE_WORDS = 250
_SCALE = 1.15  # brings weights of the language (0 to 3.5) to the size of the pool's logarithms


class Analysed:
    """A document's units with their terms, read once."""

    def __init__(self, document: Document) -> None:
        self.language = language_of(document.text)
        self.units = units(document, self.language)
        self.title = frozenset(terms(document.title, self.language))
        self.counts = [Counter(terms(unit.text, self.language)) for unit in self.units]
        self.lengths = [count.total() for count in self.counts]
        self.contexts: dict[frozenset[str], list[int]] = defaultdict(list)
        """The positions of the units below the same title, heading and table header, by the terms of these."""
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.totals: Counter[str] = Counter(self.title)
        """How often each term stands in the units, the title, and the headings and table headers above units."""
        for position, (unit, counted) in enumerate(zip(self.units, self.counts, strict=True)):
            self.contexts[self._context(unit.heading, unit.header)].append(position)
            self.totals.update(counted)
            for term, count in counted.items():
                self.postings[term].append((position, count))
        for context in self.contexts:
            self.totals.update(context - self.title)
        self.length = self.totals.total()
        self.passages = self._passages()

    def _passages(self) -> list[range]:
        """The positions of the units of each passage: units below one heading, of so many words at most."""
        starts: list[int] = []
        words = 0
        for position, (unit, length) in enumerate(zip(self.units, self.lengths, strict=True)):
            if not starts or words + length > _PASSAGE_WORDS or unit.heading != self.units[position - 1].heading:
                starts.append(position)
                words = 0
            words += length
        return [range(start, end) for start, end in pairwise([*starts, len(self.units)])]

    @cached_property
    def passage_counts(self) -> list[Counter[str]]:
        """How often each term stands in each passage with the title and the heading above it."""
        counts = []
        for passage in self.passages:
            unit = self.units[passage[0]]
            held = Counter(self._context(unit.heading, unit.header))
            for position in passage:
                held.update(self.counts[position])
            counts.append(held)
        return counts

    def holds_asked_kind(self, query: Query, position: int) -> bool:
        """Whether a unit has a value of the kind that the query begins by asking for."""
        unit = self.units[position]
        is_price = query.asked_kind == "money"  # only a price is told from the words around it
        named = self.counts[position].keys() | self._context(unit.heading, unit.header) if is_price else ()
        return query.holds_asked_kind(unit.text, named, self.language)

    def _context(self, heading: str, header: str) -> frozenset[str]:
        return self.title | _terms_of_context(heading, self.language) | _terms_of_context(header, self.language)


@lru_cache(maxsize=_MOST_KEPT)
def analysed(document: Document) -> Analysed:
    """The document's units and terms."""
    return Analysed(document)


@lru_cache(maxsize=4096)
def _terms_of_context(text: str, language: str) -> frozenset[str]:
    return frozenset(terms(text, language))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit of the document `source`, at `position` among its units, with its score.

    `covered` is which part of the query's weight, 0 to 1, the unit itself holds; `extreme` a table row that has the
    largest or smallest value that the query asks for, or a range that holds the value that it names.
    """

    source: str
    position: int
    unit: Unit
    score: float
    covered: float
    extreme: bool = False


@dataclass
class Pool:
    """The documents that compete, by source id. With an `embedder` they compete by meaning too."""

    documents: Mapping[str, Document]
    embedder: Embedder | None = None
    read: dict[str, Analysed] = field(init=False)
    _extremes: dict[Query, dict[str, dict[int, float]]] = field(default_factory=dict, init=False, repr=False)
    _others: dict[Query, dict[str, Collection[int]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.read = {source: analysed(document) for source, document in self.documents.items()}
        lengths = [length for doc in self.read.values() for length in doc.lengths]
        self.size = len(lengths)
        self.mean_unit = sum(lengths) / max(1, self.size) or 1.0
        self.mean_document = sum(doc.length for doc in self.read.values()) / max(1, len(self.read)) or 1.0

    @cached_property
    def languages(self) -> frozenset[str]:
        return frozenset(doc.language for doc in self.read.values())

    def extremes(self, query: Query) -> Mapping[str, Mapping[int, float]]:
        """The positions of the units of each document that are the rows which a query asks for by their values, the
        largest or smallest before those whose range holds one; with what they are worth."""
        if query not in self._extremes:
            found = self._extremes[query] = {}
            for source, doc in self.read.items():
                document = self.documents[source]
                language = written_in(document.text, query.language)  # of a table of names its words tell nothing
                rows = extreme_rows(document, language, query) or rows_holding(document, language, query)
                placed = enumerate(doc.units) if rows else ()
                found[source] = {place: rows[unit.start] for place, unit in placed if unit.start in rows}
        return self._extremes[query]

    def others(self, query: Query) -> Mapping[str, Collection[int]]:
        """The positions of the units of each document that are rows of another thing than is asked for."""
        if query not in self._others:
            lacking = self._lack_a_word(query)
            self._others[query] = {
                source: _other_positions(self.documents[source], doc, query, lacking=lacking)
                for source, doc in self.read.items()
            }
        return self._others[query]

    def _lack_a_word(self, query: Query) -> bool:
        """Whether a word of the query that says something is in no document, where all are in its language."""
        said = [word.term for word in query.own_words if word.weight >= RARE and word.term not in query.value_terms]
        return self.languages == {query.language} and any(
            all(not doc.totals[term] for doc in self.read.values()) for term in said
        )

    def term_weights(self, query: Query, language: str) -> dict[str, float]:
        """The query's terms with the mixture of their rarity in the pool and in the language, less for those that most
        passages of the pool hold: the subject of a manual says nothing of where in it something stands."""
        share = _IN_POOL * (1.0 - 1.0 / max(1, len(self.read)))  # of few documents it says little what they share
        mixed = {}
        for term, weight in query.in_context.weights(language).items():
            common = sum(term in held for held in self._passages) / max(1, len(self._passages))
            rare = (1 - share) * _SCALE * weight + share * self.rarity(term)
            mixed[term] = rare * (1 - share * common)
        return mixed

    def rarity(self, term: str) -> float:
        """How few units of the pool hold a term, as a logarithm."""
        return inverse_frequency(self.size, sum(len(doc.postings.get(term, ())) for doc in self.read.values()))

    def document_score(self, source: str, weights: Mapping[str, float]) -> float:
        """BM25 of a whole document with its title."""
        doc = self.read[source]
        return sum(
            weight * saturation(doc.totals[term], doc.length, self.mean_document)
            for term, weight in weights.items()
            if doc.totals[term]
        )

    def passage_of(self, item: Ranked) -> Collection[str]:
        """The terms of the passage that a unit stands in."""
        doc = self.read[item.source]
        return doc.passage_counts[bisect_right(doc.passages, item.position, key=lambda passage: passage.start) - 1]

    def passage_scores(self, source: str, weights: Mapping[str, float]) -> list[float]:
        """BM25 of each of a document's passages."""
        return [
            sum(
                weight * saturation(held[term], held.total(), self._mean_passage)
                for term, weight in weights.items()
                if term in held
            )
            for held in self.read[source].passage_counts
        ]

    @cached_property
    def _passages(self) -> list[Counter[str]]:
        return [held for doc in self.read.values() for held in doc.passage_counts]

    @cached_property
    def _mean_passage(self) -> float:
        return sum(held.total() for held in self._passages) / max(1, len(self._passages)) or 1.0

    def nearness(self, query: Query) -> dict[str, list[float]]:
        """Of each document's units, behind its title, to the query; nothing without an embedder."""
        if self.embedder is None:
            return {}
        (asked,) = self.embedder.vectors([query.text])
        return {source: nearness(asked, made) for source, made in self._vectors.items()}

    @cached_property
    def _vectors(self) -> dict[str, list[list[float]]]:
        if self.embedder is None:
            return {}
        texts = {
            source: [f"{self.documents[source].title}. {unit.text}" for unit in doc.units]
            for source, doc in self.read.items()
        }
        return {source: self.embedder.vectors(given) for source, given in texts.items()}


def _other_positions(document: Document, doc: Analysed, query: Query, *, lacking: bool) -> Collection[int]:
    if not document.tables:
        return ()
    language = written_in(document.text, query.language)
    asked = query.weights(language).keys() - query.value_terms
    rows = other_rows(document, language, asked, lacking=lacking)
    return frozenset(place for place, unit in enumerate(doc.units) if unit.start in rows) if rows else ()


def rank(pool: Pool, query: Query) -> list[Ranked]:
    """Every unit of the pool that shares a term with the query, itself or by what stands around it, or is near it in
    meaning, best first.

    Ties go to the source that comes first and then to the earlier unit. Nothing is left out for how it looks.
    """
    by_language = {language: pool.term_weights(query, language) for language in sorted(pool.languages)}
    scores = {source: _unit_scores(pool, source, by_language[doc.language]) for source, doc in pool.read.items()}
    if query.asked_kind:
        for source, doc in pool.read.items():
            _add_values(doc, query, scores[source])
    for source, near in pool.nearness(query).items():
        scores[source] = [score + MEANING * gain for score, gain in zip(scores[source], near, strict=True)]
    for source, gain in _links(pool, query, scores).items():
        scores[source] = [score + _LINKED * gain for score in scores[source]]
    for source, positions in pool.others(query).items():
        for position in positions:
            scores[source][position] *= _OTHER
    extremes = pool.extremes(query)
    for source, rows in extremes.items():
        for position, worth in rows.items():
            scores[source][position] += _EXTREME * worth
    return _ordered(pool, query, scores, extremes)


def _unit_scores(pool: Pool, source: str, terms: Mapping[str, float]) -> list[float]:
    doc = pool.read[source]
    own = [0.0] * len(doc.units)
    for term, weight in terms.items():
        for position, count in doc.postings.get(term, ()):
            own[position] += weight * saturation(count, doc.lengths[position], pool.mean_unit)
    near = [0.0] * len(doc.units)
    for context, positions in doc.contexts.items():
        for term in filter(context.__contains__, terms):
            for position in positions:
                if term not in doc.counts[position]:
                    near[position] += terms[term]
    scores = []
    document = _DOCUMENT * pool.document_score(source, terms)
    for part, passage in zip(pool.passage_scores(source, terms), doc.passages, strict=True):
        whole = (1.0 - _DOCUMENT) * part + document
        for position in passage:
            score = own[position] + _AROUND * near[position]
            beside = _PASSAGE * whole + _LENGTH * math.log1p(doc.lengths[position])
            scores.append(score + beside if score > 0.0 else 0.0)
    return scores


def _add_values(doc: Analysed, query: Query, scores: list[float]) -> None:
    """Raise the scores of the units that hold a value of the asked kind."""
    for position, unit in enumerate(doc.units):
        if scores[position] and doc.holds_asked_kind(query, position):
            scores[position] *= 1.0 + (_VALUED + _COUNTED * query.counts_what_is_asked(unit.text, doc.language))


def _ordered(
    pool: Pool, query: Query, scores: Mapping[str, Sequence[float]], extremes: Mapping[str, Collection[int]]
) -> list[Ranked]:
    ranked = []
    for source, doc in pool.read.items():
        asked = query.weights(doc.language)
        total = sum(asked.values()) or 1.0
        held = [0.0] * len(doc.units)
        for term, weight in asked.items():
            for position, _ in doc.postings.get(term, ()):
                held[position] += weight
        for position, (unit, score) in enumerate(zip(doc.units, scores[source], strict=True)):
            if score > 0.0:
                extreme = position in extremes[source]
                ranked.append(Ranked(source, position, unit, score, held[position] / total, extreme))
    return sorted(ranked, key=lambda item: -item.score)


def _links(pool: Pool, query: Query, scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Of documents whose title a best unit of another one names: that unit's score. The query's own names are left
    out: what it asks about has been ranked by it already."""
    places = ((score, source, place) for source, row in scores.items() for place, score in enumerate(row) if score > 0)
    gains: dict[str, float] = {}
    for score, source, position in nlargest(_LINKING, places, key=lambda place: place[0]):
        for other, mentioned in _mentions(pool, source, pool.read[source].counts[position]):
            if not mentioned <= query.weights(pool.read[other].language).keys():
                gains[other] = max(gains.get(other, 0.0), score)
    return gains


def _mentions(pool: Pool, source: str, held: Mapping[str, int]) -> Iterator[tuple[str, frozenset[str]]]:
    for other, doc in pool.read.items():
        if other != source and doc.title and all(term in held for term in doc.title):
            yield other, doc.title
