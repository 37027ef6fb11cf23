"""Run as a program: kills a run of one of `GRAPHS` before and after every write of its store, resumes it, and tells
what came. The store is a file in the folder of each moment, or a schema of the PostgreSQL server that is named.

One warm process forks a child for each life of a run, several runs at a time. Prints one JSON line for each moment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_research import Runtime
from graph_research.errors import GraphResearchError
from graph_research.graph.checkpoint.postgres import PostgresCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import UnknownRun
from tests.support.graph.crash_process import Log, Mortal, MortalSqlite
from tests.support.graph.harness import CLOCK, graph_of
from tests.support.graph.scenarios import RUN, carry_on, end_of_run

PARENT = """
    graph: parent
    version: "1"
    state:
      n: {type: integer, default: 2}
      name: {type: string, default: ""}
      log: {type: array, reduce: append, default: []}
    start: all
    loops: {again: {while: n > 0, most: 2}}
    nodes:
      all:
        each: '["a", "b"]'
        as: word
        at_once: 2
        graph: child
        input: {with: {word: word}}
        output: {into: {log: outputs}}
      who: {ask: '"round " + str(n)', into: name, default: '"nobody"'}
      spread: {set: {}, fork: all}
      left: {run: work, input: {with: {word: name}}, output: {into: {log: '[output.word]'}}}
      right:
        run: refuse
        input: {with: {word: '"right"'}}
        output: {into: {log: '[output.word]'}}
        retry: {attempts: 2, backoff: {initial_seconds: 0.001}}
      meet: {set: {}, join: [left, right]}
      count: {set: {n: n - 1}}
      done: {end: completed}
    edges:
      - {from: all, to: who}
      - {from: who, to: spread}
      - {from: spread, to: left}
      - {from: spread, to: right}
      - {from: left, to: meet}
      - {from: right, to: meet}
      - {from: meet, to: count}
      - {from: count, to: count, when: n > 0, loop: again}
      - {from: count, to: done}
"""
CHILD = """
    graph: child
    version: "1"
    state: {word: {type: string, input: true}, said: {type: string, default: "", output: true}}
    start: try
    nodes:
      try: {run: refuse_b, input: {with: {word: word}}, output: {into: {said: output.word}}}
      mend: {set: {said: error.message}}
      done: {end: completed}
    edges: [{from: try, to: done}, {from: try, to: mend, on: error}, {from: mend, to: done}]
"""


LED_AWAY = """
    graph: led_away
    version: "1"
    state:
      rounds: {type: integer, default: 0}
      log: {type: array, reduce: append, default: []}
    start: alone
    loops: {again: {most: 2}}
    nodes:
      alone:
        graph: stalling
        input: {with: {word: '"alone"', stalls: rounds == 0}}
        output: {into: {log: '[output]'}}
      items:
        each: '["a", "b"]'
        as: word
        at_once: 1
        graph: stalling
        input: {with: {word: word, stalls: rounds == 1 and word == "b"}}
        output: {into: {log: outputs}}
      turn: {set: {rounds: rounds + 1, log: '[error.type]'}}
      beside: {run: work, input: {with: {word: '"beside"'}}, output: {into: {log: '[output.word]'}}}
      done: {end: completed}
    edges:
      - {from: alone, to: items}
      - {from: alone, to: turn, on: cancelled}
      - {from: items, to: done}
      - {from: items, to: turn, on: cancelled}
      - {from: turn, to: beside}
      - {from: beside, to: alone, loop: again}
      - {from: beside, to: done}
"""
STALLING = """
    graph: stalling
    version: "1"
    state:
      word: {type: string, input: true}
      stalls: {type: boolean, input: true}
      said: {type: string, default: "", output: true}
    start: say
    nodes:
      say: {run: work, input: {with: {word: word}}, output: {into: {said: output.word}}}
      stall: {run: stall, input: {with: {stalls: stalls}}}
      done: {end: completed}
    edges: [{from: say, to: stall}, {from: stall, to: done}]
"""
GRAPHS = {"turns": PARENT, "led_away": LED_AWAY}


class MortalPostgres(Mortal, PostgresCheckpointer):
    """A mortal store on a server, whose leases end soon after a death."""


def store_in(home: Path) -> MortalSqlite | MortalPostgres:
    """The store of one run, on the server that the third argument names."""
    if len(sys.argv) > 3:
        return MortalPostgres(sys.argv[3], schema=f"moment_{home.resolve().name}", lease_seconds=0.4)
    return MortalSqlite(home / "runs.db")


def graph_with(log: Log, text: str) -> Graph:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def fn() -> str:
            log.add(f"call {ctx.path} {ctx.visit} {ctx.attempt} {ctx.new_id('call')}")
            return f"{handoff['word']}!" + "." * 3000

        answer = await ctx.call("ask", {"word": handoff["word"]}, fn)
        return {"word": f"{answer[:4]} {ctx.new_id('x')} {ctx.random.random():.6f} {ctx.now():%Y}"}

    async def refuse(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        output = await work(handoff, ctx)
        if ctx.attempt == 1:
            raise ValueError("once more")
        return output

    async def refuse_b(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return await (refuse if handoff["word"] == "b" else work)(handoff, ctx)

    async def stall(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        """Has the run cancelled and waits for that, where it `stalls`."""
        if handoff["stalls"]:
            outside = store_in(Path())
            await outside.request_cancel(RUN)
            await outside.close()
            await asyncio.Event().wait()
        return {}

    handlers = {"work": work, "refuse": refuse, "refuse_b": refuse_b, "stall": stall}
    return graph_of(text, {"child": CHILD, "stalling": STALLING}, **handlers)


async def live(graph: Graph, log: Log, moment: int | None) -> None:
    """One life of the run, in the working folder, from the start or from where the last one left it."""
    store = store_in(Path())
    store.moment = moment
    while await store.is_driven(RUN):  # noqa: ASYNC110 -- another process held it
        await asyncio.sleep(0.02)  # the lease of one who was killed runs out
    drive = Runtime(graph, checkpointer=store, clock=CLOCK, interactive=True, poll_seconds=0.01)
    try:
        await store.run(RUN)
    except UnknownRun:
        await drive.run({}, run_id=RUN)
    for event in await carry_on(drive, RUN):
        if event.type in ("node_finished", "item_finished"):
            log.add(f"shown {event.type} {event.path} {event.visit}")
    await store.close()


async def outcome(home: Path) -> dict[str, Any]:
    store = store_in(home)
    status, state, hashes, place = await end_of_run(store)
    events, calls = await store.events(RUN), await store.calls(RUN)
    await store.close()
    return {
        "status": status,
        "state": state,
        "hashes": sorted(map(str, hashes)),
        "place": str(place),
        "seqs": [event.seq for event in events],
        "lost": sum(call.status == "lost" for call in calls),
        "log": Log(home / "log").lines(),
    }


def in_child(graph: Graph, log: Log, home: Path, moment: int | None) -> int:
    """The number of a child process that lives one life of the run."""
    child = os.fork()
    if child == 0:
        os.chdir(home)
        try:
            asyncio.run(live(graph, log, moment))
        except GraphResearchError as problem:
            print(problem, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    """How a child ended: its signal, or 0 when it lived to its end."""
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a child failed")
    return os.WTERMSIG(status)


_AT_ONCE = 4
"""Runs, which wait for the leases of those that were killed."""


def main(folder: Path, name: str) -> None:
    moment, killed, log = 0, [9], Log(Path("log"))
    graph = graph_with(log, GRAPHS[name])
    while all(killed):
        homes = [folder / str(moment + more) for more in range(_AT_ONCE)]
        for home in homes:
            home.mkdir()
        killed = [ended(child) for child in [in_child(graph, log, home, int(home.name)) for home in homes]]
        for home in homes:
            Log(home / "log").add("resumed")
        for child in [in_child(graph, log, home, None) for home in homes]:
            ended(child)
        for home, signal in zip(homes, killed, strict=True):
            print(json.dumps({"moment": int(home.name), "killed": signal, **asyncio.run(outcome(home))}))
        moment += _AT_ONCE


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
