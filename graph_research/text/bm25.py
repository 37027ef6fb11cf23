"""BM25 with its usual constants, over any units of text."""

from __future__ import annotations

import math
from collections.abc import Mapping

SATURATION, LENGTH_SHARE = 1.2, 0.75
"""The constants that are called k1 and b."""

_LEAST_RARITY = 1e-6
MOST_SATURATED = SATURATION + 1.0


def inverse_frequency(total: int, holding: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in `holding` of `total` units; always positive."""
    return math.log(1.0 + (total - holding + 0.5) / (holding + 0.5))


def rarer_more(weights: Mapping[str, float], holding: Mapping[str, int], total: int) -> dict[str, float]:
    """The weights of terms, each times its `inverse_frequency`, where so many of `total` units are `holding` it."""
    return {term: weight * inverse_frequency(total, holding[term]) for term, weight in weights.items()}


def rarity(total: int, holding: int) -> float:
    """ln((N - n + 0.5) / (n + 0.5)), and next to nothing for a term in half of the units or more, which then only
    decides between units that are worth the same otherwise."""
    return max(_LEAST_RARITY, math.log((total - holding + 0.5) / (holding + 0.5)))


def length_norm(length: float, average_length: float) -> float:
    """What `saturation` adds to the count for a unit's length."""
    return SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / average_length)


def saturation(count: int, length: float, average_length: float) -> float:
    """What `count` occurrences in a unit of this length are worth: below `MOST_SATURATED`, less in longer units."""
    return count * MOST_SATURATED / (count + length_norm(length, average_length))
