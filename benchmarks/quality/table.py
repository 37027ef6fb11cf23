"""Lines of the benchmark's output: a figure, its bootstrap interval, the plain method's, and the bound."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
_RESAMPLES = 400


@dataclass(frozen=True)
class Line(Generic[Item]):
    """A measure over `items`: `ours` and `plain` turn a sample of them into a figure.

    The interval is of the difference to the plain method where there is one, else of the figure. `bound` is the least
    (for `at_most`, the greatest) figure, or difference to the plain one where `over_plain`, that was asked for.
    """

    what: str
    items: Sequence[Item]
    ours: Callable[[Sequence[Item]], float]
    plain: Callable[[Sequence[Item]], float] | None = None
    bound: float | None = None
    over_plain: bool = False
    at_most: bool = False


def show(line: Line[Item], random_state: random.Random) -> bool:
    """Print the line; whether its bound holds (true where it has none)."""
    mine = line.ours(line.items)
    theirs = line.plain(line.items) if line.plain else None
    low, high = interval(line, random_state)
    compared = mine - theirs if line.over_plain and theirs is not None else mine
    holds = line.bound is None or (compared <= line.bound if line.at_most else compared >= line.bound)
    plain = f"plain {theirs:.3f}  difference {mine - theirs:+.3f}" if theirs is not None else ""
    bound = "" if line.bound is None else _bound(line, holds=holds)
    print(f"  {line.what:<64} {mine:.3f}  {plain:<32} [{low:+.3f} {high:+.3f}] n {len(line.items):<5} {bound}".rstrip())
    return holds


def interval(line: Line[Item], random_state: random.Random) -> tuple[float, float]:
    """The 95 % bootstrap interval over resampled items."""
    if not line.items:
        return 0.0, 0.0
    figures = []
    for _ in range(_RESAMPLES):
        sample = random_state.choices(line.items, k=len(line.items))
        figures.append(line.ours(sample) - (line.plain(sample) if line.plain else 0.0))
    figures.sort()
    return figures[int(0.025 * _RESAMPLES)], figures[int(0.975 * _RESAMPLES) - 1]


def _bound(line: Line[Item], *, holds: bool) -> str:
    sign = "at most" if line.at_most else "at least"
    wanted = f"plain {line.bound:+.2f}" if line.over_plain else f"{line.bound:.2f}"
    return f"{sign} {wanted}: {'ok' if holds else 'MISSED'}"
