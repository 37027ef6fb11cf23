"""The runtime on small graphs: every kind of node, edge and loop, and what a run tells about itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from textwrap import dedent
from typing import Any

import pytest

from graph_research import load_graph
from graph_research.errors import NameInvalid
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.errors import InputInvalid, RunBusy, RunExists, UnknownRun
from graph_research.graph.events import (
    EdgeTaken,
    Event,
    ItemFinished,
    NodeFailed,
    NodeStarted,
    Note,
    Progress,
    RunEnded,
    driven_seconds,
)
from graph_research.graph.registry import Registry
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.harness import Texts, collect, end_of, graph_of, runtime, until


async def test_a_set_node_sees_the_state_before_it_and_a_loop_ends(store: Checkpointer) -> None:
    result = await runtime(graph_of(COUNTDOWN), store).run({})
    assert (result.status, result.state) == ("completed", {"n": 0, "seen": [3, 2, 1]})


@pytest.mark.requirement("1.2")
async def test_a_loop_stops_at_its_bound_and_the_next_edge_is_taken(store: Checkpointer) -> None:
    result = await runtime(graph_of(COUNTDOWN.replace("most: 10", "most: 2")), store).run({"n": 9})
    assert result.state["seen"] == [9, 8, 7]


async def test_events_are_numbered_without_gaps_and_the_stored_ones_equal_those_shown(store: Checkpointer) -> None:
    events = await collect(runtime(graph_of(COUNTDOWN), store).stream({}, run_id="r"))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert await store.events("r") == events
    assert await store.events("r", after=4) == events[4:]
    assert [event.type for event in events[:4]] == ["run_started", "node_started", "node_finished", "edge_taken"]
    assert end_of(events).status == "completed"


async def test_nothing_is_shown_before_it_is_stored(store: Checkpointer) -> None:
    async for event in runtime(graph_of(COUNTDOWN), store).stream({}, run_id="r"):
        assert event in await store.events("r")


async def test_a_run_whose_stream_was_left_by_break_can_be_resumed_at_once(store: Checkpointer) -> None:
    driver = runtime(graph_of(COUNTDOWN), store)
    async for event in driver.stream({}, run_id="r"):
        if event.type == "edge_taken":
            break
    async for event in driver.resume("r"):
        if event.type == "edge_taken":
            break
    assert end_of(await collect(driver.resume("r"))).status == "completed"
    assert (await store.state("r"))["seen"] == [3, 2, 1]


class SecondByEvent:
    """A clock that is a second later each time it is read."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def monotonic(self) -> float:
        return 0.0


async def test_the_drives_of_a_run_count_each_by_its_own_clock(store: Checkpointer) -> None:
    noon, graph = datetime(2026, 1, 1, 12, tzinfo=UTC), graph_of(COUNTDOWN)
    await until(runtime(graph, store, clock=SecondByEvent(noon)).stream({}, run_id="r"), EdgeTaken)
    first = driven_seconds(await store.events("r"))
    an_hour_slow = SecondByEvent(noon - timedelta(hours=1))
    resumed = await collect(runtime(graph, store, clock=an_hour_slow).resume("r"))
    second = (resumed[-1].at - resumed[0].at).total_seconds()
    assert min(first, second) > 0
    assert driven_seconds(await store.events("r")) == first + second


async def test_a_run_whose_stream_is_still_held_is_busy(store: Checkpointer) -> None:
    driver = runtime(graph_of(COUNTDOWN), store)
    async with aclosing(driver.stream({}, run_id="r")) as events:
        async for _ in events:
            break
        with pytest.raises(RunBusy):
            await collect(driver.resume("r"))
    assert end_of(await collect(driver.resume("r"))).status == "completed"


async def test_a_slow_consumer_holds_the_run_up(store: Checkpointer) -> None:
    async with aclosing(runtime(graph_of(COUNTDOWN), store).stream({}, run_id="r")) as events:
        first = await anext(events)
        for _ in range(20):
            await asyncio.sleep(0)
        stored = await store.events("r")
        assert first.type == "run_started"
        assert len(stored) == 2, "the first commit only: the node does not run before its start was taken"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"m": 1}, 'channel "m" of graph "countdown" does not exist'),
        ({"seen": []}, 'channel "seen" of graph "countdown" is not an input'),
        ({"n": "x"}, 'input "n" of graph "countdown": "x" is not of type integer'),
    ],
)
async def test_a_wrong_input_is_named_before_anything_runs(
    store: Checkpointer, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputInvalid, match=words):
        await runtime(graph_of(COUNTDOWN), store).run(given, run_id="r")
    assert await store.runs() == []


async def test_a_graph_that_declares_no_input_takes_a_value_for_any_channel(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN.replace("input: true", "input: false"))

    result = await runtime(graph, store).run({"n": 1, "seen": ["before"]}, run_id="r")

    assert result.state["seen"] == ["before", 1]


async def test_a_missing_input_is_named(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN.replace("default: 3, input: true", "input: true"))
    with pytest.raises(InputInvalid, match='needs "n"'):
        await runtime(graph, store).run({})


async def test_an_id_is_used_once_and_must_be_a_name(store: Checkpointer) -> None:
    drive = runtime(graph_of(COUNTDOWN), store)
    await drive.run({}, run_id="r")
    with pytest.raises(RunExists, match="r exists already"):
        await drive.run({}, run_id="r")
    for wrong in ("../r", ""):
        with pytest.raises(NameInvalid):
            await drive.run({}, run_id=wrong)
        with pytest.raises(NameInvalid):
            await drive.create({}, run_id=wrong)
        with pytest.raises(NameInvalid):
            await drive.fork("r", 1, new_run_id=wrong)
    with pytest.raises(UnknownRun):
        await collect(drive.resume("other"))


async def test_one_run_is_driven_by_one_at_a_time(store: Checkpointer) -> None:
    drive = runtime(graph_of(COUNTDOWN), store)
    async with aclosing(drive.stream({}, run_id="r")) as events:
        await anext(events)
        with pytest.raises(RunBusy, match=r"process [0-9]+"):
            await collect(drive.resume("r"))
        with pytest.raises(RunBusy):
            await store.delete("r")


# Handlers

SHOUT = """
    graph: shout
    version: "1"
    state: {text: {type: string, input: true}, loud: {type: string}, failed: {type: object}}
    start: shout
    nodes:
      shout:
        run: shout
        input: {with: {text: text}}
        output: {into: {loud: output.text}}
        retry: {attempts: 3, on: [ValueError], backoff: {initial_seconds: 0.001}}
        timeout_seconds: 5
      note: {set: {failed: error}}
      done: {end: completed}
      broken: {end: failed}
    edges:
      - {from: shout, to: done}
      - {from: shout, to: note, on: [error, timeout]}
      - {from: note, to: broken}
"""


async def test_a_handler_gets_its_handoff_and_its_output_goes_to_the_channels(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        ctx.emit("heard", text=handoff["text"])
        ctx.progress("shouting", part=1)
        return {"text": f"{handoff['text'].upper()} {ctx.node} {ctx.visit} {ctx.attempt}"}

    events = await collect(runtime(graph_of(SHOUT, shout=shout), store).stream({"text": "hi"}, run_id="r"))
    assert (await store.state("r"))["loud"] == "HI shout 1 1"
    notes = [event for event in events if isinstance(event, Note)]
    assert [(note.name, note.data, note.path) for note in notes] == [("heard", {"text": "hi"}, "shout")]
    shown = [event for event in events if isinstance(event, Progress)]
    assert [(event.seq, event.data) for event in shown] == [(None, {"part": 1})]
    assert await store.events("r") == [event for event in events if event.seq is not None]


async def test_a_handler_cannot_change_the_state_through_its_handoff(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        handoff["words"].append("sneaky")
        return {"text": "x"}

    text = SHOUT.replace("{text: text}}", "{words: words}}").replace(
        "state: {", "state: {words: {type: array, default: [a]}, "
    )
    result = await runtime(graph_of(text, shout=shout), store).run({"text": "hi"})
    assert result.state["words"] == ["a"]


async def test_attempts_without_a_wait_are_made_as_often_as_one_likes(store: Checkpointer) -> None:
    attempts: list[int] = []

    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        attempts.append(ctx.attempt)
        raise ValueError("never")

    text = SHOUT.replace("attempts: 3", "attempts: 1100").replace("initial_seconds: 0.001", "initial_seconds: 0")
    result = await runtime(graph_of(text, shout=shout), store).run({"text": "hi"})
    assert (result.status, attempts[-1]) == ("failed", 1100)
    assert result.state["failed"]["message"] == "never"


async def test_a_failing_attempt_is_made_again_as_often_as_allowed(store: Checkpointer) -> None:
    attempts: list[int] = []

    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        attempts.append(ctx.attempt)
        if len(attempts) < 3:
            raise ValueError("not yet")
        return {"text": "X"}

    events = await collect(runtime(graph_of(SHOUT, shout=shout), store).stream({"text": "hi"}, run_id="r"))
    assert attempts == [1, 2, 3]
    assert [event.will_retry for event in events if isinstance(event, NodeFailed)] == [True, True]
    assert [(step.status, step.attempt) for step in await store.steps("r")] == [
        ("retried", 1),
        ("retried", 2),
        ("finished", 3),
    ]


async def test_an_error_that_asks_to_be_left_alone_is_given_the_time(store: Checkpointer) -> None:
    class Busy(ValueError):
        retry_after_seconds = 0.1

    moments: list[float] = []

    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        moments.append(time.monotonic())
        if len(moments) < 2:
            raise Busy("later")
        return {"text": "X"}

    await runtime(graph_of(SHOUT, shout=shout), store).run({"text": "hi"})
    assert moments[1] - moments[0] >= 0.1


async def test_an_error_that_is_not_listed_goes_over_the_error_edge_at_once(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        raise KeyError("nope")

    result = await runtime(graph_of(SHOUT, shout=shout), store).run({"text": "hi"})
    expected = {"node": "shout", "visit": 1, "type": "KeyError", "message": "'nope'", "attempts": 1}
    assert result.state["failed"] == expected
    assert (result.status, result.cause, result.error) == ("failed", "error", expected)


@pytest.mark.requirement("6.2")
async def test_an_attempt_that_takes_too_long_is_a_timeout(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    graph = graph_of(SHOUT.replace("timeout_seconds: 5", "timeout_seconds: 0.01"), shout=shout)
    result = await runtime(graph, store).run({"text": "hi"})
    assert (result.status, result.cause, result.state["failed"]["type"]) == ("failed", "timeout", "TimeoutError")


async def test_without_an_edge_for_it_an_error_ends_the_run_failed(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        raise KeyError("nope")

    text = SHOUT.replace("      - {from: shout, to: note, on: [error, timeout]}\n", "").replace(
        "      - {from: note, to: broken}\n", ""
    )
    for line in ("      note: {set: {failed: error}}\n", "      broken: {end: failed}\n"):
        text = text.replace(line, "")
    events = await collect(runtime(graph_of(text, shout=shout), store).stream({"text": "hi"}, run_id="r"))
    assert (end_of(events).status, end_of(events).cause) == ("failed", "error")
    record = await store.run("r")
    assert (record.status, record.nodes) == ("failed", ("shout",))
    assert record.error is not None and record.error["type"] == "KeyError"


async def test_an_output_of_the_wrong_type_is_refused_by_its_channel(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"text": 7}

    result = await runtime(graph_of(SHOUT, shout=shout), store).run({"text": "hi"})
    assert result.state["failed"]["type"] == "HandoffInvalid"
    assert result.state["loud"] is None


# Fan-out and subgraphs

FAN = """
    graph: fan
    version: "1"
    state:
      words: {type: array, input: true}
      loud: {type: array, reduce: append, default: []}
      lost: {type: array, default: []}
    start: shout
    nodes:
      shout:
        each: words
        as: word
        at_once: 2
        run: shout
        on_item_error: keep_going
        input: {with: {word: word, index: index}}
        output: {into: {loud: outputs, lost: errors}}
      done: {end: completed}
    edges: [{from: shout, to: done}]
"""


async def test_results_stand_in_the_order_of_the_items_and_few_run_at_once(store: Checkpointer) -> None:
    running, most = 0, 0

    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5 - handoff["index"]):
            await asyncio.sleep(0)
        running -= 1
        return {"word": handoff["word"].upper(), "item": ctx.item, "path": ctx.path}

    result = await runtime(graph_of(FAN, shout=shout), store).run({"words": ["a", "b", "c", "d"]}, run_id="r")
    assert [loud["word"] for loud in result.state["loud"]] == ["A", "B", "C", "D"]
    assert [loud["item"] for loud in result.state["loud"]] == [0, 1, 2, 3]
    assert result.state["loud"][2]["path"] == "shout[2]"
    assert most == 2
    items = [step for step in await store.steps("r") if step.item is not None]
    assert {(step.item, step.status) for step in items} == {(item, "finished") for item in range(4)}


@pytest.mark.parametrize("width", [1, 3])
async def test_the_number_of_items_at_once_may_come_from_an_input_channel(store: Checkpointer, width: int) -> None:
    running, most = 0, 0

    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return {"word": handoff["word"]}

    text = FAN.replace("at_once: 2", "at_once: width").replace(
        "words: {type: array, input: true}",
        "words: {type: array, input: true}\n      width: {type: integer, default: 2, input: true}",
    )
    drive = runtime(graph_of(text, shout=shout), store)
    result = await drive.run({"words": ["a", "b", "c", "d"], "width": width})
    assert (result.status, most) == ("completed", width)


async def test_an_empty_list_is_a_finished_node(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        raise AssertionError

    result = await runtime(graph_of(FAN, shout=shout), store).run({"words": []})
    assert (result.status, result.state["loud"]) == ("completed", [])


async def test_failed_items_are_reported_and_the_others_go_on(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if handoff["word"] == "b":
            raise ValueError("no b")
        return {"word": handoff["word"]}

    events = await collect(runtime(graph_of(FAN, shout=shout), store).stream({"words": ["a", "b", "c"]}, run_id="r"))
    state = await store.state("r")
    assert state["lost"] == [{"index": 1, "item": "b", "type": "ValueError", "message": "no b"}]
    assert [loud["word"] for loud in state["loud"]] == ["a", "c"]
    assert sorted((event.item, event.status) for event in events if isinstance(event, ItemFinished)) == [
        (0, "finished"),
        (1, "failed"),
        (2, "finished"),
    ]


async def test_a_failed_item_cancels_the_others_when_it_may_not(store: Checkpointer) -> None:
    cancelled: list[str] = []

    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if handoff["word"] == "b":
            raise ValueError("no b")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(handoff["word"])
            raise
        return {}

    graph = graph_of(FAN.replace("keep_going", "fail"), shout=shout)
    result = await runtime(graph, store).run({"words": ["a", "b", "c"]})
    assert (result.status, cancelled) == ("failed", ["a"])
    assert result.error is not None and result.error["message"] == "no b"


PARENT = """
    graph: parent
    version: "1"
    state:
      words: {type: array, input: true}
      loud: {type: array, reduce: append, default: []}
    start: gather
    nodes:
      gather:
        each: words
        as: word
        at_once: 3
        graph: child
        input: {with: {word: word}}
        output: {into: {loud: outputs}}
      done: {end: completed}
    edges: [{from: gather, to: done}]
"""
CHILD = """
    graph: child
    version: "1"
    state:
      word: {type: string, input: true}
      loud: {type: string, output: true}
      length: {type: integer, output: true, default: 0}
    start: shout
    nodes:
      shout: {run: shout, input: {with: {word: word}}, output: {into: {loud: output.word}}}
      count: {set: {length: len(loud)}}
      done: {end: completed}
    edges: [{from: shout, to: count}, {from: count, to: done}]
"""


async def test_a_subgraph_runs_under_its_parents_path_with_channels_of_its_own(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        assert ctx.path == f"gather[{['a', 'bb'].index(handoff['word'])}]/shout"
        return {"word": handoff["word"].upper()}

    graph = graph_of(PARENT, {"child": CHILD}, shout=shout)
    events = await collect(runtime(graph, store).stream({"words": ["a", "bb"]}, run_id="r"))
    state = await store.state("r")
    assert state["loud"] == [{"loud": "A", "length": 1}, {"loud": "BB", "length": 2}]
    paths = {event.path for event in events if isinstance(event, NodeStarted)}
    assert paths == {"gather", "gather[0]/shout", "gather[0]/count", "gather[1]/shout", "gather[1]/count"}
    assert await store.state("r", scope="gather:1[1]/") == {"word": "bb", "loud": "BB", "length": 2}


async def test_a_subgraph_that_does_not_complete_is_its_nodes_error(store: Checkpointer) -> None:
    async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        raise ValueError("hoarse")

    result = await runtime(graph_of(PARENT, {"child": CHILD}, shout=shout), store).run({"words": ["a"]})
    assert result.error is not None
    assert result.error["message"] == 'subgraph "child" ended failed: ValueError: hoarse'


# Branches

FORK = """
    graph: fork
    version: "1"
    state: {seen: {type: array, reduce: append, default: []}, x: {type: integer}}
    start: split
    nodes:
      split: {set: {x: "0"}, fork: all}
      short: {run: say, input: {with: {word: '"short"'}}, output: {into: {seen: "[output.word]"}}}
      long_1: {run: say, input: {with: {word: '"long_1"'}}, output: {into: {seen: "[output.word]"}}}
      long_2: {run: say, input: {with: {word: '"long_2"'}}, output: {into: {seen: "[output.word]"}}}
      both: {set: {seen: '["both"]'}, join: [short, long_2]}
      done: {end: completed}
    edges:
      - {from: split, to: short}
      - {from: split, to: long_1}
      - {from: long_1, to: long_2}
      - {from: short, to: both}
      - {from: long_2, to: both}
      - {from: both, to: done}
"""


async def say(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
    return {"word": handoff["word"]}


async def test_branches_of_unequal_length_meet_at_their_join(store: Checkpointer) -> None:
    events = await collect(runtime(graph_of(FORK, say=say), store).stream({}, run_id="r"))
    assert (await store.state("r"))["seen"] == ["short", "long_1", "long_2", "both"]
    taken = [(event.source, event.target) for event in events if isinstance(event, EdgeTaken)]
    assert taken.count(("long_2", "both")) == 1
    assert end_of(events).status == "completed"


async def test_a_branch_that_was_not_taken_does_not_block_the_join(store: Checkpointer) -> None:
    graph = graph_of(FORK.replace("{from: split, to: long_1}", "{from: split, to: long_1, when: x == 1}"), say=say)
    result = await runtime(graph, store).run({})
    assert (result.status, result.state["seen"]) == ("completed", ["short", "both"])


async def test_two_branches_may_not_replace_one_channel_in_the_same_step(store: Checkpointer) -> None:
    text = FORK.replace('seen: "[output.word]"', "x: len(output.word)")
    text = text.replace("{from: split, to: long_1}", "{from: split, to: long_1, when: x == 0}")
    result = await runtime(graph_of(text, say=say), store).run({})
    assert result.error is not None
    assert result.error["message"] == '"short" and "long_1" replaced channel "x" in the same step'


async def test_a_prompt_is_run_by_whoever_is_registered_for_it(store: Checkpointer) -> None:
    async def prompter(
        prompt: str, role: str, handoff: Mapping[str, Any], schema: Mapping[str, Any] | None, ctx: Context
    ) -> Mapping[str, Any]:
        return {"text": f"{prompt} {role} {handoff['text']} {schema and schema['type']} {ctx.node}"}

    text = """
        graph: prompted
        version: "1"
        state: {text: {type: string, input: true}}
        start: ask
        nodes:
          ask: {prompt: greet, role: summary, input: {with: {text: text}}, output: said}
          done: {end: completed}
        edges: [{from: ask, to: done}]
    """
    said = '{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}'
    registry = Registry(prompts=Texts({"greet": "Hello"}), schemas=Texts({"said": said}), prompter=prompter)
    result = await runtime(load_graph("prompted.yaml", text=dedent(text), registry=registry), store).run({"text": "hi"})
    assert result.state["text"] == "greet summary hi object ask"


# Ends from outside

SLOW = """
    graph: slow
    version: "1"
    state:
      words: {type: array, default: [a, b]}
      done: {type: array, reduce: append, default: []}
      why: {type: object}
    start: work
    nodes:
      work: {each: words, as: word, run: work, input: {with: {word: word}}, output: {into: {done: outputs}}}
      note: {set: {why: error}}
      ok: {end: completed}
      aborted: {end: aborted}
    edges:
      - {from: work, to: ok}
      - {from: "*", to: note, on: [cancelled, timeout, error]}
      - {from: note, to: aborted}
"""


async def test_a_request_to_cancel_leads_over_the_cancelled_edge_and_resume_does_only_the_rest(
    store: Checkpointer,
) -> None:
    calls: list[str] = []
    blocked = True

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        calls.append(handoff["word"])
        if handoff["word"] == "b" and blocked:
            await store.request_cancel("r")
            await asyncio.Event().wait()
        return {"word": handoff["word"]}

    graph = graph_of(SLOW, work=work)
    events = await collect(runtime(graph, store).stream({}, run_id="r"))
    assert (end_of(events).status, end_of(events).cause) == ("aborted", "cancelled")
    assert (await store.state("r"))["why"]["type"] == "Cancelled"
    assert (await store.state("r"))["done"] == [{"word": "a"}]
    blocked = False
    events = await collect(runtime(graph, store).resume("r"))
    assert end_of(events).status == "completed"
    assert calls == ["a", "b", "b"]
    state = await store.state("r")
    assert (state["done"], state["why"]) == ([{"word": "a"}, {"word": "b"}], None)
    whole = await runtime(graph, store).run({}, run_id="whole")
    assert whole.state == state
    assert (await store.steps("whole"))[-1].hash == (await store.steps("r"))[-1].hash


@pytest.mark.requirement("6.2")
async def test_time_that_is_over_leads_over_the_timeout_edge(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    result = await runtime(graph_of(SLOW, work=work), store, timeout_seconds=0.05).run({})
    assert (result.status, result.cause) == ("aborted", "timeout")
    assert result.state["why"]["node"] == "work"


async def test_a_nodes_own_timeout_edge_tells_the_end_of_the_graphs_time_from_its_own(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    own = "      - {from: work, to: ok, on: timeout, when: 'error.type != \"GraphTimeout\"'}\n"
    text = SLOW.replace("    edges:\n", f"    edges:\n{own}")
    late = await runtime(graph_of(text, work=work), store, timeout_seconds=0.05).run({}, run_id="late")
    assert (late.status, late.cause, late.state["why"]["type"]) == ("aborted", "timeout", "GraphTimeout")
    text = text.replace("run: work,", "run: work, timeout_seconds: 0.01,")
    slow = await runtime(graph_of(text, work=work), store, timeout_seconds=60).run({}, run_id="slow")
    assert slow.status == "completed"


async def test_time_that_is_over_before_the_run_is_under_way_counts(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    driver = runtime(graph_of(SLOW, work=work), store)
    events = asyncio.create_task(collect(driver.stream({}, run_id="r")))
    await asyncio.sleep(0)
    driver.time_out("r")
    end = end_of(await events)
    assert (end.status, end.cause) == ("aborted", "timeout")


async def test_an_error_that_any_edge_takes_is_the_cause_of_the_abort(store: Checkpointer) -> None:
    fails = True

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if handoff["word"] == "b" and fails:
            raise ValueError("b")
        return {"word": handoff["word"], "attempt": ctx.attempt}

    graph = graph_of(SLOW, work=work)
    result = await runtime(graph, store).run({}, run_id="r")
    assert (result.status, result.cause) == ("aborted", "error")
    assert result.error is not None and result.error["type"] == "ValueError"
    fails = False
    events = await collect(runtime(graph, store).resume("r"))
    assert end_of(events).cause is None
    assert (await store.state("r"))["done"] == [{"word": "a", "attempt": 1}, {"word": "b", "attempt": 2}]


async def test_a_cancel_without_a_driver_is_followed_on_resume(store: Checkpointer) -> None:
    started: list[str] = []

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        started.append(handoff["word"])
        return {"word": handoff["word"]}

    drive = runtime(graph_of(SLOW, work=work), store)
    async with aclosing(drive.stream({}, run_id="r")) as events:
        await anext(events)
    await store.request_cancel("r")
    assert end_of(await collect(drive.resume("r"))).cause == "cancelled"
    assert started == []
    end = [event.to_json() for event in await store.events("r") if event.type == "run_ended"]
    assert [event.to_json() for event in await collect(drive.resume("r", retry=False))] == end
    assert end_of(await collect(drive.resume("r"))).status == "completed"


async def test_too_many_steps_are_an_error(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN.replace("start: tick", "start: tick\nlimits: {steps: 3}"))
    result = await runtime(graph, store).run({"n": 9})
    assert (result.status, result.cause) == ("failed", "error")
    assert result.error is not None and "more than 3 steps" in result.error["message"]
    assert result.state["seen"] == [9, 8, 7]


async def test_a_guard_that_cannot_be_evaluated_is_the_nodes_error_and_its_work_is_kept(store: Checkpointer) -> None:
    text = COUNTDOWN.replace("when: n > 0, loop", 'when: "seen[0] > 0", loop').replace('seen: "[n]"', "seen: '[\"x\"]'")
    events = await collect(runtime(graph_of(text), store).stream({}, run_id="r"))
    assert end_of(events).status == "failed"
    record = await store.run("r")
    assert record.error is not None and record.error["type"] == "ExpressionFailed"
    assert (await store.state("r"))["seen"] == ["x"]


async def test_a_run_that_is_left_early_can_be_resumed(store: Checkpointer) -> None:
    drive = runtime(graph_of(COUNTDOWN), store)
    async with aclosing(drive.stream({}, run_id="r")) as events:
        async for event in events:
            if isinstance(event, EdgeTaken):
                break
    assert (await store.run("r")).status == "running"
    rest = await collect(drive.resume("r"))
    assert rest[0].type == "run_resumed"
    assert (await store.state("r"))["seen"] == [3, 2, 1]
    stored = await store.events("r")
    assert [event.seq for event in stored] == list(range(1, len(stored) + 1))
    again = await collect(drive.resume("r"))
    assert [type(event) for event in again] == [RunEnded]


async def test_a_cancelled_consumer_leaves_a_run_that_can_be_resumed(store: Checkpointer) -> None:
    entered = asyncio.Event()

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if not entered.is_set():
            entered.set()
            await asyncio.Event().wait()
        return {"word": handoff["word"]}

    drive = runtime(graph_of(SLOW, work=work), store)

    async def consume() -> list[Event]:
        return await collect(drive.stream({}, run_id="r"))

    task = asyncio.create_task(consume())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await store.run("r")).status == "running"
    assert end_of(await collect(drive.resume("r"))).status == "completed"


async def test_a_created_run_waits_for_its_drive_and_then_tells_what_a_started_one_does(store: Checkpointer) -> None:
    graph = graph_of(COUNTDOWN)
    await collect(runtime(graph, store).stream({"n": 2}, run_id="started"))
    assert await runtime(graph, store).create({"n": 2}, run_id="created") == "created"
    assert [event.type for event in await store.events("created")] == ["run_started", "node_started"]
    await collect(runtime(graph, store).resume("created"))
    told = [
        [(event.type, event.seq, event.step) for event in await store.events(run)] for run in ("started", "created")
    ]
    assert told[0] == told[1]
    assert await store.state("created") == await store.state("started")
    with pytest.raises(RunExists):
        await runtime(graph, store).create({}, run_id="created")
