"""Finding a quote in an archived text: word for word, so that code can prove what a model says it read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from graph_research.research.models.evidence import Evidence
from graph_research.research.models.ids import evidence_id
from graph_research.research.models.source import Source
from graph_research.text.bm25 import inverse_frequency
from graph_research.text.document import Document
from graph_research.text.evidence import scorer_of
from graph_research.text.language.quantities import Value, figures
from graph_research.text.language.stated import unstated
from graph_research.text.language.words import held_share, held_weight, language_of, term_weights, whole_word_weights
from graph_research.text.locators import make_locator, resolve
from graph_research.text.relevance.ranking import analysed
from graph_research.text.relevance.units import Unit
from graph_research.text.sentences import SENTENCE_ENDS

_MOST_QUOTE_CHARS = 2_000
_CHARS_BEFORE = 500
"""How far before a quote the words are looked for that tell one of its places from another."""
_MOST_COMPLETING = 2
"""So many units are added to the quotes of a finding for the figures and words that it has without them."""
_NEAR_CHARS, _LEAST_IN_BLOCK, _LEAST_NEAR, _LEAST_ADDED = 400, 0.25, 0.5, 0.08
"""So far from a quote a unit says the same, if it holds so much of the words that the quotes lack, in the quote's block
and elsewhere in its section, and so much of all words of the finding."""
_LEAST_SAID, _LEAST_SHARED = 1.0, 0.2
"""A clause whose words weigh less says what its figure is of only with the rest of its text. A unit that speaks of the
same figure holds so much of the weight of these words; in another language any of them, which is a name."""
_NAME_BEFORE = re.compile(r"(?:(?<=\w\s)[^\W\d_a-zß-ÿ]\w*|\w*[a-zß-ÿ][A-Z]\w*)\s$")
"""A capital letter within a text or a word makes a name."""
_CLAUSE_END = re.compile(r"[,;:.!?](?=\s)|[，；：。！？]")
_NUMBERED = re.compile(r"(?:sources?\s*)?[\[(]?(\d{1,3})[\])]?", re.IGNORECASE)
_MARKS: Mapping[str, str] = {
    "'": "['‘’ʼ]",
    "‘": "['‘’ʼ]",
    "’": "['‘’ʼ]",
    '"': '["“”„]',
    "“": '["“”„]',
    "”": '["“”„]',
    "-": "[-‐‑–—−]",
    "–": "[-‐‑–—−]",
    "—": "[-‐‑–—−]",
}


def find_quote(
    text: str,
    quote: str,
    start: int | None = None,
    about: str = "",
    entry_start: Callable[[int], int | None] | None = None,
) -> tuple[int, int] | None:
    """Where `quote` stands in `text`; of several places the one nearest to `start`, else the one before which most of
    the words of `about` stand, from the beginning of its entry on if `entry_start` knows that, else the first.

    Runs of white space and the shapes of quotation marks and dashes may differ (models change these); words may not.
    What counts is then `text[start:end]`, so that a stored quote is always the archive's own.
    """
    quote = quote.strip()
    if not quote or len(quote) > _MOST_QUOTE_CHARS:
        return None
    if start is not None and text.startswith(quote, start):
        return start, start + len(quote)
    places = [match.span() for match in re.finditer(re.escape(quote), text)]
    places = places or [match.span() for match in re.finditer(_forgiving(quote), text)]
    if not places:
        return None
    if start is not None:
        return min(places, key=lambda place: (abs(place[0] - start), place[0]))
    if not about or len(places) == 1:
        return places[0]
    wanted = term_weights(about)

    def held(place: tuple[int, int]) -> float:
        begin = entry_start(place[0]) if entry_start else None
        before = text[max(0, place[0] - _CHARS_BEFORE) if begin is None else begin : place[0]]
        return held_weight(wanted, term_weights(before))

    return max(places, key=held)


def quote_stands(quote: Mapping[str, Any], documents: Mapping[str, Document]) -> bool:
    """Whether a quote stands in the document of its source, if that is one of the documents."""
    document = documents.get(quote["source_id"])
    return document is not None and find_quote(document.text, quote["quote"]) is not None


def any_quote_stands(rows: Iterable[Mapping[str, Any]], documents: Mapping[str, Document]) -> bool:
    """Whether a quote of any row's `evidence` stands in the document of its source."""
    return any(quote_stands(quote, documents) for row in rows for quote in row.get("evidence") or [])


def attributed(
    rows: Sequence[Mapping[str, Any]], order: Sequence[str], documents: Mapping[str, Document]
) -> list[dict[str, Any]]:
    """The rows with each quote of their `evidence` under the id of its source, where a model wrote a number or a wrong
    id: the source of that number in `order`, the ids shown, or the only one in which the quote stands where it does not
    stand there."""

    def mend(quote: Mapping[str, Any]) -> Mapping[str, Any]:
        if quote["source_id"] in documents:
            return quote
        number = _NUMBERED.fullmatch(quote["source_id"].strip())
        meant = order[int(number[1]) - 1] if number and 0 < int(number[1]) <= len(order) else None
        if meant is None or find_quote(documents[meant].text, quote["quote"]) is None:
            holding = [name for name in documents if find_quote(documents[name].text, quote["quote"]) is not None]
            meant = holding[0] if len(holding) == 1 else meant
        return quote if meant is None else {**quote, "source_id": meant}

    return [{**row, "evidence": [mend(quote) for quote in row["evidence"]]} for row in rows]


def _forgiving(quote: str) -> str:
    return r"\s+".join("".join(_MARKS.get(char, re.escape(char)) for char in word) for word in quote.split())


class _Figure(NamedTuple):
    """A figure as a text writes it, and the words that it is said with, weighed, in their language."""

    written: str
    said_with: Mapping[str, float]
    language: str


def _in_digits(text: str, known: Sequence[str]) -> list[_Figure]:
    """The figures of `text`, as far as it writes digits, that no known text states; a name's number ("Zone 5") is none:
    another thing has that number elsewhere."""
    new = (figure for figure in unstated(text, known) if not _NAME_BEFORE.search(text[: figure.start]))
    numbers = [figure for figure in new if any(map(str.isdigit, text[figure.start : figure.end]))]
    language = language_of(text)
    return [_Figure(text[figure.start : figure.end], _said_with(text, figure), language) for figure in numbers]


def _said_with(text: str, figure: Value) -> Mapping[str, float]:
    """The words of the figure's clause, of the whole text where these say too little, without the figures."""
    bare = text
    for value in figures(text):
        bare = f"{bare[: value.start]}{' ' * (value.end - value.start)}{bare[value.end :]}"
    cuts = [0, *(match.end() for match in _CLAUSE_END.finditer(bare)), len(bare)]
    start, end = next((start, end) for start, end in pairwise(cuts) if figure.start < end)
    clause = term_weights(bare[start:end])
    return clause if sum(clause.values()) >= _LEAST_SAID else term_weights(bare)


def _is_same(figure: _Figure, unit: Unit) -> bool:
    """Whether the unit states the figure, and with the words that it is said with."""
    if unstated(figure.written, [unit.text]):
        return False
    share = held_share(figure.said_with, term_weights(unit.text))
    return share >= _LEAST_SHARED or (share > 0.0 and figure.language != language_of(unit.text))


def _is_beside(document: Document, place: int, unit: Unit, terms: Container[str]) -> bool:
    """Whether a unit stands below the same headings as a place, and explains no other term than that does, nor is it a
    row with another label than the row of that place, but one that is among `terms`."""
    if document.path_at(unit.start) != document.path_at(place):
        return False
    label = _label_at(document, unit.start)
    told = [(document.term_at(unit.end - 1), document.term_at(place)), (label, _label_at(document, place) or label)]
    others = (name for name, own in told if name not in ("", own))
    language = language_of(document.text)
    return all(held_weight(whole_word_weights(name, language), terms) > 0.0 for name in others)


def _label_at(document: Document, place: int) -> str:
    """What the first cell of the row says that a place stands in; empty elsewhere."""
    number = bisect_left(document.blocks, place, key=lambda block: block.end - 1)
    cells = document.rows.get(document.blocks[number].start, ()) if number < len(document.blocks) else ()
    return cells[0] if len(cells) > 1 else ""


@dataclass
class QuoteFinder:
    """Turns quotes of an answer into evidence, and counts those that stand in no archived text."""

    question: str
    sources: Mapping[str, Source]
    documents: Mapping[str, Document]
    dropped: int = 0

    def evidence(self, quotes: Sequence[Mapping[str, Any]], about: str = "") -> list[Evidence]:
        """The evidence of the quotes that are there, in order, each place once; `about` is what they are quoted for."""
        found: dict[str, Evidence] = {}
        for quote in quotes:
            one = self._one(quote, about)
            if one is None:
                self.dropped += 1
            else:
                found.setdefault(one.id, one)
        return list(found.values())

    def completing(self, evidence: Sequence[Evidence], text: str) -> list[Evidence]:
        """What `text` says beyond its evidence, two units at most: those that state its other figures, then those that
        say its other words."""
        found: list[Evidence] = []
        while len(found) < _MOST_COMPLETING:
            known = [*evidence, *found]
            if not (more := self._stating(known, text) or self._saying(known, text)):
                break
            found += more
        return found

    def _stating(self, evidence: Sequence[Evidence], text: str) -> list[Evidence]:
        """The unit that states most of the figures of `text` which stand neither in its evidence nor in the headings
        above it, each with a word that the text says it with: the nearest to the evidence, in the same section. What
        explains another term than the evidence does, and than the text names, speaks of another thing."""
        if not _in_digits(text, [one.quote for one in evidence]):
            return []
        known = [said for one in evidence for said in (one.quote, *self._headings(one))]
        missing = _in_digits(text, known)
        told = [
            (-stated, distance, one, unit)
            for one in evidence
            for distance, unit in self._beside(one, text)
            if (stated := sum(_is_same(figure, unit) for figure in missing))
        ]
        if not told:
            return []
        *_, nearest, unit = min(told, key=lambda row: row[:2])
        return self.evidence([{"source_id": nearest.source_id, "quote": unit.text, "start": unit.start}])

    def _saying(self, evidence: Sequence[Evidence], text: str) -> list[Evidence]:
        """The unit near the evidence that says most of the words of `text` which neither the evidence has, nor the
        headings above it, nor the question."""
        weights = whole_word_weights(text, language_of(text))
        known = [self.question, *(said for one in evidence for said in (one.quote, *self._headings(one)))]
        told = set[str]().union(*map(term_weights, known))
        missing = {term: weight for term, weight in weights.items() if term not in told}
        shares = (row for one in evidence for row in self._shares(one, weights, missing))
        share, one, unit = max(shares, key=lambda row: row[0], default=(0.0, None, None))
        if not share or one is None or unit is None:
            return []
        return self.evidence([{"source_id": one.source_id, "quote": unit.text, "start": unit.start}])

    def _shares(
        self, evidence: Evidence, weights: Mapping[str, float], missing: Mapping[str, float]
    ) -> Iterator[tuple[float, Evidence, Unit]]:
        """The sentences and rows near the evidence, in its section, that hold enough of what is missing of a text with
        these weights, each with its share of that. A word counts by its rarity in the document, too."""
        document = self.documents[evidence.source_id]
        start, end = resolve(document.text, evidence.locator, document.pages)
        read = analysed(document)
        rarity = {term: inverse_frequency(len(read.units), len(read.postings.get(term, ()))) for term in weights}
        rest = sum(missing[term] * rarity[term] for term in missing)
        least = _LEAST_ADDED * sum(weights[term] * rarity[term] for term in weights)
        first = bisect_left(read.units, start - _NEAR_CHARS, key=lambda unit: unit.end)
        near = read.units[first : bisect_left(read.units, end + _NEAR_CHARS, key=lambda unit: unit.start)]
        own = {unit.block for unit in near if unit.start < end and start < unit.end}
        for place, unit in enumerate(near, first):
            held = [term for term in missing if term in read.counts[place]]
            worth = sum(missing[term] * rarity[term] for term in held)
            enough = max(least, rest * (_LEAST_IN_BLOCK if unit.block in own else _LEAST_NEAR))
            is_new = not start <= unit.start < unit.end <= end and _is_beside(document, start, unit, weights)
            is_whole = unit.kind == "row" or unit.text.endswith(SENTENCE_ENDS)
            if is_new and is_whole and len(held) > 1 and worth >= enough:
                yield worth / rest, evidence, unit

    def _headings(self, evidence: Evidence) -> Sequence[str]:
        """The title and the headings above the evidence."""
        document = self.documents[evidence.source_id]
        start, _ = resolve(document.text, evidence.locator, document.pages)
        return self.sources[evidence.source_id].title, *document.path_at(start)

    def _beside(self, evidence: Evidence, text: str) -> Iterator[tuple[int, Unit]]:
        """The other units below the headings of the evidence, each with its distance in characters; without those that
        explain a term which `text` does not name."""
        document = self.documents[evidence.source_id]
        start, end = resolve(document.text, evidence.locator, document.pages)
        terms = term_weights(text)
        for unit in analysed(document).units:
            if not start <= unit.start < unit.end <= end and _is_beside(document, start, unit, terms):
                yield max(unit.start - end, start - unit.end, 0), unit

    def _one(self, quote: Mapping[str, Any], about: str) -> Evidence | None:
        source = self.sources.get(quote["source_id"])
        document = self.documents.get(quote["source_id"])
        if source is None or document is None:
            return None
        place = find_quote(document.text, quote["quote"], quote.get("start"), about, document.term_start)
        if place is None:
            return None
        locator = make_locator(document, *place)
        return Evidence(
            id=evidence_id(source.archive_hash, locator),
            source_id=source.id,
            quote=document.text[slice(*place)],
            locator=locator,
            archive_hash=source.archive_hash,
            sub_query_id=source.sub_query_id,
            score=scorer_of(document, self.question).score(*place),
            rank_score=float(quote.get("rank_score") or 0.0),
        )
