"""A fan-out that failed is replayed with what ended beside the item that failed, and no further."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.events import ItemFinished
from graph_research.graph.history.replay import replay
from tests.support.graph.harness import collect, graph_of, runtime

FAN = """
    graph: fan
    version: "1"
    state:
      numbers: {type: array, default: [0, 1, 2, 3, 4]}
      kept: {type: array, default: []}
      why: {type: string, default: ""}
    start: all
    nodes:
      all:
        run: work
        each: numbers
        as: number
        at_once: 3
        input: {with: {number: number}}
        output: {into: {kept: outputs}}
        retry: {attempts: 2, backoff: {initial_seconds: 0.001}}
      note: {set: {why: error.message}}
      done: {end: completed}
    edges:
      - {from: all, to: done}
      - {from: all, to: note, on: [error]}
      - {from: note, to: done}
"""
CHILD = """
    graph: child
    version: "1"
    state: {number: {type: integer, input: true}, twice: {type: integer, default: 0, output: true}}
    start: first
    nodes:
      first: {set: {twice: number * 2}}
      work: {run: work, input: {with: {number: number}}}
      done: {end: completed}
    edges: [{from: first, to: work}, {from: work, to: done}]
"""
NESTED = FAN.replace("run: work", "graph: child")
WITHOUT_NOTE = "\n".join(line for line in FAN.splitlines() if "note" not in line)


class Worker:
    """Fails for some numbers as often as said, after as many turns of the event loop as said."""

    def __init__(self, failures: Mapping[int, int], turns: Mapping[int, int]) -> None:
        self.failures = Counter(failures)
        self.turns = turns

    async def __call__(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        number = handoff["number"]
        if not await ctx.call("outside", {"number": number}, lambda: self._outside(number)):
            raise ValueError(f"no {number}")
        return handoff

    async def _outside(self, number: int) -> bool:
        for _ in range(self.turns.get(number, 0)):
            await asyncio.sleep(0)
        self.failures[number] -= 1
        return self.failures[number] < 0


@pytest.mark.parametrize("text", [FAN, NESTED], ids=["handler", "subgraph"])
@pytest.mark.parametrize(
    ("failures", "turns"),
    [
        ({0: 2}, {}),
        ({1: 2}, {}),
        ({1: 2}, {0: 9, 2: 1}),
        ({0: 2, 2: 2}, {0: 3}),
        ({0: 1, 1: 2, 2: 2}, {2: 5}),
    ],
)
async def test_what_ended_beside_a_failed_item_is_replayed(
    store: Checkpointer, text: str, failures: Mapping[int, int], turns: Mapping[int, int]
) -> None:
    graph = graph_of(text, {"child": CHILD}, work=Worker(failures, turns))
    assert (await runtime(graph, store).run({}, run_id="r")).status == "completed"
    replayed = await replay(store, graph, "r")
    assert replayed.identical, replayed.first_difference


async def test_a_fan_out_that_failed_and_was_resumed_is_replayed_as_far_as_it_came(store: Checkpointer) -> None:
    graph = graph_of(WITHOUT_NOTE, work=Worker({1: 4}, {3: 1}))
    driver = runtime(graph, store)
    assert (await driver.run({}, run_id="r")).status == "failed"
    assert (await replay(store, graph, "r")).identical
    await collect(driver.resume("r"))
    assert (await driver.result("r")).status == "failed"
    assert (await replay(store, graph, "r")).identical
    async with aclosing(driver.resume("r")) as events:
        async for event in events:
            if isinstance(event, ItemFinished):
                break
    assert (await driver.result("r")).status == "running"
    assert (await replay(store, graph, "r")).identical
    await collect(driver.resume("r"))
    assert (await driver.result("r")).status == "completed"
    assert (await replay(store, graph, "r")).identical
