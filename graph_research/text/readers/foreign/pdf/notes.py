"""Raised numbers that lead to a note stand in brackets, so that no sentence or word runs into them."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*")
_LEAST_RAISED = 1 / 8  # of the size of the text before
_MOST_SIZE = 0.9  # times the size of the text before
_BEFORE = re.compile(r"(?:[.,;:!?\"”’»]|[^\W\d_]{4})$")  # none of m², 10⁶, (a + b)² and sin²

BEFORE_CHARS = 4
"""So many characters tell whether a number behind them may lead to a note."""


def is_note(before: str, numbers: str, *, size: float, line_size: float, raised: float) -> bool:
    """Whether `numbers` (`1`, `1,2`) behind the text `before` lead to notes: small and `raised` above its baseline, in
    points, where no exponent stands."""
    is_raised = size <= line_size * _MOST_SIZE and raised >= line_size * _LEAST_RAISED
    return is_raised and _BEFORE.search(before) is not None and _NUMBERS.fullmatch(numbers) is not None
