"""Which marked sentences of a documentation reach the prompt of a model that extracts findings from it.

    python benchmarks/reading.py [--sources N] [--missed]

`benchmarks/data/reading.json` holds questions, each with the searches of its sub-queries and with sentences that a good
answer needs, each in a page of documentation that Debian installs (`sqlite3-doc`, `postgresql-doc-15`, `git-doc`,
`python3.11-doc`). The handlers of the graph search the library, keep sources and make the prompt; a question whose
pages are not installed is left out. `--sources` sets `max_sources_per_query`; `--missed` lists what did not arrive.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.providers.search.local import Library
from graph_research.providers.search.local.provider import LocalSearch
from graph_research.research.agents.gathering.extractor import extractor
from graph_research.research.agents.gathering.gatherer import gatherer
from tests.support.research.harness import PlainContext, make_services

QUESTIONS = ROOT / "benchmarks" / "data" / "reading.json"


@dataclass(frozen=True)
class Reading:
    """What one researcher read: its sources' addresses, and the text of its prompt by address."""

    shown: Mapping[str, str]
    prompt_chars: int


async def read(question: Mapping[str, Any], searches: Sequence[str], library: Library, most: int) -> Reading:
    """Search, keep the best, and ask for findings, as the graph `topic_research` does."""
    script = ScriptedModel({"extractor": [{"findings": [], "notes": [], "limits": []}]})
    services = make_services((script,), search=[LocalSearch(library)], roles={"compression": [script]})
    ctx = PlainContext()
    handoff = {
        "original_query": question["question"],
        "iteration": 1,
        "sub_query": {"id": "sq-1-1", "query": searches[0]},
        "checklist": [{"id": f"check-{n}", "text": text} for n, text in enumerate(question["checklist"], start=1)],
    }
    sources: list[dict[str, Any]] = []
    for query in searches:
        found = await gatherer(services)(
            {
                **handoff,
                "query": query,
                "max_sources_per_query": most,
                "known": sources,
                "local_read": True,
            },
            ctx,
        )
        sources += found["sources"]
    await extractor(services)({**handoff, "queries": list(searches), "sources": sources}, ctx)
    by_id = {source["id"]: source["url"] for source in sources}
    rows = script.requests[0].material["sources"]
    return Reading({by_id[row["id"]]: row["text"] for row in rows}, sum(len(row["text"]) for row in rows))


async def tell(question: Mapping[str, Any], most: int, *, missed: bool) -> None:
    """The rows of one question."""
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder, "library.db"))
        await library.add(question["folders"])
        readings = [await read(question, searches, library, most) for searches in question["topics"]]
    pages = [page for reading in readings for page in reading.shown]
    arrived, found = 0, 0
    for page, sentence in question["sentences"]:
        is_found = page in pages
        has_arrived = any(sentence in text for reading in readings for text in reading.shown.values())
        arrived, found = arrived + has_arrived, found + is_found
        if missed and not has_arrived:
            print(f"    {'page read  ' if is_found else 'page absent'}  {page}: {sentence[:90]}")
    total = len(question["sentences"])
    chars = sum(reading.prompt_chars for reading in readings)
    print(
        f"  {question['name']:24} {arrived:2} of {total} sentences ({arrived / total:.0%}), pages of {found} read; "
        f"{len(pages)} sources, {len(set(pages))} different, {chars:,} characters"
    )
    if missed:
        for searches, reading in zip(question["topics"], readings, strict=True):
            print(f"    {searches[0][:60]}: " + ", ".join(f"{url} {len(t)}" for url, t in reading.shown.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    print(f"Sentences that reach a prompt for extraction, at most {options.sources} sources a search")
    for question in json.loads(QUESTIONS.read_text()):
        if all(Path(folder).is_dir() for folder in question["folders"]):
            asyncio.run(tell(question, options.sources, missed=options.missed))
        else:
            print(f"  {question['name']:24} not installed")


if __name__ == "__main__":
    main()
