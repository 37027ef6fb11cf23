"""Resume: after an answer, a pause, an interruption at any event, a failure, and with a changed graph."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest

from graph_research import MemoryCheckpointer, Runtime, load_graph
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.identity import text_differences
from graph_research.graph.errors import GraphChanged, InputInvalid
from graph_research.graph.events import InputRequested, NodeStarted, RunEnded, RunPaused
from graph_research.graph.history.replay import replay
from graph_research.graph.registry import Registry
from graph_research.graph.resources import TextResolver
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.crash_process import CHILD, PARENT
from tests.support.graph.harness import collect, end_of, graph_of, runtime
from tests.unit.graph.test_runtime import FORK, say

ASK = """
    graph: ask
    version: "1"
    state:
      name: {type: string}
      greeting: {type: string, output: true}
      topic: {type: string, input: true, default: x}
    start: who
    nodes:
      who: {ask: '"who about " + topic', into: name, default: '"nobody"'}
      greet: {set: {greeting: '"hello " + name'}}
      done: {end: completed}
    edges: [{from: who, to: greet}, {from: greet, to: done}]
"""
ASK_EACH = """
    graph: ask_each
    version: "1"
    state: {greetings: {type: array, default: []}}
    start: each_one
    nodes:
      each_one:
        each: '["a", "b"]'
        as: topic
        at_once: 2
        graph: ask
        input: {with: {topic: topic}}
        output: {into: {greetings: outputs}}
      done: {end: completed}
    edges: [{from: each_one, to: done}]
"""


async def test_a_run_that_is_not_interactive_takes_the_default(store: Checkpointer) -> None:
    result = await runtime(graph_of(ASK), store).run({})
    assert result.state["greeting"] == "hello nobody"


async def test_an_interactive_run_stops_for_the_answer_and_goes_on_with_it(store: Checkpointer) -> None:
    drive = runtime(graph_of(ASK), store, interactive=True)
    events = await collect(drive.stream({}, run_id="r"))
    asked = events[-1]
    assert isinstance(asked, InputRequested)
    assert (asked.path, asked.question) == ("who", "who about x")
    record = await store.run("r")
    assert (record.status, record.nodes) == ("awaiting_input", ("who",))
    with pytest.raises(InputInvalid, match="waits for an answer"):
        await collect(drive.resume("r"))
    with pytest.raises(InputInvalid, match="the answer does not fit"):
        await collect(drive.resume("r", answer=7))
    assert (await store.run("r")).status == "awaiting_input"
    events = await collect(runtime(graph_of(ASK), store).resume("r", answer="you"))
    assert end_of(events).status == "completed"
    assert (await store.state("r"))["greeting"] == "hello you"


RATE = """
    graph: rate
    version: "1"
    state: {stars: {type: WANTED, default: null}}
    start: ask
    nodes: {ask: {ask: '"How many?"', into: stars SCHEMA}, done: {end: completed}}
    edges: [{from: ask, to: done}]
"""


@pytest.mark.parametrize(
    ("wanted", "schema", "given", "kept"),
    [
        ("integer", "", "4", 4),
        ("[integer, string]", "", "4", "4"),
        ("string", "", '{"score": 4}', '{"score": 4}'),
        ("object", ", schema: rating", '{"score": 4}', {"score": 4}),
        ("boolean", "", True, True),
    ],
)
async def test_a_text_is_read_as_json_where_a_question_takes_no_text(
    store: Checkpointer, wanted: str, schema: str, given: Any, kept: Any
) -> None:
    text = RATE.replace("WANTED", wanted).replace(" SCHEMA", schema)
    rating = TextResolver({"rating": '{"properties": {"score": {"type": "integer", "maximum": 5}}, "type": "object"}'})
    graph = load_graph("rate.yaml", text=text, registry=Registry(schemas=rating))
    drive = Runtime(graph, checkpointer=store, interactive=True)
    await collect(drive.stream({}, run_id="r"))

    assert end_of(await collect(drive.resume("r", answer=given))).status == "completed"
    assert (await store.state("r"))["stars"] == kept


async def test_an_answer_in_json_that_does_not_fit_is_refused_for_what_it_says(store: Checkpointer) -> None:
    drive = runtime(graph_of(RATE.replace("WANTED", "integer").replace(" SCHEMA", "")), store, interactive=True)
    await collect(drive.stream({}, run_id="r"))

    for answer, words in [("4.5", "4.5 is not of type integer"), ("many", '"many" is not of type integer')]:
        with pytest.raises(InputInvalid, match=words):
            await collect(drive.resume("r", answer=answer))


@pytest.mark.parametrize(("answer", "options"), [({}, {}), ({"answer": "you"}, {"answer": ""})])
async def test_who_answers_a_changed_graph_is_told_to_accept_it_with_the_answer(
    store: Checkpointer, answer: dict[str, Any], options: dict[str, Any]
) -> None:
    await collect(runtime(graph_of(ASK), store, interactive=True).stream({}, run_id="r"))

    with pytest.raises(GraphChanged) as caught:
        await collect(runtime(graph_of(ASK.replace("hello", "good day")), store).resume("r", **answer))

    assert caught.value.hint is not None
    assert caught.value.hint.options == {"accept_changes": True, **options}


async def test_an_answer_that_nobody_asked_for_is_refused(store: Checkpointer) -> None:
    drive = runtime(graph_of(ASK), store)
    async with aclosing(drive.stream({}, run_id="r")) as events:
        await anext(events)
    with pytest.raises(InputInvalid, match="has asked nothing"):
        await collect(drive.resume("r", answer="you"))


@pytest.mark.parametrize("answer", ["a\udcffb", float("nan"), {"name": {1: 2}}])
async def test_an_answer_that_cannot_be_stored_leaves_the_question_open(store: Checkpointer, answer: Any) -> None:
    drive = runtime(graph_of(ASK), store, interactive=True)
    await collect(drive.stream({}, run_id="r"))
    with pytest.raises(InputInvalid, match="cannot be stored"):
        await collect(drive.resume("r", answer=answer))
    assert (await store.run("r")).status == "awaiting_input"
    assert end_of(await collect(drive.resume("r", answer="you"))).status == "completed"


async def test_questions_from_items_of_a_fan_out_are_asked_one_after_the_other(store: Checkpointer) -> None:
    drive = runtime(graph_of(ASK_EACH, {"ask": ASK}), store, interactive=True)
    asked: list[Any] = [(await collect(drive.stream({}, run_id="r")))[-1]]
    asked.append((await collect(drive.resume("r", answer="A")))[-1])
    assert [(event.path, event.question) for event in asked] == [
        ("each_one[0]/who", "who about a"),
        ("each_one[1]/who", "who about b"),
    ]
    assert end_of(await collect(drive.resume("r", answer="B"))).status == "completed"
    assert (await store.state("r"))["greetings"] == [{"greeting": "hello A"}, {"greeting": "hello B"}]


@pytest.mark.parametrize(("when", "seen"), [("before", []), ("after", [3])])
async def test_a_run_pauses_where_the_graph_says_and_goes_on_from_there(
    store: Checkpointer, when: str, seen: list[int]
) -> None:
    graph = graph_of(COUNTDOWN.replace("n: n - 1}}", f"n: n - 1}}, pause: {when}}}"))
    drive = runtime(graph, store)
    paused = (await collect(drive.stream({}, run_id="r")))[-1]
    assert isinstance(paused, RunPaused)
    assert (paused.when, paused.path) == (when, "tick")
    assert (await store.state("r"))["seen"] == seen
    for _ in range(2):
        assert isinstance((await collect(drive.resume("r")))[-1], RunPaused)
    assert end_of(await collect(drive.resume("r"))).status == "completed"
    assert (await store.state("r"))["seen"] == [3, 2, 1]


FAILING = """
    graph: failing
    version: "1"
    state: {log: {type: array, reduce: append, default: []}}
    start: first
    nodes:
      first: {run: say, input: {with: {word: '"first"'}}, output: {into: {log: "[output.word]"}}}
      flaky:
        run: flaky
        output: {into: {log: "[output.word]"}}
        retry: {attempts: 2, backoff: {initial_seconds: 0.001}}
      mend: {set: {log: "[error.type]"}}
      last: {run: say, input: {with: {word: '"last"'}}, output: {into: {log: "[output.word]"}}}
      done: {end: completed}
    edges:
      - {from: first, to: flaky}
      - {from: flaky, to: last}
      - {from: flaky, to: mend, on: error}
      - {from: mend, to: last}
      - {from: last, to: done}
"""


async def flaky(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
    raise ValueError("always")


async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
    async def send() -> str:
        return f"said {handoff['word']}"

    return {"said": f"{await ctx.call('say', handoff, send)} {ctx.new_id('x')}"}


GRAPHS = {
    "loop": graph_of(COUNTDOWN),
    "fork and join": graph_of(FORK, say=say),
    "retry and error edge": graph_of(FAILING, say=say, flaky=flaky),
    "subgraphs in a fan-out": graph_of(PARENT, {"child": CHILD}, work=work),
}


@pytest.mark.parametrize("name", GRAPHS)
async def test_a_run_cut_after_any_event_ends_as_if_it_had_not_been(name: str) -> None:
    store = MemoryCheckpointer()
    drive = runtime(GRAPHS[name], store)
    events = await collect(drive.stream({}, run_id="cut"))
    whole = await result(store)
    for cut in range(1, len(events) + 1):
        store = MemoryCheckpointer()
        drive = runtime(GRAPHS[name], store)
        async with aclosing(drive.stream({}, run_id="cut")) as stream:
            for _ in range(cut):
                await anext(stream)
        assert isinstance((await collect(drive.resume("cut")))[-1], RunEnded)
        assert await result(store) == whole, f"after event {cut}"


async def result(store: Checkpointer) -> Any:
    steps = await store.steps("cut")
    finished = sorted((step.path, step.visit, step.item or 0, step.hash) for step in steps if step.status != "retried")
    return (await store.run("cut")).status, await store.state("cut"), finished


async def test_a_failed_run_goes_on_at_the_failed_item_with_another_attempt(store: Checkpointer) -> None:
    tried: list[tuple[str, int]] = []
    broken = True

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        tried.append((handoff["word"], ctx.attempt))
        if broken and handoff["word"] == "b0":
            raise ValueError("broken")
        return {"said": handoff["word"]}

    drive = runtime(graph_of(PARENT.replace("at_once: 2", "at_once: 1"), {"child": CHILD}, work=work), store)
    assert end_of(await collect(drive.stream({}, run_id="r"))).status == "failed"
    assert tried == [("a0", 1), ("b0", 1)]
    broken = False
    events = await collect(drive.resume("r"))
    assert end_of(events).status == "completed"
    assert tried[2:4] == [("b0", 2), ("c0", 1)]
    assert [event.path for event in events if isinstance(event, NodeStarted)][:2] == [
        "ask_all[2]/name",
        "ask_all[2]/say",
    ]


@pytest.mark.requirement("6.4")
async def test_a_cancelled_subgraph_goes_on_from_its_own_last_finished_node(store: Checkpointer) -> None:
    hanging = asyncio.Event()
    tried: list[str] = []

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        tried.append(handoff["word"])
        if not hanging.is_set():
            hanging.set()
            await store.request_cancel("r")
            await asyncio.Event().wait()
        return {"said": handoff["word"]}

    drive = runtime(graph_of(PARENT.replace("at_once: 2", "at_once: 1"), {"child": CHILD}, work=work), store)
    end = end_of(await collect(drive.stream({}, run_id="r")))
    assert (end.status, end.cause) == ("aborted", "cancelled")
    events = await collect(drive.resume("r"))
    assert tried[:3] == ["a0", "a0", "b0"]
    started = [event.path for event in events if isinstance(event, NodeStarted)]
    assert "ask_all[0]/name" not in started[:3], "it had finished before the cancel"
    assert end_of(events).status == "completed"


async def test_of_many_changes_the_graphs_are_named_first_and_the_others_counted(store: Checkpointer) -> None:
    await cut_after_first(store, COUNTDOWN)
    names = [f"child{n}" for n in range(9)]
    nodes = "".join(f"  {name}: {{graph: {name}}}\n" for name in names)
    edges = "".join(f"  - {{from: {a}, to: {b}}}\n" for a, b in pairwise(["tick", *names, "done"]))
    changed = COUNTDOWN.replace("edges:\n", f"{nodes}edges:\n").replace("  - {from: tick, to: done}\n", edges)
    children = {name: ASK.replace("graph: ask", f"graph: {name}") for name in names}
    with pytest.raises(GraphChanged, match=r"graph .* is new, \d+ more") as caught:
        await collect(runtime(graph_of(changed, children), store).resume("r"))
    assert str(caught.value).count("is new") <= 6


async def test_a_subgraph_that_goes_on_has_its_new_channels_defaults(store: Checkpointer) -> None:
    hanging = asyncio.Event()

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if not hanging.is_set():
            hanging.set()
            await store.request_cancel("r")
            await asyncio.Event().wait()
        return {"said": handoff["word"]}

    more = CHILD.replace("rounds: {", 'end: {type: string, default: "!"}\n      rounds: {').replace(
        "with: {word: id}", "with: {word: id + end}"
    )
    begun = runtime(graph_of(PARENT, {"child": CHILD}, work=work), store)
    assert end_of(await collect(begun.stream({}, run_id="r"))).cause == "cancelled"
    changed = runtime(graph_of(PARENT, {"child": more}, work=work), store)
    assert end_of(await collect(changed.resume("r", accept_changes=True))).status == "completed"


ROUNDS = """
    graph: rounds
    version: "1"
    state: {round: {type: integer, default: 1}, said: {type: array, reduce: append, default: []}}
    start: ask_all
    loops: {again: {while: round < 3, most: 3}}
    nodes:
      ask_all:
        each: '["x" + str(round)]'
        as: word
        graph: child
        input: {with: {word: word}}
        output: {into: {said: "[o.said for o in outputs]"}}
      next: {set: {round: round + 1}}
      done: {end: completed}
      stopped: {end: aborted}
    edges:
      - {from: ask_all, to: next}
      - {from: next, to: ask_all, when: round < 3, loop: again}
      - {from: next, to: done}
      - {from: "*", to: stopped, on: cancelled}
"""
ONE_WORD = """
    graph: child
    version: "1"
    state: {word: {type: string, input: true}, said: {type: string, default: "", output: true}}
    start: say
    nodes:
      say: {run: work, input: {with: {word: word}}, output: {into: {said: output.said}}}
      done: {end: completed}
    edges: [{from: say, to: done}]
"""


async def test_a_node_that_was_cancelled_and_resumed_does_its_work_anew_in_the_next_round(store: Checkpointer) -> None:
    hanging = asyncio.Event()

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if not hanging.is_set():
            hanging.set()
            await store.request_cancel("r")
            await asyncio.Event().wait()
        return {"said": handoff["word"]}

    graph = graph_of(ROUNDS, {"child": ONE_WORD}, work=work)
    assert end_of(await collect(runtime(graph, store).stream({}, run_id="r"))).cause == "cancelled"
    assert end_of(await collect(runtime(graph, store).resume("r"))).status == "completed"
    assert (await store.state("r"))["said"] == ["x1", "x2"]


TWO_HANGS = """
    graph: hangs
    version: "1"
    state: {log: {type: array, reduce: append, default: []}}
    start: first
    nodes:
      first: {run: hang}
      second: {run: hang}
      done: {end: completed}
      stopped: {end: aborted}
    edges:
      - {from: first, to: done}
      - {from: first, to: second, on: cancelled}
      - {from: second, to: done}
      - {from: "*", to: stopped, on: cancelled}
"""


async def test_a_run_that_went_on_after_a_request_to_cancel_can_be_cancelled_again(store: Checkpointer) -> None:
    async def hang(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await store.request_cancel(ctx.run_id)
        await asyncio.Event().wait()
        return {}

    async with asyncio.timeout(10):
        result = await runtime(graph_of(TWO_HANGS, hang=hang), store).run({}, run_id="r")
    assert (result.status, result.cause, result.error and result.error["node"]) == ("aborted", "cancelled", "second")


# Changed definitions


async def cut_after_first(store: Checkpointer, text: str) -> None:
    async with aclosing(runtime(graph_of(text), store).stream({}, run_id="r")) as events:
        async for event in events:
            if event.type == "node_finished":
                return


async def test_a_changed_graph_is_refused_with_what_differs_until_it_is_accepted(store: Checkpointer) -> None:
    await cut_after_first(store, COUNTDOWN)
    changed = COUNTDOWN.replace("n: n - 1", "n: n - 2, sum: n").replace(
        "state: {", "state: {sum: {type: integer, default: 7}, "
    )
    drive = runtime(graph_of(changed), store)
    with pytest.raises(
        GraphChanged, match=re.escape("graph countdown changed (node tick changed, channel sum is new)")
    ):
        await collect(drive.resume("r"))
    assert end_of(await collect(drive.resume("r", accept_changes=True))).status == "completed"
    assert await store.state("r") == {"n": 0, "seen": [3, 2], "sum": 2}
    assert end_of(await collect(drive.resume("r"))).status == "completed"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("most: 10", "most: 9", ["loop down changed"]),
        ("n: n - 1", "n: n - 2", ["node tick changed"]),
        ("nodes:", "nodes:  # only two", []),
        ("  - {from: tick, to: tick, when: n > 0, loop: down}\n", "", ["edge tick -> tick is gone"]),
        ("start: tick", "start: tick\nsummary: Down.\nlimits: {steps: 9}", ["`limits` is new"]),
    ],
)
def test_parts_of_a_graph_that_differ_are_reported_by_name(old: str, new: str, told: list[str]) -> None:
    assert [str(change) for change in text_differences(COUNTDOWN, COUNTDOWN.replace(old, new))] == told


def test_edges_in_another_order_are_a_change() -> None:
    lines = COUNTDOWN.splitlines()
    turned = "\n".join([*lines[:-2], lines[-1], lines[-2]])
    assert [str(change) for change in text_differences(COUNTDOWN, turned)] == [
        "the order of the edges out of tick changed"
    ]


async def test_the_node_a_run_stands_on_must_exist_in_the_changed_graph(store: Checkpointer) -> None:
    await cut_after_first(store, COUNTDOWN)
    drive = runtime(graph_of(COUNTDOWN.replace("tick", "tock")), store)
    with pytest.raises(GraphChanged, match='stands on node "tick", which is gone'):
        await collect(drive.resume("r", accept_changes=True))


async def test_comments_and_layout_do_not_make_another_graph(store: Checkpointer) -> None:
    await cut_after_first(store, COUNTDOWN)
    drive = runtime(graph_of(COUNTDOWN + "    # a comment\n"), store)
    assert end_of(await collect(drive.resume("r"))).status == "completed"


async def test_a_run_pauses_before_the_nodes_that_its_caller_names_and_replays_as_it_ran(store: Checkpointer) -> None:
    graph, runs = graph_of(COUNTDOWN), ["r", "plain"]
    drive = runtime(graph, store, pauses_before=lambda node: node == "tick")
    paused = [(await collect(drive.stream({"n": 2}, run_id="r")))[-1]]
    while isinstance(paused[-1], RunPaused):
        paused.append((await collect(drive.resume("r")))[-1])
    await runtime(graph, store).run({"n": 2}, run_id="plain")
    assert [event.type for event in paused] == ["run_paused", "run_paused", "run_ended"]
    assert (await store.state("r")) == (await store.state("plain"))
    for run in runs:
        assert (await replay(store, graph, run)).identical
