"""The limits of a run: its budget, behind which no further model call is sent, and which limit ended it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from graph_research.errors import Action, Hint, UserMistake
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.records import CallRecord, RunRecord
from graph_research.graph.history.stored_definition import stored_spec
from graph_research.graph.statuses import CLEARS_FAILURES, Cause, RunStatus, StepStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import AnswerWithheld
from graph_research.providers.llm.base import Model, ModelReply, ModelRequest, Usage, WrappedModel
from graph_research.providers.llm.model_data import Prices
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.usage import spending_of

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, kw_only=True)
class LimitReached:
    """A limit in words, and the options that raise it enough, such as `{"max_tokens": 2000}`; none where none does."""

    words: str
    options: Mapping[str, float] = field(default_factory=dict)


class BudgetUnknowable(UserMistake):
    """A budget in money for a model whose price is not known."""


@dataclass(kw_only=True)
class Budget:
    """What may be spent and what was, by the run `run_id`."""

    run_id: str
    prices: Prices = field(default_factory=Prices)
    max_tokens: int | None = None
    max_cost: float | None = None
    tokens: int = 0
    cost: float = 0.0

    def count_recorded(self, calls: Iterable[CallRecord]) -> None:
        """Count what a run spent before it was interrupted."""
        for call in calls:
            if call.kind == CallKind.MODEL and (spending := spending_of(call.answer, self.prices)) is not None:
                self.tokens += spending.tokens
                self.cost += spending.cost_usd or 0.0

    def count(self, model: str, usage: Usage) -> float | None:
        """Count one call: what it cost in USD, None where no price is known."""
        self.tokens += usage.input_tokens + usage.output_tokens
        cost = self.prices(model, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens)
        self.cost += cost or 0.0
        return cost

    def spent(self) -> LimitReached | None:
        """Which limit is reached, None where none is."""
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return LimitReached(
                words=f"the models used {self.tokens:,} of {self.max_tokens:,} tokens",
                options={"max_tokens": _doubled(self.max_tokens, self.tokens)},
            )
        if self.max_cost is not None and self.cost >= self.max_cost:
            return LimitReached(
                words=f"the models cost {self.cost:.4f} of {self.max_cost:g} USD",
                options={"max_cost": _doubled(self.max_cost, self.cost)},
            )
        return None


async def limit_reached(
    store: Checkpointer, record: RunRecord, *, timeout_seconds: float | None, spent: LimitReached | None
) -> LimitReached | None:
    """What ended an aborted run, None where it was no limit. `timeout_seconds` is the limit that it was asked for with,
    `spent` the budget that is used up. What the graph itself allows cannot be raised: it is given once more."""
    if record.status != RunStatus.ABORTED:
        return None
    if record.cause == Cause.CANCELLED:
        return spent
    if record.cause != Cause.TIMEOUT or not await _ran_out_of_time(store, record.run_id):
        return None
    spec = await stored_spec(store, record)
    allowed = None if spec is None else spec.limits.seconds
    if timeout_seconds is None or (allowed is not None and allowed < timeout_seconds):
        words = "the time limit of its graph is over" if allowed is None else f"its graph allows {allowed:g} s"
        return LimitReached(words=words)
    return LimitReached(
        words=f"the time limit of {timeout_seconds:g} s is over", options={"timeout_seconds": 2 * timeout_seconds}
    )


async def _ran_out_of_time(store: Checkpointer, run_id: str) -> bool:
    """Whether the run as a whole ran out of time since it was resumed last, rather than one of its nodes."""
    statuses = [row.status for row in await store.step_rows(run_id, None) if not row.scope and not row.node]
    resumed = max((place for place, status in enumerate(statuses) if status in CLEARS_FAILURES), default=0)
    return not {StepStatus.TIMEOUT, StepStatus.TIMEOUT_UNHANDLED}.isdisjoint(statuses[resumed:])


def within_budget(router: ModelRouter, budget: Budget, stop: Callable[[str], Awaitable[None]]) -> ModelRouter:
    """The same models behind the budget. `stop` asks for a run's cancellation and is awaited before the call that is
    held back; that call never returns, it ends with the run. `BudgetUnknowable` where no price is known."""
    if budget.max_cost is not None:
        unknown = sorted({model.spec for model in router.every() if budget.prices(model.spec, 1, 1) is None})
        if unknown:
            raise BudgetUnknowable(
                f"the price of {', '.join(unknown)} is not known",
                help="set it in `model_price_overrides`, or limit the tokens instead",
                hint=Hint(Action.SET_OPTION, options={"max_tokens": ""}),
            )
    return router.wrapped(lambda model: _Budgeted(model, budget, stop))


def _doubled(limit: _Number, used: float) -> _Number:
    """The limit, doubled until it leaves as much again as was used."""
    while limit < 2 * used:
        limit *= 2
    return limit


class _Budgeted(WrappedModel):
    def __init__(self, model: Model, budget: Budget, stop: Callable[[str], Awaitable[None]]) -> None:
        super().__init__(model)
        self._budget = budget
        self._stop = stop

    async def complete(self, request: ModelRequest) -> ModelReply:
        if self._budget.spent() is not None:
            await self._stop(self._budget.run_id)
            await asyncio.Event().wait()
        try:
            reply = await self.model.complete(request)
        except AnswerWithheld as error:
            self._budget.count(self.spec, Usage(input_tokens=error.input_tokens, output_tokens=error.output_tokens))
            raise
        cost = self._budget.count(reply.model, reply.usage)
        return replace(reply, usage=replace(reply.usage, cost_usd=cost))
