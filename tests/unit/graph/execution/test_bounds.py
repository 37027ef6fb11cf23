"""What a run may take in all, whatever its graph allows: nothing more is written, and no edge leads around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.errors import RunTooLarge
from graph_research.graph.execution.bounds import Bounds
from tests.support.graph.harness import graph_of, runtime

LOOPING = """
    graph: looping
    version: "1"
    state: {n: {type: integer, default: 0}, text: {type: string, default: TEXT}}
    start: tick
    loops: {on: {most: 100000}, again: {most: 100000}}
    nodes:
      tick: {set: {n: n + 1, text: text + "x"}}
      tock: {set: {n: n + 1}}
      done: {end: completed}
    edges:
      - {from: tick, to: tick, loop: on}
      - {from: tick, to: done}
      - {from: tock, to: tock, loop: again}
      - {from: tock, to: done}
      - {from: "*", to: tock, on: [error, timeout, cancelled]}
"""
FANNING = """
    graph: fanning
    version: "1"
    state: {rows: {type: array, default: ROWS}}
    start: all
    nodes:
      all: {run: work, each: rows, as: row, at_once: 10, on_item_error: keep_going, retry: {attempts: 3}}
      done: {end: completed}
    edges: [{from: all, to: done}, {from: "*", to: done, on: error}]
"""
WIDE = Bounds(steps=10_000, calls=10_000, characters=10_000_000)


def bounded(**least: int) -> Bounds:
    return Bounds(**{**vars(WIDE), **least})


async def fails(graph: str, bounds: Bounds, match: str, **handlers: Any) -> MemoryCheckpointer:
    """The store of a run that passes its bounds."""
    store = MemoryCheckpointer()
    with pytest.raises(RunTooLarge, match=match):
        await runtime(graph_of(graph, **handlers), store, bounds=bounds).run({}, run_id="r")
    return store


async def test_a_loop_ends_at_the_bound_of_steps_and_no_edge_for_errors_goes_on() -> None:
    store = await fails(LOOPING.replace("TEXT", "a"), bounded(steps=50), "50 steps")
    steps = await store.steps("r")
    assert (len(steps), {step.path for step in steps}) == (49, {"tick"})


async def test_a_run_that_is_driven_again_has_what_it_took_before() -> None:
    graph = graph_of(LOOPING.replace("TEXT", "a" * 3_000))
    store = MemoryCheckpointer()
    for bounds in (bounded(characters=40_000), bounded(characters=41_000)):
        driven = runtime(graph, store, bounds=bounds)
        with pytest.raises(RunTooLarge, match="stored characters"):
            if (await store.run_rows(None, None)) == []:
                await driven.run({}, run_id="r")
            else:
                async for _ in driven.resume("r"):
                    pass
    assert len(await store.steps("r")) < 14


async def test_calls_of_all_items_count_and_a_call_too_many_is_not_made() -> None:
    made: list[int] = []

    async def work(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        async def fetch() -> int:
            made.append(1)
            return 1

        for number in range(10):
            await ctx.call("search", {"item": ctx.item, "number": number}, fetch)
        return {}

    rows = str(list(range(100)))
    await fails(FANNING.replace("ROWS", rows), bounded(calls=55), "55 calls", work=work)
    assert len(made) <= 55


async def test_items_count_as_steps() -> None:
    worked: list[int] = []

    async def work(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        worked.append(1)
        return {}

    store = await fails(FANNING.replace("ROWS", str(list(range(1_000)))), bounded(steps=30), "30 steps", work=work)
    assert len(await store.steps("r")) == 29
    assert len(worked) < 60


async def test_a_run_within_its_bounds_completes() -> None:
    store = MemoryCheckpointer()
    text = LOOPING.replace("TEXT", "a").replace("100000", "20")
    assert (await runtime(graph_of(text), store, bounds=WIDE).run({}, run_id="r")).status == "completed"
