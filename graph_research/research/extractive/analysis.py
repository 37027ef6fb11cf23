"""Analysis of a handoff: ranked quotations, those that say the same together, unanswered parts, conflicts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import takewhile, zip_longest
from typing import Any

from graph_research.research.extractive.sources import (
    EMBEDDER,
    SourceFacts,
    as_asked,
    options_of,
    outdated_rows,
    question_of,
    read_sources,
)
from graph_research.research.scoring.origin import independent
from graph_research.text.document import Block, Document, announces
from graph_research.text.language.names import names_alone
from graph_research.text.language.words import held_share, language_of, terms, written_in
from graph_research.text.relevance.alike import numbers_in, states
from graph_research.text.relevance.answerability import FOUND, absent_words, features
from graph_research.text.relevance.conflicts import Conflict, find_contradictions
from graph_research.text.relevance.embedding import Embedder
from graph_research.text.relevance.query import Query, parse
from graph_research.text.relevance.ranking import OLD_VERSION, Pool, Ranked, rank
from graph_research.text.relevance.statements import SourceSentence
from graph_research.text.relevance.units import MOST_CHARS, Unit, UnitKind, asks

MOST_ROWS = 12
"""A table of no more is quoted whole."""
_WORDS_OF_A_QUOTE = 20
_NEAR_THE_BEST = 0.4
_MOST_OF_IT = 0.5
_MOST_OPENINGS = 4
_ALL_THAT_IS_SAID = 0.95  # of the weight of a part's words; the rest are words such as "did"
_MOST_COMPARED = 1_500
_ABOUT = 0.5
_NEEDED_BEFORE = 0.15
_MOST_KEPT = 4  # the steps of a round analyse the same documents for the same question
_WORD = re.compile(r"[^\W_]+")

_Place = tuple[str, int]
"""Source and position of a unit."""
_OlderRows = Mapping[str, Collection[int]]
"""By source, where the rows of tables start that a newer table of the same document has."""


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A unit of a source, or a sentence with the one before it where that holds what the question names.

    `shares` are its scores for each part of the question, as parts of the best unit's, and `part` is the number of the
    one that it belongs to. `table` is where the table of a row starts, else -1. `completes_table` marks a row that is
    quoted only since another row of its table is, `earlier` what a mail quotes of an earlier one.
    """

    source_id: str
    start: int
    end: int
    text: str
    heading: str
    title: str
    shares: tuple[float, ...] = (0.0,)
    part: int = 0
    kind: UnitKind = "sentence"
    header: str = ""
    table: int = -1
    completes_table: bool = False
    extreme: bool = False
    earlier: bool = False

    @property
    def score(self) -> float:
        return max(self.shares)


@dataclass(frozen=True, kw_only=True)
class Group:
    """`lead` is quoted; `others` say the same elsewhere, one a source."""

    lead: Quote
    others: tuple[Quote, ...] = ()

    @property
    def quotes(self) -> tuple[Quote, ...]:
        return (self.lead, *self.others)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One thing that the question asks: how likely the sources answer it, its words that none of them has, whether a
    table has the row with the largest or smallest value that is asked for, and whether a quotation has all that
    it says, beside others that answer the rest of the question: few common words never say enough by themselves."""

    query: Query
    score: float
    absent: tuple[str, ...]
    extreme: bool = False
    quoted: bool = False

    @property
    def found(self) -> bool:
        return self.extreme or self.quoted or self.score >= FOUND


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """Everything that the analyzer, the writer of the report and the steps of a user's own graph share.

    `groups` are best first, as many as a report of the asked length can hold; where the question is not answered they
    are the passages nearest to it.
    `sentences` are what `conflicts` are looked for in: the best ranked units of passages about the question, but lines
    of code, which have values of examples.
    """

    query: Query
    sources: Mapping[str, SourceFacts]
    parts: Sequence[Part]
    groups: Sequence[Group]
    sentences: Sequence[SourceSentence] = ()

    @cached_property
    def conflicts(self) -> Sequence[Conflict]:
        """Where the sources disagree, other than versions of one page, translated or newer. Not every reader of an
        analysis asks for them, and to find them takes long."""
        return [row for row in find_contradictions(self.sentences) if len(self._pages(row)) > 1]

    def _pages(self, conflict: Conflict) -> set[str]:
        return {self.sources[one.source_id].page for side in conflict.sides for one in side.evidence}

    @property
    def found(self) -> bool:
        return any(part.found for part in self.parts)


def analyze(material: Mapping[str, Any], question: str = "") -> Analysis:
    """Ranks what the handoff's documents say to its question, or to `question`; flagged sources are left out."""
    sources = read_sources(material)
    documents = material.get("documents") or {}
    allowed = {key: documents[key] for key, facts in sources.items() if key in documents and not facts.flagged}
    most = options_of(material).words[1] // _WORDS_OF_A_QUOTE
    asked = question or question_of(material)
    return _analysed(asked, tuple(sources.values()), tuple(allowed.items()), material.get(EMBEDDER), most)


@lru_cache(maxsize=_MOST_KEPT)
def _analysed(
    question: str,
    facts: tuple[SourceFacts, ...],
    documents: tuple[tuple[str, Document], ...],
    embedder: Embedder | None,
    most: int,
) -> Analysis:
    query = parse(question)
    sources = as_asked({one.id: one for one in facts}, question)
    allowed = {key: _titled(document, sources[key].file) for key, document in documents}
    pool = Pool(allowed, embedder)
    of_all = rank(pool, query)
    parts = [_part(pool, part, of_all if len(query.parts) == 1 else None) for part in query.parts]
    older = {key: outdated_rows(document, question) for key, document in allowed.items()}
    whole = _weighed(of_all, sources, pool, older)
    ranked = [_weighed(rank(pool, part.query), sources, pool, older) if len(parts) > 1 else whole for part in parts]
    compared = [item for item in _about(whole, parts, pool) if item.unit.kind != "line"]
    near = [_near(items, part.query, pool)[: 2 * most] for items, part in zip(ranked, parts, strict=True)]
    candidates = _in_turn(near, parts, pool, older) or _openings(pool)
    groups = _with_whole_tables(grouped(candidates, sources)[:most], allowed, query)
    beside = any(part.found for part in parts)
    parts = [
        replace(part, quoted=(beside or part.query.is_specific) and _is_quoted(number, part.query, groups))
        for number, part in enumerate(parts)
    ]
    return Analysis(
        query=query,
        sources=sources,
        parts=parts,
        groups=groups,
        sentences=[
            SourceSentence.at(
                item.source, allowed[item.source], item.unit.start, item.unit.end, sources[item.source].subject
            )
            for item in compared[:_MOST_COMPARED]
        ],
    )


def _titled(document: Document, file: str) -> Document:
    """The document; where it has no title, as a table, with the words of its file's name as one."""
    return document if document.title or not file else replace(document, title=" ".join(_WORD.findall(file)))


def _part(pool: Pool, query: Query, ranked: Sequence[Ranked] | None) -> Part:
    extreme = any(pool.extremes(query).values())
    score = features(pool, query, ranked).score
    return Part(query=query, score=score, absent=absent_words(pool, query), extreme=extreme)


def _is_quoted(number: int, query: Query, groups: Iterable[Group]) -> bool:
    """Whether a quotation for a part has all that it says, with what stands above the quotation, and tells an amount of
    money where that is asked for."""
    return any(
        held_share(
            query.weights_beside_value(language := language_of(lead.text)),
            named := {*terms(f"{lead.title} {lead.heading} {lead.header} {lead.text}", language)},
        )
        >= _ALL_THAT_IS_SAID
        and (query.asked_kind != "money" or query.holds_asked_kind(lead.text, named, language))
        for lead in (group.lead for group in groups)
        if lead.part == number
    )


def confidence(source_ids: Iterable[str], sources: Mapping[str, SourceFacts], *, disputed: bool) -> str:
    """Confidence by independent origins: high needs two authoritative ones, one origin is never high.

    What an authoritative source disputes is at most medium.
    """
    facts = [sources[source_id] for source_id in source_ids if source_id in sources]
    behind = independent(fact.origin for fact in facts)
    authoritative = independent(fact.origin for fact in facts if fact.authoritative)
    if authoritative > 1 and not disputed:
        return "high"
    return "medium" if behind > 1 or authoritative else "low"


def _in_turn(ranked: Sequence[Sequence[Ranked]], parts: Sequence[Part], pool: Pool, older: _OlderRows) -> list[Quote]:
    """The best of each part, then the second of each, so that no part crowds out another. A unit belongs to one
    quotation, and to the part for which it ranks highest."""
    scores = [{_place(item): round(item.score / items[0].score, 4) for item in items} for items in ranked]
    taken: set[_Place] = set()
    quotes = []
    for items in zip_longest(*ranked):
        for number, item in enumerate(items):
            if item is None or _place(item) in taken:
                continue
            shares = tuple(share.get(_place(item), 0.0) for share in scores)
            if shares.index(max(shares)) == number:
                first, last = _first_position(item, parts[number].query, pool, taken), _last_position(item, pool)
                taken |= {(item.source, position) for position in range(first, last + 1)}
                quote = _quote(pool, item.source, first, last, shares)
                earlier = _is_earlier(item, pool, older)
                quotes.append(replace(quote, part=number, extreme=item.extreme, earlier=earlier))
    return quotes


def _weighed(
    items: Sequence[Ranked], sources: Mapping[str, SourceFacts], pool: Pool, older: _OlderRows
) -> list[Ranked]:
    """The units by what they are worth to a reader: those of superseded sources, and of earlier mails in a mail, less
    and never more than the best of what is newer."""
    best: dict[str, float] = {}
    for item in items:
        if not _is_earlier(item, pool, older):
            best.setdefault(item.source, item.score)

    def weighed(item: Ranked) -> Ranked:
        newer = item.source if _is_earlier(item, pool, older) else sources[item.source].newer
        if newer is None:
            return item
        return replace(item, score=OLD_VERSION * min(item.score, best.get(newer, item.score)))

    return sorted(map(weighed, items), key=lambda item: -item.score)


def _is_earlier(item: Ranked, pool: Pool, older: _OlderRows) -> bool:
    """Whether a unit stands in an earlier mail that a mail quotes, or in a table of which there is a newer one beside
    it."""
    return item.unit.start in older[item.source] or any(block.is_earlier for block in _block_of(item, pool))


def _block_of(item: Ranked, pool: Pool) -> tuple[Block, ...]:
    """The block that a unit stands in, if the text has blocks."""
    return pool.documents[item.source].blocks[item.unit.block : item.unit.block + 1]


def _near(items: Sequence[Ranked], query: Query, pool: Pool) -> list[Ranked]:
    """What may be quoted for a part: of the units whose passage has a word of the part itself, those that score so much
    of the best, since others are mostly about something else; but no line of names that the part does not name."""
    own = query.own_terms
    about = [item for item in items if not own.isdisjoint(pool.passage_of(item))] or items
    least = _NEAR_THE_BEST * about[0].score if about else 0.0
    return [item for item in about if item.score >= least and not (item.covered == 0.0 and _is_names_alone(item, pool))]


def _is_names_alone(item: Ranked, pool: Pool) -> bool:
    return [block.kind for block in _block_of(item, pool)] == ["paragraph"] and names_alone(item.unit.text)


def _about(items: Sequence[Ranked], parts: Sequence[Part], pool: Pool) -> list[Ranked]:
    """The units whose passage holds, by weight, half as much of a part of the question as any one does. Sources that
    differ over the rest of their subject contradict each other in nothing that was asked."""
    weights = [{language: pool.term_weights(part.query, language) for language in pool.languages} for part in parts]
    held = [[_held(item, of_part, pool) for item in items] for of_part in weights]
    least = [_ABOUT * max(shares, default=0.0) for shares in held]
    return [
        item
        for item, *shares in zip(items, *held, strict=True)
        if any(share >= enough for share, enough in zip(shares, least, strict=True))
    ]


def _held(item: Ranked, weights: Mapping[str, Mapping[str, float]], pool: Pool) -> float:
    own = weights[pool.read[item.source].language]
    return held_share(own, pool.passage_of(item))


def _openings(pool: Pool) -> list[Quote]:
    """The first unit of each source, for a question that shares no word with any."""
    sources = [source for source, doc in pool.read.items() if doc.units]
    return [_quote(pool, source, 0, 0) for source in sources[:_MOST_OPENINGS]]


def _place(item: Ranked) -> _Place:
    return item.source, item.position


def _first_position(item: Ranked, query: Query, pool: Pool, taken: Collection[_Place]) -> int:
    """The position of the sentence before the unit where that has words of the query that the unit lacks, is not quoted
    yet, and no mark of a note stands between them; else the unit's own."""
    doc, unit, earlier = pool.read[item.source], item.unit, item.position - 1
    if earlier < 0 or (item.source, earlier) in taken:
        return item.position
    before, weights = doc.units[earlier], query.weights(doc.language)
    gain = sum(w for term, w in weights.items() if doc.counts[earlier][term] and not doc.counts[item.position][term])
    fits = (
        before.block == unit.block and unit.kind == before.kind == "sentence" and unit.end - before.start <= MOST_CHARS
    )
    fits = fits and not pool.documents[item.source].text[before.end : unit.start].strip()
    return earlier if fits and gain >= _NEEDED_BEFORE * sum(weights.values()) else item.position


def _last_position(item: Ranked, pool: Pool) -> int:
    """The position of the unit behind a question, which answers it, or of the last one behind a colon, which says what
    the sentence leads to: the whole list, or the next unit, if it fits; else the unit's own."""
    doc, last = pool.read[item.source], item.position
    units = doc.units
    blocks = pool.documents[item.source].blocks
    behind = [unit for unit in units[last + 1 : last + 1 + MOST_ROWS] if unit.heading == item.unit.heading]
    if behind and asks(item.unit.text):
        last += 1
        behind.pop(0)
    if behind and blocks and announces(units[last].text):
        listed = takewhile(lambda unit: _goes_on(unit, behind[0], blocks), behind)
        end = last + max(1, len(list(listed)))
        last = end if units[end].end - item.unit.start <= MOST_CHARS else last
    return last


def _goes_on(unit: Unit, first: Unit, blocks: Sequence[Block]) -> bool:
    """Whether a unit is of the list, or a line of the block of code, that begins with `first`."""
    if first.kind == "line":
        return unit.block == first.block
    return unit.kind == "definition" or blocks[unit.block].kind == "item"


def _quote(pool: Pool, source: str, first: int, last: int, shares: tuple[float, ...] = (0.0,)) -> Quote:
    units, document = pool.read[source].units, pool.documents[source]
    start, end = units[first].start, units[last].end
    return Quote(
        source_id=source,
        start=start,
        end=end,
        text=document.text[start:end],
        heading=units[last].heading,
        header=units[last].header,
        title=document.title,
        shares=shares,
        kind="sentence" if units[last].kind == "line" and units[first].kind != "line" else units[last].kind,
    )


def grouped(quotes: Sequence[Quote], sources: Mapping[str, SourceFacts]) -> list[Group]:
    """Quotations that say the same brought together, in the order of the best of each; the best tier leads. What says
    less than a better one says is left out."""
    growing: list[list[Quote]] = []
    of_numbers: dict[tuple[str, ...], list[list[Quote]]] = defaultdict(list)  # what says the same has the same numbers
    for quote in quotes:
        near = of_numbers[numbers_in(quote.text)]
        home = next((members for members in near if _repeats(quote, members[0])), None)
        if home is None:
            near.append(members := [quote])
            growing.append(members)
        elif states(quote.text, home[0].text):
            home.append(quote)
    return [_group(members, sources) for members in growing]


def _group(members: Sequence[Quote], sources: Mapping[str, SourceFacts]) -> Group:
    lead, *rest = sorted(members, key=lambda quote: (sources[quote.source_id].tier_rank, -quote.score))
    others = {quote.source_id: quote for quote in reversed(rest) if quote.source_id != lead.source_id}
    return Group(lead=lead, others=tuple(reversed(others.values())))


def _repeats(quote: Quote, better: Quote) -> bool:
    """Whether a better quotation says what this one says, or this one says it with little more."""
    return states(better.text, quote.text) or (
        states(quote.text, better.text) and states(better.text, quote.text, least=_MOST_OF_IT)
    )


def _with_whole_tables(groups: Sequence[Group], documents: Mapping[str, Document], query: Query) -> list[Group]:
    """The groups; of a small table of which one row is quoted every row is, and of no table the header alone. Where the
    question names columns and no row of such a table, nor asks for one by its value, its rows are worth what their
    header is."""
    ranked = {(group.lead.source_id, group.lead.start): group for group in groups}
    found: dict[tuple[str, int], Group] = {}
    for group in groups:
        source, document = group.lead.source_id, documents[group.lead.source_id]
        header, *rows = document.table_at(group.lead.start) or (-1,)
        lead, rows = replace(group.lead, table=header), rows if len(rows) <= MOST_ROWS else []
        is_header = document.names_columns(lead.start)
        texts = {start: " ".join(filter(None, document.rows[start])) for start in rows}
        known = [own for start in rows if (own := ranked.get((source, start)))]
        picked = any(own.lead.extreme for own in known)
        named = (not query.own_terms.isdisjoint(_own_words(text, query.language)) for text in texts.values())
        answers = is_header and not picked and not any(named)
        if not is_header:
            found.setdefault((source, lead.start), replace(group, lead=lead))
        for start, text in texts.items():
            row = replace(
                lead, start=start, end=start + len(text), text=text, completes_table=not answers, extreme=False
            )
            own = None if answers else ranked.get((source, start))
            found.setdefault(
                (source, start), replace(own, lead=replace(own.lead, table=header)) if own else Group(lead=row)
            )
    return list(found.values())


def _own_words(text: str, asked: str) -> list[str]:
    return terms(text, written_in(text, asked))
