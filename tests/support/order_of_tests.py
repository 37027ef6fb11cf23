"""The order of the tests where several processes run them (`--dist worksteal`).

Each process begins with an equal part of the list, and takes from the others once it has finished its own, all but the
two tests that are next there. So the tests that take longest stand at the beginning of the parts: what is left at the
end are tests of milliseconds, and no process waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")


def longest_first(tests: Sequence[T], parts: int, *, unit_of: Callable[[T], str | None]) -> list[T]:
    """`tests` in so many equal parts, which begin with the long ones in turn. `unit_of` names what a long test must not
    be parted from, and is None for a short test."""
    short = [test for test in tests if unit_of(test) is None]
    long = [list(unit) for name, unit in groupby(tests, unit_of) if name is not None]
    ordered: list[T] = []
    for part in range(parts):
        size = (len(tests) - len(ordered)) // (parts - part)
        first = [test for unit in long[part::parts] for test in unit]
        rest = max(0, size - len(first)) if part < parts - 1 else len(short)
        ordered += [*first, *short[:rest]]
        del short[:rest]
    return ordered
