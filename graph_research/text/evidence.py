"""Evidence: the places of a document that share the most, and the rarest, terms with a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph_research.text.chunks import Chunk, chunks
from graph_research.text.document import Document
from graph_research.text.language.terms import content_terms, occurring

HIGHEST_SCORE = 1 / math.log2(3)
_FEWEST_TERMS = 2
_MOST_KEPT = 64  # scorers: the agents of a run quote the same documents


@dataclass(frozen=True, slots=True)
class Snippet:
    """A place `document.text[start:end]` and its score, 0 to 0.631 (`HIGHEST_SCORE`)."""

    start: int
    end: int
    score: float


class EvidenceScorer:
    """Scores places of one document by their evidence for one question.

    score = matched / total terms of the question x the mean of 1 / log2(df + 2) over the matched ones, where df is
    the number of the document's chunks that contain the term. A term that no chunk contains cannot be matched, so the
    highest score is 1 / log2(3) = 0.631.
    """

    def __init__(self, document: Document, question: str) -> None:
        self._document = document
        self._question_terms = frozenset(content_terms(question))
        self.chunks: tuple[Chunk, ...] = chunks(document)
        self._matched = {(chunk.start, chunk.end): self._read(chunk.start, chunk.end) for chunk in self.chunks}
        self._frequencies = Counter(term for matched in self._matched.values() for term in matched)

    @property
    def enough_terms(self) -> bool:
        """Whether the question has the two content terms that the formula needs."""
        return len(self._question_terms) >= _FEWEST_TERMS

    def matched(self, start: int, end: int) -> frozenset[str]:
        """The question's terms that occur in `text[start:end]`."""
        matched = self._matched.get((start, end))
        return self._read(start, end) if matched is None else matched

    def _read(self, start: int, end: int) -> frozenset[str]:
        return occurring(self._question_terms, self._document.text[start:end])

    def score(self, start: int, end: int) -> float:
        """The formula's value for `text[start:end]`; 0 where nothing matches."""
        matched = self.matched(start, end)
        if not matched:
            return 0.0
        weights = [1 / math.log2(max(1, self._frequencies[term]) + 2) for term in sorted(matched)]
        return len(matched) / len(self._question_terms) * (sum(weights) / len(weights))


@lru_cache(maxsize=_MOST_KEPT)
def scorer_of(document: Document, question: str) -> EvidenceScorer:
    """The scorer of a document whose evidence is scored place by place."""
    return EvidenceScorer(document, question)


def select_evidence(
    document: Document, question: str, *, max_snippets: int = 5, max_chars: int = 400
) -> tuple[Snippet, ...]:
    """The best snippets, best first: by score, then the earlier, then the shorter.

    Each is an exact slice of at most `max_chars`, shortened at a word's boundary where its chunk is longer. A
    question with fewer than two content terms cannot be scored: then the document's introduction, headings and
    conclusion are taken, first chunks first.
    """
    scorer = EvidenceScorer(document, question)
    scored = _scored(scorer) if scorer.enough_terms else _by_position(document, scorer.chunks)
    ranked = sorted(scored, key=lambda snippet: (-snippet.score, snippet.start, snippet.end - snippet.start))
    return tuple(_shortened(document.text, snippet, scorer, max_chars) for snippet in ranked[:max_snippets])


def _scored(scorer: EvidenceScorer) -> list[Snippet]:
    scores = [(chunk, scorer.score(chunk.start, chunk.end)) for chunk in scorer.chunks]
    return [Snippet(chunk.start, chunk.end, score) for chunk, score in scores if score > 0]


def _by_position(document: Document, pieces: Sequence[Chunk]) -> list[Snippet]:
    headings = [block.start for block in document.blocks if block.kind == "heading"]
    chosen = [
        piece
        for number, piece in enumerate(pieces)
        if number in (0, len(pieces) - 1) or any(piece.start <= heading < piece.end for heading in headings)
    ]
    return [
        Snippet(piece.start, piece.end, HIGHEST_SCORE * (1 - number / len(chosen)))
        for number, piece in enumerate(chosen)
    ]


def _shortened(text: str, snippet: Snippet, scorer: EvidenceScorer, max_chars: int) -> Snippet:
    """The beginning of a snippet that is too long, or its end where that holds more of the question's terms."""
    start, end = snippet.start, snippet.end
    if end - start <= max_chars:
        return snippet
    head = text.rfind(" ", start + 1, start + max_chars + 1)
    head = head if head > start else start + max_chars
    tail = text.find(" ", end - max_chars - 1, end - 1) + 1
    tail = tail if tail > start else end - max_chars
    if len(scorer.matched(tail, end)) > len(scorer.matched(start, head)):
        return Snippet(tail, end, snippet.score)
    return Snippet(start, head, snippet.score)
