"""Passages of a long text that together say the most on what is asked, so that a part of the text can stand for it."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from graph_research.text.bm25 import inverse_frequency, saturation
from graph_research.text.document import Document
from graph_research.text.language.words import index_text, language_of
from graph_research.text.passages import PassageSpan, passages
from graph_research.text.relevance.query import parse

_AROUND = 0.5  # what a term counts that stands in a heading above the passage only
_REPEATED = 0.5  # what a term still counts in each further passage
_MOST_KEPT = 64  # documents whose passages are kept: several steps read the same ones


class Aspect(NamedTuple):
    """A text that says what is looked for, and how much it counts beside others."""

    text: str
    weight: float = 1.0


class CoveringPassage(NamedTuple):
    """`document.text[start:end]`; `gain` is what it adds to the passages before it, comparable between documents."""

    start: int
    end: int
    gain: float


class _Read(NamedTuple):
    """A document's passages with their terms, and how many passages hold each term."""

    language: str
    spans: Sequence[PassageSpan]
    counts: Sequence[Counter[str]]
    headings: Sequence[frozenset[str]]
    holding: Counter[str]
    mean_length: float


def covering_passages(document: Document, aspects: Sequence[Aspect]) -> list[CoveringPassage]:
    """The passages that share a term with an aspect, in the order in which each adds the most to those before it.

    A passage is worth the sum of BM25 over the terms of each aspect, for its size; a term that earlier passages hold
    counts half as much for each of them, so that passages on something else come before more of the same. Terms of the
    headings above a passage count half.
    """
    read = _read(document)
    weights = [_weights(read, aspect) for aspect in aspects]
    values = [[_values(read, place, known) for known in weights] for place in range(len(read.spans))]
    held: list[Counter[str]] = [Counter() for _ in aspects]
    heap = [(-_gain(parts, held), place) for place, parts in enumerate(values)]
    heapq.heapify(heap)
    chosen: list[CoveringPassage] = []
    while heap:
        _, place = heapq.heappop(heap)
        gain = _gain(values[place], held)
        if heap and -gain > heap[0][0]:  # what it adds has become less since it was put there
            heapq.heappush(heap, (-gain, place))
            continue
        if gain <= 0.0:
            break
        span = read.spans[place]
        chosen.append(CoveringPassage(span.start, span.end, gain))
        for parts, counted in zip(values[place], held, strict=True):
            counted.update(parts.keys())
    return chosen


@lru_cache(maxsize=_MOST_KEPT)
def _read(document: Document) -> _Read:
    language = language_of(document.text)
    spans = passages(document)
    counts = [Counter(index_text(document.text[span.start : span.end], language).split()) for span in spans]
    headings = [frozenset(index_text(f"{document.title} {span.heading}", language).split()) for span in spans]
    inside = Counter(term for counted in counts for term in counted)
    holding = Counter(term for heading in headings for term in heading if term not in inside)
    holding.update(inside)
    mean_length = sum(counted.total() for counted in counts) / max(1, len(counts)) or 1.0
    return _Read(language, spans, counts, headings, holding, mean_length)


def _weights(read: _Read, aspect: Aspect) -> dict[str, float]:
    """The terms of an aspect with their share of its weight; one that is in every passage tells none from another."""
    raw = parse(aspect.text).weights(read.language)
    total = sum(raw.values()) or 1.0
    size = len(read.spans)
    rare = {term: inverse_frequency(size, read.holding[term]) / inverse_frequency(size, 1) for term in raw}
    return {term: aspect.weight * weight / total * rare[term] for term, weight in raw.items() if read.holding[term]}


def _values(read: _Read, place: int, weights: Mapping[str, float]) -> dict[str, float]:
    """What each term of an aspect is worth in a passage."""
    counted, heading = read.counts[place], read.headings[place]
    length = counted.total()
    found = {}
    for term, weight in weights.items():
        if count := counted[term]:
            found[term] = weight * saturation(count, length, read.mean_length)
        elif term in heading:
            found[term] = weight * _AROUND
    return found


def _gain(parts: Sequence[Mapping[str, float]], held: Sequence[Counter[str]]) -> float:
    return sum(
        value * _REPEATED ** counted[term]
        for values, counted in zip(parts, held, strict=True)
        for term, value in values.items()
    )
