"""Whatever a handler raises is its node's error, which can be read and stored; it never ends the program around it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.history.replay import replay
from graph_research.graph.statuses import CallStatus
from tests.support.graph.harness import graph_of, runtime

CALLING = """
    graph: calling
    version: "1"
    state: {said: {default: null}}
    start: work
    nodes:
      work: {run: work, output: {into: {said: output.said}}}
      mend: {set: {said: error.message}}
      done: {end: completed}
    edges:
      - {from: work, to: done}
      - {from: work, to: mend, on: [error]}
      - {from: mend, to: done}
"""
FAN = """
    graph: fan
    version: "1"
    state: {lost: {type: array, default: []}, kept: {type: array, default: []}}
    start: work
    nodes:
      work:
        run: work
        each: "[1, 2, 3]"
        as: number
        at_once: 2
        on_item_error: keep_going
        input: {with: {number: number}}
        output: {into: {kept: outputs, lost: errors}}
      done: {end: completed}
    edges: [{from: work, to: done}]
"""
STRAY = "a task that it awaits was cancelled, but not the run"


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


async def _await_a_cancelled_task() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    task.cancel()
    await task


async def _raise_in_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_raise(ValueError("no luck")))


async def _raise(problem: BaseException) -> None:
    raise problem


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (_Mute(), "its message cannot be read: RuntimeError"),
        (OSError("no file '\udcff'"), "no file '?'"),
        (
            ExceptionGroup("both", [ValueError("a"), KeyError("b")]),
            "both (2 sub-exceptions): ValueError: a; KeyError: 'b'",
        ),
        (asyncio.CancelledError(), STRAY),
    ],
    ids=["without words", "with a surrogate", "a group", "a stray cancellation"],
)
async def test_it_is_an_error_that_an_edge_takes(store: Checkpointer, problem: BaseException, message: str) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await _raise(problem)
        return {}

    graph = graph_of(CALLING, work=work)
    result = await runtime(graph, store).run({}, run_id="r")
    assert (result.status, result.state["said"]) == ("completed", message)
    assert (await replay(store, graph, "r")).identical


async def test_a_task_group_in_a_handler_tells_what_failed_in_it(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await _raise_in_group()
        return {}

    result = await runtime(graph_of(CALLING, work=work), store).run({})
    assert result.state["said"].endswith("(1 sub-exception): ValueError: no luck")


async def test_an_item_whose_task_was_cancelled_has_failed_and_the_others_have_not(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if handoff["number"] == 2:
            await _await_a_cancelled_task()
        return handoff

    result = await runtime(graph_of(FAN, work=work), store).run({})
    assert result.state["kept"] == [{"number": 1}, {"number": 3}]
    assert result.state["lost"] == [{"index": 1, "item": 2, "type": "CancelledError", "message": STRAY}]


async def test_a_call_whose_task_was_cancelled_has_failed_and_is_not_counted_as_paid_twice(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await ctx.call("ask", {}, _await_a_cancelled_task)
        return {}

    result = await runtime(graph_of(CALLING, work=work), store).run({}, run_id="r")
    assert result.state["said"] == STRAY
    assert [row.status for row in await store.call_rows("r", None)] == [CallStatus.FAILED]
    assert await store.lose_calls("r") == 0
