"""What of a run's limits is kept for writing, what is refused at the start, and how a budget divides what there is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.app.runs.limits.budget import Budget, SearchInTime, within_budget
from graph_research.app.runs.limits.estimate import LEAST_CALL_TOKENS, LEAST_CALLS, Shape, Stage
from graph_research.app.runs.limits.reserve import Limits, LimitTooSmall, Reserve, check_least, planned_within, stage_of
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.providers.errors import BudgetReached
from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage
from graph_research.providers.llm.model_data import Price, Prices
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.providers.search.base import SOURCE_TYPES, SearchHit, SearchRequest
from graph_research.research.llm.model_router import ModelRouter

LEAST_TOKENS = LEAST_CALLS * LEAST_CALL_TOKENS
PRICES = Prices({"dear": Price(input=10.0, output=30.0)})


def shape_of(model: str = "openai:dear", **inputs: Any) -> Shape:
    return Shape.of(inputs, [model], {}, PRICES)


@given(limit=st.floats(LEAST_TOKENS, 10_000_000), sub_queries=st.integers(1, 8))
def test_gathering_is_left_two_fifths_at_least_and_writing_the_rest(limit: float, sub_queries: int) -> None:
    shape = shape_of(max_sub_queries=sub_queries)
    parts = Reserve.of(shape, Limits(tokens=limit)).tokens
    assert 0.4 * limit - 1 <= parts[Stage.GATHERING] < parts[Stage.ANALYSIS] < parts[Stage.WRITING] == limit
    kept = limit - parts[Stage.GATHERING]
    needed = shape.stage(Stage.ANALYSIS).tokens + shape.stage(Stage.WRITING).tokens
    after_planning = max(limit - shape.stage(Stage.PLANNING).tokens, limit / 2)
    assert kept >= min(needed, 0.6 * after_planning) - 1


def test_what_is_not_limited_is_not_divided() -> None:
    reserve = Reserve.of(shape_of(), Limits(tokens=100_000))
    assert not reserve.cost
    assert not reserve.seconds(1.0)


@pytest.mark.parametrize(
    ("limits", "option"),
    [
        (Limits(tokens=LEAST_TOKENS - 1), "max_tokens"),
        (Limits(cost=0.0001), "max_cost"),
        (Limits(seconds=0.5), "timeout_seconds"),
    ],
)
def test_a_limit_too_small_for_any_report_is_refused_with_the_least_that_works(limits: Limits, option: str) -> None:
    with pytest.raises(LimitTooSmall, match="too little for any report") as caught:
        check_least(shape_of(), limits)
    assert caught.value.hint is not None
    enough = caught.value.hint.options[option]
    assert isinstance(enough, (int, float))
    check_least(shape_of(), Limits(**{{"max_tokens": "tokens", "max_cost": "cost"}.get(option, "seconds"): enough}))


def test_the_keyless_model_needs_no_tokens() -> None:
    check_least(shape_of("extractive"), Limits(tokens=1, cost=0.0))


def test_a_small_budget_plans_a_shorter_report_from_fewer_sub_queries() -> None:
    inputs = {"max_sub_queries": 5, "report_options": {"length": "long"}}
    changed, shape, said = planned_within(inputs, shape_of(**inputs), Limits(tokens=60_000))
    assert changed["report_options"]["length"] == "brief"
    assert changed["max_sub_queries"] == shape.sub_queries == 2
    assert said == (
        "a shorter report than was asked for, to keep within 60,000 tokens",
        "fewer sub-questions than were asked for, to keep within 60,000 tokens",
    )


def test_a_larger_budget_buys_a_longer_report() -> None:
    words = [planned_within({}, shape_of(), Limits(tokens=1_000 * n))[1].words for n in (80, 110, 130, 150, 200)]
    assert words == sorted(set(words))
    assert (words[0], words[-1]) == (650, shape_of().words)


def test_a_large_budget_changes_nothing() -> None:
    inputs = {"max_sub_queries": 5, "report_options": {"length": "long"}}
    changed, _, said = planned_within(inputs, shape_of(**inputs), Limits(tokens=2_000_000, cost=100.0))
    assert changed == inputs
    assert said == ()


def test_findings_are_compared_once_a_round_by_the_model_that_verifies() -> None:
    shape = Shape.of(
        {}, ["large"], {"verification": ["small"]}, lambda model, tokens_in, tokens_out: float(model == "small")
    )
    assert shape.stage(Stage.ANALYSIS).calls == 2
    assert shape.stage(Stage.ANALYSIS).cost == 1.0


def test_statements_are_verified_in_batches_and_two_sections_share_a_mending() -> None:
    standard, long = (shape_of(report_options={"length": length}) for length in ("standard", "long"))
    assert standard.words == 1_850
    assert standard.sections == 6
    assert standard.stage(Stage.VERIFICATION).calls == 6 + 1 + 3 + 1
    assert long.stage(Stage.VERIFICATION).calls == long.sections + 1 - (-long.sections // 2) + 1


@pytest.mark.parametrize(
    ("agent", "role", "stage"),
    [
        ("planner", "research", Stage.PLANNING),
        ("reflector", "reflection", Stage.GATHERING),
        ("extractor", "compression", Stage.GATHERING),
        ("supervisor", "research", Stage.GATHERING),
        ("analyzer", "research", Stage.ANALYSIS),
        ("section_writer", "report", Stage.WRITING),
        ("verifier", "verification", Stage.VERIFICATION),
    ],
)
def test_each_call_belongs_to_a_stage(agent: str, role: str, stage: Stage) -> None:
    assert stage_of(agent, role) == stage


def budget_of(tokens: int | None = None, seconds: float | None = None, **more: Any) -> Budget:
    limits = Limits(tokens=tokens, seconds=seconds)
    reserve = Reserve.of(shape_of(), limits)
    return Budget(run_id="r", max_tokens=tokens, seconds=seconds, reserve=reserve, **more)


async def ask(budget: Budget, agent: str, role: str, *, user: str = "u", model: Any = None) -> ModelReply:
    async def stop(run_id: str) -> None:
        raise AssertionError(f"{run_id} is not cancelled")

    router = within_budget(ModelRouter(default=(model or ScriptedModel({"*": ["{}"]}),)), budget, stop=stop)
    return await router.models(role)[0].complete(ModelRequest(agent=agent, role=role, system="", user=user))


async def test_gathering_is_refused_while_writing_is_not() -> None:
    budget = budget_of(100_000)
    budget.count("scripted", Usage(input_tokens=60_000))
    with pytest.raises(BudgetReached, match="gathering ended early, to keep within 100,000 tokens"):
        await ask(budget, "reflector", "reflection")
    await ask(budget, "outliner", "report")
    assert "no further round was made, to keep within" in str(budget.refuses_round())


ROUND = [("extractor", "compression", 6_000), ("analyzer", "research", 5_000), ("section_writer", "report", 12_000)]


def test_a_further_round_is_decided_on_by_what_the_first_took() -> None:
    small, large = budget_of(40_000), budget_of(60_000)
    assert large.reserve is not None
    estimated = large.reserve.tokens[Stage.GATHERING] - large.reserve.topic.tokens
    for agent, role, tokens in ROUND:
        small.count("scripted", Usage(input_tokens=tokens), agent, role)
        large.count("scripted", Usage(input_tokens=tokens), agent, role)
    assert large.tokens > estimated
    assert large.refuses_round() is None
    assert small.refuses_round() is not None


async def test_a_stage_of_which_a_call_was_held_back_is_estimated_as_before() -> None:
    budget = budget_of(60_000)
    for agent, role, tokens in ROUND:
        budget.count("scripted", Usage(input_tokens=tokens), agent, role)
    with pytest.raises(BudgetReached):
        await ask(budget, "section_writer", "report", user="word " * 100_000)
    assert budget.refuses_round() is not None


@pytest.mark.parametrize("limit", [40_000, 60_000])
def test_a_resumed_run_knows_what_its_rounds_took(limit: int) -> None:
    budget, resumed = budget_of(limit), budget_of(limit)
    for agent, role, tokens in ROUND:
        budget.count("scripted", Usage(input_tokens=tokens), agent, role)
    resumed.count_recorded(recorded(agent, role, tokens) for agent, role, tokens in ROUND)
    assert resumed.refuses_round() == budget.refuses_round()
    assert resumed.reserve == budget.reserve


def recorded(agent: str, role: str, tokens: int) -> CallRecord:
    return CallRecord(
        seq=1,
        path="node",
        visit=1,
        item=None,
        attempt=1,
        kind="model",
        request_hash="",
        status="answered",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=1.0,
        request={"agent": agent, "role": role},
        answer={"model": "scripted", "input_tokens": tokens, "output_tokens": 0},
    )


async def test_what_a_call_is_expected_to_take_counts_before_it_is_made() -> None:
    budget = budget_of(100_000)
    with pytest.raises(BudgetReached, match="parts of the report were written without a model"):
        await ask(budget, "outliner", "report", user="word " * 100_000)
    assert budget.tokens == 0


async def test_calls_that_are_under_way_count() -> None:
    budget = budget_of(100_000)
    slow = ScriptedModel({"*": [{"delay_seconds": 60, "text": "{}"}]}, sleep=lambda _: asyncio.Event().wait())  # type: ignore[arg-type,return-value]
    first = asyncio.create_task(ask(budget, "outliner", "report", user="word " * 60_000, model=slow))
    await asyncio.sleep(0)
    with pytest.raises(BudgetReached):
        await ask(budget, "outliner", "report", user="word " * 60_000)
    first.cancel()
    await asyncio.wait([first])
    await ask(budget, "outliner", "report", user="word " * 60_000)


async def test_a_model_in_this_process_takes_nothing_of_a_budget() -> None:
    budget = budget_of(100_000)
    budget.tokens = 100_000
    await ask(budget, "outliner", "report", model=replace(ScriptedModel({"*": ["{}"]}), in_process=True))
    assert budget.tokens == 100_000


class SlowSearch:
    name, serves = "slow", SOURCE_TYPES

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        await asyncio.Event().wait()
        raise AssertionError(request)


async def test_a_search_is_cut_off_when_the_time_for_gathering_is_over() -> None:
    times = [0.0]
    budget = budget_of(seconds=20.0, clock=lambda: times[-1])
    budget.start()
    times.append((budget.seconds_left(Stage.GATHERING) or 0) - 0.05)
    assert budget.seconds_left(Stage.GATHERING) == pytest.approx(0.05)
    search = SearchInTime(provider=SlowSearch(), budget=budget)
    request = SearchRequest(query="q", max_results=1, source_types=(), folders=())
    with pytest.raises(BudgetReached, match="gathering ended early, to keep within 20 s"):
        await search.search(request)
    times.append(times[-1] + 1)
    with pytest.raises(BudgetReached):
        await search.search(request)
    assert (budget.seconds_left(Stage.WRITING) or 0) > 0


async def test_slow_models_leave_gathering_less_time_and_writing_the_rest() -> None:
    times = [0.0]
    budget = budget_of(seconds=3_600.0, clock=lambda: times[-1])
    budget.start()
    before = budget.seconds_left(Stage.GATHERING)

    async def take_a_minute(_: float) -> None:
        times.append(times[-1] + 60)

    slow = ScriptedModel({"*": [{"delay_seconds": 60, "text": "{}"}]}, sleep=take_a_minute)
    await ask(budget, "planner", "research", model=slow)
    assert budget.slowness > 20
    assert before is not None
    assert before - 60 > (budget.seconds_left(Stage.GATHERING) or 0) >= 0.4 * 3_600 - 70
    assert budget.seconds_left(Stage.WRITING) == 3_600 - 60 - 10


def test_time_that_has_not_begun_is_not_limited() -> None:
    assert budget_of(seconds=20.0).seconds_left(Stage.GATHERING) is None
