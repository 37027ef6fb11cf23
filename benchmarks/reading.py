"""Which marked sentences of a documentation reach the prompt of a model that extracts findings from it.

    python benchmarks/reading.py [--sources N] [--missed] [--ablation] [--sections]

`benchmarks/data/reading.json` holds questions, each with the searches of its sub-queries, for some also what each
sub-query looks for, and with sentences that a good answer needs, each in a page of documentation that Debian installs
(`sqlite3-doc`, `postgresql-doc-15`, `git-doc`, `python3.11-doc`, `apache2-doc`, `python-django-doc`). The handlers of
the graph search the library, keep sources and make the prompts, for half, once and twice the room that a topic has; a
question whose pages are not installed is left out. `--sources` sets `max_sources_per_query`; `--missed` lists what
did not arrive in the room that a topic has; `--ablation` does it again without each constant of
`text/relevance/coverage.py`. `--sections` counts instead the sentences that the writer of the section which needs
them is shown, for sections of an outline that `reading.json` has for some questions; these have no findings, so that
only passages are counted.
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
from graph_research.research.agents.writing.section_material import SectionNeeds, section_material, sources_of_section
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.phase_budget import TOPIC_CHARS
from graph_research.research.models.source import Source
from graph_research.research.topic_functions import new_sources, readings, topic_results
from graph_research.text.relevance import coverage
from tests.support.research.harness import PlainContext, make_services

QUESTIONS = ROOT / "benchmarks" / "data" / "reading.json"
ROOM = TOPIC_CHARS
ROOMS = (ROOM // 2, ROOM, 2 * ROOM)
_LARGE_WINDOW = 4_000_000
"""Tokens: the room is what `topic_chars` says."""


@dataclass(frozen=True)
class Question:
    """A question with the sentences that its answer needs, and what is read for each of its topics."""

    name: str
    sentences: Sequence[tuple[str, str]]
    handoffs: Sequence[Mapping[str, Any]]
    ctx: PlainContext
    sections: Sequence[Mapping[str, Any]] = ()

    async def write(self) -> list[str]:
        """What the writer of each section is shown of the sources."""
        rows = {row["id"]: row for handoff in self.handoffs for row in handoff["sources"]}
        sources = {name: Source.model_validate(row) for name, row in rows.items()}
        outline = [
            {**{name: row[name] for name in ("heading", "answers", "parts")}, "id": f"sec-{n}", "gap_ids": [f"gap-{n}"]}
            for n, row in enumerate(self.sections, 1)
        ]
        gaps = [
            {"id": f"gap-{n}", "description": gap, "addressed": False}
            for n, row in enumerate(self.sections, 1)
            for gap in row.get("gaps") or ()
        ]
        topics = [{"sub_query_id": "sq-1-1", "queries": [], "source_ids": list(rows)}]
        given = {"question": self.name, "outline": outline, "topics": topics, "sources": list(rows.values())}
        shown = []
        for row in outline:
            needs = SectionNeeds.of({**given, "section": row, "findings": [], "evidence": [], "gaps": gaps})
            documents = await read_documents(sources_of_section(needs, sources), self.ctx)
            passages = section_material(needs, sources, documents).rows["passages"]
            shown.append(" ".join(" ".join(passage["quote"].split()) for passage in passages))
        return shown

    async def read(self, room: int) -> list[tuple[str, str]]:
        """The sources of the prompts, `(address, text)`, each topic's in so many characters."""
        script = ScriptedModel(
            {"extractor": [{"findings": [], "notes": [], "limits": []}]}, window_tokens=_LARGE_WINDOW
        )
        services = make_services((script,), roles={"compression": [script]}, topic_chars=room)
        for handoff in self.handoffs:
            await extractor(services)(handoff, self.ctx)
        addresses = {source["id"]: source["url"] for handoff in self.handoffs for source in handoff["sources"]}
        return [(addresses[row["id"]], row["text"]) for one in script.requests for row in one.material["sources"]]


async def search(
    sub_query: Mapping[str, Any], searches: Sequence[str], library: Library, most: int, ctx: PlainContext
) -> dict[str, Any]:
    """Search and keep the best, as the graph `topic_research` does."""
    services = make_services((), search=[LocalSearch(library)])
    handoff = {"original_query": sub_query["query"], "iteration": 1, "sub_query": sub_query}
    sources: list[dict[str, Any]] = []
    for query in searches:
        wanted = {"query": query, "max_sources_per_query": most, "known": sources, "local_read": True}
        sources += (await gatherer(services)({**handoff, **wanted}, ctx))["sources"]
    ids = [source["id"] for source in sources]
    return {"sources": sources, "topic": {"sub_query_id": sub_query["id"], "queries": searches, "source_ids": ids}}


async def searched(questions: Sequence[Mapping[str, Any]], most: int) -> list[Question]:
    found = []
    for question in questions:
        with tempfile.TemporaryDirectory() as folder:
            library = Library(Path(folder, "library.db"))
            await library.add(question["folders"])
            looked_for = question.get("look_for") or [[] for _ in question["topics"]]
            rows = [
                {"id": f"sq-1-{number}", "query": searches[0], "iteration": 1, "look_for": texts}
                for number, (searches, texts) in enumerate(zip(question["topics"], looked_for, strict=True), start=1)
            ]
            ctx = PlainContext()
            outputs = [
                await search(row, searches, library, most, ctx)
                for row, searches in zip(rows, question["topics"], strict=True)
            ]
        handoffs, sections = _handoffs(question, rows, outputs), question.get("sections") or ()
        found.append(Question(question["name"], question["sentences"], handoffs, ctx, sections))
    return found


def _handoffs(
    question: Mapping[str, Any], sub_queries: Sequence[Mapping[str, Any]], outputs: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What is read for each topic, as the graph `deep_research` gives it to the extractor."""
    sources = {source["id"]: source for source in new_sources([], outputs)}
    checklist = [{"id": f"check-{n}", "text": text} for n, text in enumerate(question["checklist"], start=1)]
    given = {"original_query": question["question"], "iteration": 1, "checklist": checklist}
    return [
        {**given, **reading, "sources": [sources[name] for name in reading["source_ids"]]}
        for reading in readings(sub_queries, topic_results([], outputs), 1)
    ]


async def arrived(question: Question, room: int, *, missed: bool = False) -> tuple[int, int]:
    """How many of a question's sentences reach a prompt, and the characters of its prompts."""
    shown = await question.read(room)
    pages = {page for page, _ in shown}
    texts = [" ".join(text.split()) for _, text in shown]
    count = 0
    for page, sentence in question.sentences:
        arrives = any(sentence in text for text in texts)
        count += arrives
        if missed and not arrives:
            print(f"    {'page read  ' if page in pages else 'page absent'}  {page}: {sentence[:90]}")
    return count, sum(len(text) for _, text in shown)


async def tell(questions: Sequence[Question], *, missed: bool) -> None:
    """A row for each question, and their sum."""
    sums = [0] * len(ROOMS)
    for question in questions:
        rows = [await arrived(question, room, missed=missed and room == ROOM) for room in ROOMS]
        counts = [count for count, _ in rows]
        chars = dict(zip(ROOMS, rows, strict=True))[ROOM][1]
        print(f"  {question.name:26} {_columns(counts)}   of {len(question.sentences):3}; {chars:,} characters")
        sums = [a + b for a, b in zip(sums, counts, strict=True)]
    print(f"  {'together':26} {_columns(sums)}   of {sum(len(question.sentences) for question in questions):3}")


async def tell_sections(questions: Sequence[Question], *, missed: bool) -> None:
    """A row for each question that has sections, and their sum."""
    print("Sentences that the writer of their section is shown")
    sums = [0, 0, 0]
    for question in questions:
        count = chars = 0
        for row, text in zip(question.sections, await question.write(), strict=True):
            lacking = [sentence for _, sentence in row["sentences"] if sentence not in text]
            count += len(row["sentences"]) - len(lacking)
            chars += len(text)
            for sentence in lacking if missed else ():
                print(f"    {row['heading']}: {sentence[:90]}")
        most = sum(len(row["sentences"]) for row in question.sections)
        print(f"  {question.name:26} {count:8}   of {most:3}; {chars:,} characters")
        sums = [a + b for a, b in zip(sums, (count, most, chars), strict=True)]
    print(f"  {'together':26} {sums[0]:8}   of {sums[1]:3}; {sums[2]:,} characters")


async def ablate(questions: Sequence[Question]) -> None:
    """The sums once more, each without one constant."""
    for name, off in (("AROUND", 0.0), ("REPEATED", 0.0)):
        kept = getattr(coverage, name)
        setattr(coverage, name, off)
        counts = [sum([(await arrived(question, room))[0] for question in questions]) for room in ROOMS]
        setattr(coverage, name, kept)
        print(f"  {'without ' + name:26} {_columns(counts)}")


def _columns(counts: Sequence[int]) -> str:
    return " ".join(f"{count:8}" for count in counts)


async def run(
    questions: Sequence[Mapping[str, Any]], most: int, *, missed: bool, ablation: bool, sections: bool
) -> None:
    if sections:
        having = [question for question in questions if question.get("sections")]
        await tell_sections(await searched(having, most), missed=missed)
        return
    found = await searched(questions, most)
    print(f"Sentences that reach a prompt for extraction by a topic's room, at most {most} sources a search")
    print(f"  {'':26} {_columns(ROOMS)}")
    await tell(found, missed=missed)
    if ablation:
        await ablate(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--sections", action="store_true")
    options = parser.parse_args()
    questions = json.loads(QUESTIONS.read_text())
    installed = [question for question in questions if all(Path(folder).is_dir() for folder in question["folders"])]
    for question in questions:
        if question not in installed:
            print(f"  {question['name']:26} not installed")
    chosen = {"missed": options.missed, "ablation": options.ablation, "sections": options.sections}
    asyncio.run(run(installed, options.sources, **chosen))


if __name__ == "__main__":
    main()
