"""The journal: recorded before used, given again to an interrupted attempt, never to a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.events import CallRecorded, Note, RunResumed
from tests.support.graph.harness import collect, graph_of, runtime

GRAPH = """
    graph: asking
    version: "1"
    state: {answer: {type: object}}
    start: work
    nodes:
      work: {run: work, output: {into: {answer: output}}, retry: {attempts: 2, backoff: {initial_seconds: 0.001}}}
      done: {end: completed}
    edges: [{from: work, to: done}]
"""


class Outside:
    """Something that answers, counts, and can be told to hang."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.hanging = asyncio.Event()

    async def ask(self, what: Any) -> dict[str, Any]:
        self.asked.append(what)
        if what == "hang":
            self.hanging.set()
            await asyncio.Event().wait()
        return {"answer": what, "n": len(self.asked)}


async def interrupted(store: Checkpointer, outside: Outside, **handlers: Any) -> None:
    """Start a run and close it when the outside hangs."""

    async def consume() -> None:
        async with aclosing(runtime(graph_of(GRAPH, **handlers), store).stream({}, run_id="r")) as events:
            async for _ in events:
                pass

    task = asyncio.create_task(consume())
    await outside.hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_interrupted_attempt_gets_its_recorded_answers(store: Checkpointer) -> None:
    outside = Outside()
    last = "hang"
    seen: list[tuple[Any, ...]] = []

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        first = await ctx.call("ask", {"q": 1}, lambda: outside.ask("one"))
        equal = await ctx.call("ask", {"q": 1}, lambda: outside.ask("one again"))
        moment = ctx.now()
        ctx.emit("asked", n=first["n"])
        seen.append((first, equal, moment, ctx.new_id("x"), ctx.new_id("x"), ctx.random.random()))
        await ctx.call("ask", {"q": "last"}, lambda: outside.ask(last))
        return {"moment": moment, "id": ctx.new_id("y")}

    await interrupted(store, outside, work=work)
    last = "end"
    events = await collect(runtime(graph_of(GRAPH, work=work), store).resume("r"))
    assert outside.asked == ["one", "one again", "hang", "end"]
    assert seen[0] == seen[1]
    assert seen[0][3] != seen[0][4]
    resumed = next(event for event in events if isinstance(event, RunResumed))
    assert resumed.possibly_paid_twice == 1
    assert [event.reused for event in events if isinstance(event, CallRecorded)] == [True, True, False]
    assert len([event for event in await store.events("r") if isinstance(event, Note)]) == 1
    calls = await store.calls("r")
    assert [(call.kind, call.status) for call in calls] == [
        ("ask", "answered"),
        ("ask", "answered"),
        ("ask", "lost"),
        ("ask", "answered"),
    ]
    assert calls[0].request == {"q": 1}
    assert calls[0].answer == {"answer": "one", "n": 1}
    assert isinstance((await store.state("r"))["answer"]["moment"], datetime)


async def test_the_intent_is_stored_before_a_call_is_sent(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def send() -> str:
            return (await store.calls("r"))[0].status

        return {"during": await ctx.call("ask", {}, send)}

    result = await runtime(graph_of(GRAPH, work=work), store).run({}, run_id="r")
    assert result.state["answer"] == {"during": "sent"}


async def test_what_was_emitted_during_a_call_can_be_stored_before_its_answer(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def send() -> list[str]:
            ctx.emit("asked again")
            await ctx.flush()
            return [event.name for event in await store.events("r") if isinstance(event, Note)]

        return {"during": await ctx.call("ask", {}, send)}

    result = await runtime(graph_of(GRAPH, work=work), store).run({}, run_id="r")
    assert result.state["answer"] == {"during": ["asked again"]}


async def test_an_answer_at_hand_is_stored_with_the_next_write_and_recalled_like_any(store: Checkpointer) -> None:
    outside = Outside()
    stored: list[list[tuple[str, str]]] = []

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def look() -> list[tuple[str, str]]:
            stored.append([(call.kind, call.status) for call in await store.calls("r")])
            return stored[-1]

        kept = await ctx.call("ask", {"q": 1}, lambda: outside.ask("kept"), at_hand=True)
        await ctx.call("look", {}, look)
        await ctx.call("ask", {"q": 2}, lambda: outside.ask("hang" if len(outside.asked) < 2 else "free"))
        return kept

    await interrupted(store, outside, work=work)
    await collect(runtime(graph_of(GRAPH, work=work), store).resume("r"))
    assert stored == [[("ask", "answered"), ("look", "sent")]]
    assert outside.asked == ["kept", "hang", "free"]
    assert (await store.state("r"))["answer"] == {"answer": "kept", "n": 1}


async def test_an_answer_at_hand_that_fails_is_kept_for_reading(store: Checkpointer) -> None:
    async def refuse() -> None:
        raise ConnectionError("no line")

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if ctx.attempt == 1:
            await ctx.call("dial", {}, refuse, at_hand=True)
        return {}

    await runtime(graph_of(GRAPH, work=work), store).run({}, run_id="r")
    assert [(call.kind, call.status) for call in await store.calls("r")] == [("dial", "failed")]


async def test_a_new_attempt_asks_anew_and_a_failed_call_is_kept_for_reading(store: Checkpointer) -> None:
    outside = Outside()

    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        answer = await ctx.call("ask", {"q": 1}, lambda: outside.ask("q"))

        async def refuse() -> None:
            raise ConnectionError("no line")

        if ctx.attempt == 1:
            await ctx.call("dial", {}, refuse)
        return {"n": answer["n"]}

    result = await runtime(graph_of(GRAPH, work=work), store).run({}, run_id="r")
    assert result.state["answer"] == {"n": 2}
    calls = await store.calls("r")
    assert [(call.kind, call.attempt, call.status) for call in calls] == [
        ("ask", 1, "answered"),
        ("dial", 1, "failed"),
        ("ask", 2, "answered"),
    ]
    assert calls[1].answer == {"type": "ConnectionError", "message": "no line"}


async def test_the_answer_is_given_as_it_will_be_given_again(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def send() -> Any:
            return {"pair": (1, 2), "text": "long " * 1000}

        answer = await ctx.call("ask", {}, send)
        assert answer == {"pair": [1, 2], "text": "long " * 1000}
        return {}

    result = await runtime(graph_of(GRAPH, work=work), store).run({}, run_id="r")
    assert result.status == "completed"
    assert (await store.calls("r"))[0].answer["text"] == "long " * 1000


async def test_texts_are_kept_by_content(store: Checkpointer) -> None:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        name = ctx.put_text("a text")
        assert await ctx.get_text(name) == "a text"
        return {"name": name}

    await runtime(graph_of(GRAPH, work=work), store).run({}, run_id="r")
    name = (await store.state("r"))["answer"]["name"]
    assert name.startswith("sha256:")
    assert await store.text(name) == "a text"
