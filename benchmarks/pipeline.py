"""A research of three iterations against servers of fixed latency: how much of the wall time is not waiting for them.

    python benchmarks/pipeline.py [--rounds N] [--model-seconds S] [--search-seconds S] [--page-seconds S]

The models, the search and its pages are a process of their own on loopback (`tests/support/network/fake_services.py`).
The critical path is the longest chain of calls of which none began before the one ahead of it had ended, each counted
with the time that the servers took for it, which is a millisecond more than its latency, or more on a busy machine; the
rest of the wall time is ours. Warm is the second research of a process, after a full garbage collection: whether the
0.1 s of one falls into the first or the second is chance. Cold is a whole command from its start. CPU of our own code
is the share of samples, one a tick of the kernel, in which Python was in a function or a prompt of ours, with what that
calls in C (SQLite, JSON, hashes); the rest is the event loop, HTTP, templates and other libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.network.fake_services import Call, World, open_world

SCRIPT = Path(sys.executable).with_name("graph-research")
QUESTION = (ROOT / "examples" / "question.txt").read_text().strip()
ITERATIONS = 3
_MOST_GAPS = 5
WARM_PROGRAM = """
import asyncio, gc, json, os, signal, sys, time
import graph_research
from graph_research import deep_research

package = os.path.dirname(graph_research.__file__)
prompts = os.path.join(os.path.dirname(package), "prompts")
samples = {True: 0, False: 0}

def sample(_, frame):
    samples[frame is not None and frame.f_code.co_filename.startswith((package, prompts))] += 1

async def main():
    rows = []
    for number in (1, 2):
        open(os.environ["WORLD_LOG"], "w").close()
        samples.update({True: 0, False: 0})
        gc.collect()
        started, cpu = time.monotonic(), time.process_time()
        result = await deep_research(
            sys.argv[1], llm=sys.argv[2], search=["searxng"], max_iterations=3, out=f"warm-{number}")
        cost = {"started": started, "wall": time.monotonic() - started, "cpu": time.process_time() - cpu}
        rows.append({**cost, "own": samples[True] / max(sum(samples.values()), 1), "result": result.to_json()})
    print(json.dumps(rows[-1]))

signal.signal(signal.SIGPROF, sample)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
asyncio.run(main())
signal.setitimer(signal.ITIMER_PROF, 0)
"""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One research: when it began on the monotonic clock, seconds of wall time and CPU, the share of the latter in our
    own code, its calls as the servers saw them, those of the critical path, its result."""

    started: float
    wall: float
    cpu: float
    own: float
    path: Sequence[Call]
    calls: Sequence[Call]
    result: dict[str, Any]

    @property
    def path_seconds(self) -> float:
        return sum(call.ended - call.started for call in self.path)


def critical_path(calls: Sequence[Call]) -> Sequence[Call]:
    """The chain of calls that did not overlap which took the longest."""
    ordered = sorted(calls, key=lambda call: call.ended)
    ends = [call.ended for call in ordered]
    chains: list[tuple[float, tuple[Call, ...]]] = [(0.0, ())]
    for place, call in enumerate(ordered):
        seconds, before = chains[bisect_right(ends, call.started, hi=place)]
        longer = (seconds + call.ended - call.started, (*before, call))
        chains.append(max(chains[place], longer, key=lambda chain: chain[0]))
    return chains[-1][1]


def gaps(measured: Measured) -> list[tuple[float, str]]:
    """Seconds before the first call of the critical path, between its calls and after the last, with the names of what
    stands on either side; the longest first."""
    names = ["start", *(call.agent or call.kind for call in measured.path), "end"]
    begins = [measured.started, *(call.ended for call in measured.path)]
    ends = [*(call.started for call in measured.path), measured.started + measured.wall]
    found = zip(begins, ends, names, names[1:], strict=False)
    return sorted(((end - begin, f"{before} to {after}") for begin, end, before, after in found), reverse=True)


def warm(world: World, folder: Path, log: Path) -> Measured:
    """The second of two researches in one process."""
    command = [sys.executable, "-c", WARM_PROGRAM, QUESTION, world.model]
    done = run(command, world, folder, log)
    row = json.loads(done)
    calls = world.calls()
    return Measured(**row, calls=calls, path=critical_path(calls))


def cold(world: World, folder: Path, log: Path) -> Measured:
    """A whole command, from the start of its process."""
    world.forget()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    options = ["--llm", world.model, "--search", "searxng", "--max-iterations", str(ITERATIONS), "--json"]
    done = run([str(SCRIPT), "run", QUESTION, *options, "--out", "cold"], world, folder, log)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    calls = world.calls()
    cost = {"started": started, "wall": wall, "cpu": cpu, "own": 0.0}
    return Measured(**cost, path=critical_path(calls), calls=calls, result=json.loads(done))


def run(command: Sequence[str], world: World, folder: Path, log: Path) -> str:
    """Standard output of a command in the world; its failure ends the benchmark with what it said."""
    home = {"GRAPH_RESEARCH_HOME": str(folder / "home"), "WORLD_LOG": str(log)}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder), **home, **world.environ()}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)[:200]}\n{done.stderr}")
    return done.stdout


def show(what: str, values: Sequence[float], unit: str, bound: float | None = None) -> bool:
    """One row: median, spread and bound; whether the bound is kept."""
    median = statistics.median(values)
    kept = bound is None or median <= bound
    verdict = "" if bound is None else f"  bound {bound:g} {unit}  {'ok' if kept else 'OVER'}"
    print(f"  {what:<44} {median:9.3f} {unit:<2} ({min(values):.3f} to {max(values):.3f}){verdict}")
    return kept


def tell(measured: Measured) -> None:
    """What one research asked for, and what it cost."""
    kinds = Counter(call.kind for call in measured.calls)
    answered = Counter(call.key for call in measured.calls if call.status == 200)
    agents = Counter(call.agent for call in measured.calls if call.agent)
    report = json.loads(Path(measured.result["report"]["json"]).read_text())
    totals = report["statistics"]["totals"]
    tokens = totals["input_tokens"] + totals["output_tokens"]
    cited = {citation["source_id"] for citation in report["citations"]}
    print(f"  calls: {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}")
    print(f"  model calls: {', '.join(f'{count} {agent}' for agent, count in sorted(agents.items()))}")
    print(f"  repeated calls: {sum(count - 1 for count in answered.values())}")
    print(f"  iterations: {measured.result['iterations']}, sources cited: {len(cited)}")
    print(f"  tokens: {tokens:,} a run, {tokens // max(len(cited), 1):,} a cited source")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model-seconds", type=float, default=0.3)
    parser.add_argument("--search-seconds", type=float, default=0.2)
    parser.add_argument("--page-seconds", type=float, default=0.1)
    options = parser.parse_args()
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; models "
        f"{options.model_seconds * 1000:.0f} ms, search {options.search_seconds * 1000:.0f} ms, "
        f"pages {options.page_seconds * 1000:.0f} ms\n"
    )
    runs: dict[str, list[Measured]] = {"warm": [], "cold": []}
    latencies = {f"{what}_seconds": getattr(options, f"{what}_seconds") for what in ("model", "search", "page")}
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.rounds):
            for kind, measure in (("warm", warm), ("cold", cold)):
                folder = Path(name) / f"{kind}-{number}"
                folder.mkdir()
                with open_world(folder / "calls", always_gaps=True, **latencies) as world:
                    runs[kind].append(measure(world, folder, folder / "calls"))
        print(f"A research of {ITERATIONS} iterations")
        tell(runs["warm"][-1])
        print("\nWarm: the second research of a process")
        show("critical path", [one.path_seconds for one in runs["warm"]], "s")
        show("wall", [one.wall for one in runs["warm"]], "s")
        kept = [show("wall / critical path", [one.wall / one.path_seconds for one in runs["warm"]], "x", 1.05)]
        show("CPU of the process", [one.cpu for one in runs["warm"]], "s")
        kept.append(show("CPU of our own code", [one.cpu * one.own for one in runs["warm"]], "s", 0.3))
        longest = gaps(runs["warm"][-1])[:_MOST_GAPS]
        print(f"  longest gaps on the path: {', '.join(f'{names} {gap * 1000:.0f} ms' for gap, names in longest)}")
        print("\nCold: a whole command")
        show("wall", [one.wall for one in runs["cold"]], "s")
        kept.append(show("wall / critical path", [one.wall / one.path_seconds for one in runs["cold"]], "x", 1.3))
        show("CPU, start of the process and imports included", [one.cpu for one in runs["cold"]], "s")
        print(f"\n{kept.count(False)} over their bounds")


if __name__ == "__main__":
    main()
