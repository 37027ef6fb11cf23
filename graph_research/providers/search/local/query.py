"""A question as the index understands it: its terms in each language that the searched documents have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from graph_research.text.language.words import language_of, words

_MOST_CHARS = 50_000
_MOST_TERMS = 48
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")


def query_terms(text: str, languages: Iterable[str]) -> dict[str, dict[str, float]]:
    """By language, the rarest terms of `text` with their weights; words as common as `the` count only where there is
    nothing else."""
    return {language: _rarest(text[:_MOST_CHARS], language) for language in languages}


def without_accents(terms: str) -> str:
    """Terms as the index has them: Latin letters without their accents (`über`: uber)."""
    if terms.isascii():
        return terms
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", terms)))


def _rarest(text: str, language: str) -> dict[str, float]:
    """The terms that a document in `language` may have, without those as common in the question's own language."""
    telling = {word.start for word in words(text, language_of(text)) if word.weight > 0.0}
    weights = {without_accents(word.term): word.weight * (word.start in telling) for word in words(text, language)}
    rare = {term: weight for term, weight in weights.items() if weight > 0.0} or dict.fromkeys(weights, 1.0)
    return dict(sorted(rare.items(), key=lambda item: -item[1])[:_MOST_TERMS])
