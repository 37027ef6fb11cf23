"""The researchers' notes as single statements, the passages that say what they say, and what their latest reading
lacked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.research.evidence.quotes import quote_stands
from graph_research.text.document import Document
from graph_research.text.language.words import held_share, held_weight, language_of, term_weights
from graph_research.text.relevance.leaning import end_of_leaning, start_before_leaning
from graph_research.text.relevance.open_points import Told, is_answered
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from graph_research.text.relevance.units import Unit

_NOTE = re.compile(r"^- (.+?)\s*((?:\[\d+\])+)$", re.MULTILINE)
_SOURCE = re.compile(r"^\[(\d+)\] (src-[0-9a-f]{10})\b", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_SAME_NOTE = 0.8
"""A text is of the note that holds so much of the weight of its words."""
_LEAST_HELD = 0.25
"""So much of the words of a thing that a note names a unit holds that says it."""
_MOST_TRIED, _MOST_PASSAGES = 12, 3
_AROUND = 0.5
"""What a word counts that only the text around a unit has."""
_LEAST_ADDED = 0.1
"""So much of the weight of what is said a further passage holds that those before it lack."""


@dataclass(frozen=True)
class Note:
    """What a researcher noted, and the sources that it names for it."""

    text: str
    source_ids: tuple[str, ...] = ()


def notes_of(topics: Iterable[Mapping[str, Any]]) -> list[Note]:
    """The notes of the topics in their order, each text once."""
    notes: dict[str, Note] = {}
    for topic in topics:
        text = topic.get("compressed_findings") or ""
        names = {int(n): name for n, name in _SOURCE.findall(text)}
        for said, marks in _NOTE.findall(text):
            read = [names[int(n)] for n in _NUMBER.findall(marks) if int(n) in names]
            notes.setdefault(said, Note(said, tuple(read)))
    return list(notes.values())


def noted_sources(words: str, notes: Iterable[Note]) -> tuple[str, ...]:
    """The sources of the note that these words are of; none where they are of no note."""
    wanted = term_weights(words)
    shares = [(held_share(wanted, term_weights(note.text)), note) for note in notes]
    share, note = max(shares, key=lambda row: row[0], default=(0.0, Note("")))
    return note.source_ids if share >= _SAME_NOTE else ()


def quotes_or_noted(
    quote: Mapping[str, Any], said: str, notes: Iterable[Note], documents: Mapping[str, Document]
) -> list[Mapping[str, Any]]:
    """The quote, or where it does not stand in its source, such as the words of a note, passages of the note's sources
    that say it and what was `said` with it, of its own where it is of no note. Whether they support that is for its
    check."""
    if quote_stands(quote, documents):
        return [quote]
    names = noted_sources(quote["quote"], notes) or (quote["source_id"],)
    read = {name: documents[name] for name in names if name in documents}
    return [*passages_of_note(quote["quote"], said, read)] or [quote]


def passages_of_note(words: str, said: str, documents: Mapping[str, Document]) -> list[dict[str, Any]]:
    """Quotes of the documents that say what the words of a note say: of the units that rank best for each thing that
    these name, each with the sentence beside it that points back at it, or that it points back at, where that adds
    something, the three at most that together hold the most of the note and of what the writer `said` with it; what
    only the text around a unit has of it counts half. Each holds two words of the note, and one of what was said in its
    language."""
    pool = Pool(documents)
    of_note, of_said = term_weights(words), term_weights(said)
    left = Counter(of_note) + Counter(of_said)
    least = _LEAST_ADDED * left.total()
    units = {
        (item.source, item.unit.start): item.unit
        for part in (*parse(words).things, parse(words))
        for item in rank(pool, part)[:_MOST_TRIED]
        if item.covered >= _LEAST_HELD
    }
    tried = [_Quoted.of(name, documents[name], unit, left, least) for (name, _), unit in units.items()]
    fitting = [
        one
        for one in tried
        if len(of_note.keys() & one.held.keys()) > 1
        and (of_said.keys() & one.held.keys() or language_of(said) != language_of(one.quote))
    ]
    chosen: list[dict[str, Any]] = []
    while fitting and len(chosen) < _MOST_PASSAGES:
        best = max(fitting, key=lambda one: one.worth(left))
        if held_weight(left, best.held) < least:
            break
        fitting.remove(best)
        left = Counter({term: weight for term, weight in left.items() if term not in best.held})
        chosen.append({"source_id": best.source_id, "quote": best.quote, "start": best.start})
    return chosen


@dataclass(frozen=True)
class _Quoted:
    """A stretch of a source, with the terms that it holds and those of what it is read with."""

    source_id: str
    start: int
    quote: str
    held: Mapping[str, float]
    around: Mapping[str, float]

    @classmethod
    def of(cls, name: str, document: Document, unit: Unit, wanted: Mapping[str, float], least: float) -> _Quoted:
        start, end = _with_leaning(document, unit, wanted, least)
        quote = document.text[start:end]
        return cls(name, start, quote, term_weights(quote), term_weights(document.around(start, end)))

    def worth(self, wanted: Mapping[str, float]) -> float:
        own = held_weight(wanted, self.held)
        return own + _AROUND * (held_weight(wanted, {**self.around, **self.held}) - own)


def _with_leaning(document: Document, unit: Unit, wanted: Mapping[str, float], least: float) -> tuple[int, int]:
    """Where the unit starts and ends, with the sentence before it that it points back at, or the one behind it that
    points back, whichever adds more of what is `wanted`, and `least` of it."""
    text, own = document.text, held_weight(wanted, term_weights(unit.text))
    spans = (start_before_leaning(text, unit.start, unit.end), unit.end), (unit.start, end_of_leaning(text, unit.end))
    added = {span: held_weight(wanted, term_weights(text[slice(*span)])) - own for span in spans}
    best = max(spans, key=lambda span: added[span])
    return best if added[best] >= least else (unit.start, unit.end)


def latest_limits(topics: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the reading of the latest round lacked: what earlier ones lacked was searched for since."""
    return list(dict.fromkeys(limit for topic in latest(topics) for limit in topic.get("limits") or []))


def answered_by_words(limits: Iterable[str], texts: Iterable[str], titles: Sequence[str]) -> list[str]:
    """Those of the limits that a finding, or a quote, among the texts answers, as words alone show."""
    told = list(map(Told, texts))
    return [limit for limit in limits if is_answered(limit, told, titles)]


def latest(topics: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The topics of the latest round."""
    rounds = [int(topic["sub_query_id"].split("-")[1]) for topic in topics]
    return [topic for topic, own in zip(topics, rounds, strict=True) if own == max(rounds)]
