"""Questions about real manuals of many pages: does the keyless answer hold what the manual says, and is it "not found"?

    python benchmarks/manuals.py FOLDER ...

The questions (`benchmarks/data/manuals.jsonl`) are about SQLite, PostgreSQL 15 and Python 3.11, whose manuals Debian
packages as sqlite3-doc, postgresql-doc-15 and python3.11-doc: `/usr/share/doc/sqlite3`,
`/usr/share/doc/postgresql-doc-15/html` and `/usr/share/doc/python3.11/html`. `own` questions are put in words of the
manual, and `answer` is a pattern for what an answer holds; `other words` are questions of a user who does not know
these; `near` are about the same things, and no page answers them. Each is answered from the eight documents that the
library finds. The plain method is BM25 over the sentences of these.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.quality.plain import BM25, best, mean
from benchmarks.quality.table import Line, show
from graph_research.providers.search.local import Library
from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.models.source import Source, Tier
from graph_research.text.relevance.ranking import analysed

QUESTIONS = Path(__file__).parent / "data" / "manuals.jsonl"
_FOUND_DOCUMENTS = 8
_FIRST, _SHORT, _QUOTED = 1, 3, 10


@dataclass(frozen=True)
class Case:
    """Whether a question counts as answered, whether a word of it is told as missing, and whether our and the plain
    method's first text, short answer and ten texts hold the answer."""

    kind: str
    found: bool
    absent: bool
    ours: tuple[float, ...]
    plain: tuple[float, ...]


def lines(cases: Sequence[Case]) -> Iterator[Line[Case]]:
    """What the first quotation, the short answer and ten quotations hold, then what counts as answered."""
    own = [case for case in cases if case.kind == "own"]
    for place, what in enumerate(("first quotation", f"short answer ({_SHORT} sentences)", f"{_QUOTED} quotations")):
        yield Line(f"own: answer in the {what}", own, partial(_ours, place), partial(_plain, place))
    for kind in dict.fromkeys(case.kind for case in cases):
        of_kind = [case for case in cases if case.kind == kind]
        yield Line(f"{kind}: answered", of_kind, _answered)
        yield Line(f"{kind}: answered, and no word told as missing", of_kind, _answered_whole)


def _ours(place: int, cases: Sequence[Case]) -> float:
    return mean(case.ours[place] for case in cases)


def _plain(place: int, cases: Sequence[Case]) -> float:
    return mean(case.plain[place] for case in cases)


def _answered(cases: Sequence[Case]) -> float:
    return mean(case.found for case in cases)


def _answered_whole(cases: Sequence[Case]) -> float:
    return mean(case.found and not case.absent for case in cases)


async def answered(library: Library, question: str, answer: str, kind: str) -> Case:
    """The question answered from what the library finds."""
    found = await library.find(question, limit=_FOUND_DOCUMENTS)
    documents = {one.facts.source_id: one.document for one in found}
    sources = [
        Source(
            id=one.facts.source_id,
            title=one.facts.title,
            url=one.facts.url,
            tier=Tier(one.facts.tier or Tier.UNVERIFIED),
            publisher=one.facts.publisher,
            archive_hash=one.facts.source_id,
        ).to_json()
        for one in found
    ]
    analysis = analyze({"question": question, "sources": sources, "documents": documents})
    short = [group.lead.text for group in short_answer(analysis)]
    quoted = [quote.text for group in analysis.groups[:_QUOTED] for quote in group.quotes]
    texts = [unit.text for document in documents.values() for unit in analysed(document).units]
    scores = BM25(texts).scores(question)
    plain = [texts[place] for place in best(scores, range(len(texts)), _QUOTED)]
    return Case(
        kind,
        analysis.found,
        any(part.absent for part in analysis.parts),
        tuple(_holds(some, answer) for some in (short[:_FIRST], short, quoted)),
        tuple(_holds(plain[:count], answer) for count in (_FIRST, _SHORT, _QUOTED)),
    )


def _holds(texts: Sequence[str], answer: str) -> float:
    return float(bool(answer) and any(re.search(answer, text, re.IGNORECASE) for text in texts))


async def run(folders: Sequence[str]) -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder, "library.db"))
        counts = await library.add(folders)
        print(f"{counts.added} documents")
        cases = [await answered(library, row["question"], row.get("answer", ""), row["kind"]) for row in rows]
    for line in lines(cases):
        show(line, random.Random(0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="folders of the manuals")
    asyncio.run(run(parser.parse_args().folders))


if __name__ == "__main__":
    main()
