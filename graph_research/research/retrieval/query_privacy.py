"""What may go out as a web query once texts of the user's own documents were read: words that are public already.

A page or a document could make a model put a local text into a query, which sends the text to the search provider.
So a query keeps only words of the question and of what web searches returned, and stop words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.language.words import MOST_STEMMED_CHARS, stem

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class LimitedQuery:
    """A query as it may be sent, empty where nothing of it may, and the words that were taken out, in order."""

    query: str
    withheld: tuple[str, ...] = ()


class PublicWords:
    """The words that may go out: those of `texts` and all others with the same stem.

    A word is a run of letters and digits; one with a digit in it, or of more than 64 letters, must occur as it is.
    The signs between words do not go out, since they could spell something too.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._stems = {_stem(word) for text in texts for word in set(_WORD.findall(text.lower()))}

    def limited(self, query: str) -> LimitedQuery:
        """The words of `query` that may go out, in order."""
        words = _WORD.findall(query)
        kept = [word for word in words if self._is_public(word.lower())]
        withheld = tuple(dict.fromkeys(word for word in words if not self._is_public(word.lower())))
        if withheld and all(word.lower() in STOP_WORDS for word in kept):
            return LimitedQuery(query="", withheld=withheld)
        return LimitedQuery(query=" ".join(kept), withheld=withheld)

    def _is_public(self, word: str) -> bool:
        return word in STOP_WORDS or _stem(word) in self._stems


def word_list(texts: Iterable[str]) -> str:
    """The different words of `texts`, sorted, one a line: what `PublicWords` needs of them, and no more."""
    return "\n".join(sorted({word for text in texts for word in _WORD.findall(text.lower())}))


def _stem(word: str) -> str:
    return stem(word) if word.isalpha() and len(word) <= MOST_STEMMED_CHARS else word
