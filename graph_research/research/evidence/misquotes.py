"""Words between quotation marks that a sentence says to be another text's, and that this text has otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from graph_research.text.language.words import index_text, language_of

_QUOTED = re.compile(r"[„“]([^„“”]+)[“”]|\"([^\"]+)\"|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』")
_LEFT_OUT = re.compile(r"…|\.\.\.|\[[^\]]*\]")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_FEWEST = 2
"""A single word is often a term, or put between the marks for irony."""
_LEAST_KNOWN, _LEAST_KNOWN_TRANSLATED = 0.5, 0.7
"""The share of its words that a text has from which on it is meant to be quoted. Two languages share some words."""


def misquotes(text: str, known: Sequence[str], *, translated: bool) -> list[str]:
    """What stands between quotation marks with most of its words in the known texts, but nowhere there as it is. The
    forms of a word count as the same; what is left out is marked by an ellipsis or brackets. A title, all of whose long
    words have capitals, is no quotation."""
    marked = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    pieces = [piece for quoted in marked if not _is_title(quoted) for piece in _LEFT_OUT.split(quoted)]
    if not pieces:
        return []
    language = language_of("\n".join(known))
    held = [_indexed(other, language) for other in known]
    terms = frozenset(term for other in held for term in other.split())
    least = _LEAST_KNOWN_TRANSLATED if translated else _LEAST_KNOWN
    return [
        piece.strip(" .,;:!?")
        for piece in dict.fromkeys(pieces)
        if len(said := _indexed(piece, language).split()) >= _FEWEST
        and sum(term in terms for term in said) >= least * len(said)
        and not any(f" {' '.join(said)} " in other for other in held)
    ]


def _is_title(quoted: str) -> bool:
    words = _LONG_WORD.findall(quoted)
    return any(word[0].isupper() for word in words) and not any(word[0].islower() for word in words)


@lru_cache(maxsize=256)
def _indexed(text: str, language: str) -> str:
    return f" {index_text(text, language)} "
