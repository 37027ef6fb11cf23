"""What model calls took, as the rows of the state's `usage` channel."""

from __future__ import annotations

import asyncio
from typing import Any

from graph_research.research.llm.usage import count, counting, usage_rows


def answer(role: str, tokens: int, cost: float | None) -> dict[str, Any]:
    told = {"role": role, "input_tokens": tokens, "output_tokens": tokens // 10}
    return told if cost is None else {**told, "cost_usd": cost}


def test_rows_are_the_same_whatever_order_the_answers_came_in() -> None:
    paid = ((70, 0.1), (10, 0.2), (0, 0.3))
    answers = [answer("research", 30, 0.5), *(answer("report", tokens, cost) for tokens, cost in paid)]
    rows = usage_rows(answers, "gather[2]/reflect")
    assert rows == usage_rows(answers[::-1], "gather[2]/reflect")
    assert rows[0] == {
        "phase": "gather",
        "role": "report",
        "calls": 3,
        "input_tokens": 80,
        "output_tokens": 8,
        "cost_usd": 0.6,
    }
    assert [row["role"] for row in rows] == ["report", "research"]


def test_a_cost_is_unknown_where_the_price_of_one_call_is() -> None:
    assert usage_rows([answer("report", 70, 0.1), answer("report", 70, None)], "write")[0]["cost_usd"] is None


def test_a_refused_prompt_took_nothing_and_costs_nothing() -> None:
    assert usage_rows([answer("report", 70, 0.1), answer("report", 0, None)], "write")[0]["cost_usd"] == 0.1


def test_an_answer_that_an_earlier_call_had_is_no_call() -> None:
    answers = [answer("report", 70, 0.1), {**answer("report", 0, None), "shared": True}]
    assert usage_rows(answers, "gather")[0] | {"cost_usd": 0.1, "calls": 1} == usage_rows(answers, "gather")[0]


async def test_calls_of_tasks_begun_inside_are_counted_and_others_are_not() -> None:
    async def one() -> None:
        count(answer("report", 1, 0.0))

    await one()
    with counting() as answers:
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(one())
    await one()
    assert len(answers) == 3
