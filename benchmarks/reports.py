"""What a report of each length holds, with a model that writes as much as it is asked for, and with the keyless one.

    python benchmarks/reports.py [--rounds N]

The model is the fake one of the tests on loopback (`tests/support/network/fake_services.py`), which writes tables,
facts in the words of its evidence and analysis until a section has its length; so the figures show what the graph makes
of such a model, not how well a model writes. Words are those of the answer, the sections and the conclusions. A proved
sentence is a quote that stands in the archive, or a fact that the verifier found supported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from graph_research import deep_research
from tests.support.network.fake_services import open_world

QUESTION = (ROOT / "examples" / "question.txt").read_text().strip()
LENGTHS: Mapping[str, tuple[int, int]] = {"brief": (400, 900), "standard": (1_200, 2_500), "long": (3_000, 6_000)}
"""The words that a report of each length should have, from and to."""
KINDS = ("proved", "verified", "cited", "analysis", "transition", "limit", "unsupported")


def blocks_of(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of the answer, the sections and the conclusions."""
    sections = [block for section in report["sections"] for block in section["blocks"]]
    return [*report["short_answer"], *sections, *report["conclusions"]]


def sentences_of(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every sentence and cell of these blocks."""
    return [
        sentence
        for block in blocks_of(report)
        for sentence in (*block["sentences"], *(one for group in (*block["items"], *block["rows"]) for one in group))
    ]


def tell(name: str, report: Mapping[str, Any], bound: tuple[int, int] | None) -> bool:
    """The rows of one report; whether its length is as asked."""
    sentences = sentences_of(report)
    words = sum(len(sentence["text"].split()) for sentence in sentences)
    kept = bound is None or bound[0] <= words <= bound[1]
    numbers = report["statistics"]
    totals = numbers["totals"]
    tokens = totals["input_tokens"] + totals["output_tokens"]
    proved = sum(sentence["status"] in ("proved", "verified") for sentence in sentences)
    counts = {kind: sum(sentence["status"] == kind for sentence in sentences) for kind in KINDS}
    share = ", ".join(f"{kind} {count / len(sentences):.0%}" for kind, count in counts.items() if count)
    asked = "" if bound is None else f"  asked {bound[0]:,} to {bound[1]:,}  {'ok' if kept else 'MISSED'}"
    print(f"{name}\n  words {words:,}{asked}")
    print(
        f"  {len(report['sections'])} sections, {sum(block['type'] == 'table' for block in blocks_of(report))} tables, "
        f"{numbers['sources_cited']} sources, {len(report['citations'])} passages cited"
    )
    print(f"  {len(sentences)} sentences: {share}")
    print(f"  {numbers['calls']} model calls, {tokens:,} tokens, {tokens // max(proved, 1):,} a proved sentence\n")
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1, help="iterations of each research")
    options = parser.parse_args()
    kept = []
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        os.environ["GRAPH_RESEARCH_HOME"] = f"{name}/home"
        for length, bound in LENGTHS.items():
            with open_world(Path(name) / f"calls-{length}", long_sections=True) as world:
                os.environ.update(world.environ())
                common: dict[str, Any] = {"length": length, "max_iterations": options.rounds}
                written = asyncio.run(
                    deep_research(QUESTION, llm=world.model, search=["searxng"], out=f"model-{length}", **common)
                )
            kept.append(tell(f"{length}, model", json.loads(Path(written.report["json"]).read_text()), bound))
            library = [str(ROOT / "examples" / "library")]
            quoted = asyncio.run(
                deep_research(
                    QUESTION, llm="extractive", search=["local"], library=library, out=f"keyless-{length}", **common
                )
            )
            tell(f"{length}, keyless", json.loads(Path(quoted.report["json"]).read_text()), None)
    print(f"{kept.count(False)} lengths missed")


if __name__ == "__main__":
    main()
