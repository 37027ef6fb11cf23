"""Forks: a new run from any step of another, with edited state or another graph, and only new calls made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.errors import InputInvalid, RunExists
from graph_research.graph.events import EdgeTaken, Event, RunEnded
from graph_research.graph.history.replay import replay
from graph_research.graph.runtime import Runtime
from tests.support.graph.harness import collect, end_of, graph_of, runtime

CHILD = """
    graph: child
    version: "1"
    state:
      word: {type: string, input: true}
      answer: {type: string, default: "", output: true}
    start: look
    nodes:
      look: {run: asks, input: {with: {word: word}}, output: {into: {answer: output.word}}}
      again: {run: asks, input: {with: {word: answer}}, output: {into: {answer: output.word}}}
      done: {end: completed}
    edges: [{from: look, to: again}, {from: again, to: done}]
"""
PARENT = """
    graph: parent
    version: "1"
    state:
      words: {type: array, default: [a, b]}
      found: {type: array, default: []}
      n: {type: integer, default: 2}
      log: {type: array, reduce: append, default: []}
      parts: {type: array, reduce: upsert, output: true}
    start: first
    loops: {down: {while: n > 0, most: 9}}
    nodes:
      first: {run: asks, input: {with: {word: '"first"'}}, output: {into: {log: "[output.word]"}}}
      each_one:
        each: words
        as: word
        at_once: 2
        graph: child
        input: {with: {word: word}}
        output: {into: {found: outputs}}
      spread: {set: {n: n}, fork: all}
      left: {run: asks, input: {with: {word: '"left" + str(n)'}}, output: {into: {log: "[output.word]"}}}
      right: {run: asks, input: {with: {word: '"right" + str(n)'}}, output: {into: {log: "[output.word]"}}}
      joined: {set: {n: n - 1}, join: [left, right]}
      done: {end: completed}
    edges:
      - {from: first, to: each_one}
      - {from: each_one, to: spread}
      - {from: spread, to: left}
      - {from: spread, to: right}
      - {from: left, to: joined}
      - {from: right, to: joined}
      - {from: joined, to: spread, when: n > 0, loop: down}
      - {from: joined, to: done}
"""


class Asker:
    """A handler that asks the outside, and counts how often it got there."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def fn() -> str:
            self.asked.append(handoff["word"])
            return f"{handoff['word']}!" + "." * 3000

        answer = await ctx.call("ask", {"word": handoff["word"], "id": ctx.new_id("x")}, fn)
        moment = ctx.now()
        return {"word": f"{answer.rstrip('.')}{ctx.random.randint(0, 9)}{moment.year}"}


async def finished(store: Checkpointer) -> Asker:
    """The parent run `p`, driven to its end."""
    asker = Asker()
    result = await runtime(graph_of(PARENT, {"child": CHILD}, asks=asker), store).run({}, run_id="p")
    assert result.status == "completed"
    return asker


async def test_an_unchanged_fork_of_any_step_ends_as_its_parent_did_and_asks_nothing(store: Checkpointer) -> None:
    await finished(store)
    chain = await _chain(store, "p")
    steps = await store.steps("p")
    hashes = {(step.path, step.visit, step.item): step.hash for step in steps}
    assert len(steps) > 12
    for number in [0, *(step.step for step in steps)]:
        asker = Asker()
        drive = runtime(graph_of(PARENT, {"child": CHILD}, asks=asker), store)
        name = await drive.fork("p", number, new_run_id=f"fork-{number}")
        events = await collect(drive.resume(name))
        assert end_of(events).status == "completed", number
        assert asker.asked == [], number
        assert await store.state(name) == await store.state("p"), number
        assert {(s.path, s.visit, s.item): s.hash for s in await store.steps(name)} == hashes, number
        assert await _chain(store, name) == chain, number
        assert _told(await store.events(name)) == _told(await store.events("p")), number
        assert (await store.run(name)).parent == "p"
        assert sorted(call.request_hash for call in await store.calls(name)) == sorted(
            call.request_hash for call in await store.calls("p")
        )


async def _chain(store: Checkpointer, run_id: str) -> bytes:
    last = await store.last_position(run_id)
    assert last is not None and last.position is not None
    return last.hash


def _told(events: list[Event]) -> list[str]:
    """The edges that were taken, in an order that does not depend on which branch was quicker."""
    return sorted(f"{event.path} {event.visit} {event.target}" for event in events if isinstance(event, EdgeTaken))


async def test_guards_see_the_edited_state_and_only_changed_requests_are_asked_anew(store: Checkpointer) -> None:
    await finished(store)
    steps = await store.steps("p")
    joined = [step for step in steps if step.path == "joined"]
    asker = Asker()
    drive = runtime(graph_of(PARENT, {"child": CHILD}, asks=asker), store)
    name = await drive.fork("p", joined[0].step, values={"n": 3}, new_run_id="more")
    assert (await store.state("more"))["n"] == 3
    assert end_of(await collect(drive.resume(name))).status == "completed"
    assert sorted(asker.asked) == ["left1", "left2", "left3", "right1", "right2", "right3"]
    end = [step for step in steps if step.path == "joined"][-1].step
    assert end_of(await collect(drive.resume(await drive.fork("p", end, values={"n": 0})))).status == "completed"
    assert len(asker.asked) == 6


async def test_a_fork_with_another_graph_runs_its_nodes_and_keeps_what_is_the_same(store: Checkpointer) -> None:
    await finished(store)
    asker = Asker()
    changed = PARENT.replace('"left" + str(n)', '"port" + str(n)').replace(
        "n: {type: integer, default: 2}", "n: {type: integer, default: 2}\n      extra: {type: string, default: new}"
    )
    drive = runtime(graph_of(changed, {"child": CHILD}, asks=asker), store)
    name = await drive.fork("p", 0, new_run_id="other", metadata={"why": "a test"})
    assert end_of(await collect(drive.resume(name))).status == "completed"
    assert asker.asked == ["port2", "port1"]
    assert (await store.state(name))["extra"] == "new"
    assert (await store.run(name)).metadata == {"why": "a test"}


async def test_a_fork_of_a_fork_outlives_both_its_ancestors(store: Checkpointer) -> None:
    await finished(store)
    asker = Asker()
    drive = runtime(graph_of(PARENT, {"child": CHILD}, asks=asker), store)
    steps = await store.steps("p")
    await drive.fork("p", steps[0].step, new_run_id="f1")
    await drive.fork("f1", steps[0].step, new_run_id="f2")
    await collect(drive.resume("f2"))
    assert asker.asked == []
    state = await store.state("p")
    await store.delete("p")
    await store.delete("f1")
    assert await store.state("f2") == state
    assert len(await store.calls("f2")) == 9


class Unlucky(Asker):
    """An asker that fails for the words in `fails`."""

    def __init__(self, *fails: str) -> None:
        super().__init__()
        self.fails = set(fails)

    async def __call__(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        if handoff["word"] in self.fails:
            raise RuntimeError("no luck")
        return await super().__call__(handoff, ctx)


OVER_AN_EDGE = PARENT.replace("      done:", "      aborted: {end: aborted}\n      done:") + (
    '      - {from: "*", to: aborted, on: error}\n      - {from: "*", to: aborted, on: cancelled}\n'
)


@pytest.mark.parametrize("text", [OVER_AN_EDGE, PARENT], ids=["over an edge", "where it stood"])
@pytest.mark.parametrize("word", ["first", "b", "left2"], ids=["in a node", "in an item's subgraph", "beside another"])
async def test_a_fork_without_a_step_tries_again_what_its_parent_failed_at(
    store: Checkpointer, word: str, text: str
) -> None:
    asker = Unlucky(word)
    drive = runtime(graph_of(text, {"child": CHILD}, asks=asker), store)
    stopped = await drive.run({}, run_id="p")
    assert stopped.status in ("aborted", "failed")
    asker.fails.clear()
    await _goes_on(store, drive, asker, stopped.status)


async def test_a_fork_without_a_step_goes_on_where_its_parent_was_cancelled(store: Checkpointer) -> None:
    class Cancelling(Asker):
        async def __call__(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
            if handoff["word"] == "left2" and ctx.run_id == "p":
                await store.request_cancel("p")
                await asyncio.Event().wait()
            return await super().__call__(handoff, ctx)

    asker = Cancelling()
    drive = runtime(graph_of(OVER_AN_EDGE, {"child": CHILD}, asks=asker), store)
    assert (await drive.run({}, run_id="p")).status == "aborted"
    await _goes_on(store, drive, asker, "aborted")


async def _goes_on(store: Checkpointer, drive: Runtime, asker: Asker, status: str) -> None:
    """A fork of `p` as it stands is completed, asks for nothing again, and can be replayed; `p` stays as it is."""
    with pytest.raises(InputInvalid, match="earlier state"):
        await drive.fork("p", None, values={"n": 1}, new_run_id="f")
    await drive.fork("p", None, new_run_id="f")
    assert not any(isinstance(event, RunEnded) for event in await store.events("f"))
    assert end_of(await collect(drive.resume("f"))).status == "completed"
    assert sorted(asker.asked) == sorted(set(asker.asked))
    assert (await store.run("p")).status == status
    assert (await replay(store, drive.graph, "f")).identical


async def test_what_cannot_be_forked_is_refused_and_nothing_is_stored(store: Checkpointer) -> None:
    await finished(store)
    drive = runtime(graph_of(PARENT, {"child": CHILD}, asks=Asker()), store)
    with pytest.raises(InputInvalid, match="no step 999"):
        await drive.fork("p", 999, new_run_id="f")
    with pytest.raises(InputInvalid, match='no channel "m"'):
        await drive.fork("p", 1, values={"m": 1}, new_run_id="f")
    with pytest.raises(InputInvalid, match='"n" cannot be set'):
        await drive.fork("p", 1, values={"n": "two"}, new_run_id="f")
    with pytest.raises(InputInvalid, match='"parts" cannot be set: upsert takes objects with an "id"'):
        await drive.fork("p", 1, values={"parts": [{"word": "a"}]}, new_run_id="f")
    with pytest.raises(InputInvalid, match="is completed"):
        await drive.fork("p", None, new_run_id="f")
    with pytest.raises(RunExists):
        await drive.fork("p", 1, new_run_id="p")
    assert [run.run_id for run in await store.runs()] == ["p"]
