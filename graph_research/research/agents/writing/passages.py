"""Evidence as a verifier reads it: the quote marked in the text around it, under its source's title and headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from graph_research.research.evidence.citations import passage_in
from graph_research.research.evidence.claim_support import CitedPassage
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.source import Source, folders_apart
from graph_research.text.document import Document
from graph_research.text.errors import LocatorInvalid
from graph_research.text.locators import resolve
from graph_research.text.relevance.leaning import end_of_leaning, start_before_leaning
from graph_research.text.relevance.ranking import analysed
from graph_research.text.relevance.units import Unit
from graph_research.text.sentences import sentence_spans

_AROUND_CHARS = 150
"""Of the text on either side of a quote a prompt shows the sentences that lie whole in so much of it, or of a longer
one the words."""
ENOUGH_CHARS = 200
"""A quote that long is read without the text around it."""
_FOLLOWING_CHARS = 450
"""So much of the text behind a quote is shown where a condition may follow."""
_SPACE = re.compile(r"\s+")
_Span = tuple[int, int]
_PLAIN = str.maketrans("⟦⟧", "[]")
"""Brackets of a source are shown as others, so that only the program marks a quote."""


class _Extent(NamedTuple):
    """How much of the text around quotes is shown, as `Passages.rows` says."""

    around_chars: int
    enough_chars: int | None
    followed: Collection[str]
    is_needed: Callable[[str, str, bool], bool]

    def chars_around(self, row: Evidence) -> int:
        return 0 if self.enough_chars and len(row.quote) >= self.enough_chars else self.around_chars


class Passages:
    """The evidence of some statements with the texts it stands in."""

    def __init__(
        self, evidence: Iterable[Mapping[str, Any]], sources: Mapping[str, Source], documents: Mapping[str, Document]
    ) -> None:
        self._evidence = {row["id"]: Evidence.model_validate(row) for row in evidence}
        self._sources = sources
        self._documents = documents
        self._folders = folders_apart(sources.values())

    def cited(self, evidence_ids: Iterable[str]) -> list[CitedPassage]:
        """What code judges a statement by; ids that the run does not have are left out."""
        return [
            passage_in(
                CitedPassage(number, row.quote, valid=True),
                self._documents.get(row.source_id),
                self._span(row),
                self._sources.get(row.source_id),
            )
            for number, row in enumerate(self._known(evidence_ids), 1)
        ]

    def rows(
        self,
        evidence_ids: Iterable[str],
        around_chars: int = _AROUND_CHARS,
        *,
        enough_chars: int | None = None,
        followed: Collection[str] = (),
        is_needed: Callable[[str, str, bool], bool] = lambda *_: True,
    ) -> list[dict[str, Any]]:
        """`{id, source_id, start, end, quoted, title, date, heading, text, quote}` of each, once; `start` and `end` are
        where `text` begins and ends in the source, `quoted` where the quote does, each None where that is not known.
        `title` and `heading` are one line each: the title with its folder where the sources are of several, and the
        path of the headings between it and the quote, with the term that the quote explains if `text` does not name it.
        `text` has the quote between ⟦ and ⟧, and the sentences on both sides, of a quote of `enough_chars` none, but
        behind the quotes that are `followed` some more, else on each side only what `is_needed` beside the evidence of
        an id, right beside its quote or further away; in any case a sentence behind it that points back at it or takes
        it back, and the one before it that it points back at or takes back. Those of one source stand together in its
        order, and what one shows the next does not repeat."""
        rows = []
        known = self._known(dict.fromkeys(evidence_ids))
        extent = _Extent(around_chars, enough_chars, followed, is_needed)
        for row, quoted, shown in self._in_order(known, extent):
            before, quote, after = (text.translate(_PLAIN) for text in self._parts(row, quoted, shown))
            source, text = self._sources.get(row.source_id), f"{before}⟦{quote}⟧{after}"
            folder = self._folders.get(row.source_id, "")
            rows.append(
                {
                    "id": row.id,
                    "source_id": row.source_id,
                    "start": shown[0] if shown else None,
                    "end": shown[1] if shown else None,
                    "quoted": quoted,
                    "title": _one_line(self._title(row)) + (f" ({folder})" if folder else ""),
                    "date": (source.published_on if source else None) or "",
                    "heading": self._heading(row, text),
                    "text": text,
                    "quote": quote,
                }
            )
        return rows

    def within(self, evidence_ids: Iterable[str]) -> dict[str, str]:
        """The ids of these quotes that are a part of another one, each with that of the longest that holds it."""
        return contained(self._known(dict.fromkeys(evidence_ids)), self._documents)

    def around(self, shown: Iterable[Mapping[str, Any]], question: str) -> list[Evidence]:
        """The sentences and table rows that `rows` shows around quotes, wholly or in part, as evidence of their own."""
        finder = QuoteFinder(question, self._sources, self._documents)
        return finder.evidence(
            [
                {"source_id": row["source_id"], "quote": unit.text, "start": unit.start}
                for row in shown
                if row["start"] is not None
                for unit in _units_around(row, self._documents[row["source_id"]])
            ]
        )

    def _known(self, evidence_ids: Iterable[str]) -> list[Evidence]:
        return [self._evidence[name] for name in evidence_ids if name in self._evidence]

    def _title(self, row: Evidence) -> str:
        source = self._sources.get(row.source_id)
        return source.title if source else ""

    def _heading(self, row: Evidence, shown: str) -> str:
        span, title = self._span(row), _one_line(self._title(row))
        if span is None:
            return ""
        document = self._documents[row.source_id]
        path = [heading for heading in map(_one_line, document.path_at(span[0])) if heading != title]
        term = _one_line(document.term_at(span[0]))
        return " > ".join([*path, term] if term and term not in shown else path)

    def _in_order(
        self, evidence: Sequence[Evidence], extent: _Extent
    ) -> Iterator[tuple[Evidence, _Span | None, _Span | None]]:
        """The evidence by source and place, each with where its quote, and where the text that is shown of its source,
        begins and ends."""
        of_source: dict[str, list[Evidence]] = {}
        for row in evidence:
            of_source.setdefault(row.source_id, []).append(row)
        for source, rows in of_source.items():
            spans = {row.id: self._span(row) for row in rows}
            yield from ((row, None, None) for row in rows if spans[row.id] is None)
            placed = [(span, row) for row in rows if (span := spans[row.id]) is not None]
            if placed:
                placed.sort(key=lambda pair: pair[0])
                yield from _with_shown(self._documents[source].text, placed, extent)

    def _parts(self, row: Evidence, quoted: _Span | None, shown: _Span | None) -> tuple[str, str, str]:
        """What is shown before the quote, the quote, and what is shown behind it."""
        if quoted is None or shown is None:
            return "", row.quote, ""
        text = self._documents[row.source_id].text
        return text[shown[0] : quoted[0]], row.quote, text[quoted[1] : shown[1]]

    def _span(self, row: Evidence) -> _Span | None:
        return span_of(row, self._documents)


def _with_shown(
    text: str, placed: Sequence[tuple[_Span, Evidence]], extent: _Extent
) -> Iterator[tuple[Evidence, _Span, _Span]]:
    """The quotes of a text in its order, each with where it begins and ends and where what is shown of the text does:
    what one shows the next does not repeat."""
    shown = 0
    for place, ((start, end), row) in enumerate(placed):
        chars = extent.chars_around(row)
        following = min((other[0] for other, _ in placed[place:] if other[0] >= end), default=len(text))
        behind = max(chars, _FOLLOWING_CHARS) if row.id in extent.followed else chars
        first = max(start - chars, min(shown, start))
        last = max(end, min(end + behind, following) if shown <= end else end)
        if first > shown and first == start - chars:
            first = _next_sentence(text, first, start, end)
        if last < following and last == end + behind:
            last = _last_sentence(text, start, end, last)
        first = _first_needed(text, first, start, partial(extent.is_needed, row.id))
        if row.id not in extent.followed:
            last = _last_needed(text, end, last, partial(extent.is_needed, row.id))
        first = min(first, max(start_before_leaning(text, start, end), min(shown, start)))
        last = max(last, min(end_of_leaning(text, end), following))
        shown = max(shown, last)
        yield row, (start, end), (first, last)


def span_of(row: Evidence, documents: Mapping[str, Document]) -> tuple[int, int] | None:
    """Where the quote starts and ends in its text; None without the text, or where the locator leads nowhere."""
    document = documents.get(row.source_id)
    if document is None:
        return None
    try:
        return resolve(document.text, row.locator, document.pages)
    except LocatorInvalid:
        return None


def contained(evidence: Sequence[Evidence], documents: Mapping[str, Document]) -> dict[str, str]:
    """The ids of quotes that are a part of another one, each with that of the longest that holds it."""
    spans = {row.id: (row.source_id, *span) for row in evidence if (span := span_of(row, documents)) is not None}
    longest = sorted(spans, key=lambda name: spans[name][1] - spans[name][2])
    holding: dict[str, str] = {}
    for name, (source, start, end) in spans.items():
        around = (other for other in longest if spans[other][0] == source and spans[other][1] <= start)
        best = next((other for other in around if end <= spans[other][2]), name)
        if best != name:
            holding[name] = best
    return holding


def repeated(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The ids of rows of a prompt whose quote stands in the text of a longer one, each with that one's id: what the
    prompt need not show twice."""
    kept: list[Mapping[str, Any]] = []
    held: dict[str, str] = {}
    for row in sorted((row for row in rows if row["quoted"]), key=lambda row: row["start"] - row["end"]):
        start, end = row["quoted"]
        of_source = (other for other in kept if other["source_id"] == row["source_id"])
        holder = next((other for other in of_source if other["start"] <= start and end <= other["end"]), None)
        if holder is None:
            kept.append(row)
        else:
            held[row["id"]] = holder["id"]
    return held


def shown_once(evidence_ids: Iterable[str], within: Mapping[str, str]) -> list[str]:
    """The ids with that of the longer quote in place of each that is shown within one, which another may hold."""
    names = (within.get(name, name) for name in evidence_ids)
    return list(dict.fromkeys(within.get(name, name) for name in names))


def _units_around(row: Mapping[str, Any], document: Document) -> list[Unit]:
    """The units of which a row's `text` shows something before or behind its quote."""
    start, end = row["quoted"]
    return [
        unit
        for unit in analysed(document).units
        if unit.start < row["end"] and row["start"] < unit.end and not start <= unit.start < unit.end <= end
    ]


def _one_line(text: str) -> str:
    return " ".join(text.translate(_PLAIN).split())


def _next_sentence(text: str, first: int, start: int, end: int) -> int:
    """Where the first sentence begins that begins between `first` and the quote from `start` to `end`; where the quote
    itself begins in the middle of a sentence that is longer, the first whole word."""
    begins = [begin for begin, _ in sentence_spans(text, first, end)][1:]
    begins += [space.end() for space in _SPACE.finditer(text, first - 1, start)]
    return next((begin for begin in begins if begin <= start), first)


def _last_sentence(text: str, start: int, end: int, last: int) -> int:
    """Where the last sentence ends that ends between the quote from `start` to `end` and `last`; where the quote itself
    ends in the middle of a sentence that is longer, the last whole word."""
    ends = [space.start() for space in _SPACE.finditer(text, end, last + 1)]
    ends += [stop for _, stop in sentence_spans(text, start, last)][:-1]
    return next((stop for stop in reversed(ends) if stop >= end), last)


def _first_needed(text: str, first: int, start: int, is_needed: Callable[[str, bool], bool]) -> int:
    """Where the first sentence begins, of those between `first` and `start`, that is needed; `start` if none is."""
    begins = [first, *(begin for begin, _ in sentence_spans(text, first, start)[1:]), start]
    return next((begin for begin, stop in pairwise(begins) if is_needed(text[begin:stop], stop == start)), start)


def _last_needed(text: str, end: int, last: int, is_needed: Callable[[str, bool], bool]) -> int:
    """Where the last sentence ends, of those between `end` and `last`, that is needed; `end` if none is."""
    ends = [end, *(stop for _, stop in sentence_spans(text, end, last)[:-1]), last]
    near_last = reversed(list(pairwise(ends)))
    return next((stop for begin, stop in near_last if is_needed(text[begin:stop], begin == end)), end)


def nearer(row: Mapping[str, Any], most_chars: int) -> str:
    """A row's `text` in at most `most_chars` characters, but the quote whole, with as much on both sides of it."""
    before, quote, after = row["text"].partition("⟦")[0], row["quote"], row["text"].rpartition("⟧")[2]
    side = max(0, (most_chars - len(quote) - 2) // 2)
    return f"{before[len(before) - min(side, len(before)) :]}⟦{quote}⟧{after[:side]}"
