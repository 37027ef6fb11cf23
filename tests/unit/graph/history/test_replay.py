"""Replaying runs offline: whatever happened to a run, its recorded answers give every step's hash again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import pytest

from graph_research.errors import GraphResearchError
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.events import InputRequested, NodeStarted
from graph_research.graph.history.replay import Replayed, replay
from tests.support.graph.harness import collect, graph_of, runtime
from tests.unit.graph.history.test_fork import CHILD, PARENT, Asker, finished

TRIALS = """
    graph: trials
    version: "1"
    state:
      words: {type: array, default: [a, b, c]}
      log: {type: array, reduce: append, default: []}
      name: {type: string, default: ""}
      why: {type: string, default: ""}
    start: first
    nodes:
      first:
        run: flaky
        retry: {attempts: 3, on: [Refused], backoff: {initial_seconds: 0.001}}
        input: {with: {word: '"first"'}}
        output: {into: {log: "[output.word]"}}
      who: {ask: '"who?"', into: name, default: '"nobody"'}
      rest:
        each: words
        as: word
        run: slow
        input: {with: {word: word}}
        output: {into: {log: outputs}}
        pause: after
      done: {end: completed}
      note: {set: {why: error.type}}
      aborted: {end: aborted}
    edges:
      - {from: first, to: who}
      - {from: who, to: rest}
      - {from: rest, to: done}
      - {from: "*", to: note, on: [error, cancelled]}
      - {from: note, to: aborted}
"""


class Refused(Exception):
    """What the outside says now and then."""


class Outside:
    """Refuses the first `refusals` calls; `slow` never answers for "c" while `stuck`."""

    def __init__(self, refusals: int = 0, *, stuck: bool = False) -> None:
        self.refusals = refusals
        self.stuck = stuck

    async def flaky(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def fn() -> str:
            if self.refusals:
                self.refusals -= 1
                raise Refused("not now")
            return str(handoff["word"])

        return {"word": await ctx.call("ask", dict(handoff), fn) + ctx.now().isoformat()}

    async def slow(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def fn() -> str:
            if self.stuck and handoff["word"] == "c":
                raise KeyboardInterrupt("the process dies here")
            return str(handoff["word"])

        return {"word": await ctx.call("ask", dict(handoff), fn)}

    @property
    def handlers(self) -> Mapping[str, Any]:
        return {"flaky": self.flaky, "slow": self.slow}


async def _replayed(store: Checkpointer, run_id: str = "r", text: str = TRIALS, **options: Any) -> Replayed:
    """The replay, with an outside that must not be asked."""
    return await replay(store, graph_of(text, **_Silent().handlers), run_id, **options)


class _Silent(Outside):
    async def flaky(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"word": await ctx.call("ask", dict(handoff), self._ask) + ctx.now().isoformat()}

    async def slow(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"word": await ctx.call("ask", dict(handoff), self._ask)}

    async def _ask(self) -> str:
        raise AssertionError("a replay asks nobody")


async def test_a_finished_run_with_subgraphs_branches_and_loops_is_replayed_step_by_step(store: Checkpointer) -> None:
    await finished(store)
    asker = Asker()
    graph = graph_of(PARENT, {"child": CHILD}, asks=asker)
    steps = len(await store.steps("p"))
    assert await replay(store, graph, "p") == Replayed(steps=steps, identical=True, first_difference=None)
    fork = await runtime(graph, store).fork("p", (await store.steps("p"))[8].step, values={"n": 1}, new_run_id="f")
    await collect(runtime(graph, store).resume(fork))
    asker.asked.clear()
    replayed = await replay(store, graph, "f")
    assert replayed.identical, replayed
    assert (replayed.taken_over, replayed.steps) == (9, len(await store.steps("f")) - 9)
    assert asker.asked == []


async def test_retries_answers_and_pauses_come_out_the_same(store: Checkpointer) -> None:
    drive = runtime(graph_of(TRIALS, **Outside(2).handlers), store, interactive=True)
    assert isinstance((await collect(drive.stream({}, run_id="r")))[-1], InputRequested)
    waiting = await _replayed(store, interactive=True)
    assert waiting == Replayed(steps=3, identical=True, first_difference=None)
    await collect(drive.resume("r", answer="me"))
    await collect(drive.resume("r"))
    assert (await store.run("r")).status == "completed"
    replayed = await _replayed(store, interactive=True)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


async def test_a_run_that_failed_and_was_resumed_is_replayed_through_its_failure(store: Checkpointer) -> None:
    graph = graph_of(TRIALS, **Outside(4).handlers)
    await collect(runtime(graph, store).stream({}, run_id="r"))
    assert (await store.run("r")).status == "aborted"
    assert (await store.state("r"))["why"] == "Refused"
    assert (await _replayed(store)).identical
    for _ in range(2):
        await collect(runtime(graph, store).resume("r"))
    assert (await store.run("r")).status == "completed"
    replayed = await _replayed(store)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


@pytest.mark.parametrize("path", ["first", "who", "rest"])
async def test_a_cancelled_run_is_cancelled_again_at_the_same_place(store: Checkpointer, path: str) -> None:
    graph = graph_of(TRIALS, **Outside().handlers)
    async with aclosing(runtime(graph, store).stream({}, run_id="r")) as events:
        async for event in events:
            if isinstance(event, NodeStarted) and event.path == path:
                break
    await store.request_cancel("r")
    await collect(runtime(graph, store).resume("r"))
    assert (await store.run("r")).cause == "cancelled"
    replayed = await _replayed(store)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)
    for _ in range(2):
        await collect(runtime(graph, store).resume("r"))
    assert (await store.run("r")).status == "completed"
    assert (await _replayed(store)).identical


async def test_a_run_whose_process_was_killed_is_replayed_up_to_there(store: Checkpointer) -> None:
    graph = graph_of(TRIALS, **Outside(stuck=True).handlers)
    async with aclosing(runtime(graph, store).stream({}, run_id="r")) as events:
        async for event in events:
            if event.to_json().get("item") == 1:
                break
    assert (await store.run("r")).status == "running"
    assert await _replayed(store) == Replayed(steps=4, identical=True, first_difference=None)


async def test_the_first_difference_names_node_item_and_call(store: Checkpointer) -> None:
    graph = graph_of(TRIALS, **Outside().handlers)
    await collect(runtime(graph, store).stream({}, run_id="r"))
    await collect(runtime(graph, store).resume("r"))
    other = await _replayed(store, text=TRIALS.replace("{with: {word: word}}", "{with: {word: word + name}}"))
    assert (other.identical, other.steps) == (False, 2)
    assert other.first_difference is not None
    assert other.first_difference.node == "rest"
    assert (other.first_difference.item, other.first_difference.call) == (0, "ask")
    assert "anobody" in other.first_difference.difference
    changed = await _replayed(store, text=TRIALS.replace("{log: outputs}", "{log: '[len(outputs)]'}"))
    assert changed.first_difference is not None
    assert (changed.first_difference.node, changed.first_difference.call) == ("rest", None)
    assert "hash" in changed.first_difference.difference


COUNTED = """
    graph: counted
    version: "1"
    state: {n: {type: integer, default: 0}}
    start: add
    loops: {again: {most: 9}, other: {most: 9}}
    nodes:
      add: {set: {n: n + 1}}
      done: {end: completed}
    edges:
      - {from: add, to: add, when: n < 3, loop: LOOP}
      - {from: add, to: done}
"""


async def test_a_hash_covers_the_counters_of_loops_and_what_another_loop_counts_differs(store: Checkpointer) -> None:
    again, other = (graph_of(COUNTED.replace("LOOP", name)) for name in ("again", "other"))
    await runtime(again, store).run({}, run_id="a")
    await runtime(other, store).run({}, run_id="o")
    hashes = [[step.hash for step in await store.steps(run_id)] for run_id in ("a", "o")]
    assert [one == another for one, another in zip(*hashes, strict=True)] == [True, False, False]
    replayed = await replay(store, other, "a")
    assert (replayed.identical, replayed.steps) == (False, 1)


async def test_nothing_is_written_while_a_run_is_replayed(store: Checkpointer) -> None:
    await finished(store)
    row = await store.run_row("p")
    before = (await store.steps("p"), await store.calls("p"), await store.events("p"), row)
    await replay(store, graph_of(PARENT, {"child": CHILD}, asks=Asker()), "p")
    assert (await store.steps("p"), await store.calls("p"), await store.events("p"), await store.run_row("p")) == before


TIMED = """
    graph: timed
    version: "1"
    state: {log: {type: array, reduce: append, default: []}}
    start: slow
    nodes:
      slow:
        run: slow
        timeout_seconds: 0.05
        retry: {attempts: 2, backoff: {initial_seconds: 0.01}}
      sorry: {set: {log: "[error.type, error.message]"}}
      sub: {graph: child, timeout_seconds: 0.1, output: {into: {log: output.log}}}
      items:
        each: "['a', 'b']"
        at_once: 2
        run: slow
        timeout_seconds: 0.05
        on_item_error: keep_going
        input: {with: {word: item}}
        output: {into: {log: "[one.message for one in errors]"}}
      done: {end: completed}
    edges:
      - {from: slow, to: sub}
      - {from: slow, to: sorry, on: [timeout]}
      - {from: sorry, to: sub}
      - {from: sub, to: items}
      - {from: sub, to: items, on: [timeout]}
      - {from: items, to: done}
"""
SLOW_CHILD = """
    graph: child
    version: "1"
    state: {log: {type: array, reduce: append, default: [], output: true}}
    start: quick
    nodes:
      quick: {run: quick, output: {into: {log: "[output.word]"}}}
      slow: {run: slow}
      done: {end: completed}
    edges: [{from: quick, to: slow}, {from: slow, to: done}]
"""


@pytest.mark.parametrize("calls", [True, False])
async def test_a_node_out_of_time_is_so_again_at_once_and_at_the_same_place(store: Checkpointer, calls: bool) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    async def word() -> str:
        return "word"

    async def slow(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await ctx.call("ask", {"n": 1}, word)
        await (ctx.call("ask", {"n": 2}, never) if calls else never())
        return {}

    async def quick(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"word": await ctx.call("ask", {"n": 0}, word)}

    graph = graph_of(TIMED, {"child": SLOW_CHILD}, slow=slow, quick=quick)
    result = await runtime(graph, store).run({}, run_id="r")
    assert result.status == "completed", result.error
    late = "it took longer than its timeout_seconds"
    assert result.state["log"] == ["TimeoutError", late, late, late]
    patient = TIMED.replace("0.05", "60").replace("0.1,", "60,").replace("0.01", "60")
    async with asyncio.timeout(30):
        replayed = await replay(store, graph_of(patient, {"child": SLOW_CHILD}, slow=slow, quick=quick), "r")
    assert replayed.identical, replayed


FAILING_ITEMS = """
    graph: items
    version: "1"
    state: {why: {type: string, default: ""}}
    start: all
    nodes:
      all: {each: "[0, 1, 2]", at_once: 3, run: work, input: {with: {n: item}}}
      note: {set: {why: error.message}}
      done: {end: completed}
    edges:
      - {from: all, to: done}
      - {from: all, to: note, on: error}
      - {from: note, to: done}
"""


async def test_items_end_in_the_recorded_order_however_long_each_takes_in_the_replay(store: Checkpointer) -> None:
    """Item 0 ends, then 1 fails, which cancels 2."""
    first_ended = asyncio.Event()

    def graph(*, replays: bool) -> Any:
        async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
            if handoff["n"] == 0:
                for _ in range(50 if replays else 1):
                    await asyncio.sleep(0)
                first_ended.set()
                return {}
            if handoff["n"] == 1:
                if not replays:
                    await first_ended.wait()
                    await asyncio.sleep(0.05)
                raise ValueError("no")
            await asyncio.Event().wait()
            return {}

        return graph_of(FAILING_ITEMS, work=work)

    result = await runtime(graph(replays=False), store).run({}, run_id="r")
    assert (result.status, result.state["why"]) == ("completed", "no")
    assert [step.status for step in await store.steps("r")] == ["finished", "failed", "failed", "finished"]
    assert (await replay(store, graph(replays=True), "r")).identical


async def test_a_handler_that_waits_outside_of_its_context_ends_the_replay(store: Checkpointer) -> None:
    gate = asyncio.Event()
    gate.set()

    async def wait(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        await gate.wait()
        return {}

    text = """
        graph: waits
        version: "1"
        state: {}
        start: wait
        nodes: {wait: {run: wait}, done: {end: completed}}
        edges: [{from: wait, to: done}]
    """
    graph = graph_of(text, wait=wait)
    await collect(runtime(graph, store).stream({}, run_id="r"))
    gate.clear()
    replayed = await replay(store, graph, "r", stall_seconds=0.05)
    assert replayed.first_difference is not None
    assert replayed.first_difference.node == "wait"
    assert "not recorded" in replayed.first_difference.difference


async def test_the_time_after_a_call_that_failed_is_that_of_the_recorded_run(store: Checkpointer) -> None:
    async def first(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        async def refuse() -> None:
            raise Refused("not now")

        with contextlib.suppress(Refused, GraphResearchError):
            await ctx.call("outside", {}, refuse)
        return {"at": ctx.now().isoformat()}

    text = """
        graph: timed
        version: "1"
        state: {at: {type: string, default: ""}}
        start: first
        nodes: {first: {run: first, output: {into: {at: output.at}}}, done: {end: completed}}
        edges: [{from: first, to: done}]
    """
    graph = graph_of(text, first=first)
    await collect(runtime(graph, store).stream({}, run_id="r"))
    assert (await replay(store, graph, "r")).identical
