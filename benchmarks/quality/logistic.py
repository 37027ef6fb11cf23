"""Logistic regression in plain Python, for the few coefficients that the product's scores have."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.quality.plain import mean

_STEPS = 30


def fit(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], weights: Sequence[float], *, ridge: float = 3.0
) -> list[float]:
    """A coefficient for each column of `rows`, by Newton's method with an L2 penalty on standardised columns.

    A constant is a column of ones; a column that does not vary has no penalty.
    """
    scales = [_deviation(column) for column in zip(*rows, strict=True)]
    scaled = [[value / (scale or 1.0) for value, scale in zip(row, scales, strict=True)] for row in rows]
    found = [0.0] * len(scales)
    for _ in range(_STEPS):
        gradient = [-(ridge if scale else 0.0) * value for value, scale in zip(found, scales, strict=True)]
        curvature = [
            [(ridge if scale else 1e-9) * (i == j) for j in range(len(found))] for i, scale in enumerate(scales)
        ]
        for row, label, weight in zip(scaled, labels, weights, strict=True):
            chance = probability(sum(a * b for a, b in zip(found, row, strict=True)))
            filled = [(i, value) for i, value in enumerate(row) if value]
            for i, value in filled:
                gradient[i] += weight * (label - chance) * value
                for j, other in filled:
                    curvature[i][j] += weight * chance * (1 - chance) * value * other
        step = _solved(curvature, gradient)
        found = [value + change for value, change in zip(found, step, strict=True)]
        if max(map(abs, step)) < 1e-6:
            break
    return [value / (scale or 1.0) for value, scale in zip(found, scales, strict=True)]


def probability(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, logit))))


def _deviation(column: Sequence[float]) -> float:
    middle = mean(column)
    return math.sqrt(mean((value - middle) ** 2 for value in column))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """x of matrix·x = right, by Gaussian elimination; both are used up."""
    size = len(right)
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(matrix[row][at]))
        matrix[at], matrix[pivot], right[at], right[pivot] = matrix[pivot], matrix[at], right[pivot], right[at]
        for row in range(at + 1, size):
            factor = matrix[row][at] / matrix[at][at]
            matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[at], strict=True)]
            right[row] -= factor * right[at]
    solved = [0.0] * size
    for at in reversed(range(size)):
        rest = sum(matrix[at][i] * solved[i] for i in range(at + 1, size))
        solved[at] = (right[at] - rest) / matrix[at][at]
    return solved
