"""Content terms of a text: its lower-case words without English stop words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from graph_research.text.language.tables import facts

_WORD = re.compile(r"[^\W_]+")

STOP_WORDS = frozenset(_WORD.findall(facts("stop_words")["en"]))
"""The English list of NLTK's stopwords corpus; its contractions are split at the apostrophe like any other word."""


def content_terms(text: str) -> list[str]:
    """The words of `text` in order, split at white space and punctuation, in lower case, without stop words."""
    return [word for word in lower_case_words(text) if word not in STOP_WORDS]


def lower_case_words(text: str) -> list[str]:
    """All words of `text` in order, in lower case."""
    return _WORD.findall(text.lower())


def occurring(terms: Iterable[str], text: str) -> frozenset[str]:
    """Those of `terms`, lower-case words, that `lower_case_words(text)` holds; a few are
    looked for faster than a text is split."""
    lowered = text.lower()
    return frozenset([term for term in terms if term in lowered and _occurs(term, lowered)])


def _occurs(term: str, lowered: str) -> bool:
    start = lowered.find(term)
    while start >= 0:
        end = start + len(term)
        if not (lowered[start - 1 : start].isalnum() or lowered[end : end + 1].isalnum()):
            return True
        start = lowered.find(term, end)
    return False
