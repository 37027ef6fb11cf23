"""What model calls took, in tokens and money: one reading of a recorded answer, used by every sum of them; and the
records of such sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.models.record import Record

Price = Callable[[str, int, int, int], float | None]
"""USD of a call by model, input tokens, output tokens, and those of the input that were cached; None where the price is
not known."""

_counted: ContextVar[list[Mapping[str, Any]] | None] = ContextVar("_counted", default=None)


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The calls, tokens and cost of some model calls. `cost_usd` is None where the price of one is not known."""

    calls: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Spending:
        """From a row of a usage table: of the state's `usage` channel, or of a report."""
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def rounded(self) -> dict[str, Any]:
        """As plain JSON, the cost to a millionth of a dollar."""
        return asdict(self) | {"cost_usd": None if self.cost_usd is None else round(self.cost_usd, 6)}


class Usage(Record):
    """Calls of one role in one phase; `cost_usd` is null where no price is known."""

    role: str
    phase: str
    calls: int
    seconds: float
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


class UsageTotals(Record):
    """The sum over all rows; `cost_usd` is null if any row's price is unknown."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class ModelFailure(Record):
    """How often calls of a model failed in one role, and why in a few words."""

    model: str
    reason: str
    calls: int


class RoleUse(Record):
    """The models that served a role, with their answered calls. `repair_turns` counts answers sent back since they did
    not fit their schema, `too_long` prompts above a context window. `cost_usd` is null where a price is not known."""

    models: dict[str, int]
    calls: int
    repair_turns: int
    too_long: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    failures: list[ModelFailure]


class Retries(Record):
    """Requests to a provider that were retried because it was overloaded, unreachable or broke off. `kind` is
    `model`, `search` or `page`; `role` that of a model, else null; `provider` a page's host."""

    kind: str
    provider: str
    role: str | None
    requests: int


def spending_of(answer: Any, price: Price | None = None) -> Spending | None:
    """What the call with this answer took, as the journal has it; None where it was no answered model call.

    Without `price` the recorded cost counts. What took no tokens, and what `extractive` did, costs nothing; an answer
    that an earlier call had is no call.
    """
    if not isinstance(answer, Mapping) or "input_tokens" not in answer:
        return None
    names = ("input_tokens", "output_tokens", "cached_input_tokens")
    input_tokens, output_tokens, cached_tokens = (int(answer.get(name) or 0) for name in names)
    model = str(answer.get("model") or "")
    if model == EXTRACTIVE or not (input_tokens or output_tokens):
        cost: float | None = answer.get("cost_usd", 0.0)
    else:
        cost = answer.get("cost_usd") if price is None else price(model, input_tokens, output_tokens, cached_tokens)
    return Spending(
        calls=0 if answer.get("shared") else 1, input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost
    )


def total(spendings: Iterable[Spending]) -> Spending:
    """The sum, the same in whatever order."""
    rows = list(spendings)
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return Spending(
        calls=sum(row.calls for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cost_usd=math.fsum(costs) if len(costs) == len(rows) else None,
    )


def phase_of_path(path: str) -> str:
    """The root node of a node path: `gather` of `gather[0]/reflect`."""
    return path.partition("/")[0].partition("[")[0]


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
    """The rows of the state's `usage` channel for one visit of the node `path`, a row a role, by name: `{phase, role,
    calls, input_tokens, output_tokens, cost_usd}`. The phase is the root node, as in the report."""
    by_role: dict[str, list[Spending]] = {}
    for answer in answers:
        if (spending := spending_of(answer)) is not None:
            by_role.setdefault(str(answer["role"]), []).append(spending)
    phase = phase_of_path(path)
    return [{"phase": phase, "role": role, **asdict(total(by_role[role]))} for role in sorted(by_role)]
