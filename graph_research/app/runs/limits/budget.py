"""The limits of a run: its budget, how its models, searches and pages keep within it, and which limit ended it.

A research that writes a report degrades: a call for which its stage has no room left is not made (`BudgetReached`), and
code does what a model would have done. Any other graph is cancelled before the first call beyond its budget.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from graph_research.app.runs.limits.estimate import Amount, Stage, call_seconds
from graph_research.app.runs.limits.reserve import Reserve, stage_of
from graph_research.errors import Action, Hint, UserMistake
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.records import CallRecord, RunRecord
from graph_research.graph.errors import GraphTimeout
from graph_research.graph.statuses import CLEARS_FAILURES, Cause, RunStatus, StepStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import TO_KEEP_WITHIN, AnswerWithheld, BudgetReached
from graph_research.providers.llm.base import Model, ModelReply, ModelRequest, Usage, WrappedModel
from graph_research.providers.llm.model_data import Prices
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.providers.search.base import SearchHit, SearchProvider, SearchRequest
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.usage import spending_of
from graph_research.research.report.labels.languages import left_out
from graph_research.text.tokens import count_tokens

if TYPE_CHECKING:
    from graph_research.providers.web.page_reader import Page, PageCache

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, kw_only=True)
class LimitReached:
    """A limit in words, and the options that raise it enough, such as `{"max_tokens": 2000}`; none where none does."""

    words: str
    options: Mapping[str, float] = field(default_factory=dict)


class BudgetUnknowable(UserMistake):
    """A budget in money for a model whose price is not known."""


_STAGES_OF_PHASES: Mapping[str, Stage] = {
    "planning": Stage.PLANNING,
    "gathering": Stage.GATHERING,
    "analysis": Stage.ANALYSIS,
    "synthesis": Stage.WRITING,
}
_ANSWER_TOKENS: Mapping[Stage, int] = {
    Stage.PLANNING: 600,
    Stage.GATHERING: 1_000,
    Stage.ANALYSIS: 1_500,
    Stage.WRITING: 1_000,
    Stage.VERIFICATION: 500,
}
"""How long the answer to a call is expected to be before it is made."""


@dataclass(kw_only=True)
class Budget:
    """What may be spent and what was, by the run `run_id`. With a `reserve` each stage may use its part of the limits;
    `pending` are calls that have not returned. The time counts from `start`."""

    run_id: str
    prices: Prices = field(default_factory=Prices)
    max_tokens: int | None = None
    max_cost: float | None = None
    seconds: float | None = None
    reserve: Reserve | None = None
    clock: Callable[[], float] = time.monotonic
    tokens: int = 0
    cost: float = 0.0
    _taken: dict[Stage, Amount] = field(default_factory=lambda: dict.fromkeys(Stage, Amount()))
    _held_back: set[Stage] = field(default_factory=set)
    _rounds: int = 0
    _topics: int = 0
    _pending_tokens: int = 0
    _pending_cost: float = 0.0
    _began: float | None = None
    _answering: float = 0.0
    _expected: float = 0.0

    def start(self) -> None:
        """Let the time of the run begin."""
        self._began = self.clock()

    def seconds_left(self, stage: Stage) -> float | None:
        """The seconds that calls of a stage may still take, at least 0; None where the time is not limited."""
        if self.reserve is None or self._began is None:
            return None
        parts = self.reserve.seconds(self.slowness)
        return max(parts[stage] - (self.clock() - self._began), 0.0) if stage in parts else None

    @property
    def slowness(self) -> float:
        """How many times as long as estimated the models took for their answers so far, at least 1."""
        return max(self._answering / self._expected, 1.0) if self._expected else 1.0

    def count_time(self, seconds: float, output_tokens: int) -> None:
        """Count how long a model took for an answer."""
        self._answering += seconds
        self._expected += call_seconds(output_tokens)

    @contextmanager
    def spending(self, stage: Stage, tokens: int, cost: float) -> Iterator[None]:
        """While a call is made that is expected to take so much. `BudgetReached` where there is no room for it."""
        if (limit := self._limit_of(stage, tokens, cost)) is not None:
            self._held_back.add(stage)
            raise BudgetReached(f"{left_out(stage)}{TO_KEEP_WITHIN}{limit}", provider="budget")
        self._pending_tokens += tokens
        self._pending_cost += cost
        try:
            yield
        finally:
            self._pending_tokens -= tokens
            self._pending_cost -= cost

    def out_of_time(self, stage: Stage) -> BudgetReached:
        """The error of a call that was cut off by the end of its stage."""
        return BudgetReached(f"{left_out(stage)}{TO_KEEP_WITHIN}{self.seconds:g} s", provider="budget")

    def refuses_round(self) -> str | None:
        """See `research.allowance`."""
        if self.reserve is None:
            return None
        self._rounds += 1
        whole = {stage: amount for stage, amount in self._taken.items() if stage not in self._held_back}
        self.reserve = self.reserve.corrected(whole, self._rounds, self._topics)
        return self._refusal("round", Stage.GATHERING, self.reserve.topic)

    def refuses_repetition(self, phase: str) -> str | None:
        """See `research.allowance`."""
        stage = _STAGES_OF_PHASES.get(phase)
        if self.reserve is None or stage is None:
            return None
        more = self.reserve.topic if stage is Stage.GATHERING else self.reserve.stages[stage]
        return self._refusal("repetition", stage, more)

    def time_to_search_is_over(self) -> str | None:
        """See `research.allowance`."""
        return str(self.out_of_time(Stage.GATHERING)) if self.seconds_left(Stage.GATHERING) == 0.0 else None

    def _refusal(self, what: str, stage: Stage, more: Amount) -> str | None:
        limit = self._limit_of(stage, more.tokens, more.cost or 0.0, self.slowness * more.seconds)
        return limit and f"{left_out(what)}{TO_KEEP_WITHIN}{limit}"

    def _limit_of(self, stage: Stage, tokens: int, cost: float, seconds: float = 0.0) -> str | None:
        """The limit that leaves a stage no room for so much, None where there is room."""
        if self.reserve is None:
            return None
        if self.tokens + self._pending_tokens + tokens > self.reserve.tokens.get(stage, math.inf):
            return f"{self.max_tokens:,} tokens"
        if self.cost + self._pending_cost + cost > self.reserve.cost.get(stage, math.inf):
            return f"{self.max_cost:g} USD"
        left = self.seconds_left(stage)
        return f"{self.seconds:g} s" if left is not None and left <= seconds else None

    def count_recorded(self, calls: Iterable[CallRecord]) -> None:
        """Count what a run spent before it was interrupted."""
        for call in calls:
            asked = call.request if isinstance(call.request, Mapping) else {}
            if call.kind == CallKind.ALLOWANCE:
                self._rounds += asked.get("for") == "round" and call.answer is None
            if call.kind != CallKind.MODEL or _by_code(call.answer):
                continue
            if isinstance(call.answer, Mapping) and call.answer.get("type") == BudgetReached.__name__:
                self._held_back.add(stage_of(asked.get("agent", ""), asked.get("role", "")))
            if (spending := spending_of(call.answer, self.prices)) is not None:
                self._add(asked.get("agent", ""), asked.get("role", ""), spending.tokens, spending.cost_usd or 0.0)

    def count(self, model: str, usage: Usage, agent: str = "", role: str = "") -> float | None:
        """Count one call of an agent: what it cost in USD, None where no price is known."""
        cost = self.prices(model, usage.input_tokens, usage.output_tokens, usage.cached_input_tokens)
        self._add(agent, role, usage.input_tokens + usage.output_tokens, cost or 0.0)
        return cost

    def _add(self, agent: str, role: str, tokens: int, cost: float) -> None:
        self.tokens += tokens
        self.cost += cost
        stage = stage_of(agent, role)
        self._taken[stage] = self._taken[stage] + Amount(tokens=tokens, cost=cost)
        self._topics += agent == "extractor"

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
    if record.cause != Cause.TIMEOUT or not (_is_of_run(record) or await _ran_out_of_time(store, record.run_id)):
        return None
    from graph_research.graph.history.stored_definition import stored_spec  # the parser, for a run out of time alone

    spec = await stored_spec(store, record)
    allowed = None if spec is None else spec.limits.seconds
    if timeout_seconds is None or (allowed is not None and allowed < timeout_seconds):
        words = "the time limit of its graph is over" if allowed is None else f"its graph allows {allowed:g} s"
        return LimitReached(words=words)
    return LimitReached(
        words=f"the time limit of {timeout_seconds:g} s is over", options={"timeout_seconds": 2 * timeout_seconds}
    )


def _is_of_run(record: RunRecord) -> bool:
    """Whether a step ended a run since what was left of its time was of no use."""
    return record.error is not None and record.error.get("type") == GraphTimeout.__name__


async def _ran_out_of_time(store: Checkpointer, run_id: str) -> bool:
    """Whether the run as a whole ran out of time since it was resumed last, rather than one of its nodes."""
    statuses = [row.status for row in await store.step_rows(run_id, None) if not row.scope and not row.node]
    resumed = max((place for place, status in enumerate(statuses) if status in CLEARS_FAILURES), default=0)
    return not {StepStatus.TIMEOUT, StepStatus.TIMEOUT_UNHANDLED}.isdisjoint(statuses[resumed:])


def within_budget(router: ModelRouter, budget: Budget, stop: Callable[[str], Awaitable[None]]) -> ModelRouter:
    """The same models behind the budget. Without a reserve, `stop` asks for a run's cancellation and is awaited before
    the call that is held back; that call never returns, it ends with the run. `BudgetUnknowable` where no price is
    known."""
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


@dataclass(frozen=True, kw_only=True)
class SearchInTime:
    """A search that is not asked any more when the time for gathering is over."""

    provider: SearchProvider
    budget: Budget

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def serves(self) -> frozenset[str]:
        return self.provider.serves

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        async with _in_time(self.budget, Stage.GATHERING):
            return await self.provider.search(request)


@dataclass(frozen=True, kw_only=True)
class PagesInTime:
    """A reader that reads no page any more when the time for gathering is over."""

    pages: PageCache
    budget: Budget

    def is_kept(self, url: str) -> bool:
        return self.pages.is_kept(url)

    async def read(self, url: str) -> Page:
        async with _in_time(self.budget, Stage.GATHERING):
            return await self.pages.read(url)


@asynccontextmanager
async def _in_time(budget: Budget, stage: Stage) -> AsyncIterator[None]:
    """Cut what is done inside off at the end of the stage: `BudgetReached`."""
    left = budget.seconds_left(stage)
    if left == 0.0:
        raise budget.out_of_time(stage)
    try:
        async with asyncio.timeout(left) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise budget.out_of_time(stage) from error


def _by_code(answer: object) -> bool:
    """Whether a recorded answer was made in this process, which takes nothing of the budget."""
    return isinstance(answer, Mapping) and answer.get("model") == EXTRACTIVE


class _Budgeted(WrappedModel):
    def __init__(self, model: Model, budget: Budget, stop: Callable[[str], Awaitable[None]]) -> None:
        super().__init__(model)
        self._budget = budget
        self._stop = stop

    async def complete(self, request: ModelRequest) -> ModelReply:
        if self.in_process:
            return await self.model.complete(request)
        if self._budget.reserve is not None:
            return await self._within_stage(request)
        if self._budget.spent() is not None:
            await self._stop(self._budget.run_id)
            await asyncio.Event().wait()
        return await self._counted(request)

    async def _within_stage(self, request: ModelRequest) -> ModelReply:
        stage = stage_of(request.agent, request.role)
        asked = answered = 0
        if self._budget.max_tokens is not None or self._budget.max_cost is not None:
            asked, answered = count_tokens(request.system) + count_tokens(request.user), _ANSWER_TOKENS[stage]
        cost = self._budget.prices(self.spec, asked, answered) or 0.0
        with self._budget.spending(stage, asked + answered, cost):
            async with _in_time(self._budget, stage):
                return await self._counted(request)

    async def _counted(self, request: ModelRequest) -> ModelReply:
        began = self._budget.clock()
        try:
            reply = await self.model.complete(request)
        except AnswerWithheld as error:
            usage = Usage(input_tokens=error.input_tokens, output_tokens=error.output_tokens)
            self._budget.count(self.spec, usage, request.agent, request.role)
            raise
        self._budget.count_time(self._budget.clock() - began, reply.usage.output_tokens)
        cost = self._budget.count(reply.model, reply.usage, request.agent, request.role)
        return replace(reply, usage=replace(reply.usage, cost_usd=cost))
