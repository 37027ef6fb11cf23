"""Ranking of sentences: BM25 with the pool's own IDF, the words of title and heading, and the document's score."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from graph_research.research.extractive.question import Facet, Question
from graph_research.research.extractive.sentences import Sentence
from graph_research.research.extractive.sources import SourceFacts
from graph_research.text.bm25 import inverse_frequency, saturation
from graph_research.text.language.phrases import name_runs, phrase_stems
from graph_research.text.language.quantities import values
from graph_research.text.language.stems import stem

_TITLE = 0.25
_DOCUMENT = 0.20
_SUB_QUERY = 0.3
DEFINES = re.compile(r"(?:The |An? )?(?:[\w.()-]+ ){1,6}(?:is|are|was|were) (?:an?|the|one) ")
_FAR = 0.35
_OFTEN = 3
_OFF_FACET = 0.6
_TYPED = 0.12
_IN_DISPUTE = 0.15


@dataclass(frozen=True)
class Ranked:
    """A passage with its score; the best of a pool has a BM25 part of 1. `facet` is its index in the question's
    facets, or -1."""

    passage: Sentence
    score: float
    facet: int


class Pool:
    """The sentences that compete for a place, with the document frequency of each stem among them."""

    def __init__(self, passages: Sequence[Sentence]) -> None:
        self.passages = passages
        self._frequency = Counter(base for passage in passages for base in passage.stem_set)
        self._average = sum(len(passage.stems) for passage in passages) / max(1, len(passages))

    def idf(self, base: str) -> float:
        return inverse_frequency(len(self.passages), self._frequency[base])

    def holds(self, base: str) -> bool:
        return self._frequency[base] > 0

    def weight_of(self, stems: frozenset[str], weights: Mapping[str, float]) -> float:
        """The weighted IDF of the query terms among `stems`."""
        return math.fsum(weights[base] * self.idf(base) for base in sorted(stems.intersection(weights)))

    def bm25(self, passage: Sentence, weights: Mapping[str, float]) -> float:
        """BM25 with a weight for each query term."""
        matched = passage.stem_set.intersection(weights)
        if not matched:
            return 0.0
        counts = Counter(base for base in passage.stems if base in matched)
        return sum(
            weights[base] * self.idf(base) * saturation(count, len(passage.stems), self._average)
            for base, count in sorted(counts.items())
        )


def rank(
    pool: Pool,
    question: Question,
    sub_query_stems: Sequence[str],
    sources: Mapping[str, SourceFacts],
    disputed: Set[tuple[str, int]] = frozenset(),
) -> list[Ranked]:
    """The passages that share the question's subject or a facet, best first; ties by source and place.

    Score: BM25 over the pool's best, less where the subject is not near or no facet is touched; plus a quarter of it
    again for the question's words in heading and title only; plus a fifth of the source's composite score. Where
    the question wants a number, a date or what a thing is, and where sources disagree (`disputed`: source id and
    start), a little more. Flagged sources are not ranked.
    """
    weights = dict(question.weights)
    for base in sub_query_stems:
        weights.setdefault(base, _SUB_QUERY)
    nearness = _Nearness(pool, question)
    found = [
        (passage, pool.bm25(passage, weights))
        for passage in pool.passages
        if not sources[passage.source_id].flagged and nearness.is_near(passage) and _is_about(passage, question, pool)
    ]
    best = max((score for _, score in found), default=0.0) or 1.0
    ranked = []
    for passage, score in found:
        facet = best_facet(passage, question, pool)
        on_topic = facet >= 0 or not question.facets
        value = (1.0 if on_topic else _OFF_FACET) * nearness.of(passage) * score / best
        value += _TITLE * pool.weight_of(passage.frame_stems - passage.stem_set, question.weights) / best
        value += _DOCUMENT * sources[passage.source_id].composite + _typed(passage, question)
        value += _IN_DISPUTE if on_topic and (passage.source_id, passage.start) in disputed else 0.0
        ranked.append(Ranked(passage=passage, score=value, facet=facet))
    return sorted(ranked, key=lambda item: (-item.score, item.passage.source_id, item.passage.start))


def nearest(
    pool: Pool, question: Question, sub_query_stems: Sequence[str], sources: Mapping[str, SourceFacts]
) -> list[Ranked]:
    """What to show where nothing answers the question: the passages that share most of its words, by BM25 alone.

    Where none shares a word of the question, those that share one of its sub-queries; where none does either, the
    first passage of each source, in the order in which the search found them.
    """
    fit = [passage for passage in pool.passages if not sources[passage.source_id].flagged]
    for weights in (question.weights, dict.fromkeys(sub_query_stems, _SUB_QUERY)):
        scored = [Ranked(passage=passage, score=pool.bm25(passage, weights), facet=-1) for passage in fit]
        matching = [item for item in scored if item.score > 0.0]
        if matching:
            return sorted(matching, key=lambda item: (-item.score, item.passage.source_id, item.passage.start))
    openings = {passage.source_id: Ranked(passage=passage, score=0.0, facet=-1) for passage in reversed(fit)}
    return [openings[source_id] for source_id in sources if source_id in openings]


class _Nearness:
    """How near a sentence is to the question's subject: named in it, in heading or title, or often in its document."""

    def __init__(self, pool: Pool, question: Question) -> None:
        self._question = question
        self._named = Counter(p.source_id for p in pool.passages if question.about(p.stem_set) >= 1.0)
        self._all = Counter(passage.source_id for passage in pool.passages)

    def of(self, passage: Sentence) -> float:
        """0.35 (nowhere) to 1 (in the sentence itself)."""
        if self._question.subject is None:
            return 1.0
        own = self._question.about(passage.stem_set)
        framed = 0.9 * self._question.about(passage.frame_stems | passage.stem_set)
        named = self._named[passage.source_id]
        throughout = 0.6 if named >= _OFTEN or named * 10 >= self._all[passage.source_id] else 0.0
        return _FAR + (1.0 - _FAR) * max(own, framed, throughout)

    def is_near(self, passage: Sentence) -> bool:
        """Whether a question about something with a name may be answered from here at all."""
        subject = self._question.subject
        if subject is None or not subject.names:
            return True
        return not _is_of_namesake(passage, subject) and self.of(passage) >= _FAR + (1.0 - _FAR) * 0.45


def _is_of_namesake(passage: Sentence, subject: Facet) -> bool:
    """Whether the sentence speaks of another thing of the same kind: the kind's words behind another name."""
    *own, last = subject.names
    kind = subject.stems - frozenset().union(*subject.names)
    if kind:
        own.append(last)
    kind = kind or last
    if not kind <= passage.stem_set or any(parts <= passage.stem_set for parts in own):
        return False
    runs = [run for run in name_runs(passage.text) if kind <= frozenset(phrase_stems(run))]
    return bool(own) and any(word[0].isupper() and stem(word) not in subject.stems for run in runs for word in run)


def _typed(passage: Sentence, question: Question) -> float:
    """The kind of sentence that the question wants: a count of what it counts, a measure, a date, what a thing is."""
    if not question.facets and DEFINES.match(passage.text) and question.about(passage.stem_set) >= 1.0:
        return _TYPED
    if not (question.wants_number or question.wants_date) or not re.search(r"\d", passage.text):
        return 0.0
    given = [value for value in values(passage.text) if value.usable]
    if any(value.unit.removeprefix("count:") in question.counted for value in given):
        return 2 * _TYPED
    number = question.wants_number and any(value.kind == "number" for value in given)
    date = question.wants_date and any(value.kind == "date" for value in given)
    return _TYPED if number or date else 0.0


def best_facet(passage: Sentence, question: Question, pool: Pool) -> int:
    """The facet that the passage speaks of most: by its own words, else by those of its heading; -1 for none."""
    best, chosen = 0.0, -1
    for index, facet in enumerate(question.facets):
        rarity = sum(pool.idf(base) for base in sorted(facet.stems)) / len(facet.stems)
        share = facet.share(passage.stem_set)
        value = (
            share * share * rarity
            if share >= 0.5
            else 0.25 * facet.share(passage.frame_stems - passage.stem_set) * rarity
        )
        if value > best + 1e-9:
            best, chosen = value, index
    return chosen


def _is_about(passage: Sentence, question: Question, pool: Pool) -> bool:
    """Whether the sentence itself speaks of the subject or of a facet: of the rarer half of its words."""
    parts = [part for part, _ in question.parts]
    return any(_rare_share(part, passage.stem_set, pool) >= 0.5 for part in parts)


def _rare_share(facet: Facet, stems: frozenset[str], pool: Pool) -> float:
    """The share of the facet's IDF among `stems`; of its names, where it has some."""
    if facet.names:
        return facet.share(stems)
    total = math.fsum(pool.idf(base) for base in sorted(facet.stems))
    return math.fsum(pool.idf(base) for base in sorted(facet.stems & stems)) / total
