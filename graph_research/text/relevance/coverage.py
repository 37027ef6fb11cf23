"""Passages of texts that together say the most on what is asked, so that a part of the texts can stand for them."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from graph_research.text.bm25 import inverse_frequency, saturation
from graph_research.text.document import Document
from graph_research.text.language.words import index_text, language_of
from graph_research.text.passages import PassageSpan, passages
from graph_research.text.relevance.leaning import end_of_taking_back
from graph_research.text.relevance.query import parse

AROUND = 0.5  # what a term counts that stands in a heading above the passage only
REPEATED = 0.6  # a term that n earlier passages hold counts 1 / (n + 1) to this power
PASSAGE_CHARS = 400  # a passage has about so many characters to twice as many
_MOST_KEPT = 64  # documents whose passages are kept: several steps read the same ones


class Aspect(NamedTuple):
    """A text that says what is looked for, how much it counts beside others, and in which documents: in all where that
    is None."""

    text: str
    weight: float = 1.0
    sources: Collection[str] | None = None


class CoveringPassage(NamedTuple):
    """`text[start:end]` of the document `source`, with the sentence behind it that takes it back."""

    source: str
    start: int
    end: int
    heading: str


class _Read(NamedTuple):
    """A document's passages with their terms, and how many passages hold each term."""

    language: str
    spans: Sequence[PassageSpan]
    counts: Sequence[Counter[str]]
    headings: Sequence[frozenset[str]]
    holding: Counter[str]


class _Candidate(NamedTuple):
    """A passage with what each term that is looked for is worth in it."""

    source: str
    span: PassageSpan
    values: Mapping[str, float]


def covering_passages(
    documents: Mapping[str, Document],
    aspects: Sequence[Aspect],
    first: Mapping[str, Sequence[tuple[int, int]]] | None = None,
) -> Iterator[CoveringPassage]:
    """The passages of all documents that share a term with an aspect, in the order in which each adds the most to those
    before it; before them of each document that `first` names the passage that says the most in each of these stretches
    of its text.

    A passage is worth the sum of BM25 over the terms of each aspect, with a term's rarity among the passages of all
    documents; terms of the headings above it count `AROUND`. An aspect counts in its own `sources` only. A term counts
    less the more earlier passages hold it (`REPEATED`), so that passages on something else come before more of the
    same. On each aspect a passage counts more the more its document's passages are worth on that aspect on average, so
    that a text on it comes before a chance mention.
    """
    read = {source: _read(document) for source, document in documents.items()}
    candidates = _candidates(read, aspects)
    held: Counter[str] = Counter()
    leading = dict.fromkeys(
        place
        for source, stretches in (first or {}).items()
        for stretch in stretches
        for place in _best_in(stretch, candidates, source)
    )
    for place in leading:
        yield _chosen(candidates[place], held, documents)
    heap = [(-_gain(candidate, held), n) for n, candidate in enumerate(candidates) if n not in leading]
    heapq.heapify(heap)
    while heap:
        _, place = heapq.heappop(heap)
        gain = _gain(candidates[place], held)
        if heap and -gain > heap[0][0]:  # what it adds has become less since it was put there
            heapq.heappush(heap, (-gain, place))
        elif gain > 0.0:
            yield _chosen(candidates[place], held, documents)


@lru_cache(maxsize=_MOST_KEPT)
def _read(document: Document) -> _Read:
    language = language_of(document.text)
    spans = passages(document, PASSAGE_CHARS)
    counts = [Counter(index_text(document.text[span.start : span.end], language).split()) for span in spans]
    headings = [frozenset(index_text(f"{document.title} {span.heading}", language).split()) for span in spans]
    inside = Counter(term for counted in counts for term in counted)
    holding = Counter(term for heading in headings for term in heading if term not in inside)
    holding.update(inside)
    return _Read(language, spans, counts, headings, holding)


def _candidates(read: Mapping[str, _Read], aspects: Sequence[Aspect]) -> list[_Candidate]:
    holding: Counter[str] = Counter()
    for document in read.values():
        holding.update(document.holding)
    size = sum(len(document.spans) for document in read.values())
    mean_length = sum(counted.total() for document in read.values() for counted in document.counts) / max(1, size)
    shares = {
        language: [_shares(aspect, language, holding, size) for aspect in aspects]
        for language in {document.language for document in read.values()}
    }
    candidates: list[_Candidate] = []
    for source, document in read.items():
        own = [n for n, aspect in enumerate(aspects) if aspect.sources is None or source in aspect.sources]
        wanted = [shares[document.language][n] for n in own]
        terms = dict.fromkeys(term for share in wanted for term in share)
        values = [
            _values(counted, heading, terms, mean_length or 1.0)
            for counted, heading in zip(document.counts, document.headings, strict=True)
        ]
        weights = _weights([aspects[n] for n in own], wanted, values)
        candidates += [
            _Candidate(source, span, {term: weights[term] * value for term, value in found.items()})
            for span, found in zip(document.spans, values, strict=True)
        ]
    return candidates


def _shares(aspect: Aspect, language: str, holding: Counter[str], size: int) -> dict[str, float]:
    """The share of the aspect that each of its terms has, less the more passages hold it."""
    raw = parse(aspect.text).weights(language)
    total = sum(raw.values()) or 1.0
    rarest = inverse_frequency(size, 1)
    return {
        term: weight / total * inverse_frequency(size, holding[term]) / rarest
        for term, weight in raw.items()
        if holding[term]
    }


def _weights(
    aspects: Sequence[Aspect], shares: Sequence[Mapping[str, float]], values: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """What each term counts in a document with these `values`: its share of each aspect, by the aspect's weight and by
    what the document's passages are worth on that aspect on average."""
    sums: dict[str, float] = defaultdict(float)
    for found in values:
        for term, value in found.items():
            sums[term] += value
    weights: dict[str, float] = defaultdict(float)
    for aspect, share in zip(aspects, shares, strict=True):
        focus = sum(part * sums[term] for term, part in share.items()) / max(1, len(values))
        for term, part in share.items():
            weights[term] += aspect.weight * focus * part
    return weights


def _values(
    counted: Counter[str], heading: frozenset[str], terms: Iterable[str], mean_length: float
) -> dict[str, float]:
    """How well a passage holds each of the terms."""
    length = counted.total()
    found = {}
    for term in terms:
        if count := counted[term]:
            found[term] = saturation(count, length, mean_length)
        elif term in heading:
            found[term] = AROUND
    return found


def _best_in(stretch: tuple[int, int], candidates: Sequence[_Candidate], source: str) -> list[int]:
    """The passage of a document that is worth the most among those that stand in a stretch of its text, if one does."""
    start, end = stretch
    within = [
        n
        for n, candidate in enumerate(candidates)
        if candidate.source == source and candidate.span.start < end and start < candidate.span.end
    ]
    return [max(within, key=lambda n: sum(candidates[n].values.values()))] if within else []


def _chosen(candidate: _Candidate, held: Counter[str], documents: Mapping[str, Document]) -> CoveringPassage:
    held.update(candidate.values.keys())
    source, span = candidate.source, candidate.span
    return CoveringPassage(source, span.start, end_of_taking_back(documents[source].text, span.end), span.heading)


def _gain(candidate: _Candidate, held: Counter[str]) -> float:
    return sum(value / math.pow(1 + held[term], REPEATED) for term, value in candidate.values.items())
