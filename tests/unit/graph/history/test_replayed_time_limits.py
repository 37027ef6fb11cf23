"""The time of a whole graph, replayed: what was out of time is so again at the same place, and nothing else ever is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import StoreDamaged
from graph_research.graph.events import NodeFinished
from graph_research.graph.history.replay import Replayed, replay
from graph_research.graph.state.rows import Write
from tests.support.graph.harness import collect, graph_of, runtime
from tests.support.graph.scenarios import TEXTS, Outside, Refused, construct, driver

FAILURES: Mapping[str, Callable[[str], Exception]] = {"Refused": Refused}
PARENT = """
    graph: parent
    version: "1"
    state: {log: {type: array, reduce: append, default: []}}
    start: sub
    nodes:
      sub: {graph: child, output: {into: {log: output.log}}}
      sorry: {set: {log: "[error.message]"}}
      after: {run: quick, output: {into: {log: "[output.word]"}}}
      done: {end: completed}
    edges:
      - {from: sub, to: after}
      - {from: sub, to: sorry, on: error}
      - {from: sorry, to: after}
      - {from: after, to: done}
"""
EACH = PARENT.replace(
    "sub: {graph: child, output: {into: {log: output.log}}}",
    "sub: {each: '[0, 1, 2]', at_once: 3, graph: child, on_item_error: keep_going, input: {with: {n: item}},"
    " output: {into: {log: 'outputs + [one.message for one in errors]'}}}",
)
TWICE = PARENT.replace("{graph: child, output", "{graph: child, retry: {attempts: 2}, output")
OVER = PARENT.replace("{graph: child, output", "{graph: middle, output")
PLAIN = """
    graph: plain
    version: "1"
    state: {log: {type: array, reduce: append, default: []}}
    start: sub
    nodes:
      sub: {graph: child, output: {into: {log: output.log}}}
      done: {end: completed}
    edges: [{from: sub, to: done}]
"""
MIDDLE = PARENT.replace("graph: parent", "graph: middle").replace("default: []}", "default: [], output: true}")
CHILD = """
    graph: child
    version: "1"
    limits: {seconds: 0.2}
    state:
      n: {type: integer, input: true, default: 0}
      log: {type: array, reduce: append, default: [], output: true}
    start: first
    nodes:
      first: {run: quick, output: {into: {log: "[output.word]"}}}
      spread: {set: {}, fork: all}
      second: {run: quick, output: {into: {log: "[output.word]"}}}
      slow: {run: slow, input: {with: {n: n}}}
      meet: {set: {}, join: [second, slow]}
      last: {run: quick, output: {into: {log: "[output.word]"}}}
      done: {end: completed}
    edges:
      - {from: first, to: spread}
      - {from: spread, to: second}
      - {from: spread, to: slow}
      - {from: second, to: meet}
      - {from: slow, to: meet}
      - {from: meet, to: last}
      - {from: last, to: done}
"""
LED_ON = f"{CHILD}      - {{from: slow, to: last, on: timeout}}\n"
LED_OUT = f'{CHILD}      - {{from: "*", to: aborted, on: timeout}}\n'.replace(
    "    edges:", "      aborted: {end: aborted}\n    edges:"
)
LED_WRONG = f"{CHILD}      - {{from: slow, to: last, on: timeout, when: 'log[9] > 1'}}\n"


class Handlers:
    """`slow` waits for what never comes where it `stalls`, in a call of its own or outside of any. In a replay it does
    not, and `second` takes longer than it."""

    def __init__(self, *, stalls: bool = True, calls: bool = True, replays: bool = False) -> None:
        self.stalls = stalls
        self.calls = calls
        self.replays = replays

    async def quick(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if self.replays and ctx.node == "second":
            for _ in range(50):
                await asyncio.sleep(0)
        return {"word": await ctx.call("ask", {"n": 0}, self._word) + ctx.new_id("x")}

    async def slow(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        stalls = self.stalls and handoff.get("n") != 1
        if self.calls:
            await ctx.call("ask", {"n": 1}, self._never if stalls else self._word)
        elif stalls and not self.replays:
            await self._never()
        return {}

    def graph(self, parent: str, child: str) -> Graph:
        return graph_of(parent, {"child": child, "middle": MIDDLE}, quick=self.quick, slow=self.slow)

    async def _word(self) -> str:
        if self.replays:
            raise AssertionError("a replay asks nobody")
        return "word"

    async def _never(self) -> str:
        await asyncio.Event().wait()
        return ""


async def _replayed(store: Checkpointer, parent: str, child: str, **options: Any) -> Replayed:
    async with asyncio.timeout(20):
        return await replay(store, Handlers(replays=True, **options).graph(parent, child), "r")


@pytest.mark.parametrize("calls", [True, False])
@pytest.mark.parametrize("child", [CHILD, LED_ON, LED_OUT, LED_WRONG], ids=["stands", "leads on", "leads out", "wrong"])
@pytest.mark.parametrize("parent", [PARENT, EACH, TWICE, OVER], ids=["alone", "each", "twice", "over"])
async def test_a_subgraph_out_of_time_is_so_again_at_the_same_place(
    store: Checkpointer, parent: str, child: str, calls: bool
) -> None:
    result = await runtime(Handlers(calls=calls).graph(parent, child), store).run({}, run_id="r")
    assert result.status == "completed", result.error
    patient = child.replace("seconds: 0.2", "seconds: 60")
    replayed = await _replayed(store, parent, patient, calls=calls)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


@pytest.mark.parametrize("parent", [PARENT, EACH, OVER], ids=["alone", "each", "over"])
async def test_a_subgraph_that_was_in_time_is_so_however_slow_the_replay_is(store: Checkpointer, parent: str) -> None:
    patient = CHILD.replace("seconds: 0.2", "seconds: 60")
    await runtime(Handlers(stalls=False).graph(parent, patient), store).run({}, run_id="r")
    replayed = await _replayed(store, parent, CHILD.replace("seconds: 0.2", "seconds: 0.000001"), stalls=False)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


@pytest.mark.parametrize("child", [CHILD, LED_OUT, LED_WRONG], ids=["stands", "leads out", "wrong"])
async def test_a_run_that_failed_for_lack_of_time_and_was_resumed_is_replayed_to_its_end(
    store: Checkpointer, child: str
) -> None:
    handlers = Handlers()
    drive = runtime(handlers.graph(PLAIN, child), store)
    assert (await drive.run({}, run_id="r")).status == "failed"
    assert (await _replayed(store, PLAIN, child)).identical
    handlers.stalls = False
    patient = child.replace("seconds: 0.2", "seconds: 60")
    await collect(runtime(handlers.graph(PLAIN, patient), store).resume("r", accept_changes=True))
    assert (await store.run("r")).status == "completed"
    replayed = await _replayed(store, PLAIN, patient)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


class _Ending(MemoryCheckpointer):
    """Ends the time of the run when `second` and `slow` have both been stored and the graph has not moved on."""

    end: Callable[[str], object]

    async def write(self, write: Write) -> None:
        await super().write(write)
        if any(step.node in ("second", "slow") for step in write.steps) and len(await self.steps("r")) == 4:
            self.end("r")


@pytest.mark.parametrize("child", [CHILD, LED_ON, LED_OUT, LED_WRONG], ids=["stands", "leads on", "leads out", "wrong"])
async def test_a_graph_out_of_time_between_the_results_of_its_branches_and_its_next_step_is_replayed(
    child: str,
) -> None:
    text = child.replace("seconds: 0.2", "seconds: 60")
    store, handlers = _Ending(), Handlers(stalls=False)
    drive = runtime(handlers.graph(text, CHILD), store)
    store.end = drive.time_out
    await drive.run({}, run_id="r")
    replayed = await _replayed(store, text, CHILD, stalls=False)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


class _Full(MemoryCheckpointer):
    """Has no room for what a failed subgraph leaves, once."""

    full = False

    async def write(self, write: Write) -> None:
        if not self.full and any((step.node, step.status) == ("sub", "failed") for step in write.steps):
            self.full = True
            raise StoreDamaged("the disk is full")
        await super().write(write)


async def test_a_subgraph_out_of_time_goes_on_when_its_node_had_not_noticed_before_the_process_died() -> None:
    store, handlers = _Full(), Handlers()
    drive = runtime(handlers.graph(PLAIN, CHILD), store)
    with pytest.raises(StoreDamaged):
        await drive.run({}, run_id="r")
    assert (await store.step_rows("r", "sub:1/"))[-1].status == "late"
    assert (await _replayed(store, PLAIN, CHILD)).identical
    handlers.stalls = False
    patient = CHILD.replace("seconds: 0.2", "seconds: 60")
    await collect(runtime(handlers.graph(PLAIN, patient), store).resume("r", accept_changes=True))
    assert (await store.run("r")).status == "completed"
    replayed = await _replayed(store, PLAIN, patient)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


@pytest.mark.parametrize("child", [CHILD, LED_ON, LED_OUT], ids=["stands", "leads on", "leads out"])
async def test_a_node_out_of_time_over_its_subgraph_is_replayed_when_the_run_went_on_after_it(
    store: Checkpointer, child: str
) -> None:
    parent = PLAIN.replace("{graph: child,", "{graph: child, timeout_seconds: 0.03,")
    handlers = Handlers()
    drive = runtime(handlers.graph(parent, child), store)
    assert (await drive.run({}, run_id="r")).status == "aborted"
    assert (await _replayed(store, parent, child)).identical
    handlers.stalls = False
    patient, patient_child = parent.replace("0.03", "60"), child.replace("seconds: 0.2", "seconds: 60")
    await collect(runtime(handlers.graph(patient, patient_child), store).resume("r", accept_changes=True))
    assert (await store.run("r")).status == "completed"
    replayed = await _replayed(store, patient, patient_child)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


@pytest.mark.parametrize("calls", [True, False])
@pytest.mark.parametrize("cause", ["timeout", "cancelled"])
async def test_a_graph_that_is_led_on_by_the_end_of_its_time_is_replayed(
    store: Checkpointer, cause: str, calls: bool
) -> None:
    text = LED_ON.replace("on: timeout", f"on: {cause}").replace("seconds: 0.2", "seconds: 60")
    drive = runtime(Handlers(calls=calls).graph(text, CHILD), store)
    async for event in drive.stream({}, run_id="r"):
        if isinstance(event, NodeFinished) and event.path == "second":
            await store.request_cancel("r") if cause == "cancelled" else drive.time_out("r")
    assert (await store.run("r")).status == "completed"
    replayed = await _replayed(store, text, CHILD, calls=calls)
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)


@pytest.mark.parametrize("name", TEXTS)
async def test_whatever_a_run_is_made_of_it_is_replayed_through_two_ends_of_its_time(name: str) -> None:
    for first, second in product(range(1, 29, 9), (1, 8)):
        store = MemoryCheckpointer()
        drive = driver(name, store, Outside())
        stream, events = drive.stream({}, run_id="r"), 0
        while (status := (await store.run("r")).status if events else "new") != "completed":
            async for _ in stream:
                events += 1
                if events in (first, first + second):
                    drive.time_out("r")
            replayed = await replay(store, construct(name, Outside()), "r", interactive=True, failures=FAILURES)
            assert replayed.identical, f"{replayed} of a run that was {status} after {first} and {second} events"
            asked = (await store.run("r")).status == "awaiting_input"
            stream = drive.resume("r", answer="me") if asked else drive.resume("r")
