"""BM25 with its usual constants, for what SQLite's FTS5 does not score."""

from __future__ import annotations

import math

_K1, _B = 1.2, 0.75
MOST_SATURATED = _K1 + 1.0


def inverse_frequency(total: int, holding: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in `holding` of `total` units; always positive."""
    return math.log(1.0 + (total - holding + 0.5) / (holding + 0.5))


def saturation(count: int, length: float, average_length: float) -> float:
    """What `count` occurrences in a unit of this length are worth: below `MOST_SATURATED`, less in longer units."""
    return count * MOST_SATURATED / (count + _K1 * (1.0 - _B + _B * length / average_length))
