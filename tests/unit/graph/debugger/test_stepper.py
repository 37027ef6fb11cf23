"""The debugger: stops, steps, breakpoints, inspection and going back, on live, stored and interrupted runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.debugger.breakpoints import BreakpointInvalid
from graph_research.graph.debugger.stepper import Debugger
from graph_research.graph.debugger.stops import NotPossible, Stop
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import InputInvalid, RunBusy
from graph_research.graph.events import NodeFinished, NodeStarted
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.crash_process import CHILD, PARENT
from tests.support.graph.harness import CLOCK, collect, graph_of, runtime, until
from tests.unit.graph.execution.test_resume import ASK
from tests.unit.graph.test_runtime import FORK, say


async def work(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    async def answer() -> dict[str, Any]:
        return {"text": handoff["word"].upper(), "input_tokens": 7, "output_tokens": 2}

    reply = await ctx.call("model", {"user": f"say {handoff['word']}"}, answer)
    return {"said": reply["text"]}


async def fail(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    raise LookupError("nothing there")


NESTED = graph_of(PARENT, {"child": CHILD}, work=work)
FAILING = """
    graph: failing
    version: "1"
    state: {n: {type: integer, default: 1, input: true}}
    start: first
    nodes:
      first: {set: {n: n + 1}}
      broken: {run: fail}
      done: {end: completed}
    edges: [{from: first, to: broken}, {from: broken, to: done}]
"""


def debugger_of(graph: Graph, store: Checkpointer, **more: Any) -> Debugger:
    numbers = count(1)
    return Debugger(graph, store, clock=CLOCK, new_run_id=lambda: f"new-{next(numbers)}", **more)


def at(stop: Stop) -> tuple[str, str, int]:
    return stop.reason, stop.event.path, stop.event.visit


async def test_a_new_run_is_held_before_its_first_node(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    stop = await debugger.begin({}, run_id="r")
    assert at(stop) == ("entry", "tick", 1)
    assert stop.live
    assert (await store.state("r"))["seen"] == []
    await debugger.close()


async def test_next_goes_node_by_node_and_step_stops_behind_each_too(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({}, run_id="r")
    assert at(await debugger.next()) == ("step", "tick", 2)
    behind = await debugger.step()
    assert isinstance(behind.event, NodeFinished)
    assert (await debugger.inspector.level()).state == {"n": 1, "seen": [3, 2]}
    assert at(await debugger.next()) == ("step", "tick", 3)
    assert at(await debugger.next())[0] == "end"
    assert (await store.run("r")).status == "completed"
    assert (await debugger.next()).note.startswith("run r is completed")


async def test_a_count_of_steps_ends_at_a_breakpoint_and_is_one_stop(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    debugger.triggers.add("tick:3")
    await debugger.begin({"n": 5}, run_id="r")
    assert at(await debugger.next(4)) == ("breakpoint", "tick", 3)
    assert at(await debugger.next(2)) == ("step", "tick", 5)
    assert at(await debugger.back(4)) == ("step", "tick", 1)
    assert await debugger.inspector.changes() == {"n": (1, 5), "seen": ([5, 4, 3, 2], [])}
    assert at(await debugger.step(3)) == ("step", "tick", 2)
    await debugger.close()


async def test_a_breakpoint_stops_at_one_visit_a_condition_where_it_becomes_true(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    debugger.triggers.add("tick:3")
    debugger.triggers.add("if n == 2")
    debugger.triggers.add("tick if n > 99")
    await debugger.begin({}, run_id="r")
    stop = await debugger.proceed()
    assert (at(stop), [str(one) for one in stop.hit]) == (("breakpoint", "tick", 2), ["if n == 2"])
    stop = await debugger.proceed()
    assert (at(stop), [str(one) for one in stop.hit]) == (("breakpoint", "tick", 3), ["tick:3"])
    assert (await debugger.proceed()).reason == "end"


async def test_hits_edges_guards_and_lines_are_stopped_at(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN)
    for text, hits, expected in [
        ("tick", 2, ("breakpoint", "tick", 2)),
        ("edge tick -> done", 1, ("breakpoint", "tick", 3)),
        ("guard tick -> tick", 1, ("breakpoint", "tick", 1)),
        ("test.yaml:11", 1, ("breakpoint", "tick", 3)),
        (":6", 3, ("breakpoint", "tick", 3)),
    ]:
        debugger = debugger_of(graph, store)
        debugger.triggers.add(text, hits=hits)
        await debugger.begin({})
        assert at(await debugger.proceed()) == expected, text
        await debugger.close()
        await store.delete(debugger.run_id)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tock", 'no node "tock".*did you mean "tick"'),
        ("edge tick -> tock", "no edge tick -> tock"),
        ("test.yaml:99", "nothing to stop at"),
        ("tick if nn > 1", 'no name "nn"'),
        ("tick if open('x')", "open"),
        ("", "empty breakpoint"),
    ],
)
async def test_a_breakpoint_that_nothing_answers_to_is_refused(store: Checkpointer, text: str, message: str) -> None:
    with pytest.raises(BreakpointInvalid, match=message):
        debugger_of(graph_of(COUNTDOWN), store).triggers.add(text)


async def test_subgraphs_are_stepped_into_over_and_out_of(store: Checkpointer) -> None:
    debugger = debugger_of(NESTED, store)
    assert at(await debugger.begin({}, run_id="r"))[1] == "ask_all"
    assert at(await debugger.into())[1] == "ask_all[0]/name"
    assert [(level.path, level.node) for level in await debugger.inspector.levels()] == [
        ("ask_all[0]/name", "name"),
        ("ask_all[0]", "ask_all"),
    ]
    assert await debugger.inspector.evaluate("word") == "a"
    assert await debugger.inspector.evaluate("rounds", 1) == 0
    assert at(await debugger.next())[1] == "ask_all[0]/say"
    assert at(await debugger.out())[1] == "ask_all"
    assert at(await debugger.next())[1] == "count"
    assert at(await debugger.next())[1:] == ("ask_all", 2)
    assert at(await debugger.next())[1:] == ("count", 2)
    await debugger.close()


async def test_edges_tell_why_they_hold_or_not_with_values(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({"n": 1}, run_id="r")
    stop = await debugger.step()
    assert isinstance(stop.event, NodeFinished)
    first, second = await debugger.inspector.edges()
    assert (first.holds, first.taken, first.values) == (False, False, {"n": 0})
    assert first.why == "when n > 0: no"
    assert (second.holds, second.taken, second.why) == (True, True, "no guard")


async def test_what_changed_since_the_last_stop_is_reported(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({}, run_id="r")
    await debugger.next()
    assert await debugger.inspector.changes() == {"n": (3, 2), "seen": ([], [3])}
    await debugger.back()
    assert await debugger.inspector.changes() == {"n": (2, 3), "seen": ([3], [])}
    await debugger.close()


async def test_a_watched_value_is_stopped_at_where_it_changes(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({}, run_id="r")
    await debugger.triggers.add_watch("n > 1")
    stop = await debugger.proceed()
    assert (at(stop), stop.note) == (("breakpoint", "tick", 3), "n > 1 has changed")
    await debugger.close()


async def test_back_reads_the_history_and_runs_nothing_again(store: Checkpointer) -> None:
    asked: list[str] = []

    async def counted(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        asked.append(handoff["word"])
        return await work(handoff, ctx)

    debugger = debugger_of(graph_of(PARENT, {"child": CHILD}, work=counted), store)
    debugger.triggers.add("sum_up")
    await debugger.begin({}, run_id="r")
    await debugger.proceed()
    before = len(asked)
    stop = await debugger.back()
    assert (stop.event.path, stop.live) == ("count", False)
    assert (await debugger.inspector.level()).state["rounds"] == 1
    assert at(await debugger.proceed()) == ("breakpoint", "sum_up", 1)
    assert len(asked) == before
    assert (await debugger.proceed()).reason == "end"
    assert len(asked) == before + 1


async def test_an_edit_may_be_written_as_json(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({})
    await debugger.assign("seen", '[{"odd": true, "even": null}]')
    assert await debugger.inspector.evaluate("[seen[0].odd, seen[0].even]") == [True, None]
    with pytest.raises(BreakpointInvalid, match="write True"):
        await debugger.assign("seen", "[true, n]")


async def test_an_edit_goes_on_as_a_fork_and_leaves_the_run_as_it_was(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({}, run_id="r")
    await debugger.next()
    stop = await debugger.assign("n", "n + 5")
    assert debugger.run_id == "new-1"
    assert (at(stop), stop.note) == (("step", "tick", 2), "forked from r at step 1")
    assert await debugger.inspector.evaluate("n") == 7
    await debugger.assign("seen", "[]")
    assert (debugger.run_id, await debugger.inspector.evaluate("[n, seen]")) == ("new-2", [7, []])
    await debugger.attach("new-1")
    assert (await debugger.proceed()).reason == "end"
    assert (await store.state("new-1"))["seen"] == [3, 7, 6, 5, 4, 3, 2, 1]
    assert (await store.state("r"))["seen"] == [3]


async def test_a_completed_run_is_stepped_through_from_its_start_and_forked_in_its_middle(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN)
    await runtime(graph, store).run({}, run_id="r")
    debugger = debugger_of(graph, store)
    assert at(await debugger.attach("r")) == ("entry", "tick", 1)
    assert not (await debugger.next()).live
    assert at(await debugger.goto(2)) == ("goto", "tick", 3)
    assert (await debugger.inspector.level()).state == {"n": 1, "seen": [3, 2]}
    assert at(await debugger.reverse()) == ("step", "tick", 1)
    with pytest.raises(NotPossible, match="history begins"):
        await debugger.back()
    assert at(await debugger.fork(0, {"n": 1})) == ("step", "tick", 1)
    assert await debugger.inspector.evaluate("n") == 1
    assert (await debugger.proceed()).reason == "end"
    assert (await store.state(debugger.run_id))["seen"] == [1]


@pytest.mark.parametrize(
    ("where", "hits", "stops"),
    [
        ("tick", 1, [6, 5, 4, 3, 2, 1]),
        ("tick if n == 5", 1, [2]),
        ("if n < 4", 1, [4]),
        ("tick", 4, [6, 5, 4]),
        ("edge tick -> tick", 1, [5, 4, 3, 2, 1]),
        ("guard tick -> done if n == 2", 1, [4]),
    ],
)
async def test_the_way_back_stops_where_the_way_on_would(
    store: Checkpointer, where: str, hits: int, stops: list[int]
) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({"n": 6}, run_id="r")
    assert (await debugger.proceed()).reason == "end"
    debugger.triggers.add(where, hits=hits)
    for visit in stops:
        stop = await debugger.reverse()
        assert (stop.reason, stop.event.visit or getattr(stop.event, "step", 0)) == ("breakpoint", visit), where
    if stops[-1] > 1:
        assert at(await debugger.reverse()) == ("step", "tick", 1)
    if hits > 1:
        assert at(await debugger.proceed()) == ("breakpoint", "tick", hits)


async def test_a_cut_run_goes_on_under_the_debugger(store: Checkpointer) -> None:
    await until(runtime(NESTED, store).stream({}, run_id="r"), NodeStarted, "ask_all[0]/say")
    debugger = debugger_of(NESTED, store)
    stop = await debugger.attach("r")
    assert stop.note == "run r is running"
    assert [level.node for level in await debugger.inspector.levels()][-1] == "ask_all"
    debugger.triggers.add("sum_up")
    assert at(await debugger.proceed()) == ("breakpoint", "sum_up", 1)
    assert (await debugger.proceed()).reason == "end"
    assert (await store.run("r")).status == "completed"


async def test_a_failure_is_stopped_at_and_can_be_tried_again(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(FAILING, fail=fail), store)
    await debugger.begin({}, run_id="r")
    assert at(await debugger.proceed()) == ("failure", "broken", 1)
    stop = await debugger.proceed()
    assert stop.reason == "end"
    mended = debugger_of(graph_of(FAILING, fail=work_nothing), store)
    assert "nothing there" in (await mended.attach("r")).note
    assert (await mended.resume()).reason == "end"
    assert (await store.run("r")).status == "completed"


async def work_nothing(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    return {}


async def test_a_question_is_stopped_at_and_answered(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(ASK), store)
    await debugger.begin({}, run_id="r")
    assert at(await debugger.proceed()) == ("question", "who", 1)
    assert at(await debugger.answer("you")) == ("step", "greet", 1)
    await debugger.proceed()
    assert (await store.state("r"))["greeting"] == "hello you"


async def test_restart_begins_a_new_run_with_the_same_input(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({"n": 2}, run_id="r")
    await debugger.proceed()
    assert at(await debugger.restart()) == ("entry", "tick", 1)
    assert debugger.run_id == "new-1"
    assert await debugger.inspector.evaluate("n") == 2
    await debugger.close()


async def test_a_run_that_another_drives_can_be_looked_at_and_not_moved(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN)
    driver = debugger_of(graph, store)
    await driver.begin({}, run_id="r")
    debugger = debugger_of(graph, store)
    await debugger.attach("r")
    assert await debugger.inspector.evaluate("n") == 3
    with pytest.raises(RunBusy):
        await debugger.next()
    await driver.close()


async def test_debugging_changes_nothing_of_what_a_run_does(store: Checkpointer) -> None:
    plain = await runtime(NESTED, store).run({}, run_id="r")
    hashes = {(step.path, step.visit, step.item): step.hash for step in await store.steps("r")}
    await store.delete("r")
    debugger = debugger_of(NESTED, store)
    stop = await debugger.begin({}, run_id="r")
    while stop.reason != "end":
        await debugger.inspector.levels()
        stop = await debugger.step()
    assert await store.state("r") == plain.state
    assert {(step.path, step.visit, step.item): step.hash for step in await store.steps("r")} == hashes
    assert await store.events("r") == await collect_stored(store, debugger)


async def collect_stored(store: Checkpointer, debugger: Debugger) -> list[Any]:
    """What an independent reader of the finished run is told, completed by its own end."""
    ended = await collect(runtime(debugger.graph, store).resume(debugger.run_id))
    stored = await store.events(debugger.run_id)
    assert stored[-1:] == ended
    return stored


async def test_a_pause_holds_a_run_at_its_next_event(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(COUNTDOWN), store)
    await debugger.begin({}, run_id="r")
    debugger.pause()
    assert (await debugger.proceed()).reason == "pause"
    assert (await debugger.proceed()).reason == "end"


async def test_branches_are_stopped_at_one_by_one_before_any_of_them_runs(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(FORK, say=say), store)
    await debugger.begin({}, run_id="r")
    first, second = await debugger.next(), await debugger.next()
    assert {first.event.path, second.event.path} == {"short", "long_1"}
    assert [step.node for step in await store.steps("r")] == ["split"]
    assert at(await debugger.next())[1] == "long_2"
    assert (await debugger.proceed()).reason == "end"


async def test_the_root_is_edited_from_inside_of_a_subgraph(store: Checkpointer) -> None:
    debugger = debugger_of(NESTED, store)
    debugger.triggers.add("ask_all[2]/say")
    await debugger.begin({}, run_id="r")
    await debugger.proceed()
    await debugger.assign("answer", '"from outside"')
    assert (await debugger.inspector.levels())[-1].state["answer"] == "from outside"
    debugger.triggers.remove(0)
    assert (await debugger.proceed()).reason == "end"
    assert (await store.run(debugger.run_id)).status == "completed"
    with pytest.raises(InputInvalid, match="no channel"):
        await debugger.fork(0, {"nonsense": 1})


SLOW = """
    graph: slow
    version: "1"
    state: {told: {type: string, default: ""}}
    start: ask
    nodes:
      ask: {run: ask, output: {into: {told: output.text}}}
      done: {end: completed}
      late: {end: aborted}
    edges: [{from: ask, to: done}, {from: ask, to: late, on: [timeout]}]
"""


class Slow:
    """A node whose one outside call is answered when the test says so."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answered = asyncio.Event()

    async def __call__(self, handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        async def answer() -> str:
            self.asked.set()
            await self.answered.wait()
            return "here"

        return {"text": await ctx.call("model", {"user": "hello"}, answer)}


async def test_a_pause_in_the_midst_of_a_long_call_holds_at_once_and_breaks_nothing_off(store: Checkpointer) -> None:
    slow = Slow()
    debugger = debugger_of(graph_of(SLOW, ask=slow), store)
    await debugger.begin({}, run_id="r")
    moving = asyncio.create_task(debugger.proceed())
    await slow.asked.wait()
    debugger.pause(at_once=True)
    stop = await moving
    assert at(stop) == ("pause", "ask", 1)
    assert stop.note == "ask:1 is at work for 0.0 s, a model call is under way for 0.0 s"
    assert await debugger.inspector.evaluate("told") == ""
    slow.answered.set()
    assert (await debugger.proceed()).reason == "end"
    assert (await store.state("r"))["told"] == "here"
    assert [call.status for call in await store.calls("r")] == ["answered"]


async def test_a_pause_tells_what_the_run_is_doing_and_holds_at_the_next_event(store: Checkpointer) -> None:
    slow = Slow()
    debugger = debugger_of(graph_of(SLOW, ask=slow), store)
    await debugger.begin({}, run_id="r")
    moving = asyncio.create_task(debugger.proceed())
    await slow.asked.wait()
    debugger.pause()
    assert [(work.path, [kind for kind, _ in work.calls]) for work in await debugger.inspector.work()] == [
        ("ask", ["model"])
    ]
    assert not moving.done()
    slow.answered.set()
    assert (await moving).reason == "pause"
    assert [(work.path, work.calls) for work in await debugger.inspector.work()] == [("ask", [])]
    await debugger.proceed()
    assert await debugger.inspector.work() == []


async def test_what_was_called_away_from_can_be_left_and_resumed(store: Checkpointer) -> None:
    slow = Slow()
    graph = graph_of(SLOW, ask=slow)
    debugger = debugger_of(graph, store)
    await debugger.begin({}, run_id="r")
    moving = asyncio.create_task(debugger.proceed())
    await slow.asked.wait()
    debugger.pause(at_once=True)
    await moving
    await debugger.close()
    slow.answered.set()
    await collect(runtime(graph, store).resume("r"))
    assert (await store.run("r")).status == "completed"


async def test_the_time_limit_counts_while_the_run_goes_on_and_takes_its_edge(store: Checkpointer) -> None:
    debugger = debugger_of(graph_of(SLOW, ask=Slow()), store, timeout_seconds=0.05)
    await debugger.begin({}, run_id="r")
    assert (await debugger.proceed()).reason == "end"
    record = await store.run("r")
    assert (record.status, record.cause) == ("aborted", "timeout")
