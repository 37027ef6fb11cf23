"""Whether a query is new: the same question in other words is not worth a second search."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from graph_research.text.language.terms import content_terms
from graph_research.text.language.words import language_of, stem

_ALIKE = 0.9
"""The share of word stems, of all that either query has, from which on two queries ask the same."""


def asked_before(query: str, asked: Iterable[str]) -> bool:
    """Whether one of the queries `asked` asks the same as `query`: the same word stems but for few, whatever their
    order. A number that only one of them has makes another question of it, and so does a query without words."""
    others = tuple(asked)
    language = language_of(" ".join((query, *others)))
    stems = _stems(query, language)
    return any(_alike(stems, _stems(other, language)) or _plain(query) == _plain(other) for other in others)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other or any(any(map(str.isdigit, word)) for word in one ^ other):
        return False
    return len(one & other) / len(one | other) >= _ALIKE


@lru_cache(maxsize=1024)
def _stems(query: str, language: str) -> frozenset[str]:
    return frozenset(stem(word, language) for word in content_terms(query))


def _plain(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in text).split()).casefold()
