"""What the engine costs beside LangGraph, Burr and raw SQLite, all measured in one run.

    make bench
    python benchmarks/engine.py [--rounds N] [--only WORD]

Prints a table: what was measured, its bound and whether it holds. Times of a node, an item or a commit are the best of
`--rounds`, because a busy machine only ever adds to them; CPU is that of the whole process with all its threads.
"Same pragmas" means SQLite in WAL with `synchronous` NORMAL (durability `process`) or FULL (`power`) on both sides.
Bounds are held against LangGraph's asynchronous API, as ours is asynchronous; what its synchronous one costs, which
drives no event loop, stands beside it without a bound. LangGraph and Burr are the dependency group `bench`; without
them their rows are left out, and the table says so.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workload import SYNCHRONOUS, Cost, Durability, added, metered, written

from graph_research import MemoryCheckpointer, Runtime, SqliteCheckpointer, load_graph
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.registry import Registry

try:
    from rivals import engines
except ImportError:
    engines = None

NODES = 1000
MANY = 10_000
STEPS = 100
STEP_CHARS = 50_000
SMALL_CHARS = 100
READS = 8

LOOP = """
graph: loop
version: "1"
start: work
state:
  n: {type: integer, default: 0}
  most: {type: integer, input: true}
  text: {type: string, default: ""}
loops: {again: {while: n < most, most: 1000000}}
nodes:
  work: {run: work, input: {with: {n: n}}, output: {into: {n: output.n, text: output.text}}}
  done: {end: completed}
edges:
  - {from: work, to: work, loop: again}
  - {from: work, to: done}
"""

GROWTH = """
graph: growth
version: "1"
start: add
state:
  n: {type: integer, default: 0}
  most: {type: integer, input: true}
  texts: {type: array, reduce: append}
loops: {again: {while: n < most, most: 1000000}}
nodes:
  add: {run: add, input: {with: {n: n}}, output: {into: {n: output.n, texts: "[output.text]"}}}
  done: {end: completed}
edges:
  - {from: add, to: add, loop: again}
  - {from: add, to: done}
"""

UPSERT = """
graph: upsert
version: "1"
start: add
state:
  n: {type: integer, default: 0}
  most: {type: integer, input: true}
  ids: {type: integer, input: true}
  texts: {type: array, reduce: upsert}
loops: {again: {while: n < most, most: 1000000}}
nodes:
  add:
    run: add
    input: {with: {n: n}}
    output: {into: {n: output.n, texts: "[{'id': output.n % ids, 'text': output.text}]"}}
  done: {end: completed}
edges:
  - {from: add, to: add, loop: again}
  - {from: add, to: done}
"""

FAN_OUT = """
graph: fan_out
version: "1"
start: square
state:
  numbers: {type: array, input: true}
  squares: {type: array, reduce: append}
  total: {type: integer, default: 0}
nodes:
  square:
    each: numbers
    as: number
    run: square
    at_once: 100
    input: {with: {number: number}}
    output: {into: {squares: outputs}}
  join: {set: {total: len(squares)}}
  done: {end: completed}
edges:
  - {from: square, to: join}
  - {from: join, to: done}
"""


class Table:
    """Prints one row after the other and keeps what is over its bound."""

    def __init__(self) -> None:
        self.over: list[str] = []

    def head(self, title: str) -> None:
        print(f"\n{title}")

    def fact(self, what: str, value: str) -> None:
        print(f"  {what:<62} {value:>12}", flush=True)

    def row(self, what: str, value: float, bound: float, unit: str) -> None:
        """`value` must not be above `bound`."""
        verdict = "ok" if value <= bound else "OVER"
        if value > bound:
            self.over.append(what)
        print(f"  {what:<62} {value:9.3f} {unit:<3} bound {bound:g} {unit:<3} {verdict}", flush=True)


# Ours


def our_graph(text: str, chars: int) -> Graph:
    async def work(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:  # noqa: ARG001 -- a handler's shape
        n = handoff["n"] + 1
        return {"n": n, "text": written(n)}

    async def add(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:  # noqa: ARG001 -- a handler's shape
        n = handoff["n"] + 1
        return {"n": n, "text": added(n, chars)}

    async def square(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:  # noqa: ARG001 -- a handler's shape
        return {"square": handoff["number"] ** 2}

    registry = Registry(handlers={"work": work, "add": add, "square": square})
    return load_graph("benchmark.yaml", text=text, registry=registry)


async def ours(text: str, store: Checkpointer, given: Mapping[str, Any], chars: int) -> Cost:
    """One whole run, called `r`; `chars` is how much a step of a growing state adds."""
    runtime = Runtime(our_graph(text, chars), checkpointer=store)
    with metered() as meter:
        result = await runtime.run(given, run_id="r")
    if result.status != "completed":
        raise SystemExit(f"our run ended {result.status}: {result.error}")
    return meter.cost


def ours_stored(
    text: str, given: Mapping[str, Any], folder: Path, durability: Durability = "process", *, chars: int = 0
) -> Cost:
    async def whole() -> Cost:
        store = SqliteCheckpointer(folder / "ours.db", durability=durability)
        cost = await ours(text, store, given, chars)
        await store.close()
        return cost

    return asyncio.run(whole())


def ours_in_memory(text: str, given: Mapping[str, Any]) -> Cost:
    return asyncio.run(ours(text, MemoryCheckpointer(), given, 0))


def raw_commits(commits: int, folder: Path, durability: Durability) -> Cost:
    """Transactions of one row of 1 KB each, with nothing around them."""
    with closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
        connection.execute("CREATE TABLE steps (id INTEGER PRIMARY KEY, content BLOB NOT NULL)")
        with metered() as meter:
            for n in range(commits):
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO steps VALUES (?, ?)", (n, written(n).encode()))
                connection.execute("COMMIT")
        return meter.cost


# What is measured


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Measures and prints; `rounds` is how often the cheap parts are repeated."""

    rounds: int
    table: Table

    def contest(self, count: int, **runs: Callable[[Path], Cost]) -> dict[str, Cost]:
        """The least cost of one node (item, commit) of each, in milliseconds. They take turns, so that a machine that
        is busy for a while is busy for all."""
        costs: dict[str, list[Cost]] = {name: [] for name in runs}
        for _ in range(self.rounds):
            for name, run in runs.items():
                with folder() as place:
                    costs[name].append(run(place))
        each = 1000 / count
        return {
            name: Cost(cpu=min(cost.cpu for cost in several) * each, wall=min(cost.wall for cost in several) * each)
            for name, several in costs.items()
        }

    def best(self, run: Callable[[Path], Cost], count: int) -> Cost:
        """The least cost of one, in milliseconds."""
        return self.contest(count, only=run)["only"]

    def loop(self) -> None:
        self.table.head(f"A loop of {NODES} nodes, a checkpoint and 1 KB of new state each; CPU a node")
        process, power = self._loop("process", 1 / 8), self._loop("power", 1 / 6)
        self.table.row("ours, process", process["ours"].cpu, 0.2, "ms")
        self.table.row("ours / a raw FULL commit, power, wall", power["ours"].wall / power["raw"].wall, 2, "x")
        given = {"most": NODES}
        runs = {"ours": lambda _: ours_in_memory(LOOP, given)}
        if engines is not None:
            first = {"n": 0, "text": "", **given}
            runs["LangGraph InMemorySaver"] = lambda _: engines.langgraph_in_memory(engines.langgraph_loop, first)
        self._compare(self.contest(NODES, **runs), "in memory", 1 / 10)

    def _loop(self, durability: Durability, bound: float) -> dict[str, Cost]:
        given = {"most": NODES}
        runs = {
            "ours": lambda place: ours_stored(LOOP, given, place, durability),
            "raw": lambda place: raw_commits(NODES, place, durability),
        }
        if engines is not None:
            runs |= self._langgraph(engines.langgraph_loop, {"n": 0, "text": "", **given}, durability)
            runs["Burr SQLitePersister"] = lambda place: engines.burr_loop(given, place, durability)
        costs = self.contest(NODES, **runs)
        if durability == "power":
            self.table.fact("power: raw commit, wall", f"{costs['raw'].wall:.3f} ms")
            self.table.fact("power: ours, wall", f"{costs['ours'].wall:.3f} ms")
        self._compare(costs, durability, bound)
        return costs

    def _langgraph(self, make: Any, given: Mapping[str, Any], durability: Durability) -> dict[str, Any]:
        return {
            "LangGraph AsyncSqliteSaver": lambda place: engines.langgraph_async(make, given, place, durability),
            "LangGraph SqliteSaver": lambda place: engines.langgraph_sync(make, given, place, durability),
        }

    def _compare(self, costs: Mapping[str, Cost], where: str, bound: float) -> None:
        """Print what each costs, and hold ours against LangGraph's."""
        for name, cost in costs.items():
            self.table.fact(f"{where}: {name}", f"{cost.cpu:.3f} ms")
        for name, cost in costs.items():
            ratio = costs["ours"].cpu / cost.cpu
            if name == "LangGraph SqliteSaver":
                self.table.fact(f"{where}: ours / {name}", f"{ratio:.3f} x ")
            elif name.startswith("LangGraph"):
                self.table.row(f"{where}: ours / {name}", ratio, bound, "x")

    def fan_out(self) -> None:
        self.table.head(f"A fan-out of {NODES} durable items and a join; CPU an item")
        few, many = {"numbers": list(range(NODES))}, {"numbers": list(range(MANY))}
        runs = {"ours": lambda place: ours_stored(FAN_OUT, few, place)}
        if engines is not None:
            runs |= self._langgraph(engines.langgraph_fan_out, {**few, "squares": [], "total": 0}, "process")
        costs = self.contest(NODES, **runs)
        self._compare(costs, "process", 1 / 8)
        of_many = self.best(lambda place: ours_stored(FAN_OUT, many, place), MANY)
        of_few = self.best(lambda place: ours_stored(FAN_OUT, few, place), NODES)
        self.table.row(f"{MANY} items: CPU an item / that of {NODES}", of_many.cpu / of_few.cpu, 1.3, "x")

    def large_steps(self) -> None:
        self.table.head(f"{STEPS} steps that each add {STEP_CHARS // 1000} KB")
        content, given = STEPS * STEP_CHARS, {"most": STEPS}
        for n in range(1, STEPS + 1):
            added(n, STEP_CHARS)
        disks: list[int] = []

        def mine_in(place: Path) -> Cost:
            cost = ours_stored(GROWTH, given, place, chars=STEP_CHARS)
            disks.append(disk_of(place))
            return cost

        mine = self.best(mine_in, STEPS)
        self.table.row("disk / content", max(disks) / content, 1.1, "x")
        self.table.fact("ours: wall a step", f"{mine.wall:.3f} ms")
        if engines is not None:
            with folder() as place:
                other = engines.langgraph_async(
                    engines.langgraph_growth(STEP_CHARS), {"n": 0, "texts": [], **given}, place, "process"
                )
                self.table.fact("LangGraph AsyncSqliteSaver: disk / content", f"{disk_of(place) / content:.1f} x  ")
            wall = other.wall * 1000 / STEPS
            self.table.fact("LangGraph AsyncSqliteSaver: wall a step", f"{wall:.3f} ms")
            self.table.row("ours / LangGraph: wall", mine.wall / wall, 1 / 10, "x")

    def growth(self) -> None:
        self.table.head(f"{MANY} steps that each append {SMALL_CHARS} characters, against {NODES} steps")
        with folder() as place:
            few = ours_stored(GROWTH, {"most": NODES}, place, chars=SMALL_CHARS)
            few_bytes = disk_of(place)
        with folder() as place:
            many = ours_stored(GROWTH, {"most": MANY}, place, chars=SMALL_CHARS)
            self.table.fact(f"{MANY} steps: CPU a step", f"{many.cpu * 1000 / MANY:.3f} ms")
            self.table.row("CPU a step, relative", many.cpu / few.cpu * NODES / MANY, 1.3, "x")
            self.table.fact(f"{MANY} steps: disk a step", f"{disk_of(place) / MANY:.0f} B ")
            self.table.row("disk a step, relative", disk_of(place) / few_bytes * NODES / MANY, 1.3, "x")
            asyncio.run(self._reading(place / "ours.db"))

    def upsert(self) -> None:
        for what, ids in ((f"put in a new entry of {SMALL_CHARS} characters", MANY + 1), ("replace one of 10", 10)):
            self.table.head(f"{MANY} steps that each {what} by id, against {NODES} steps")
            with folder() as place:
                few = ours_stored(UPSERT, {"most": NODES, "ids": ids}, place, chars=SMALL_CHARS)
                few_bytes = disk_of(place)
            with folder() as place:
                many = ours_stored(UPSERT, {"most": MANY, "ids": ids}, place, chars=SMALL_CHARS)
                self.table.fact(f"{MANY} steps: CPU a step", f"{many.cpu * 1000 / MANY:.3f} ms")
                self.table.row("CPU a step, relative", many.cpu / few.cpu * NODES / MANY, 1.3, "x")
                self.table.fact(f"{MANY} steps: disk a step", f"{disk_of(place) / MANY:.0f} B ")
                self.table.row("disk a step, relative", disk_of(place) / few_bytes * NODES / MANY, 1.3, "x")

    async def _reading(self, path: Path) -> None:
        state: list[float] = []
        history: list[float] = []
        for _ in range(max(self.rounds, READS)):
            store = SqliteCheckpointer(path)
            await store.run("r")
            started = time.perf_counter()
            texts = (await store.state("r"))["texts"]
            state.append((time.perf_counter() - started) * 1000)
            if len(texts) != MANY:
                raise SystemExit("the state is not what was written")
            del texts
            started = time.perf_counter()
            await store.steps("r")
            history.append((time.perf_counter() - started) * 1000)
            await store.close()
        tracemalloc.start()
        store = SqliteCheckpointer(path)
        steps = await store.steps("r")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        await store.close()
        self.table.row("latest state", min(state), 20, "ms")
        self.table.row(f"history of {len(steps)} steps", min(history), 100, "ms")
        self.table.row("history: most memory", peak / 1e6, 30, "MB")

    def imports(self) -> None:
        self.table.head("Start")
        seconds = []
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        for _ in range(max(self.rounds, READS)):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import graph_research.graph"], env=environment, check=True)
            package = time.perf_counter() - started
            started = time.perf_counter()
            code = "from graph_research import load_graph, Runtime"
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            seconds.append((package, time.perf_counter() - started))
        self.table.row("import graph_research.graph", min(package for package, _ in seconds), 0.3, "s")
        self.table.row("from graph_research import load_graph, Runtime", min(both for _, both in seconds), 0.6, "s")


def disk_of(place: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="engine-bench-") as name:
        yield Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="loop, fan_out, large_steps, growth, upsert or imports")
    arguments = parser.parse_args()
    table = Table()
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    print(f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} CPUs, load {load}")
    if engines is None:
        print("LangGraph and Burr are not installed (dependency group `bench`): nothing is compared with them")
    benchmark = Benchmark(rounds=arguments.rounds, table=table)
    parts = (benchmark.loop, benchmark.fan_out, benchmark.large_steps, benchmark.growth, benchmark.upsert)
    for part in (*parts, benchmark.imports):
        if arguments.only in part.__name__:
            part()
    print(f"\n{len(table.over)} over their bounds" + "".join(f"\n  {what}" for what in table.over))
    sys.exit(1 if table.over else 0)


if __name__ == "__main__":
    main()
