"""Stretches of the sources beside the evidence that there is: for a section, and for a sentence that is checked."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.research.agents.writing.passages import Passages
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, Ranked, analysed, rank

_PASSAGE_CHARS = 500
_OF_A_SENTENCE, _MOST_TRIED = 2, 20
_LEAST_COVERED = 0.25
"""Of a sentence's words, by weight, a unit has so much, else it is about something else."""
_MOST_SOURCES = 60
_SHOWN_AROUND = 100


class FurtherPassages:
    """Passages beside those that are held, given as source and text; each of them new."""

    def __init__(self, held: Iterable[tuple[str, str]], finder: QuoteFinder) -> None:
        self.chosen: dict[str, Evidence] = {}
        self.of_source: dict[str, int] = {}
        self._held = list(held)
        self._finder = finder

    def add(self, item: Ranked) -> None:
        """Add the stretch around a unit, if the unit is not held."""
        text, name = item.unit.text, item.source
        known = [held for source, held in self._held if source == name]
        if self._finder.sources[name].tier == "FLAGGED" or any(text in held or held in text for held in known):
            return
        document = self._finder.documents[name]
        start, end = _stretch(item, document, known)
        for row in self._finder.evidence([{"source_id": name, "quote": document.text[start:end], "start": start}]):
            self.chosen.setdefault(row.id, row)
            self._held.append((name, row.quote))
            self.of_source[name] = self.of_source.get(name, 0) + 1


def _stretch(item: Ranked, document: Document, known: Sequence[str]) -> tuple[int, int]:
    """The unit with those before and after it in its block that are not known, as far as `_PASSAGE_CHARS` go."""
    units = analysed(document).units
    first = last = item.position
    for _ in range(2):
        for step in (first - 1, last + 1):
            if not 0 <= step < len(units) or units[step].block != item.unit.block:
                continue
            if any(units[step].text in quote for quote in known):
                continue
            if max(units[last].end, units[step].end) - min(units[first].start, units[step].start) <= _PASSAGE_CHARS:
                first, last = min(first, step), max(last, step)
    return units[first].start, units[last].end


class NearPassages:
    """What else the run's sources say about single sentences: the stretches nearest to each that it does not show."""

    def __init__(self, sources: Mapping[str, Source], documents: Mapping[str, Document], question: str) -> None:
        self._sources = sources
        self._documents = documents
        self._finder = QuoteFinder(question, sources, documents)
        self._pool = Pool(documents)
        self._found: dict[str, Evidence] = {}

    @classmethod
    async def of(cls, handoff: Mapping[str, Any], ctx: Context) -> NearPassages:
        """Over the texts of the sources that the run has evidence of, the best first where they are many."""
        named = {row["source_id"] for row in handoff["evidence"]}
        known = [Source.model_validate(row) for row in handoff["sources"] if row["id"] in named]
        best = sorted(known, key=lambda source: (-source.score.composite, source.id))[:_MOST_SOURCES]
        documents = await read_documents(best, ctx)
        return await asyncio.to_thread(cls, {source.id: source for source in best}, documents, handoff["question"])

    @property
    def evidence(self) -> Mapping[str, Evidence]:
        """Everything that was found, by id."""
        return self._found

    def near(self, text: str, shown: Iterable[Mapping[str, Any]]) -> list[str]:
        """The ids of the stretches nearest to a text, none of which stands in the rows of passages `shown` with it."""
        further = FurtherPassages(((row["source_id"], _plain(row["text"])) for row in shown), self._finder)
        for item in rank(self._pool, parse(text))[:_MOST_TRIED]:
            if len(further.chosen) < _OF_A_SENTENCE and item.covered >= _LEAST_COVERED:
                further.add(item)
        self._found.update(further.chosen)
        return list(further.chosen)

    def rows(self, besides: Collection[str]) -> list[dict[str, Any]]:
        """What was found as a prompt shows passages, `besides` those of these ids, which it shows already."""
        passages = Passages((row.to_json() for row in self._found.values()), self._sources, self._documents)
        return passages.rows((name for name in self._found if name not in besides), _SHOWN_AROUND)


def _plain(text: str) -> str:
    return text.replace("⟦", "").replace("⟧", "")
