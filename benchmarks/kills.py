"""kill -9 at random moments of researches, then resume: what was asked twice, counted at the servers.

    python benchmarks/kills.py [--kills N] [--seed S]

Each research is killed again and again, at a random moment after its process started to call, and resumed until it
ends. Its report must be the bytes of one that was never killed, and no call may be made twice but those in flight at
a kill: the servers' log says which were, the run says how many it may have paid twice.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import orjson

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.network.fake_services import Call, World, open_world

SCRIPT = Path(sys.executable).with_name("graph-research")
QUESTION = (ROOT / "examples" / "question.txt").read_text().strip()
LATENCIES = {"model_seconds": 0.03, "search_seconds": 0.02, "page_seconds": 0.01}
LONGEST_LIFE_SECONDS = 1.5


@dataclass(kw_only=True)
class Tally:
    """`again` holds for each kill how many answered calls its resume made a second time; `told` what the runs said."""

    again: list[int] = field(default_factory=list)
    told: int = 0
    researches: int = 0
    problems: list[str] = field(default_factory=list)


def start(arguments: list[str], world: World, folder: Path) -> subprocess.Popen[bytes]:
    """The command in a process of its own, with the world's search and pages."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GRAPH_RESEARCH_HOME": str(folder / "home")}
    return subprocess.Popen(
        [str(SCRIPT), *arguments],
        cwd=folder,
        env={**environment, **world.environ()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def first(world: World) -> list[str]:
    """The command that begins the research."""
    fixed = ["--run-id", "r", "--now", "2026-01-01T00:00:00Z", "--out", "out", "--max-iterations", "2"]
    return ["run", QUESTION, "--llm", world.model, "--search", "searxng", *fixed]


def killed(process: subprocess.Popen[bytes], world: World, seen: int, wait: float) -> bool:
    """Kill the process `wait` seconds after its first call of this life; False if it ended before that."""
    while process.poll() is None and len(world.calls()) <= seen:
        time.sleep(0.005)
    deadline = time.monotonic() + wait
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    if process.poll() is not None:
        return False
    process.send_signal(signal.SIGKILL)
    process.wait()
    return True


def repeats(calls: list[Call]) -> int:
    """How many calls were answered more than once. Pages and searches count like models; only what a host allows
    robots is looked up by each process anew."""
    answered = Counter(call.key for call in calls if call.status == 200 and call.kind != "robots")
    return sum(count - 1 for count in answered.values())


def research(world: World, folder: Path, draw: random.Random, most: int, tally: Tally) -> bytes:
    """One research, killed at most `most` times and resumed to its end; the bytes of its report."""
    arguments, kills = first(world), 0
    while True:
        seen, before = len(world.calls()), repeats(world.calls())
        process = start(arguments, world, folder)
        if kills < most and killed(process, world, seen, draw.uniform(0, LONGEST_LIFE_SECONDS)):
            kills += 1
            if kills > 1:
                tally.again.append(repeats(world.calls()) - before)
            arguments = (
                ["resume", "r", "--out", "out"] if (folder / "home" / "audit" / "r.jsonl").exists() else arguments
            )
            continue
        _, errors = process.communicate()
        if process.returncode:
            tally.problems.append(errors.decode()[-2000:])
            return b""
        if kills:
            tally.again.append(repeats(world.calls()) - before)
        break
    report = orjson.loads((folder / "out" / "report.json").read_bytes())
    tally.told += report["statistics"]["possibly_paid_twice"]
    tally.researches += 1
    return (folder / "out" / "report.md").read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, tally = random.Random(options.seed), Tally()
    with tempfile.TemporaryDirectory() as name, open_world(Path(name) / "calls", **LATENCIES) as world:
        whole = Path(name) / "whole"
        whole.mkdir()
        expected = research(world, whole, draw, 0, Tally())
        while len(tally.again) < options.kills and not tally.problems:
            world.forget()
            folder = Path(name) / f"research-{tally.researches}"
            folder.mkdir()
            if research(world, folder, draw, min(12, options.kills - len(tally.again)), tally) != expected:
                tally.problems.append(f"research {tally.researches}: another report than the one never killed")
            print(f"\r{len(tally.again)} kills in {tally.researches} researches", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{len(tally.again)} kills in {tally.researches} researches, resumed to the same report")
    print(f"calls made again a kill: mean {statistics.mean(tally.again):.2f}, most {max(tally.again)}")
    print(f"calls made again in all: {sum(tally.again)}; the runs said that they may have paid {tally.told} twice")
    if sum(tally.again) > tally.told:
        tally.problems.append("more calls were made again than the runs told of")
    sys.exit("\n".join(tally.problems) or 0)


if __name__ == "__main__":
    main()
