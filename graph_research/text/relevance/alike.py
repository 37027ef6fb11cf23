"""Texts that may speak of the same thing otherwise, or say the same, by the words that they share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from graph_research.text.bm25 import rarer_more
from graph_research.text.language.opposites import NEGATIONS
from graph_research.text.language.stated import unstated
from graph_research.text.language.words import held_share, held_weight, language_of, term_weights
from graph_research.text.relevance.entries import names_in

_LEAST_ALIKE, _LEAST_WHERE_DIFFERING = 0.5, 0.35
"""Texts make a pair from this share of their weight in common on, as a geometric mean of both shares."""
_NEARLY_ALL = 0.9
"""A text that holds so much of the words of another one, by weight, says what that one says."""
_MOST_OF_IT, _TELLING = 0.5, 2
"""So many texts that hold so much of a short text's words, by weight and rarity, tell what it names."""
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


def says(text: str, other: str, *, least: float = _NEARLY_ALL) -> bool:
    """Whether a text has the same numbers as the other and nearly all of its words, in any order and form; with `least`
    so much of their weight."""
    if numbers_in(text) != numbers_in(other):
        return False
    weights = term_weights(other)
    return held_weight(weights, term_weights(text)) >= least * sum(weights.values())


def states(text: str, other: str, *, least: float = _NEARLY_ALL) -> bool:
    """Whether a quotation states what another one does: it `says` that, also with the same numbers in words, and of two
    that say the same neither denies what the other states."""
    if not says(text, other, least=least) or unstated(text, [other]) or unstated(other, [text]):
        return False
    return not (says(other, text) and _denies_otherwise(text, other))


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> tuple[str, ...]:
    """The numbers of a text as it writes them, in their order."""
    return tuple(_NUMBERS.findall(text))


def said_again(texts: Sequence[str], before: Sequence[str] = ()) -> set[int]:
    """The places of the texts that one of those `before` says, or another one of the texts: of several that say the
    same all but the first."""

    def is_said(place: int, text: str) -> bool:
        saying = (n for n, other in enumerate(texts) if n != place and says(other, text))
        return any(says(one, text) for one in before) or any(n < place or not says(text, texts[n]) for n in saying)

    return {place for place, text in enumerate(texts) if is_said(place, text)}


def told_among(subjects: Sequence[str], texts: Sequence[str]) -> set[int]:
    """The places of the subjects that texts tell already: several hold half of the words, the rare ones above all. One
    with a name that no text has, such as that of a setting or a command, is not told."""
    held = [term_weights(text) for text in texts]
    named = {name for text in texts for name in names_in(text)}
    counts = Counter(term for weights in held for term in weights)

    def is_told(subject: str) -> bool:
        weights = rarer_more(term_weights(subject), counts, len(texts))
        is_known = named.issuperset(names_in(subject))
        return is_known and sum(held_share(weights, own) >= _MOST_OF_IT for own in held) >= _TELLING

    return {place for place, subject in enumerate(subjects) if is_told(subject)}


def alike_pairs(texts: Sequence[str], most: int, may_pair: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """The pairs of places that may tell of the same thing otherwise, among those that `may_pair`: texts that are much
    alike, or less where something in them `differs`. The surest first, `most` at most.

    A word counts by its rarity in its language and among the texts, so that the subject of all of them says little.
    """
    weighted = [term_weights(text) for text in texts]
    counts = Counter(term for weights in weighted for term in weights)
    rarity = {term: math.log(1 + len(texts) / count) for term, count in counts.items()}
    vectors = [{term: weight * rarity[term] for term, weight in weights.items()} for weights in weighted]
    totals = [sum(vector.values()) for vector in vectors]
    scored = []
    for b, vector in enumerate(vectors):
        for a in range(b):
            both = vector.keys() & vectors[a].keys()
            alike = sum(vector[term] for term in both) / math.sqrt(totals[a] * totals[b]) if both else 0.0
            if alike >= _LEAST_WHERE_DIFFERING and may_pair(a, b):
                least = _LEAST_WHERE_DIFFERING if differs(texts[a], texts[b]) else _LEAST_ALIKE
                if alike >= least:
                    scored.append((-alike / least, a, b))
    return [(a, b) for _, a, b in sorted(scored)[:most]]


def differs(one: str, other: str) -> bool:
    """Whether something tells that two texts on the same thing do not say the same of it: another number or date of one
    unit, or a denial."""
    new = unstated(one, [other]), unstated(other, [one])
    return _denies_otherwise(one, other) or not {v.unit for v in new[0]}.isdisjoint(v.unit for v in new[1])


def _denies_otherwise(one: str, other: str) -> bool:
    """Whether one of two texts denies what the other one states."""
    return _denials(one) % 2 != _denials(other) % 2


@lru_cache(maxsize=4096)
def _denials(text: str) -> int:
    return sum(word in NEGATIONS.get(language_of(text), ()) for word in re.findall(r"\w+", text.lower()))
