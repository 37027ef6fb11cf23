"""Ranking of sentences: the share of the judged evidence among the first five units, with each part switched off.

What a report quotes is measured too, since it is chosen from this ranking: its first quotations, and all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.quality.plain import BM25, best, mean
from benchmarks.quality.sets import Row, Set
from benchmarks.quality.switches import Switch, never, switched_off
from benchmarks.quality.table import Line
from graph_research.research.extractive import analysis
from graph_research.research.extractive.analysis import analyze
from graph_research.research.models.source import Source, Tier
from graph_research.text.relevance import ranking as module
from graph_research.text.relevance.embedding import Embedder
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank

_FOUND_DOCUMENTS = 10
_FIRST = 5
_LEAST_SHARED = 0.5  # of the shorter, for a unit of ours to be a sentence of the set


_RULES: dict[str, Switch] = {
    "what a quotation must score": (analysis, "_NEAR_THE_BEST", 0.0),
    "the sentence before": (analysis, "_first_position", lambda item, *_: item.position),
    "quotations that say the same": (analysis, "_repeats", never),
}
"""Of the choice of quotations."""
_PARTS: dict[str, Switch] = {
    "around": (module, "_AROUND", 0.0),
    "passage": (module, "_PASSAGE", 0.0),
    "document": (module, "_DOCUMENT", 0.0),
    "linked": (module, "_LINKED", 0.0),
    "length": (module, "_LENGTH", 0.0),
    "valued": (module, "_VALUED", 0.0),
    "pool": (module, "_IN_POOL", 0.0),
}
"""Of the ranking."""


@dataclass(frozen=True)
class Case:
    """A query's recall by the product and by the plain method."""

    split: str
    ours: float
    plain: float


def lines(sets: list[Set], embedder: Embedder | None = None) -> Iterator[Line[Case]]:
    """Evidence recall@5 in the right documents and in the ten that are found, then what each part gains, and what an
    embedder gains."""
    for one in sets:
        asked = [query for query in one.queries if one.gold(query)]
        if not asked or not any(len(text.sents) > 1 for text in one.texts) or "answerable" in asked[0]:
            continue
        measure = _Measure(one, asked)
        for what, found in (("right document", False), ("10 documents", True)):
            plain = measure.plain(found)
            cases = _cases(asked, measure.ours(found), plain)
            for split in ("check", "tune"):
                kept = [case for case in cases if case.split == split]
                yield Line(
                    f"{one.name}, {split}: evidence recall@5, {what}",
                    kept,
                    _ours,
                    _plain,
                    bound=0.05 if found else None,
                    over_plain=True,
                )
        reported = measure.reported()
        for what, number, bound in (("the first 5", 0, 0.05), ("all", 1, None)):
            cases = _cases(asked, [recalls[number] for recalls in reported], measure.plain(True))
            for split in ("check", "tune"):
                kept = [case for case in cases if case.split == split]
                name = f"{one.name}, {split}: evidence in {what} quotations of a report"
                yield Line(name, kept, _ours, _plain, bound, over_plain=True)
        for what, switch in _RULES.items():
            with switched_off(switch):
                without = [recalls[1] for recalls in measure.reported()]
            cases = _cases(asked, without, [recalls[1] for recalls in reported])
            yield Line(f"{one.name}: evidence in all quotations without {what} (plain: with)", cases, _ours, _plain)
        right, standard = measure.ours(False), measure.ours(True)
        if embedder:
            cases = _cases(asked, measure.ours(True, embedder), standard)
            for split in ("check", "tune"):
                kept = [case for case in cases if case.split == split]
                yield Line(f"{one.name}, {split}: with the embedder (plain: without it)", kept, _ours, _plain)
        for part, switch in _PARTS.items():
            for what, found, given in (("right document", False, right), ("10 documents", True, standard)):
                with switched_off(switch):
                    cases = _cases(asked, measure.ours(found), given)
                yield Line(f"{one.name}: without `{part}` (plain: with it), {what}", cases, _ours, _plain)


class _Measure:
    def __init__(self, one: Set, asked: Sequence[Row]) -> None:
        self._set = one
        self._asked = asked
        self._documents = BM25(f"{text.title} {text.text}" for text in one.texts)
        places = [(number, i) for number, text in enumerate(one.texts) for i in range(len(text.sents))]
        self._number = {place: number for number, place in enumerate(places)}
        self._sentences = BM25(one.texts[number].sentences[i] for number, i in places)
        self._places = places

    def texts(self, query: Row, *, found: bool) -> list[int]:
        if not found:
            return sorted({number for number, _ in self._set.gold(query)})
        return best(self._documents.scores(query["text"]), range(len(self._set.texts)), _FOUND_DOCUMENTS)

    def plain(self, found: bool) -> list[float]:
        recalls = []
        for query in self._asked:
            units = [
                self._number[number, i]
                for number in self.texts(query, found=found)
                for i in range(len(self._set.texts[number].sents))
            ]
            first = best(self._sentences.scores(query["text"]), units, _FIRST)
            recalls.append(_recall({self._places[unit] for unit in first}, self._set.gold(query)))
        return recalls

    def ours(self, found: bool, embedder: Embedder | None = None) -> list[float]:
        recalls = []
        for query in self._asked:
            numbers = self.texts(query, found=found)
            pool = Pool({str(number): self._set.texts[number].document for number in numbers}, embedder)
            first = rank(pool, parse(query["text"]))[:_FIRST]
            hit = {place for item in first for place in self._hit(int(item.source), item.unit.start, item.unit.end)}
            recalls.append(_recall(hit, self._set.gold(query)))
        return recalls

    def reported(self) -> list[tuple[float, float]]:
        """Recall in the first five quotations of a report about the ten documents, and in all of them."""
        recalls = []
        for query in self._asked:
            texts = {str(number): self._set.texts[number] for number in self.texts(query, found=True)}
            sources = [
                Source(id=name, title=t.title, tier=Tier.SECONDARY, archive_hash=name) for name, t in texts.items()
            ]
            analysed = analyze(
                {
                    "question": query["text"],
                    "sources": [source.to_json() for source in sources],
                    "documents": {name: text.document for name, text in texts.items()},
                }
            )
            hit = [
                {place for quote in group.quotes for place in self._hit(int(quote.source_id), quote.start, quote.end)}
                for group in analysed.groups
            ]
            gold = self._set.gold(query)
            recalls.append((_recall(set().union(*hit[:_FIRST]), gold), _recall(set().union(*hit), gold)))
        return recalls

    def _hit(self, number: int, start: int, end: int) -> Iterator[tuple[int, int]]:
        for i, (low, high) in enumerate(self._set.texts[number].spans):
            if min(high, end) - max(low, start) >= _LEAST_SHARED * min(high - low, end - start):
                yield number, i


def _recall(hit: set[tuple[int, int]], gold: set[tuple[int, int]]) -> float:
    return min(1.0, len(hit & gold) / min(_FIRST, len(gold)))


def _cases(asked: Sequence[Row], ours: Sequence[float], plain: Sequence[float]) -> list[Case]:
    return [Case(query.get("split", "check"), a, b) for query, a, b in zip(asked, ours, plain, strict=True)]


def _ours(cases: Sequence[Case]) -> float:
    return mean(case.ours for case in cases)


def _plain(cases: Sequence[Case]) -> float:
    return mean(case.plain for case in cases)
