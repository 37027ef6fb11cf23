"""One small graph for each construct of the language and for pairs of them nested, an outside that counts, a driver."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from graph_research import Runtime
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import Event, InputRequested
from graph_research.graph.state.position import Position
from tests.support.graph.harness import CLOCK, StillClock, graph_of

RUN = "r"


class LaterClock(StillClock):
    """A year later: what is recorded must not show it."""

    def now(self) -> datetime:
        return datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)


class Refused(Exception):
    """What the outside says to a first attempt."""


class Outside:
    """Handlers that ask an outside world twice an attempt; it counts what reaches it, and its answers are its words."""

    def __init__(self) -> None:
        self.sent: Counter[tuple[Any, ...]] = Counter()
        self.entered: Counter[tuple[str, int]] = Counter()

    @property
    def handlers(self) -> Mapping[str, Any]:
        return {"work": self.work, "flaky": self.flaky, "broken": self.broken, "picky": self.picky}

    async def work(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        self.entered[ctx.path, ctx.visit] += 1
        ctx.emit("asking", word=handoff["word"])
        answer = await self._ask(ctx, {"word": handoff["word"], "id": ctx.new_id("x")})
        moment = ctx.now()
        await self._ask(ctx, {"fixed": ctx.node})
        return {"word": f"{answer}{ctx.random.randint(0, 9)}{moment.year}"}

    async def flaky(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        """Takes what the first attempt was answered for useless."""
        output = await self.work(handoff, ctx)
        if ctx.attempt == 1:
            raise Refused("once more")
        return output

    async def broken(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        await self.work(handoff, ctx)
        raise Refused(f"no {handoff['word']}")

    async def picky(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        """Refuses whatever holds a b."""
        return await (self.broken if "b" in handoff["word"] else self.work)(handoff, ctx)

    async def _ask(self, ctx: Context, request: Mapping[str, Any]) -> str:
        async def fn() -> str:
            self.sent[ctx.path, ctx.visit, ctx.attempt, str(request)] += 1
            await asyncio.sleep(0)
            return f"{request.get('word')}!"

        answer: str = await ctx.call("ask", request, fn)
        return answer


def _text(start: str, nodes: Mapping[str, str], edges: str, loops: str = "{}") -> str:
    listed = "".join(f"      {name}: {spec}\n" for name, spec in nodes.items())
    return f"""
    graph: {start}
    version: "1"
    state:
      word: {{type: string, default: w, input: true}}
      words: {{type: array, default: [a, b, c]}}
      n: {{type: integer, default: 2}}
      name: {{type: string, default: ""}}
      log: {{type: array, reduce: append, default: [], output: true}}
      found: {{type: array, reduce: append, default: []}}
    start: {start}
    loops: {loops}
    nodes:
{listed}      done: {{end: completed}}
    edges: [{edges}]
"""


def _run(handler: str, word: str, more: str = "") -> str:
    return f"{{run: {handler}, input: {{with: {{word: '{word}'}}}}, output: {{into: {{log: '[output.word]'}}}}{more}}}"


def _each(what: str, more: str = "", at_once: int = 2) -> str:
    where = f"each: words, as: item, at_once: {at_once}, {what}, input: {{with: {{word: 'word + item'}}}}"
    return f"{{{where}, output: {{into: {{found: outputs}}}}{more}}}"


def _graph(name: str, more: str = "") -> str:
    return f"{{graph: {name}, input: {{with: {{word: word}}}}, output: {{into: {{log: output.log}}}}{more}}}"


def _edges(*arrows: str) -> str:
    """`a b` edges, with more keys behind."""
    parts = ([*arrow.split(" ", 2), ""][:3] for arrow in arrows)
    return ", ".join(f"{{from: {source}, to: {target}{', ' * bool(more)}{more}}}" for source, target, more in parts)


_RETRY = ", retry: {attempts: 3, on: [Refused], backoff: {initial_seconds: 0.001}}"
_FIRST = _run("work", '"first"')
_LAST = _run("work", 'word + "last"')
_MEND = _run("work", "word + error.type")
_DOWN = "{down: {while: n > 0, most: 5}}"
_ROUND = "{set: {n: n - 1}}"
_BRANCHES = {
    "spread": "{set: {}, fork: all}",
    "left": _run("work", 'word + "left" + str(n)'),
    "right": _run("work", '"right" + str(n)'),
    "longer": _run("work", 'word + "longer" + str(n)'),
}
_FORKED = ("spread left", "spread right", "right longer", "left meet", "longer meet")

_SUBGRAPHS = {
    "child": _text("look", {"look": _run("work", "word"), "again": _LAST}, _edges("look again", "again done")),
    "trier": _text("try", {"try": _run("flaky", "word", _RETRY), "last": _LAST}, _edges("try last", "last done")),
    "asker": _text(
        "who",
        {"who": "{ask: '\"who \" + word', into: name, default: word}", "last": _run("work", "word + name")},
        _edges("who last", "last done"),
    ),
    "mender": _text(
        "try",
        {"try": _run("picky", "word"), "mend": _MEND, "last": _LAST},
        _edges("try last", "try mend on: error", "mend last", "last done"),
    ),
    "counter": _text(
        "look",
        {"look": _run("work", "word + str(n)"), "round": _ROUND},
        _edges("look round", "round look when: n > 0, loop: down", "round done"),
        _DOWN,
    ),
    "doomed": _text(
        "look",
        {"look": _FIRST, "try": _run("picky", "word"), "refused": "{end: aborted}"},
        _edges("look try", "try done", "try refused on: error"),
    ),
}

TEXTS = {
    "ask": _text(
        "first",
        {"first": _FIRST, "who": "{ask: '\"who?\"', into: name, default: word}", "last": _run("work", "word + name")},
        _edges("first who", "who last", "last done"),
    ),
    "subgraph": _text(
        "first", {"first": _FIRST, "sub": _graph("child"), "last": _LAST}, _edges("first sub", "sub last", "last done")
    ),
    "each": _text(
        "first",
        {"first": _FIRST, "all": _each("run: work"), "last": _LAST},
        _edges("first all", "all last", "last done"),
    ),
    "retry": _text(
        "first",
        {"first": _FIRST, "try": _run("flaky", "word", _RETRY), "last": _LAST},
        _edges("first try", "try last", "last done"),
    ),
    "error edge": _text(
        "first",
        {"first": _FIRST, "try": _run("broken", "word"), "mend": _MEND, "last": _LAST},
        _edges("first try", "try last", "try mend on: error", "mend last", "last done"),
    ),
    "loop": _text(
        "look",
        {"look": _run("work", "word + str(n)"), "round": _ROUND, "last": _LAST},
        _edges("look round", "round look when: n > 0, loop: down", "round last", "last done"),
        _DOWN,
    ),
    "fork and join": _text(
        "first",
        {"first": _FIRST, **_BRANCHES, "meet": "{set: {}, join: [left, longer]}", "last": _LAST},
        _edges("first spread", *_FORKED, "meet last", "last done"),
    ),
    "each over subgraphs that retry": _text(
        "all", {"all": _each("graph: trier"), "last": _LAST}, _edges("all last", "last done")
    ),
    "ask in a subgraph in an each": _text(
        "all", {"all": _each("graph: asker"), "last": _LAST}, _edges("all last", "last done")
    ),
    "ask in a loop": _text(
        "who",
        {
            "who": "{ask: '\"round \" + str(n)', into: name, default: word}",
            "look": _run("work", "word + name"),
            "round": _ROUND,
        },
        _edges("who look", "look round", "round who when: n > 0, loop: down", "round done"),
        _DOWN,
    ),
    "error edge out of an each": _text(
        "all",
        {"all": _each("run: picky", at_once=1), "mend": _MEND, "last": _LAST},
        _edges("all last", "all mend on: error", "mend last", "last done"),
    ),
    "each that keeps going": _text(
        "all",
        {"all": _each("run: picky", _RETRY.replace("3", "2") + ", on_item_error: keep_going"), "last": _LAST},
        _edges("all last", "last done"),
    ),
    "error edges in subgraphs in an each": _text(
        "all", {"all": _each("graph: mender"), "last": _LAST}, _edges("all last", "last done")
    ),
    "fork and join in a loop": _text(
        "first",
        {"first": _FIRST, **_BRANCHES, "meet": "{set: {n: n - 1}, join: [left, longer]}", "last": _LAST},
        _edges("first spread", *_FORKED, "meet spread when: n > 0, loop: down", "meet last", "last done"),
        _DOWN,
    ),
    "loop in a subgraph in a branch": _text(
        "spread",
        {
            **_BRANCHES,
            "left": _graph("counter"),
            "right": _run("flaky", '"right"', _RETRY),
            "meet": "{set: {}, join: [left, longer]}",
            "last": _LAST,
        },
        _edges(*_FORKED, "meet last", "last done"),
    ),
    "each in a branch beside an error edge": _text(
        "spread",
        {
            **_BRANCHES,
            "left": _each("graph: trier"),
            "right": _run("broken", "word"),
            "meet": "{set: {}, join: [left, longer]}",
            "last": _LAST,
        },
        _edges("spread left", "spread right", "right longer on: error", "right done", "left meet", "longer meet")
        + ", "
        + _edges("meet last", "last done"),
    ),
    "error edge out of a subgraph that has run": _text(
        "first",
        {"first": _FIRST, "sub": _graph("doomed").replace("word: word", "word: '\"b\" + word'"), "mend": _MEND},
        _edges("first sub", "sub done", "sub mend on: error", "mend done"),
    ),
}


def construct(name: str, outside: Outside) -> Graph:
    return graph_of(TEXTS[name], _SUBGRAPHS, **outside.handlers)


def driver(name: str, store: Checkpointer, outside: Outside, clock: StillClock = CLOCK) -> Runtime:
    return Runtime(construct(name, outside), checkpointer=store, clock=clock, interactive=True, poll_seconds=5)


async def begin(drive: Runtime, cut: int | None = None) -> list[Event]:
    """Start the run, and answer until it has ended or `cut` events have come."""
    first = await _taken(drive.stream({}, run_id=RUN), cut)
    return await carry_on(drive, RUN, cut, first) if cut is None or len(first) < cut else first


async def carry_on(
    drive: Runtime, run_id: str, cut: int | None = None, events: list[Event] | None = None
) -> list[Event]:
    """Resume the run and answer what it asks, until it has ended or `cut` events have come."""
    events = [] if events is None else events
    while (record := await drive.checkpointer.run(run_id)).status in ("running", "awaiting_input", "paused"):
        if cut is not None and len(events) >= cut:
            break
        left = None if cut is None else cut - len(events)
        if record.status == "awaiting_input":
            asked = [event for event in await drive.checkpointer.events(run_id) if isinstance(event, InputRequested)]
            events += await _taken(drive.resume(run_id, answer=f"<{asked[-1].question}>"), left)
        else:
            events += await _taken(drive.resume(run_id), left)
    return events


async def _taken(stream: Any, cut: int | None) -> list[Event]:
    taken: list[Event] = []
    async with aclosing(stream) as events:
        async for event in _until(events, cut):
            taken.append(event)
    return taken


async def _until(events: AsyncIterator[Event], cut: int | None) -> AsyncIterator[Event]:
    count = 0
    async for event in events:
        yield event
        count += 1
        if count == cut:
            return


async def end_of_run(store: Checkpointer, run_id: str = RUN) -> Any:
    """What must be the same whatever happened on the way: status, state, every hash by path, the chain and the counters
    of loops at the end."""
    hashes = {(step.path, step.visit, step.item, step.status, step.hash) for step in await store.steps(run_id)}
    last = await store.last_position(run_id)
    assert last is not None and last.position is not None
    loops = tuple(sorted(Position.from_bytes(last.position, last.hash).loops.items()))
    return (await store.run(run_id)).status, await store.state(run_id), hashes, (last.hash, loops)
