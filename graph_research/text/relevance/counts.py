"""Questions for a number of things ("How many turbines …?"), and texts that state one ("16 bulb turbines")."""

from __future__ import annotations

import re

from graph_research.text.language.quantities import ARTICLE_BEFORE, figures
from graph_research.text.language.questions import counted_words, is_yes_no
from graph_research.text.language.words import terms, words
from graph_research.text.relevance.query import Query

_MOST_BETWEEN = 2
_NAMED_ONLY = 0.5
_ENDS = re.compile(r"[,;:.()–—]")


def counted_thing(query: Query) -> str:
    """The term of what the query asks the number of, empty where it asks for something else."""
    asked = counted_words(query.own, query.language)
    return next(iter(terms(asked, query.language)), "")


def states_count(text: str, thing: str, language: str) -> float:
    """1 where a number of the thing is said to be there ("has 16 bulb turbines"), less where one is only named ("a stop
    of four turbines"), 0 without one. A number stands at most three words before its thing."""
    written = words(text, language)
    best = 0.0
    for figure in figures(text):
        behind = [word for word in written if word.start >= figure.end][: _MOST_BETWEEN + 1]
        place = next((word.start for word in behind if word.term == thing), None)
        if figure.date is not None or place is None or ARTICLE_BEFORE.search(text[: figure.start]):
            continue
        between = text[figure.end : place]
        if not _ENDS.search(between) and not ARTICLE_BEFORE.search(between):
            before = [text[word.start : word.end] for word in written if word.end <= figure.start][-_MOST_BETWEEN:]
            best = max(best, 1.0 if any(is_yes_no(word, language) for word in before) else _NAMED_ONLY)
    return best
