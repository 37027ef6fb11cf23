"""Every way of going on (resume, replay, fork) over every construct of the language ends in the same state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from graph_research import MemoryCheckpointer
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.events import Event, RunEnded
from graph_research.graph.history.replay import Replayed, replay
from tests.support.graph.harness import collect, graph_of, runtime

HEAD = """
    graph: construct
    version: "1"
    state:
      log: {type: array, reduce: append, default: []}
      n: {type: integer, default: 2}
      said: {type: string, default: ""}
    start: before
    nodes:
      before: {run: asks, input: {with: {word: '"before"'}}, output: {into: {log: "[output.word]"}}}
      after: {run: asks, input: {with: {word: '"after" + str(len(log))'}}, output: {into: {log: "[output.word]"}}}
      done: {end: completed}
"""
CHILD = """
    graph: child
    version: "1"
    state: {word: {type: string, input: true}, answer: {type: string, default: "", output: true}}
    start: look
    nodes:
      look: {run: asks, input: {with: {word: word}}, output: {into: {answer: output.word}}}
      twice: {run: asks, input: {with: {word: answer}}, output: {into: {answer: output.word}}}
      done: {end: completed}
    edges: [{from: look, to: twice}, {from: twice, to: done}]
"""
STRAIGHT = """    edges:
      - {from: before, to: middle}
      - {from: middle, to: after}
      - {from: after, to: done}
"""
MOODY = """
    graph: moody
    version: "1"
    state: {word: {type: string, input: true}, answer: {type: string, default: "", output: true}}
    start: look
    nodes:
      look: {run: asks, input: {with: {word: word}}, output: {into: {answer: output.word}}}
      dice: {run: moody, input: {with: {word: '"moody"'}}, output: {into: {answer: answer + output.word}}}
      done: {end: completed}
    edges: [{from: look, to: dice}, {from: dice, to: done}]
"""
CONSTRUCTS = {
    "ask": """      middle: {ask: '"who?"', into: said, default: '"nobody"'}
"""
    + STRAIGHT,
    "subgraph": """      middle:
        graph: child
        input: {with: {word: '"deep"'}}
        output: {into: {log: "[output.answer]"}}
"""
    + STRAIGHT,
    "each": """      middle:
        each: '["a", "b", "c"]'
        as: word
        at_once: 2
        graph: child
        input: {with: {word: word}}
        output: {into: {log: outputs}}
"""
    + STRAIGHT,
    "retry": """      middle:
        run: shy
        retry: {attempts: 3, backoff: {initial_seconds: 0.001}}
        input: {with: {word: '"shy"'}}
        output: {into: {log: "[output.word]"}}
"""
    + STRAIGHT,
    "subgraph with retry": """      middle:
        graph: moody
        retry: {attempts: 6, backoff: {initial_seconds: 0.001}}
        input: {with: {word: '"deep"'}}
        output: {into: {log: "[output.answer]"}}
"""
    + STRAIGHT,
    "each subgraph with retry": """      middle:
        each: '["a", "b", "c"]'
        as: word
        at_once: 2
        graph: moody
        retry: {attempts: 9, backoff: {initial_seconds: 0.001}}
        input: {with: {word: word}}
        output: {into: {log: outputs}}
"""
    + STRAIGHT,
    "error edge": """      middle: {run: refuses, input: {with: {word: '"no"'}}}
      sorry: {set: {said: error.type}}
    edges:
      - {from: before, to: middle}
      - {from: middle, to: after}
      - {from: middle, to: sorry, on: [error]}
      - {from: sorry, to: after}
      - {from: after, to: done}
""",
    "loop": """      middle:
        run: asks
        input: {with: {word: 'str(n)'}}
        output: {into: {log: "[output.word]", n: n - 1}}
    loops: {down: {while: n > 0, most: 5}}
    edges:
      - {from: before, to: middle}
      - {from: middle, to: middle, loop: down}
      - {from: middle, to: after}
      - {from: after, to: done}
""",
    "fork and join": """      middle: {set: {said: '"apart"'}, fork: all}
      left: {run: asks, input: {with: {word: '"left"'}}, output: {into: {log: "[output.word]"}}}
      right: {run: asks, input: {with: {word: '"right"'}}, output: {into: {log: "[output.word]"}}}
      farther: {run: asks, input: {with: {word: '"farther"'}}, output: {into: {log: "[output.word]"}}}
      together: {set: {n: n + 1}, join: [left, farther]}
    edges:
      - {from: before, to: middle}
      - {from: middle, to: left}
      - {from: middle, to: right}
      - {from: left, to: together}
      - {from: right, to: farther}
      - {from: farther, to: together}
      - {from: together, to: after}
      - {from: after, to: done}
""",
}


class Outside:
    """Answers, and notes what it was asked; `shy` answers only the third time, `refuses` never does, and `moody` when
    its dice are high, which fall anew for each attempt of the subgraph around it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def _ask(self, word: str, ctx: Context, *, fails: bool) -> Mapping[str, Any]:
        async def fn() -> str:
            self.asked.append(word)
            if fails:
                raise ConnectionError("not now")
            return word.upper()

        return {"word": f"{await ctx.call('ask', {'word': word}, fn)}/{ctx.new_id('x')}"}

    async def asks(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return await self._ask(handoff["word"], ctx, fails=False)

    async def shy(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return await self._ask(handoff["word"], ctx, fails=ctx.attempt < 3)

    async def moody(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return await self._ask(handoff["word"], ctx, fails=ctx.random.random() < 0.5)

    async def refuses(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return await self._ask(handoff["word"], ctx, fails=True)


def drive(name: str, store: Checkpointer, outside: Outside) -> Any:
    handlers = {"asks": outside.asks, "shy": outside.shy, "refuses": outside.refuses, "moody": outside.moody}
    return runtime(graph_of(HEAD + CONSTRUCTS[name], {"child": CHILD, "moody": MOODY}, **handlers), store)


async def whole(name: str) -> tuple[MemoryCheckpointer, Outside, list[Event]]:
    """The construct run once from end to end, as `r`."""
    store, outside = MemoryCheckpointer(), Outside()
    events = await collect(drive(name, store, outside).stream({}, run_id="r"))
    assert isinstance(events[-1], RunEnded) and events[-1].status == "completed"
    return store, outside, events


async def hashes(store: Checkpointer, run_id: str = "r") -> dict[Any, str]:
    return {(step.path, step.visit, step.item, step.attempt): step.hash for step in await store.steps(run_id)}


@pytest.mark.parametrize("name", [name for name in CONSTRUCTS if "retry" in name])
async def test_what_is_retried_was_tried_more_than_once(name: str) -> None:
    store, _, _ = await whole(name)
    assert "retried" in {step.status for step in await store.steps("r") if step.path.startswith("middle")}


@pytest.mark.requirement("6.4")
@pytest.mark.parametrize("name", CONSTRUCTS)
async def test_resumed_at_every_event_it_ends_the_same_and_asks_nothing_twice(name: str) -> None:
    first, outside, events = await whole(name)
    for cut in range(1, len(events)):
        store, again = MemoryCheckpointer(), Outside()
        stream = drive(name, store, again).stream({}, run_id="r")
        for _ in range(cut):
            await anext(stream)
        await stream.aclose()
        await collect(drive(name, store, again).resume("r"))
        assert await store.state("r") == await first.state("r"), cut
        assert (await hashes(store)).items() >= {k: v for k, v in (await hashes(first)).items() if k[3] == 1}.items()
        if "retry" not in name and name != "error edge":
            in_flight = 3
            assert len(again.asked) <= len(outside.asked) + in_flight, cut
            assert await hashes(store) == await hashes(first), cut


@pytest.mark.parametrize("name", CONSTRUCTS)
async def test_replayed_it_gives_every_hash_again_and_asks_nobody(name: str) -> None:
    store, _, _ = await whole(name)
    silent = Outside()
    replayed = await replay(store, drive(name, store, silent).graph, "r")
    assert replayed == Replayed(steps=len(await store.steps("r")), identical=True, first_difference=None)
    assert silent.asked == []


@pytest.mark.parametrize("name", CONSTRUCTS)
async def test_forked_at_every_step_it_ends_the_same_and_asks_only_what_failed(name: str) -> None:
    store, _, _ = await whole(name)
    for step in [0, *(one.step for one in await store.steps("r"))]:
        again = Outside()
        runner = drive(name, store, again)
        fork = await runner.fork("r", step)
        events = await collect(runner.resume(fork))
        assert isinstance(events[-1], RunEnded) and events[-1].status == "completed", step
        assert await store.state(fork) == await store.state("r"), step
        assert set(again.asked) <= {"shy", "no", "moody"}, step
        assert await hashes(store, fork) == await hashes(store), step
        assert (await replay(store, runner.graph, fork)).identical, step
