"""Content terms of a text: its lower-case words without English stop words."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")

# The English list of NLTK's stopwords corpus; its contractions are split at the apostrophe like any other word.
_NLTK_ENGLISH = """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him his
    himself she she's her hers herself it it's its itself they them their theirs themselves what which who whom this
    that that'll these those am is are was were be been being have has had having do does did doing a an the and but if
    or because as until while of at by for with about against between into through during before after above below to
    from up down in out on off over under again further then once here there when where why how all any both each few
    more most other some such no nor not only own same so than too very s t can will just don don't should should've
    now d ll m o re ve y ain aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven
    haven't isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren
    weren't won won't wouldn wouldn't
"""
STOP_WORDS = frozenset(_WORD.findall(_NLTK_ENGLISH))


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
    return frozenset(term for term in terms if _occurs(term, lowered))


def _occurs(term: str, lowered: str) -> bool:
    start = lowered.find(term)
    while start >= 0:
        end = start + len(term)
        rest = _WORD.match(lowered, end)
        if rest is None and not lowered[start - 1 : start].isalnum():
            return True
        start = lowered.find(term, end if rest is None else rest.end())
    return False
