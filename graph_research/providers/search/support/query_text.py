"""Shortens a query for a search engine and removes what the engine would read as an operator."""

from __future__ import annotations

import re

from graph_research.text.canonical import canonical_text
from graph_research.text.language.terms import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:[.'’/+-][^\W_]+)*\+*", re.UNICODE)


def shortened(query: str, most_chars: int) -> str:
    """The query as one line without control characters. At most `most_chars` of it, cut between words if there are
    any."""
    text = canonical_text(query)
    if len(text) <= most_chars:
        return text
    head, space, _ = text[: most_chars + 1].rpartition(" ")
    return head if space else text[:most_chars]


def keywords(query: str, *, most_words: int, most_chars: int) -> list[str]:
    """The content words of the query, in order and without repetition, at most `most_chars` with spaces between them. A
    query of stop words alone keeps them."""
    words = [word.lower() for word in _WORD.findall(query[: 20 * most_chars])]
    carrying = [word for word in words if word not in STOP_WORDS] or words
    chosen: list[str] = []
    left = most_chars
    for word in dict.fromkeys(carrying):
        if len(chosen) == most_words or len(word) > left:
            break
        chosen.append(word)
        left -= len(word) + 1
    return chosen
