"""A failure that was recorded counts after a crash: what failed is not tried again before the run has ended of it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.events import NodeFailed
from graph_research.graph.history.replay import replay
from tests.support.graph.harness import collect, end_of, graph_of, runtime, until

BESIDE = """
    graph: beside
    version: "1"
    state: {log: {type: array, reduce: append, default: []}}
    start: spread
    nodes:
      spread: {set: {}, fork: all}
      bad: {run: bad}
      slow: {run: slow, output: {into: {log: "[output.word]"}}}
      meet: {set: {}, join: [bad, slow]}
      done: {end: completed}
    edges:
      - {from: spread, to: bad}
      - {from: spread, to: slow}
      - {from: bad, to: meet}
      - {from: slow, to: meet}
      - {from: meet, to: done}
"""
MENDED = (
    BESIDE.replace("    edges:", "      mend: {set: {log: '[error.message]'}}\n    edges:")
    + "      - {from: bad, to: mend, on: [error]}\n      - {from: mend, to: done}\n"
)
CHILD = """
    graph: child
    version: "1"
    state: {word: {type: string, default: "", output: true}}
    start: bad
    nodes: {bad: {run: bad}, done: {end: completed}}
    edges: [{from: bad, to: done}]
"""


class Handlers:
    """`bad` fails, `slow` waits until it is let go; both are counted."""

    def __init__(self) -> None:
        self.entered: Counter[str] = Counter()
        self.let_go = asyncio.Event()

    async def bad(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        self.entered["bad"] += 1
        raise ValueError(f"no {ctx.attempt}")

    async def slow(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        self.entered["slow"] += 1
        await self.let_go.wait()
        return {"word": "slow"}

    def graph(self, text: str) -> Any:
        return graph_of(text, {"child": CHILD}, bad=self.bad, slow=self.slow)


async def test_a_branch_that_failed_beside_others_is_not_tried_again_after_a_crash(store: Checkpointer) -> None:
    handlers = Handlers()
    drive = runtime(handlers.graph(BESIDE), store)
    await until(drive.stream({}, run_id="r"), NodeFailed, "bad")
    handlers.let_go.set()
    end = end_of(await collect(drive.resume("r")))
    assert (end.status, end.error and end.error["message"]) == ("failed", "no 1")
    assert handlers.entered == {"bad": 1, "slow": 2}
    assert (await replay(store, drive.graph, "r")).identical


async def test_its_error_edge_is_taken_with_the_recorded_error(store: Checkpointer) -> None:
    handlers = Handlers()
    drive = runtime(handlers.graph(MENDED), store)
    await until(drive.stream({}, run_id="r"), NodeFailed, "bad")
    handlers.let_go.set()
    assert end_of(await collect(drive.resume("r"))).status == "completed"
    assert (await store.state("r"))["log"] == ["slow", "no 1"]
    assert handlers.entered["bad"] == 1
    assert (await replay(store, drive.graph, "r")).identical


async def test_a_run_that_has_failed_tries_it_again_when_it_is_resumed(store: Checkpointer) -> None:
    handlers = Handlers()
    handlers.let_go.set()
    drive = runtime(handlers.graph(BESIDE), store)
    await collect(drive.stream({}, run_id="r"))
    for tried in (2, 3):
        end = end_of(await collect(drive.resume("r")))
        assert end.error and end.error["message"] == f"no {tried}"
        assert handlers.entered == {"bad": tried, "slow": 1}
    assert (await replay(store, drive.graph, "r")).identical


async def test_a_fork_of_a_failed_run_tries_it_again(store: Checkpointer) -> None:
    handlers = Handlers()
    handlers.let_go.set()
    drive = runtime(handlers.graph(BESIDE), store)
    await collect(drive.stream({}, run_id="r"))
    last = (await store.run("r")).step
    await collect(drive.resume(await drive.fork("r", last)))
    assert handlers.entered == {"bad": 2, "slow": 1}


@pytest.mark.parametrize("each", ["", 'each: "[1]", '])
async def test_a_subgraph_that_failed_is_not_entered_again_after_a_crash(store: Checkpointer, each: str) -> None:
    handlers = Handlers()
    drive = runtime(handlers.graph(BESIDE.replace("bad: {run: bad}", f"bad: {{{each}graph: child}}")), store)
    path = "bad[0]/bad" if each else "bad/bad"
    await until(drive.stream({}, run_id="r"), NodeFailed, path)
    handlers.let_go.set()
    end = end_of(await collect(drive.resume("r")))
    assert end.status == "failed" and end.error and "no 1" in end.error["message"]
    assert handlers.entered["bad"] == 1
    end = end_of(await collect(drive.resume("r")))
    assert end.error and "no 2" in end.error["message"]
    assert handlers.entered["bad"] == 2
    assert (await replay(store, drive.graph, "r")).identical


TIMED = """
    graph: timed
    version: "1"
    state: {}
    start: spread
    nodes:
      spread: {set: {}, fork: all}
      bad: {run: bad, timeout_seconds: SECONDS}
      slow: {run: slow}
      meet: {set: {}, join: [bad, slow]}
      done: {end: completed}
    edges:
      - {from: spread, to: bad}
      - {from: spread, to: slow}
      - {from: bad, to: meet}
      - {from: slow, to: meet}
      - {from: meet, to: done}
"""


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize(("seconds", "status", "cause"), [(60, "failed", "error"), (0.01, "aborted", "timeout")])
async def test_the_kind_of_a_failure_is_stored_and_does_not_depend_on_its_message(
    store: Checkpointer, seconds: float, status: str, cause: str, interrupted: bool
) -> None:
    let_go = asyncio.Event()

    async def bad(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if seconds < 1:
            await asyncio.Event().wait()
        raise TimeoutError("it took longer than its timeout_seconds")

    async def slow(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await let_go.wait()
        return {}

    drive = runtime(graph_of(TIMED.replace("SECONDS", str(seconds)), bad=bad, slow=slow), store)
    events = drive.stream({}, run_id="r")
    if interrupted:
        await until(events, NodeFailed, "bad")
        events = drive.resume("r")
    let_go.set()
    end = end_of(await collect(events))
    assert (end.status, end.cause) == (status, cause)
    assert end.error and end.error["message"] == "it took longer than its timeout_seconds"
    assert (await replay(store, drive.graph, "r")).identical


async def test_the_traceback_of_a_handlers_error_is_logged_for_its_author(
    store: Checkpointer, caplog: pytest.LogCaptureFixture
) -> None:
    async def bad(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"word": handoff["absent"]}

    async def slow(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"word": "slow"}

    caplog.set_level(logging.DEBUG, "graph_research.graph")
    result = await runtime(graph_of(BESIDE, bad=bad, slow=slow), store).run({}, run_id="r")

    assert result.error and result.error["type"] == "KeyError"
    [record] = [record for record in caplog.records if record.name.startswith("graph_research.graph")]
    assert record.getMessage() == "node bad failed in attempt 1"
    assert 'return {"word": handoff["absent"]}' in caplog.text
