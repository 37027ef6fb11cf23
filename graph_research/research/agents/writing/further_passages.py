"""Stretches of the sources beside the evidence that there is: for a section, and for a sentence that is checked."""

from __future__ import annotations

import asyncio
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice, pairwise, takewhile
from typing import Any

from graph_research.graph.context import Context
from graph_research.research.agents.writing.limiting_sentences import limiting, of_row, on_same
from graph_research.research.agents.writing.passages import Passages
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.source import Source
from graph_research.research.report.labels.languages import labels_for
from graph_research.text.document import Document, announces
from graph_research.text.language.opposites import DEFAULT, NEGATIONS
from graph_research.text.language.words import (
    MOST_WEIGHT,
    held_share,
    held_weight,
    language_of,
    term_weights,
    whole_word_weights,
)
from graph_research.text.relevance.entries import Entries, Entry, names_in
from graph_research.text.relevance.query import Query, parse
from graph_research.text.relevance.ranking import Analysed, Pool, Ranked, analysed, rank
from graph_research.text.relevance.units import Unit
from graph_research.text.sentences import SENTENCE_ENDS

_PASSAGE_CHARS, _DEFINITION_CHARS, _ANNOUNCED_CHARS = 500, 1_200, 500
"""So much is shown around a unit, of what explains a term, and of what a sentence announces that ends in a colon."""
_BETWEEN_CHARS = 100
"""Less between two sentences is shown with them: the heading of a passage of its own takes as much."""
_FEWEST_WORDS = 4
"""A passage with fewer says nothing by itself, if it gives no default."""
_OF_A_SENTENCE, _OF_A_QUESTION, _MOST_TRIED = 2, 3, 20
_MOST_OF_A_LIMIT = 6
_LEAST_COVERED = 0.5
"""Of a sentence's words, by weight, a unit has so much, else it is about something else."""
_SPECIFIC, _LEAST_OF_RARE, _LEAST_OF_COMMON, _FEWEST_HELD = 1.5, 0.6, 0.9, 2
"""A unit bears on a sentence if it holds the sentence's rarest word, and so much of all its words, each weighed by how
rare it is in the sources, too: nearly all where even the rarest weighs less than that in its language."""
_MOST_SOURCES = 120
_WORD = re.compile(r"\w+")
_IN_CAPITALS = re.compile(r"(?<!\w)[A-Z]{2,}(?!\w)")
"""The name of a value, though its language may have it as a common word."""


class FurtherPassages:
    """Passages beside those that are held, given as source, start and end in its text; each of them new."""

    def __init__(self, held: Iterable[tuple[str, int, int]], finder: QuoteFinder) -> None:
        self.chosen: dict[str, Evidence] = {}
        self._told = list(held)
        self._finder = finder

    def add(self, item: Ranked) -> None:
        """Add the stretch around a unit, if no text that is held has it, its own or another that says the same word for
        word, and the stretch ends as a sentence, is a row of a table or a whole example: titles, names in a list and
        declarations say nothing."""
        document = self._finder.documents[item.source]
        place, unit = item.position, item.unit
        if self._is_told(item.source, unit) or any(unit.text in text for text in self._texts()):
            return
        example = _example(place, document)
        if example and not any(self._is_told(item.source, line) for line in example):
            self._take(item.source, example[0].start, example[-1].end, is_whole=True)
        else:
            self._take(item.source, *_stretch(place, document, self._of(item.source)), is_whole=unit.kind == "row")

    def add_first(self, ranking: Iterable[Ranked], most: int) -> list[str]:
        """Add the first stretches of a ranking that are new, and give their ids. No more is ranked than is needed."""
        before = len(self.chosen)
        items = iter(ranking)
        while len(self.chosen) < before + most and (item := next(items, None)):
            self.add(item)
        return list(self.chosen)[before:]

    def add_entry(self, entry: Entry, query: Query, most_chars: int = _DEFINITION_CHARS) -> None:
        """Add what is not held of an entry: of one that is longer than `most_chars` its beginning, up to half of that
        and at least what stands with the name, where nothing is held, a sentence on its default however long, and the
        sentences that hold, for their length, most of what the query asks for and the others lack, with what little
        stands between these."""
        read = analysed(self._finder.documents[entry.source])
        units = [place for place, unit in enumerate(read.units) if entry.start <= unit.start < entry.end]
        told = [place for place in units if self._is_told(entry.source, read.units[place])]
        is_whole = entry.end - entry.start <= most_chars
        end = entry.end if is_whole else entry.start + most_chars // 2
        begin = [place for place in units if read.units[place].end <= end and (is_whole or not told)]
        shown = sorted({*begin, *told, *units[:1]})
        room = most_chars - _chars_of(read.units, (place for place in shown if place not in told))
        shown = _with_telling(read, units, shown, room, query)
        between = (range(first + 1, last) for first, last in pairwise(sorted(shown)))
        shown += [place for gap in between for place in gap if _chars_of(read.units, gap) <= _BETWEEN_CHARS]
        for _, run in groupby(enumerate(sorted(shown)), key=lambda pair: pair[1] - pair[0]):
            self._take_units(entry.source, [place for _, place in run])

    def _take_units(self, source: str, places: Sequence[int]) -> None:
        """Add units that follow each other as far as they are not held, without the titles behind the last sentence."""
        units = analysed(self._finder.documents[source]).units
        for known, run in groupby(places, key=lambda place: self._is_told(source, units[place])):
            told = [units[place] for place in run]
            while told and told[-1].kind != "row" and not told[-1].text.endswith(SENTENCE_ENDS):
                told.pop()
            if told and not known:
                self._take(source, told[0].start, told[-1].end, is_whole=told[-1].kind == "row")

    @property
    def documents(self) -> Mapping[str, Document]:
        """The texts that passages are taken from."""
        return self._finder.documents

    def _texts(self) -> Iterator[str]:
        for name, start, end in self._told:
            if document := self.documents.get(name):
                yield document.text[start:end]

    def _of(self, source: str) -> list[tuple[int, int]]:
        return [(start, end) for name, start, end in self._told if name == source]

    def _is_told(self, source: str, unit: Unit) -> bool:
        return any(start <= unit.start < end or unit.start <= start < unit.end for start, end in self._of(source))

    def _take(self, source: str, start: int, end: int, *, is_whole: bool = False) -> None:
        document = self._finder.documents[source]
        if self._finder.sources[source].tier == "FLAGGED":
            return
        if not is_whole:
            if not document.text[start:end].endswith(SENTENCE_ENDS):
                return
            start, end = self._announced(source, start, end)
        if _says_nothing(document, start, end):
            return
        for row in self._finder.evidence([{"source_id": source, "quote": document.text[start:end], "start": start}]):
            self.chosen.setdefault(row.id, row)
            self._told.append((source, start, end))

    def _announced(self, source: str, start: int, end: int) -> tuple[int, int]:
        """A stretch with what its last sentence announces, where that ends in a colon: the block of code, or as much of
        the list, the table or the paragraph as `_ANNOUNCED_CHARS` hold. Where all of that is told already, or nothing
        follows, the stretch without that sentence."""
        document = self._finder.documents[source]
        if not announces(document.text[start:end]):
            return start, end
        units = analysed(document).units
        last = bisect_left(units, end, key=lambda unit: unit.end)
        further = list(takewhile(lambda unit: not self._is_told(source, unit), _following(document, units, last)))
        while further and announces(further[-1].text):
            further.pop()
        if further:
            return start, further[-1].end
        return start, max((unit.end for unit in units[:last] if start < unit.end), default=start)


def _following(document: Document, units: Sequence[Unit], last: int) -> Iterator[Unit]:
    """What follows a unit under its heading: the units of the next block, and of a list or table those of its other
    blocks, as far as `_ANNOUNCED_CHARS` go."""
    rest = list(takewhile(lambda unit: unit.heading == units[last].heading, units[last + 1 :]))
    for unit in rest:
        listed = _listed(document, unit)
        is_next = unit.block == rest[0].block or (listed and listed == _listed(document, rest[0]))
        if not is_next or unit.end - units[last].end > _ANNOUNCED_CHARS:
            return
        yield unit


def _listed(document: Document, unit: Unit) -> str:
    """What a unit is a piece of, a list or a table; a list may explain its items."""
    kind = document.blocks[unit.block].kind if document.blocks else ""
    return "item" if document.term_at(unit.end - 1) else kind if kind in ("item", "table") else ""


def _says_nothing(document: Document, start: int, end: int) -> bool:
    """Whether a stretch has too few words to be understood by itself; a row of a table has its columns' names."""
    text = document.text[start:end]
    is_row = len(document.rows.get(start, ())) > 1
    return not is_row and not DEFAULT.search(text) and len(term_weights(text)) < _FEWEST_WORDS


def _stretch(place: int, document: Document, told: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The unit with those before and after it in its block that are not told, as far as `_PASSAGE_CHARS` go; where a
    term is explained, in all its paragraphs, as far as `_DEFINITION_CHARS` go, so that the default of a setting stands
    with its name."""
    units = analysed(document).units
    first = last = begin = place
    while begin > 0 and _entry(document, units[begin - 1]) == _entry(document, units[place]):
        begin -= 1
    most = _DEFINITION_CHARS if units[begin].kind == "definition" else _PASSAGE_CHARS
    grows = True
    while grows:
        grows = False
        for step in (first - 1, last + 1):
            if not 0 <= step < len(units) or _entry(document, units[step]) != _entry(document, units[place]):
                continue
            if any(start < units[step].end and units[step].start < end for start, end in told):
                continue
            if max(units[last].end, units[step].end) - min(units[first].start, units[step].start) <= most:
                first, last, grows = min(first, step), max(last, step), True
    return units[first].start, units[last].end


def _example(place: int, document: Document) -> Sequence[Unit]:
    """The lines of the block of code that a unit is a line of, where these are not too long, behind the sentence
    right above them; nothing where none stands there, as in a listing."""
    units = analysed(document).units
    if units[place].kind != "line":
        return ()
    first, last = bisect_left(units, units[place].block, key=lambda unit: unit.block), place
    while last + 1 < len(units) and units[last + 1].block == units[place].block:
        last += 1
    above = units[first - 1] if first else units[place]
    is_led = above.kind == "sentence" and above.heading == units[place].heading
    fits = units[last].end - units[first].start <= _DEFINITION_CHARS
    return units[first - 1 : last + 1] if is_led and fits else ()


def examples(pool: Pool, query: Query) -> Iterator[Ranked]:
    """The lines nearest to a query of those blocks of code that hold enough of its words with what stands above them,
    best first."""
    lines = (item for item in rank(pool, query) if item.unit.kind == "line")
    for item in islice(lines, _MOST_TRIED):
        read = pool.read[item.source]
        if example := _example(item.position, pool.documents[item.source]):
            first = bisect_left(read.units, example[0].start, key=lambda unit: unit.start)
            held = {term for counted in read.counts[first : first + len(example)] for term in counted}
            if held_share(query.weights(read.language), held) >= _LEAST_COVERED:
                yield item


def _chars_of(units: Sequence[Unit], places: Iterable[int]) -> int:
    return sum(len(units[place].text) for place in places)


def _with_telling(read: Analysed, units: Sequence[int], shown: Sequence[int], room: int, query: Query) -> list[int]:
    """The units of an entry that are `shown`, then one on its default, however long, and those that hold, for their
    length, most of what the query asks for and no sentence before them says, as far as there is `room`."""
    shown = list(shown)
    whole = [place for place in units if read.units[place].kind != "line"]  # a line of code alone says nothing
    lacking = query.weights(read.language) | dict.fromkeys(_IN_CAPITALS.findall(query.text), MOST_WEIGHT)
    said = {place: {*read.counts[place], *_IN_CAPITALS.findall(read.units[place].text)} for place in units}
    while further := [place for place in whole if place not in shown]:
        defaults = [] if _with_default(read, shown) else _with_default(read, further)
        behind = defaults or [place for place in further if len(read.units[place].text) <= room]
        told_of = [said[place] for place in shown if read.units[place].text.endswith(SENTENCE_ENDS)]
        lacking = {term: value for term, value in lacking.items() if not any(term in words for words in told_of)}
        held = {place: held_weight(lacking, said[place]) for place in behind}
        best = max(behind, key=lambda place: held[place] / math.sqrt(read.lengths[place] or 1), default=None)
        if best is None or not (defaults or held[best]):
            break
        shown.append(best)
        room -= len(read.units[best].text)
    return shown


def _with_default(read: Analysed, places: Iterable[int]) -> list[int]:
    return [place for place in places if DEFAULT.search(read.units[place].text)]


def _entry(document: Document, unit: Unit) -> str | int:
    """What a unit belongs to: the term that it explains, else its block."""
    return document.term_at(unit.end - 1) or unit.block


class NearPassages:
    """What else the run's sources say about single sentences: the stretches nearest to each that it does not show."""

    def __init__(self, sources: Mapping[str, Source], documents: Mapping[str, Document], question: str) -> None:
        self._sources = sources
        self._documents = documents
        self._question = question
        self._finder = QuoteFinder(question, sources, documents)
        self._pool = Pool(documents)
        self._found: dict[str, Evidence] = {}

    @classmethod
    async def of(cls, handoff: Mapping[str, Any], ctx: Context) -> NearPassages:
        """Over the texts of the run's sources, where they are many of those that it has evidence of and the best."""
        named = {row["source_id"] for row in handoff["evidence"]}
        known = map(Source.model_validate, handoff["sources"])
        order = sorted(known, key=lambda source: (source.id not in named, -source.score.composite, source.id))
        best = [source for source in order if not source.metadata.get("lists_names")][:_MOST_SOURCES]
        documents = await read_documents(best, ctx)
        return await asyncio.to_thread(cls, {source.id: source for source in best}, documents, handoff["question"])

    @property
    def evidence(self) -> Mapping[str, Evidence]:
        """Everything that was found, by id."""
        return self._found

    def bearing(self, text: str, shown: Iterable[Mapping[str, Any]], *, context: str = "") -> list[str]:
        """The id of the stretch nearest to a text that bears on it and, where the `context` says more than the text,
        holds a word of that, too: what is missing stands with what it is missing of. Where the question names two
        things, none of sources about the other thing than those that are shown."""
        query, rows = parse(text), list(shown)
        sources = set(on_same(self._pool, self._question, {row["source_id"] for row in rows}))
        found = (item for item in nearest(self._pool, query, must_bear=True) if item.source in sources)
        within = (item for item in found if not context or _is_within(self._pool, item, query, context))
        return self._add([within], rows, 1, 1)

    def telling(self, text: str) -> list[str]:
        """The ids of the stretches nearest to what a reader wants to know, and of the definitions of the settings that
        it names, whatever else is shown; a model judges whether they tell it."""
        defined = self.definitions(text, ())
        ranking = iter(rank(self._pool, parse(text))[:_MOST_TRIED])
        return [*defined, *self._add([ranking], self._rows(defined), _OF_A_QUESTION, _OF_A_QUESTION)]

    def limiting(self, text: str, context: str, shown: Iterable[Mapping[str, Any]]) -> list[str]:
        """The ids of the stretches that may tell of an exception from what a text says of all cases, in its context."""
        rows = list(shown)
        found = limiting(self._pool, text, context, self._question, {row["source_id"] for row in rows})
        return self._add([found], rows, _OF_A_SENTENCE, _OF_A_SENTENCE)

    def definitions(self, text: str, shown: Iterable[Mapping[str, Any]], *, besides: Collection[str] = ()) -> list[str]:
        """The ids of what is not shown of what explains the first things that a text names, `besides` these, of each
        its default before the rest: name and default often stand at the two ends of a long definition."""
        further = FurtherPassages(self._places(shown), self._finder)
        found: list[list[str]] = []
        for entry in self._entries.named(text, {*besides, *names_in(self._question)}):
            before = len(further.chosen)
            if len(found) < _OF_A_SENTENCE:
                further.add_entry(entry, parse(text))
            if new := list(further.chosen)[before:]:
                new.sort(key=lambda name: not DEFAULT.search(further.chosen[name].quote))
                found.append(new[:_OF_A_SENTENCE])
        self._found.update({name: further.chosen[name] for names in found for name in names})
        return [name for names in found for name in names]

    @cached_property
    def _entries(self) -> Entries:
        return Entries(self._documents)

    def lacking(
        self, text: str, context: str, shown: Iterable[Mapping[str, Any]], column: Collection[str] = ()
    ) -> list[str]:
        """The ids of the stretches that bear on what a text says was not found: on each thing that it names, or with a
        `context`, such as the row of a cell, on all of it, and in the sources of the `column` on either."""
        query = sought(text)
        queries = [query] if context else query.things
        found = [nearest(self._pool, part, must_bear=True) for part in queries]
        if context:
            found.append(of_row(self._pool, f"{query.text}. {context}", column))
        each = _OF_A_SENTENCE if len(found) <= _OF_A_SENTENCE else 1
        rows = list(shown)
        defined = self.definitions(text, rows)
        rows += self._rows(defined)
        return list(dict.fromkeys([*defined, *self._add(found, rows, each, _MOST_OF_A_LIMIT)]))

    def _add(
        self, found: Iterable[Iterator[Ranked]], shown: Iterable[Mapping[str, Any]], each: int, most: int
    ) -> list[str]:
        """The ids of the first stretches of each of the rankings that are new."""
        further = FurtherPassages(self._places(shown), self._finder)
        for ranking in found:
            further.add_first(ranking, min(each, most - len(further.chosen)))
        self._found.update(further.chosen)
        return list(further.chosen)

    def _places(self, shown: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, int, int]]:
        """The source, start and end of what rows of a prompt show."""
        for row in shown:
            if row["start"] is not None:
                yield row["source_id"], row["start"], row["end"]

    def rows(self, besides: Collection[str]) -> list[dict[str, Any]]:
        """What was found as a prompt shows passages, `besides` those of these ids, which it shows already."""
        return self._rows(name for name in self._found if name not in besides)

    def _rows(self, names: Iterable[str]) -> list[dict[str, Any]]:
        passages = Passages((row.to_json() for row in self._found.values()), self._sources, self._documents)
        return passages.rows(names, 0)


def sought(text: str) -> Query:
    """What to look up where a text says that something was not found: the text without the words that say so."""
    language = language_of(text)
    absent = {*NEGATIONS.get(language, ()), *_WORD.findall(labels_for(language).not_found.casefold())}
    return parse(_WORD.sub(lambda match: "" if match[0].casefold() in absent else match[0], text), language)


def nearest(pool: Pool, query: Query, *, must_bear: bool = False, context: str = "") -> Iterator[Ranked]:
    """The units of a pool that hold enough of a query's words, best first; of these only those that bear on it, in its
    `context`, where they `must_bear`."""
    for item in rank(pool, query)[:_MOST_TRIED]:
        if item.covered >= _LEAST_COVERED and (not must_bear or _bears_on(pool, item, query, context)):
            yield item


def _is_within(pool: Pool, item: Ranked, query: Query, context: str) -> bool:
    """Whether a unit holds a word of the context's that the query lacks, if there is one."""
    read = pool.read[item.source]
    own = parse(context).weights(read.language).keys() - query.weights(read.language).keys()
    return not own or any(read.counts[item.position][term] for term in own)


def _bears_on(pool: Pool, item: Ranked, query: Query, context: str) -> bool:
    """Whether a unit holds what a query is about, and not only the words that many units share. Of several words it
    holds two at least with its block; a name counts once, and not its parts beside it. Where all words are common, it
    holds two, nearly all of them, and one of the `context`, if there is one."""
    read = pool.read[item.source]
    weights = query.weights(read.language)
    named = whole_word_weights(query.text, read.language)
    rare = {term: weights[term] * pool.rarity(term) for term in named if term in weights}
    held = {term for term in rare if read.counts[item.position][term]}
    rarest = max(rare, key=lambda term: rare[term], default="")
    if rarest not in held:
        return False
    if weights[rarest] < _SPECIFIC:
        whole = len(rare) >= _FEWEST_HELD and held_share(rare, held) >= _LEAST_OF_COMMON
        return whole and _is_within(pool, item, query, context)
    block = [place for place, unit in enumerate(read.units) if unit.block == item.unit.block]
    beside = {term for term in rare if any(read.counts[place][term] for place in block)}
    return held_share(rare, held) >= _LEAST_OF_RARE and len(beside) >= min(_FEWEST_HELD, len(rare))
