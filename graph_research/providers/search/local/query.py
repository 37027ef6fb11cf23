"""A question as the index understands it: its terms in each language that the searched documents have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from graph_research.text.language.superlatives import DATE, MONEY, superlatives_in
from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.language.words import language_of, words

_MOST_CHARS = 50_000
_MOST_TERMS = 48
_MEASURE = 0.5  # what a word for what a superlative measures counts (`cheapest`: price), beside one of the question
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")


def query_terms(text: str, languages: Iterable[str]) -> dict[str, dict[str, float]]:
    """By language, the rarest terms of `text` with their weights, and those for what its superlatives measure; words as
    common as `the` count only where there is nothing else."""
    asked = text[:_MOST_CHARS]
    telling, own = _telling(asked), language_of(asked)
    measures = dict.fromkeys(_measures(asked, own), _MEASURE)
    return {
        language: {**(measures if language == own else {}), **_rarest(asked, language, telling)}
        for language in languages
    }


def name_shares(text: str, languages: Iterable[str]) -> dict[str, float]:
    """By term, what it counts beside a word by itself, which counts 1: the parts of a name or a compound (`TaskGroup`:
    task, group) count as one word together."""
    shares: dict[str, float] = {}
    for language in languages:
        for word in words(text[:_MOST_CHARS], language):
            term = without_accents(word.term)
            shares[term] = max(word.share, shares.get(term, 0.0))
    measures = _measures(text[:_MOST_CHARS], language_of(text[:_MOST_CHARS]))
    return {**dict.fromkeys(measures, _MEASURE), **shares}


def _measures(text: str, language: str) -> list[str]:
    """The terms for what the superlatives of a text measure, without accents, as columns of tables have them."""
    found = superlatives_in(text, language)
    named = (term for one in found if DATE not in one.measures for term in one.measures if term != MONEY)
    return [*map(without_accents, named)]


def without_accents(terms: str) -> str:
    """Terms as the index has them: Latin letters without their accents (`über`: uber)."""
    if terms.isascii():
        return terms
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", terms)))


def _telling(text: str) -> frozenset[int]:
    """Where the words start that are not as common as `the` in the text's own language; none where these are nothing
    but a superlative, which tables do not hold."""
    own = language_of(text)
    rare = frozenset(word.start for word in words(text, own) if word.weight > 0.0)
    superlatives = superlatives_in(text, own)
    only_those = all(any(one.start <= start < one.end for one in superlatives) for start in rare)
    return frozenset() if only_those else rare


def _rarest(text: str, language: str, telling: Collection[int]) -> dict[str, float]:
    """The terms that a document in `language` may have, of the `telling` words alone; without any of these all words
    count that are no stop words."""
    written = words(text, language)
    found = {without_accents(word.term): word.weight for word in written if word.weight and word.start in telling}
    if not found:
        said = [word for word in written if text[word.start : word.end].lower() not in STOP_WORDS]
        found = {without_accents(word.term): 1.0 for word in said or written}
    return dict(sorted(found.items(), key=lambda item: -item[1])[:_MOST_TERMS])
