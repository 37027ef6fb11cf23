"""The dry run of a node shows the call that the run then makes, byte for byte, and writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.debugger.stepper import Debugger
from graph_research.graph.debugger.stops import NotPossible
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import NodeStarted
from graph_research.graph.loader import load_graph
from tests.support.graph.crash_process import CHILD, PARENT
from tests.support.graph.harness import graph_of, runtime, until
from tests.unit.graph.debugger.test_stepper import debugger_of, work


async def draw(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    """Asks with everything that a context derives: ids, random numbers, the time and texts."""
    request = {
        "user": f"say {handoff['word']}",
        "ids": [ctx.new_id("q"), ctx.new_id("q")],
        "random": ctx.random.random(),
        "at": ctx.now().isoformat(),
        "text": await ctx.get_text(ctx.put_text(handoff["word"] * 3)),
        "place": [ctx.run_id, ctx.path, ctx.node, ctx.visit, ctx.item, ctx.attempt, ctx.role, ctx.interactive],
    }
    ctx.emit("asking", about=handoff["word"])
    ctx.progress("asking")
    return {"said": await ctx.call("model", request, _answer)}


async def _answer() -> str:
    return "hello"


DRAWN = graph_of(PARENT, {"child": CHILD}, work=draw)

ITEMS = """
    graph: items
    version: "1"
    state: {words: {type: array, default: [a, b, c]}, said: {type: array, default: []}}
    start: ask
    nodes:
      ask: {each: words, as: word, run: work, input: {with: {word: word}}, output: {into: {said: outputs}}}
      done: {end: completed}
    edges: [{from: ask, to: done}]
"""


async def requests_of_dry_runs(debugger: Debugger, *paths: str) -> dict[tuple[str, int], Any]:
    """What the dry run shows before every node of `paths`, on the way to the end of the run."""
    requests = {}
    while (stop := await debugger.into()).reason != "end":
        if stop.event.path in paths:
            requests[stop.event.path, stop.event.visit] = (await debugger.inspector.dry_run()).request
    return requests


async def test_the_request_is_the_one_that_the_run_then_makes(store: Checkpointer) -> None:
    debugger = debugger_of(DRAWN, store)
    await debugger.begin({}, run_id="r")
    shown = await requests_of_dry_runs(debugger, "ask_all[2]/say", "sum_up")
    made = {(call.path, call.visit): call.request for call in await store.calls("r") if call.kind == "model"}
    assert list(shown) == [("ask_all[2]/say", 1), ("sum_up", 1)]
    assert shown == {place: made[place] for place in shown}


async def test_in_a_fork_the_request_is_that_of_the_run_it_comes_from(store: Checkpointer) -> None:
    await runtime(DRAWN, store).run({}, run_id="r")
    before = next(step.step for step in await store.steps("r") if step.node == "count" and step.visit == 2)
    debugger = debugger_of(DRAWN, store)
    await debugger.attach("r")
    stop = await debugger.fork(before)
    assert stop.event.path == "sum_up"
    shown = (await debugger.inspector.dry_run()).request
    await debugger.proceed()
    (made,) = [call.request for call in await store.calls(debugger.run_id) if call.path == "sum_up" and call.request]
    assert shown["ids"] == made["ids"]
    assert {**shown, "place": None} == {**made, "place": None}


async def test_every_item_of_a_fan_out_can_be_shown(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(ITEMS, work=draw), store)
    await debugger.begin({}, run_id="r")
    shown = [(await debugger.inspector.dry_run(item)).request for item in range(3)]
    await debugger.proceed()
    assert shown == [call.request for call in await store.calls("r") if call.kind == "model"]


async def test_after_a_failure_that_is_retried_the_next_attempt_is_shown(store: Checkpointer) -> None:
    async def first_fails(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        if ctx.attempt == 1:
            raise LookupError("nothing there")
        return await draw({"word": "a"}, ctx)

    node = "{run: only, retry: {attempts: 2, backoff: {initial_seconds: 0.001}}, output: {into: {said: output.said}}}"
    debugger = debugger_of(graph_of(SINGLE.replace("NODE", node), only=first_fails), store)
    debugger.triggers.failures = "all"
    await debugger.begin({}, run_id="r")
    assert (await debugger.proceed()).reason == "failure"
    shown = (await debugger.inspector.dry_run()).request
    await debugger.proceed()
    assert shown == (await store.calls("r"))[-1].request


async def test_nothing_is_written(store: Checkpointer) -> None:
    debugger = debugger_of(DRAWN, store)
    debugger.triggers.add("sum_up")
    await debugger.begin({}, run_id="r")
    await debugger.proceed()
    before = [await store.steps("r"), await store.calls("r"), await store.events("r"), await store.run("r")]
    heard: list[Any] = []
    debugger.listeners.append(heard.append)
    assert (await debugger.inspector.dry_run()).kind == "model"
    assert [await store.steps("r"), await store.calls("r"), await store.events("r"), await store.run("r")] == before
    assert heard == []
    assert (await debugger.proceed()).reason == "end"


async def test_a_handler_gets_the_types_that_the_graph_declares(store: Checkpointer) -> None:
    debugger = debugger_of(TYPED, store)
    await debugger.begin({"claim": Claim("tides", 2)}, run_id="r")
    dry_run = await debugger.inspector.dry_run()
    assert (dry_run.kind, dry_run.request) == ("model", {"user": "tides x 2"})
    assert dry_run.handoff == {"claim": {"text": "tides", "times": 2}}
    await debugger.close()


@dataclass(frozen=True)
class Claim:
    text: str
    times: int


async def judge(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    claim: Claim = handoff["claim"]
    return {"said": await ctx.call("model", {"user": f"{claim.text} x {claim.times}"}, _answer)}


def _typed() -> Graph:
    text = """\
graph: typed
version: "1"
state: {claim: {type: Claim, input: true}, said: {type: string, default: ""}}
start: judge
nodes:
  judge: {run: judge, input: {with: {claim: claim}}, output: {into: {said: output.said}}}
  done: {end: completed}
edges: [{from: judge, to: done}]
"""
    return load_graph("typed.yaml", text=text, handlers={"judge": judge}, types={"Claim": Claim})


TYPED = _typed()


async def test_a_node_that_makes_several_calls_at_once_shows_the_first(store: Checkpointer) -> None:
    async def several(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        async with asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(work({"word": str(number)}, ctx))
        return {}

    debugger = debugger_of(graph_of(ITEMS, work=several), store)
    await debugger.begin({}, run_id="r")
    assert (await debugger.inspector.dry_run()).request == {"user": "say 0"}
    await debugger.close()


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (None, "a `set` node makes no outside call"),
        ("nothing", "the node makes no outside call"),
        ("broken", "it fails: LookupError: nothing there"),
    ],
)
async def test_a_node_without_a_call_says_why(store: Checkpointer, handler: str | None, why: str) -> None:
    async def nothing(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        return {}

    async def broken(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        raise LookupError("nothing there")

    handlers = {"nothing": nothing, "broken": broken}
    node = {None: "{set: {n: n + 1}}"}.get(handler, f"{{run: {handler}}}")
    graph = graph_of(SINGLE.replace("NODE", node), **handlers)
    debugger = debugger_of(graph, store)
    await debugger.begin({}, run_id="r")
    dry_run = await debugger.inspector.dry_run()
    assert (dry_run.kind, dry_run.why) == (None, why)
    await debugger.close()


SINGLE = """
    graph: single
    version: "1"
    state: {n: {type: integer, default: 1}, said: {type: string, default: ""}}
    start: only
    nodes:
      only: NODE
      done: {end: completed}
    edges: [{from: only, to: done}]
"""


async def test_a_request_is_shown_for_a_run_that_was_cut(store: Checkpointer) -> None:
    await until(runtime(DRAWN, store).stream({}, run_id="r"), NodeStarted, "sum_up")
    debugger = debugger_of(DRAWN, store)
    await debugger.attach("r")
    shown = (await debugger.inspector.dry_run()).request
    await debugger.proceed()
    assert shown == next(call.request for call in await store.calls("r") if call.path == "sum_up" and call.request)


async def test_an_item_that_the_node_does_not_have_is_refused(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(ITEMS, work=draw), store)
    await debugger.begin({}, run_id="r")
    with pytest.raises(NotPossible, match="has 3 items, no item 3"):
        await debugger.inspector.dry_run(3)
    await debugger.close()
