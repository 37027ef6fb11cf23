"""Texts that may speak of the same thing, or say the same, by the words that they share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from graph_research.text.language.words import held_weight, term_weights

_FEWEST = 2
_LEAST_ALIKE = 0.15
"""The words that two texts share at least, and the share of their weight, as a geometric mean of both texts."""
_NEARLY_ALL = 0.9
"""A text that holds so much of the words of another one, by weight, says what that one says."""
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


def says(text: str, other: str) -> bool:
    """Whether a text has the same numbers as the other and nearly all of its words, in any order and form."""
    if _NUMBERS.findall(text) != _NUMBERS.findall(other):
        return False
    weights = term_weights(other)
    return held_weight(weights, term_weights(text)) >= _NEARLY_ALL * sum(weights.values())


def said_again(texts: Sequence[str], before: Sequence[str] = ()) -> set[int]:
    """The places of the texts that one of those `before` says, or another one of the texts: of several that say the
    same all but the first."""

    def is_said(place: int, text: str) -> bool:
        saying = (n for n, other in enumerate(texts) if n != place and says(other, text))
        return any(says(one, text) for one in before) or any(n < place or not says(text, texts[n]) for n in saying)

    return {place for place, text in enumerate(texts) if is_said(place, text)}


def alike_pairs(texts: Sequence[str], most: int, may_pair: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """The `most` pairs of places that are most alike among those that `may_pair`, the most alike first.

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
            if len(both) >= _FEWEST and may_pair(a, b):
                alike = sum(vector[term] for term in both) / math.sqrt(totals[a] * totals[b])
                if alike >= _LEAST_ALIKE:
                    scored.append((-alike, a, b))
    return [(a, b) for _, a, b in sorted(scored)[:most]]
