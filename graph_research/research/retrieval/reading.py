"""Reading several sources in one prompt: the passages that say the most on what is asked share its room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph_research.research.budget.allocation import LEAST_SHARES, BudgetTier
from graph_research.research.budget.priority import is_protected
from graph_research.research.models.source import Source
from graph_research.research.research_settings import ResearchSettings
from graph_research.research.retrieval.excerpts import fair_share, reading_of
from graph_research.text.document import Document
from graph_research.text.relevance.coverage import Aspect, covering_passages

_CHECKLIST_SHARE = 0.5
"""What the whole checklist counts beside the queries."""

_MOST_SHARE = 0.15
"""The share of a topic's room that one source gets at most where its even share is less."""

_HEADLINE = LEAST_SHARES[BudgetTier.PROTECTED]

_Ranked = Sequence[tuple[int, int, float]]


def aspects_of(queries: Sequence[str], checklist: Sequence[Mapping[str, Any]] = ()) -> list[Aspect]:
    """What passages are chosen by: the queries, which count 1 together, and the checklist, which counts half."""
    asked = [Aspect(query, 1.0 / len(queries)) for query in queries]
    return asked + [Aspect(row["text"], _CHECKLIST_SHARE / len(checklist)) for row in checklist]


def chars_of_each(settings: ResearchSettings, lengths: Iterable[int], most_chars: int | None = None) -> int:
    """How much of each of several texts one prompt shows: they share what is read of a topic, or `most_chars`."""
    each = fair_share(lengths, settings.compression_chars if most_chars is None else most_chars)
    return each if settings.source_chars is None else min(each, settings.source_chars)


def most_chars_of(settings: ResearchSettings, lengths: Iterable[int]) -> int:
    """How much of one of several texts a topic's reading shows at most: what says more gets more than its even share,
    and no text takes the room of all others."""
    most = chars_of_each(settings, lengths)
    return settings.source_chars or max(most, int(_MOST_SHARE * settings.compression_chars))


class Reading:
    """Texts of sources that are read for some aspects. Passages are chosen once, whatever the room is."""

    def __init__(self, sources: Sequence[Source], documents: Mapping[str, Document], aspects: Sequence[Aspect]) -> None:
        self._sources = {source.id: source for source in sources}
        self._documents = documents
        self._ranked = {source.id: _ranked(source, documents[source.id], aspects) for source in sources}

    def text(self, source_id: str, most_chars: int) -> str:
        """One source in at most `most_chars` characters."""
        ranked = self._ranked[source_id]
        source = self._sources[source_id]
        return reading_of(source, self._documents, most_chars, passages=ranked, to_quote=True)

    def texts(self, *, most_chars: int, most_each: int, least_each: int) -> dict[str, str]:
        """All sources by id: together at most `most_chars` characters, each at most `most_each`, and at least
        `least_each`, a protected one its headline, where there is as much of it and room.

        All texts are whole where they fit. Else each gets the room of its passages that are among the best of all; what
        these leave goes in equal shares to texts that are not shown whole.
        """
        lengths = {id_: len(self._documents[id_].text) for id_ in self._sources}
        headlines = {
            id_: int(_HEADLINE * lengths[id_]) for id_, source in self._sources.items() if is_protected(source)
        }
        leasts = {id_: max(least_each, headlines.get(id_, 0)) for id_ in lengths}
        most = {id_: min(length, max(most_each, leasts[id_])) for id_, length in lengths.items()}
        if sum(most.values()) <= most_chars:
            return {id_: self.text(id_, length) for id_, length in most.items()}
        least = fair_share([min(length, leasts[id_]) for id_, length in most.items()], most_chars)
        room = {id_: min(length, leasts[id_], least) for id_, length in most.items()}
        left = most_chars - sum(room.values())
        needed = dict.fromkeys(most, 0)
        for gain, id_, length in sorted(self._passages(), key=lambda passage: -passage[0]):
            more = max(0, min(needed[id_] + length, most[id_]) - room[id_])
            if more <= left and gain > 0.0:
                needed[id_] += length
                room[id_] += more
                left -= more
        rest = fair_share([most[id_] - length for id_, length in room.items()], left)
        return {id_: self.text(id_, min(most[id_], length + rest)) for id_, length in room.items()}

    def _passages(self) -> list[tuple[float, str, int]]:
        """Of every passage its gain, its source and its length."""
        return [(gain, id_, end - start) for id_, ranked in self._ranked.items() for start, end, gain in ranked]


def _ranked(source: Source, document: Document, aspects: Sequence[Aspect]) -> _Ranked:
    """The passages of a source that cover the aspects, each with its gain, after the one that its search found best."""
    chosen = [(passage.start, passage.end, passage.gain) for passage in covering_passages(document, aspects)]
    found = source.metadata.get("passages") or ()
    if not found:
        return chosen
    start, end, _ = max(found, key=lambda passage: (passage[2], -passage[0]))
    best = max((gain for _, _, gain in chosen), default=1.0)
    return [(start, end, best), *(passage for passage in chosen if passage[:2] != (start, end))]
