"""A question as the index understands it: its terms in each language that the searched documents have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from graph_research.text.language.superlatives import superlatives_in
from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.language.words import language_of, words

_MOST_CHARS = 50_000
_MOST_TERMS = 48
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")


def query_terms(text: str, languages: Iterable[str]) -> dict[str, dict[str, float]]:
    """By language, the rarest terms of `text` with their weights; words as common as `the` count only where there is
    nothing else."""
    return {language: _rarest(text[:_MOST_CHARS], language) for language in languages}


def name_shares(text: str, languages: Iterable[str]) -> dict[str, float]:
    """By term, what it counts beside a word by itself, which counts 1: the parts of a name or a compound (`TaskGroup`:
    task, group) count as one word together, since they stand wherever the whole does."""
    shares: dict[str, float] = {}
    for language in languages:
        for term, share in _shares(text[:_MOST_CHARS], language):
            shares[term] = max(share, shares.get(term, 0.0))
    return shares


def without_accents(terms: str) -> str:
    """Terms as the index has them: Latin letters without their accents (`über`: uber)."""
    if terms.isascii():
        return terms
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", terms)))


def _rarest(text: str, language: str) -> dict[str, float]:
    """The terms that a document in `language` may have, without those as common in the question's own language. Where
    nothing but a superlative is rare, which tables do not hold, all words count that are no stop words."""
    own = language_of(text)
    superlatives = superlatives_in(text, own)
    rare = {word.start for word in words(text, own) if word.weight > 0.0}
    if all(any(one.start <= start < one.end for one in superlatives) for start in rare):
        rare = set()
    weights: dict[str, float] = {}
    said: dict[str, bool] = {}
    for word in words(text, language):
        term = without_accents(word.term)
        weights[term] = word.weight * (word.start in rare)
        said[term] = text[word.start : word.end].lower() not in STOP_WORDS
    found = {term: weight for term, weight in weights.items() if weight > 0.0}
    found = found or dict.fromkeys(filter(said.__getitem__, said), 1.0) or dict.fromkeys(weights, 1.0)
    return dict(sorted(found.items(), key=lambda item: -item[1])[:_MOST_TERMS])


def _shares(text: str, language: str) -> Iterator[tuple[str, float]]:
    end = 0
    parts: list[str] = []
    for word in words(text, language):
        term = without_accents(word.term)
        if word.end > end:  # of Chinese and Japanese each pair begins and ends behind the one before
            yield from ((part, 1.0 / len(parts)) for part in parts)
            yield term, 1.0
            end, parts = word.end, []
        else:
            parts.append(term)
    yield from ((part, 1.0 / len(parts)) for part in parts)
