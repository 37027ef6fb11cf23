"""Run as a program: kills a run with SIGKILL before and after writes of its store, resumes it, and tells what came.

Prints one JSON line for each moment: what the handler did, in which process, and how the run ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_research import Runtime, SqliteCheckpointer
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.state.rows import RunRow, Write
from tests.support.graph.harness import CLOCK, graph_of

PARENT = """
    graph: parent
    version: "1"
    state:
      rounds: {type: integer, default: 0}
      notes: {type: array, reduce: upsert, default: []}
      answer: {type: string}
    start: ask_all
    loops: {again: {most: 1}}
    nodes:
      ask_all:
        each: '["a", "b", "c"]'
        as: word
        at_once: 2
        graph: child
        input: {with: {word: word, rounds: rounds}}
        output: {into: {notes: outputs}}
      count: {set: {rounds: rounds + 1}}
      sum_up: {run: work, input: {with: {word: str(len(notes))}}, output: {into: {answer: output.said}}}
      done: {end: completed}
    edges:
      - {from: ask_all, to: count}
      - {from: count, to: ask_all, loop: again}
      - {from: count, to: sum_up}
      - {from: sum_up, to: done}
"""
CHILD = """
    graph: child
    version: "1"
    state:
      word: {type: string, input: true}
      rounds: {type: integer, input: true}
      id: {type: string, output: true}
      said: {type: string, output: true}
    start: name
    nodes:
      name: {set: {id: word + str(rounds)}}
      say: {run: work, input: {with: {word: id}}, output: {into: {said: output.said}}}
      done: {end: completed}
    edges: [{from: name, to: say}, {from: say, to: done}]
"""


class Log:
    """A file to which every process appends, so that what is done twice shows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")

    def lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []


class Mortal(Checkpointer):
    """Before a store among the bases: kills its process before (even moments) or after (odd moments) a write."""

    moment: int | None = None
    writes = 0

    async def create(self, run: RunRow, first: Write) -> None:
        self._reach()
        await super().create(run, first)
        self._reach()

    async def write(self, write: Write) -> None:
        self._reach()
        await super().write(write)
        self._reach()

    def _reach(self) -> None:
        if self.writes == self.moment:
            os.kill(os.getpid(), signal.SIGKILL)
        self.writes += 1


class MortalSqlite(Mortal, SqliteCheckpointer):
    """A mortal store in a file."""


def graph_with(log: Log) -> Graph:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        async def send() -> str:
            log.add(f"call {ctx.path} {ctx.visit} {handoff['word']}")
            return f"said {handoff['word']} " + "x" * 3000

        answer = await ctx.call("say", {"word": handoff["word"]}, send)
        again = await ctx.call("say", {"word": handoff["word"], "again": True}, send)
        text = await ctx.get_text(ctx.put_text(answer + again))
        return {"said": f"{text[:10]} {ctx.new_id('n')} {ctx.random.random():.6f} {ctx.now():%Y}"}

    return graph_of(PARENT, {"child": CHILD}, work=work)


async def drive(graph: Graph, path: Path, log: Log, moment: int | None, *, resume: bool) -> int:
    store = MortalSqlite(path)
    store.moment = moment
    runtime = Runtime(graph, checkpointer=store, clock=CLOCK)
    stream = runtime.resume("r") if resume else runtime.stream({}, run_id="r")
    async for event in stream:
        if event.type in ("node_finished", "item_finished"):
            log.add(f"shown {event.type} {event.path} {event.visit} {getattr(event, 'item', None)}")
    await store.close()
    return store.writes


async def outcome(path: Path, log: Log) -> dict[str, Any]:
    store = SqliteCheckpointer(path)
    record, state, steps, events, calls = (
        await store.run("r"),
        await store.state("r"),
        await store.steps("r"),
        await store.events("r"),
        await store.calls("r"),
    )
    await store.close()
    finished = sorted((step.path, step.visit, step.item or 0, step.hash) for step in steps if step.status == "finished")
    return {
        "status": record.status,
        "state": state,
        "finished": finished,
        "seqs": [event.seq for event in events],
        "answered": sum(call.status == "answered" for call in calls),
        "lost": sum(call.status == "lost" for call in calls),
        "told": sum(getattr(event, "possibly_paid_twice", 0) for event in events),
        "log": log.lines(),
    }


def in_child(graph: Graph, path: Path, log: Log, moment: int | None, *, resume: bool) -> int:
    """The signal that ended a child process which drives the run, 0 for none."""
    child = os.fork()
    if child == 0:
        asyncio.run(drive(graph, path, log, moment, resume=resume))
        os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def main(folder: Path, step: int) -> None:
    moment = 0
    while True:
        home = folder / str(moment)
        home.mkdir()
        log = Log(home / "log")
        graph = graph_with(log)
        killed = in_child(graph, home / "runs.db", log, moment, resume=False)
        log.add("resumed")
        exists = (home / "runs.db").exists() and asyncio.run(known(home / "runs.db"))
        if in_child(graph, home / "runs.db", log, None, resume=exists) != 0:
            raise SystemExit("the second process died")
        print(json.dumps({"moment": moment, "killed": killed, **asyncio.run(outcome(home / "runs.db", log))}))
        if killed == 0:
            return
        moment += step


async def known(path: Path) -> bool:
    store = SqliteCheckpointer(path)
    runs = await store.runs()
    await store.close()
    return bool(runs)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
