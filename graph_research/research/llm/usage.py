"""What the model calls of a node took: the rows of the state's `usage` channel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["count", "counting", "usage_rows"]

_counted: ContextVar[list[Mapping[str, Any]] | None] = ContextVar("_counted", default=None)


@contextmanager
def counting() -> Iterator[list[Mapping[str, Any]]]:
    """The answers of the calls that are made inside, those of tasks begun there included, in the order they came."""
    answers: list[Mapping[str, Any]] = []
    token = _counted.set(answers)
    try:
        yield answers
    finally:
        _counted.reset(token)


def count(answer: Mapping[str, Any]) -> None:
    """Count a call by its answer as the journal has it, whether it was made now or before."""
    answers = _counted.get()
    if answers is not None:
        answers.append(answer)


def usage_rows(answers: Iterable[Mapping[str, Any]], path: str) -> list[dict[str, Any]]:
    """A row a role, by name: `{phase, role, calls, input_tokens, output_tokens, cost_usd}`; the same whatever order the
    answers came in.

    The phase is the root node of the node path `path`, as in the report. `cost_usd` is null where the price of a model
    is not known.
    """
    by_role: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        by_role.setdefault(str(answer["role"]), []).append(answer)
    phase = path.partition("/")[0].partition("[")[0]
    return [{"phase": phase, "role": role, **_summed(by_role[role])} for role in sorted(by_role)]


def _summed(answers: list[Mapping[str, Any]]) -> dict[str, Any]:
    costs = list(map(_cost, answers))
    known = [cost for cost in costs if cost is not None]
    return {
        "calls": len(answers),
        "input_tokens": sum(int(answer["input_tokens"]) for answer in answers),
        "output_tokens": sum(int(answer["output_tokens"]) for answer in answers),
        "cost_usd": math.fsum(known) if len(known) == len(costs) else None,
    }


def _cost(answer: Mapping[str, Any]) -> float | None:
    """What took no tokens costs nothing, whoever was asked."""
    free = not (answer["input_tokens"] or answer["output_tokens"])
    cost: float | None = answer.get("cost_usd", 0.0 if free else None)
    return cost
