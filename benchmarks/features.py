"""What summaries, reflections, the reading of topics, digests and the recovery from long prompts cost and save.

The same research with each of them switched off, in a large and in a small window.

    python benchmarks/features.py [--window TOKENS[:TAKEN_FOR] ...] [--iterations N] [--model-seconds S]

The models, the search and its pages are those of `tests/support/network/fake_services.py`, every page followed by
20,000 characters that say nothing to the question. `6000:24000` is a window that the program takes for a larger one, so
that prompts are refused. A row is one research: model calls, input and output tokens, in all and for each source cited,
wall time, the measured share of the sources' texts that was shown, sources cited, sentences that are proved or cited as
a share of all that need a source, and how it ended. Tokens and wall time are compared with the row in which everything
is off; since that reads less and cites less, what a source cited costs is the fairer figure, and a run of one round
(`--iterations 1`) the fairer comparison. In the first window all texts fit into the analysis's share, in the second
most do, in the others hardly any. The model quotes what it is shown, so support says that no feature loses a citation,
not how well a real model writes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.network.fake_services import Faults, open_world

SCRIPT = Path(sys.executable).with_name("graph-research")
QUESTION = (ROOT / "examples" / "question.txt").read_text().strip()
OFF = {
    "fetch_time_summarization": "false",
    "topic_reflection": "false",
    "topic_compression": "false",
    "deep_research_digest_policy": "off",
    "token_limit_recovery": "false",
}
"""By feature, the value of its setting that switches it off."""

NEEDING = ("verified", "cited", "proved", "unsupported", "computed")


@dataclass(frozen=True)
class Row:
    """One research; without a report it has no tokens, sources and sentences."""

    name: str
    status: str
    wall: float
    calls: int
    tokens: int = 0
    searches: int = 0
    fidelity: float = 0.0
    cited: int = 0
    supported: float = 0.0
    refused: int = 0
    agents: Counter[str] = field(default_factory=Counter)

    @property
    def each(self) -> float:
        """Tokens for each source cited."""
        return self.tokens / max(self.cited, 1)


def measure(name: str, settings: dict[str, str], options: argparse.Namespace, window: str) -> Row:
    """A research under these settings whose model refuses what its window does not hold."""
    real, _, taken_for = window.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(window_chars=int(real) * 4)
        log = Path(folder) / "calls"
        with open_world(log, long_pages=True, model_seconds=options.model_seconds, faults=faults) as world:
            own = {f"GRAPH_RESEARCH_{key.upper()}": value for key, value in settings.items()}
            environ = {
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "GRAPH_RESEARCH_HOME": f"{folder}/home",
                "GRAPH_RESEARCH_DEFAULT_CONTEXT_TOKENS": taken_for or real,
                **world.environ(),
                **own,
            }
            asked = ["--llm", world.model, "--search", "searxng", "--max-iterations", str(options.iterations)]
            began = time.perf_counter()
            done = subprocess.run(
                [str(SCRIPT), "run", QUESTION, *asked, "--json", "--out", "report"],
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                check=False,
            )
            wall = time.perf_counter() - began
            models = world.calls("model")
        if not done.stdout:
            sys.exit(f"{name}: {done.stderr[-400:]}")
        return _row(name, json.loads(done.stdout), Path(folder), wall, models)


def _row(name: str, result: dict[str, Any], folder: Path, wall: float, models: list[Any]) -> Row:
    if not result.get("report"):
        agents = Counter(call.agent for call in models)
        refused = sum(call.status != 200 for call in models)
        return Row(name, result.get("status", "failed"), wall, len(models), refused=refused, agents=agents)
    report = json.loads((folder / result["report"]["json"]).read_text())
    statistics = report["statistics"]
    counts = statistics["statements"]
    needing = sum(counts.get(kind, 0) for kind in NEEDING)
    totals = statistics["totals"]
    return Row(
        name=name,
        status=result["status"],
        wall=wall,
        calls=len(models),
        tokens=totals["input_tokens"] + totals["output_tokens"],
        searches=statistics["searches"],
        fidelity=statistics["content_fidelity"]["score"],
        cited=statistics["sources_cited"],
        supported=1 - counts.get("unsupported", 0) / needing if needing else 0.0,
        refused=sum(call.status != 200 for call in models),
        agents=Counter(call.agent for call in models),
    )


def show(rows: list[Row]) -> None:
    """The table; the last row is the one that the others are compared with."""
    base = rows[-1]
    print(
        f"  {'':<30}{'ended':>10}{'calls':>7}{'refused':>9}{'tokens':>10}{'':>8}{'wall':>8}{'':>8}"
        f"{'a source':>10}{'':>8}{'searches':>10}{'shown':>8}{'cited':>7}{'supported':>11}"
    )
    for row in rows:
        print(
            f"  {row.name:<30}{row.status:>10}{row.calls:>7}{row.refused:>9}{row.tokens:>10,}"
            f"{row.tokens / max(base.tokens, 1) - 1:>+8.0%}{row.wall:>7.1f}s{row.wall / base.wall - 1:>+8.0%}"
            f"{row.each:>10,.0f}{row.each / (base.each or 1) - 1:>+8.0%}{row.searches:>10}"
            f"{row.fidelity:>8.2f}{row.cited:>7}{row.supported:>11.0%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--window", nargs="+", default=["1000000", "128000", "16000", "6000:24000"])
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--model-seconds", type=float, default=0.2)
    options = parser.parse_args()
    for window in options.window:
        print(f"\nA window of {window} tokens, at most {options.iterations} rounds")
        rows = [measure("everything on", {}, options, window)]
        rows += [
            measure(f"without {name.replace('_', ' ')[:22]}", {name: off}, options, window) for name, off in OFF.items()
        ]
        rows.append(measure("everything off", OFF, options, window))
        show(rows)


if __name__ == "__main__":
    main()
