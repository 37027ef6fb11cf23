"""Reading several sources in one prompt: the passages that say the most on what is asked share its room."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from graph_research.research.budget.allocation import LEAST_SHARES, BudgetTier
from graph_research.research.budget.priority import is_protected
from graph_research.research.llm.phase_budget import TOPIC_CHARS
from graph_research.research.llm.prompt_fitting import MARK
from graph_research.research.models.source import Source
from graph_research.research.research_settings import ResearchSettings
from graph_research.research.retrieval.excerpts import fair_share, reading_of
from graph_research.text.document import Document
from graph_research.text.relevance.coverage import Aspect, CoveringPassage, covering_passages
from graph_research.text.relevance.entries import Entries
from graph_research.text.wording import one_line

_HEADLINE = LEAST_SHARES[BudgetTier.PROTECTED]
_MOST_OF_AN_ENTRY = 3_000
"""What explains a thing is read whole up to so many characters, where open questions are looked up."""
_OF_A_LIMIT = 2
"""So many passages of a source come first for each thing that an earlier reading lacked there: the nearest is often one
that this reading saw."""


def aspects_of(
    queries: Sequence[str], checklist: Sequence[Mapping[str, Any]] = (), other_topics: Sequence[Mapping[str, Any]] = ()
) -> list[Aspect]:
    """What passages are chosen by: the queries of the topic with what it looks for, those of each other one in the
    sources that this one found as well, and the checklist. Each of these counts 1 together."""
    others = [(topic["queries"], frozenset(topic["source_ids"])) for topic in other_topics]
    asked = [(queries, None), *others, ([row["text"] for row in checklist], None)]
    return [Aspect(text, 1.0 / len(texts), sources) for texts, sources in asked for text in texts]


def chars_of_each(settings: ResearchSettings, lengths: Iterable[int], most_chars: int | None = None) -> int:
    """How much of each of several texts one prompt shows: they share what is read of a topic whatever
    the window is, or `most_chars`."""
    each = fair_share(lengths, min(settings.topic_chars, TOPIC_CHARS) if most_chars is None else most_chars)
    return each if settings.source_chars is None else min(each, settings.source_chars)


class Reading:
    """What a prompt shows of several sources: their passages compete for the room by what they say on the aspects.

    Of each source that is not `competing` the passage that its search ranked best comes first. `lacking` has, by the
    id of a source, texts that say what an earlier reading did not find there; the passages nearest to these come
    instead. Behind these comes what explains the things, such as settings, that `named` names: the best passage of it,
    and in a source that is `competing` all of it, with its warnings, where it is short."""

    def __init__(
        self,
        sources: Sequence[Source],
        documents: Mapping[str, Document],
        aspects: Sequence[Aspect],
        lacking: Mapping[str, Sequence[str]] | None = None,
        competing: Collection[str] = (),
        named: str = "",
    ) -> None:
        self._sources = {source.id: source for source in sources}
        self._documents = {source.id: documents[source.id] for source in sources}
        first = {source.id: _found_best(source) for source in sources if source.id not in competing}
        for name, texts in (lacking or {}).items():
            own = {name: self._documents[name]}
            first[name] = [
                (near.start, near.end)
                for text in texts
                for near in islice(covering_passages(own, [Aspect(text)]), _OF_A_LIMIT)
            ]
        for entry in Entries(self._documents).named(named):
            is_whole = entry.source in competing and entry.end - entry.start <= _MOST_OF_AN_ENTRY
            blocks = self._documents[entry.source].blocks if is_whole else ()
            parts = [(block.start, block.end) for block in blocks if entry.start <= block.start < entry.end]
            first[entry.source] = [*first.get(entry.source, []), (entry.start, entry.end), *parts]
        self._next = covering_passages(self._documents, aspects, first)
        self._chosen: list[CoveringPassage] = []
        self._shown: set[tuple[str, str]] = set()

    def text(self, source_id: str, most_chars: int) -> str:
        """One source in at most `most_chars` characters."""
        passages: list[tuple[int, int, float]] = []
        chars = 0
        for passage in self._passages():
            if passage.source == source_id:
                passages.append((passage.start, passage.end, -len(passages)))
                chars += passage.end - passage.start
            if chars >= most_chars:
                break
        source = self._sources[source_id]
        return reading_of(source, self._documents, most_chars, passages=passages, to_quote=True)

    def texts(self, *, most_chars: int, most_each: int | None, least_each: int) -> dict[str, str]:
        """All sources by id: together at most `most_chars` characters, each at most `most_each` where that is given,
        and at least `least_each`, a protected one its headline, where there is as much of it and room.

        All texts are whole where they fit. Else each gets the room of its passages that are among the best of all.
        """
        lengths = {id_: len(document.text) for id_, document in self._documents.items()}
        headlines = {
            id_: int(_HEADLINE * lengths[id_]) for id_, source in self._sources.items() if is_protected(source)
        }
        leasts = {id_: max(least_each, headlines.get(id_, 0)) for id_ in lengths}
        most = {id_: min(length, max(most_each or most_chars, leasts[id_])) for id_, length in lengths.items()}
        if sum(most.values()) <= most_chars:
            return {id_: self.text(id_, length) for id_, length in most.items()}
        least = fair_share([min(length, leasts[id_]) for id_, length in most.items()], most_chars)
        room = {id_: min(length, leasts[id_], least) for id_, length in most.items()}
        left = most_chars - sum(room.values())
        needed = dict.fromkeys(most, len(MARK))
        headed: set[tuple[str, str]] = set()
        for passage in self._passages():
            id_ = passage.source
            needed[id_] += _chars_of(passage, headed)
            more = max(0, min(needed[id_], most[id_]) - room[id_])
            if more > left:
                break
            room[id_] += more
            left -= more
        return {id_: self.text(id_, length) for id_, length in room.items()}

    def _passages(self) -> Iterator[CoveringPassage]:
        """The passages, best first, without those that repeat a better one under the same heading. Each is computed
        once."""
        yield from self._chosen
        for passage in self._next:
            text = self._documents[passage.source].text[passage.start : passage.end]
            said = passage.heading.rpartition(" > ")[2], one_line(text).casefold()
            if said in self._shown:
                continue
            self._shown.add(said)
            self._chosen.append(passage)
            yield passage


def named_in(text: str, titles: Mapping[str, str]) -> tuple[list[str], str]:
    """The ids of the `titles` that stand in a text, and the text without them."""
    named = [name for name, title in titles.items() if title and title in text]
    for name in named:
        text = text.replace(titles[name], "")
    return named, text


def _found_best(source: Source) -> list[tuple[int, int]]:
    """Where the passage stands that the source's search ranked best; empty where it named none."""
    found = source.metadata.get("passages") or ()
    return [(start, end) for start, end, _ in sorted(found, key=lambda passage: (-passage[2], passage[0]))[:1]]


def _chars_of(passage: CoveringPassage, headed: set[tuple[str, str]]) -> int:
    """The characters that a passage takes with its mark and, the first time, its heading; adds that to `headed`."""
    chars = passage.end - passage.start + len(MARK) + 1
    if passage.heading and (passage.source, passage.heading) not in headed:
        headed.add((passage.source, passage.heading))
        chars += len(passage.heading.rpartition(" > ")[2]) + len(MARK) + 1
    return chars
