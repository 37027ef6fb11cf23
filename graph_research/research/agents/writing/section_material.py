"""What the writer of a section gets: its findings with all their evidence, passages, notes, limits, conflicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from graph_research.research.agents.writing.further_passages import FurtherPassages, examples, nearest, sought
from graph_research.research.agents.writing.limiting_sentences import settling
from graph_research.research.agents.writing.notes import Note, answered_by_words, latest, latest_limits, notes_of
from graph_research.research.agents.writing.passages import (
    ENOUGH_CHARS,
    Passages,
    contained,
    shown_once,
    span_of,
)
from graph_research.research.budget.priority import weight
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.graph_functions import open_gaps
from graph_research.research.models.draft import DraftSection
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.outline import OutlineSection, SectionAction
from graph_research.research.models.source import Source, folders_apart
from graph_research.research.retrieval.reading import named_in
from graph_research.research.scoring.site import host_of
from graph_research.research.scoring.versions import older_release
from graph_research.text.document import Document
from graph_research.text.language.quantities import figures
from graph_research.text.language.versions import is_of_another_version
from graph_research.text.language.words import held_share, held_weight, language_of, term_weights
from graph_research.text.relevance.entries import Entries, names_in
from graph_research.text.relevance.open_points import asked_words
from graph_research.text.relevance.query import Query, distinct_weights, parse
from graph_research.text.relevance.ranking import Pool, Ranked, rank

_MOST_SOURCES = 120
"""So many documents beside those of the evidence are searched for further passages."""
_MOST_OF_LIMITS, _OF_A_LIMIT = 4, 1
_MOST_OF_GAPS, _OF_A_GAP = 4, 1
_OF_A_CONFLICT, _OF_A_SEARCH, _WITHOUT_PARTS = 2, 2, 4
_MOST_EXAMPLES = 4
"""Passages in which what a researcher did not find, or an open question asks for, may stand: of both so many in all,
of each limit, and of each query for a question and each thing that it names; then of each conflict, of each search of
the section, and of a section that has no parts; and the examples of a section that has a block to copy."""
_MOST_EXPLAINING_CHARS, _MOST_OF_AN_ENTRY = 4_500, 600
"""So much is shown of what explains the things that the section names, and of each of them."""
_MOST_NOTES = 8
_NEARLY_ALL = 0.8
"""Of a finding's words, by weight."""
_LEAST_OF_POINT = 1 / 3
"""A point of the checklist is shown to each section that has so much to do with it beside the one that has most."""

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SectionMaterial:
    """`rows` is what the prompt shows, `evidence` what a sentence may cite, by id, `fresh` that of it which the run
    does not have yet."""

    rows: dict[str, Any]
    evidence: Mapping[str, Evidence]
    fresh: Mapping[str, Evidence]


def sources_of_section(needs: SectionNeeds, sources: Mapping[str, Source]) -> list[Source]:
    """The sources whose texts a section is written from: those of its evidence, those of the notes that its writer
    sees, those that were found for what is open or for the sections, then the others, the best first."""
    cited = [row.source_id for row in needs.evidence]
    topics = [topic for topic in needs.handoff.get("topics") or [] if set(topic["source_ids"]) & set(cited)]
    others = sorted(
        (source for source in sources.values() if not source.metadata.get("lists_names")),
        key=lambda source: (source.id not in needs.found_since, -source.score.composite, source.id),
    )
    noted = [name for note in _nearest_notes(needs, topics) for name in note.source_ids]
    own = [name for name in dict.fromkeys([*cited, *noted]) if name in sources]
    chosen = dict.fromkeys([*own, *(source.id for source in others[:_MOST_SOURCES])])
    return [sources[name] for name in chosen]


def section_material(
    needs: SectionNeeds, sources: Mapping[str, Source], documents: Mapping[str, Document]
) -> SectionMaterial:
    """The material of the section. `documents` are those of `sources_of_section`. Where only what is new is to be added
    to the last round's section, passages and notes of earlier rounds, which it was written from, are left out."""
    handoff, section = needs.handoff, needs.section
    within = contained(needs.evidence, documents)
    own = [row for row in needs.evidence if row.id not in within]
    all_topics = handoff.get("topics") or []
    offered = latest(all_topics) if _only_adds(handoff, section) else all_topics
    before = {name for topic in all_topics if topic not in offered for name in topic["source_ids"]}
    texts = {name: document for name, document in documents.items() if name not in before}
    passages, near = _passages(needs, sources, texts)
    numbers: dict[str, int] = {}
    for row in (*own, *passages):
        numbers.setdefault(row.source_id, len(numbers) + 1)
    findings = {row["id"]: row for row in _scored(handoff, sources)}
    listed = [
        _citing({**findings[name], "is_quoted": _is_quoted(findings[name], needs.evidence)}, within)
        for name in section.finding_ids
        if name in findings
    ]
    topics = [topic for topic in offered if set(topic["source_ids"]) & numbers.keys()]
    evidence_ids = {row.id for row in own}
    shown = _rows(own, passages, numbers, sources, documents)
    titles = [source.title for source in sources.values()]
    told = answered_by_words(needs.limits, (row["quote"] for row in shown), titles)
    return SectionMaterial(
        rows={
            "findings": listed,
            "evidence": [row for row in shown if row["id"] in evidence_ids],
            "passages": [row for row in shown if row["id"] not in evidence_ids],
            "sources": _sources(sources, numbers, handoff),
            "notes": _notes(needs, topics, numbers),
            "checklist": [row["text"] for row in handoff.get("checklist") or [] if needs.is_near(row["text"])],
            "limits": [limit for limit in needs.limits if limit not in told],
            "gaps": list(needs.gaps),
            "contradictions": [
                {**row, "sides": [_citing(side, within) for side in row["sides"]], "near": near.get(row["id"], [])}
                for row in needs.conflicts
            ],
            "told_elsewhere": [row["topic"] for row in needs.told_elsewhere],
        },
        evidence={row.id: row for row in (*needs.evidence, *passages)},
        fresh={row.id: row for row in passages},
    )


def _citing(row: Row, within: Mapping[str, str]) -> dict[str, Any]:
    """The row with the longer quote in place of each that is a part of one."""
    return {**row, "evidence_ids": shown_once(row["evidence_ids"], within)}


def _is_quoted(finding: Row, evidence: Iterable[Evidence]) -> bool:
    """Whether the quotes of a finding hold nearly all of its words, so that it need not be told beside them; one that
    a source contradicts is."""
    if finding["disputed"]:
        return False
    quotes = [row.quote for row in evidence if row.id in finding["evidence_ids"]]
    return held_share(term_weights(finding["content"]), term_weights(" ".join(quotes))) >= _NEARLY_ALL


def _scored(handoff: Row, sources: Mapping[str, Source]) -> list[Row]:
    """The findings, each with its claim's confidence as the word that the report prints, its own where it has none,
    whether a source contradicts it, and the weight of its sources."""
    claims = {row["finding_id"]: row for row in handoff.get("claims") or []}
    return [
        {
            **row,
            **({"confidence": claims[row["id"]]["level"]} if row["id"] in claims else {}),
            "disputed": row["id"] in claims and claims[row["id"]]["contradiction"],
            "weight": max(
                (weight(sources[name]) for name in row.get("source_ids") or () if name in sources), default=0.0
            ),
        }
        for row in handoff["findings"]
    ]


def _evidence(handoff: Row, section: OutlineSection, conflicts: Sequence[Row]) -> list[Evidence]:
    """The evidence of the section's findings in their order, then that of the conflicts which it touches."""
    rows = {row["id"]: row for row in handoff["evidence"]}
    named = [*_named(handoff, section), *(name for conflict in conflicts for name in sorted(_ids(conflict)))]
    return [Evidence.model_validate(rows[name]) for name in dict.fromkeys(named) if name in rows]


def _named(handoff: Row, section: OutlineSection) -> list[str]:
    """The ids of the evidence of the section's findings."""
    own = set(section.finding_ids)
    return [name for row in handoff["findings"] if row["id"] in own for name in row["evidence_ids"]]


def _share_a_passage(one: Row, other: Row) -> bool:
    """Whether a quote is the other or a part of it."""
    said, too = one["quote"], other["quote"]
    return bool(one["source_id"] == other["source_id"] and (said in too or too in said))


def _tells(cited: Collection[Row], conflict: Row, rows: Mapping[str, Row]) -> bool:
    """Whether passages of two sides of a conflict are among those that are cited."""
    sides = ([rows[name] for name in side["evidence_ids"] if name in rows] for side in conflict["sides"])
    return sum(any(_share_a_passage(one, other) for one in cited for other in side) for side in sides) > 1


def _ids(conflict: Row) -> set[str]:
    return {name for side in conflict["sides"] for name in side["evidence_ids"]}


@dataclass(frozen=True)
class SectionNeeds:
    """What the writer of a handoff's `section` needs.

    That is its `evidence`; what further passages are looked for with: what it must answer, and the limits of the
    reading and the open questions that are its own, since the whole texts may hold what their shown parts did not; the
    conflicts that it tells of, and those that others do though it cites a passage of them; and the ids of the sources
    that were found for open questions or for the sections."""

    handoff: Row
    section: OutlineSection
    other_sections: Sequence[OutlineSection]
    query: Query
    others: Sequence[Query]
    evidence: Sequence[Evidence] = ()
    limits: Sequence[str] = ()
    gaps: Sequence[Row] = ()
    conflicts: Sequence[Row] = ()
    told_elsewhere: Sequence[Row] = ()
    found_since: Collection[str] = ()

    @classmethod
    def of(cls, handoff: Row) -> SectionNeeds:
        section = OutlineSection.model_validate(handoff["section"])
        outline = [OutlineSection.model_validate(row) for row in handoff.get("outline") or []]
        other_sections = [row for row in outline if row.id != section.id]
        query, *others = map(_query_of, (section, *other_sections))
        limits = latest_limits(handoff.get("topics") or [])
        gaps = open_gaps(handoff.get("gaps") or [])
        named = {name for row in outline if row.action is not SectionAction.KEEP for name in row.gap_ids}
        own = cls(handoff, section, other_sections, query, others)
        conflicts, told_elsewhere = own._conflicts()
        return replace(
            own,
            evidence=_evidence(handoff, section, conflicts),
            limits=list(filter(own.is_owned, limits)),
            gaps=[
                row
                for row in gaps
                if row["id"] in section.gap_ids or (row["id"] not in named and own.is_owned(_words_of_gap(row)))
            ],
            conflicts=conflicts,
            told_elsewhere=told_elsewhere,
            found_since={*_found_for(gaps, handoff), *(handoff.get("found_since") or ())},
        )

    @property
    def open_texts(self) -> list[str]:
        """What was not found and what is open, with the queries that were sent for it."""
        return [*self.limits, *map(_words_of_gap, self.gaps)]

    def excludes(self, item: Ranked, pool: Pool) -> bool:
        """Whether a unit tells of another version than those that the section and what is open in it name."""
        asked = " ".join([self.query.text, *self.open_texts])
        return is_of_another_version(asked, pool.documents[item.source].title, item.unit.heading)

    def _conflicts(self) -> tuple[list[Row], list[Row]]:
        """The conflicts that the section tells, each of which one section tells, and those of which it cites a passage
        and another one tells. A conflict belongs to the section that the outline names for it, else to the one that
        has most to do with it, of those that cite a passage of its sides, else of all that are written. One that a
        kept section tells already is told there."""
        rows = {row["id"]: row for row in self.handoff["evidence"]}
        place = {row["id"]: n for n, row in enumerate(self.handoff.get("outline") or [])}
        sections = [self.section, *self.other_sections]
        written = [n for n, section in enumerate(sections) if not n or section.action is not SectionAction.KEEP]
        cited = {n: [rows[name] for name in _named(self.handoff, sections[n]) if name in rows] for n in written}
        kept = [[rows[name] for name in names if name in rows] for names in self._cited_in_kept()]
        own, others = [], []
        for conflict in self.handoff.get("contradictions") or []:
            sides = [rows[name] for name in _ids(conflict) if name in rows]
            citing = [n for n in written if any(_share_a_passage(one, side) for one in cited[n] for side in sides)]
            values = (side["value"] for side in conflict["sides"])
            shares = self.shares(". ".join([conflict["topic"], *values]))
            named = [n for n in written if conflict["id"] in sections[n].contradiction_ids]
            near = named or citing or [n for n in written if shares[n] > 0.0]
            best = max(near, key=lambda n: (shares[n], -place.get(sections[n].id, 0)), default=None)
            is_told = not named and any(_tells(cited, conflict, rows) for cited in kept)
            if best == 0 and not is_told:
                own.append(conflict)
            elif 0 in citing:
                others.append(conflict)
        return own, others

    def _cited_in_kept(self) -> list[set[str]]:
        """The ids of the evidence that each section cites that stays as it is."""
        kept = {row.id for row in self.other_sections if row.action is SectionAction.KEEP}
        drafted = map(DraftSection.model_validate, (self.handoff.get("draft") or {}).get("sections") or [])
        return [{name for row in part.statements() for name in row.evidence_ids} for part in drafted if part.id in kept]

    def is_owned(self, text: str) -> bool:
        """Whether the text shares words with the section, and no larger share of the words of another one."""
        own, *others = self.shares(text)
        return own > 0.0 and own >= max(others, default=0.0)

    def is_near(self, point: str) -> bool:
        """Whether a point of the checklist may be for the section to meet."""
        shares = self.shares(point)
        return shares[0] >= _LEAST_OF_POINT * max(shares)

    def shares(self, text: str) -> list[float]:
        """What the text has to do with the section, then with each of the others."""
        held = set(term_weights(text))
        sections = distinct_weights((self.query, *self.others), language_of(text))
        return [held_weight(weights, held) for weights in sections]


def _found_for(gaps: Sequence[Row], handoff: Row) -> set[str]:
    """The ids of the sources that only searches for these gaps found."""
    queries = {query for gap in gaps for query in gap.get("suggested_queries") or ()}
    others = [topic for topic in handoff.get("topics") or [] if queries.isdisjoint(topic.get("queries") or ())]
    read = {name for topic in others for name in topic["source_ids"]}
    return {row["id"] for row in handoff.get("sources") or ()} - read if read else set()


def _words_of_gap(gap: Row) -> str:
    return " ".join([gap["description"], *(gap.get("suggested_queries") or ())])


def _query_of(section: OutlineSection) -> Query:
    return parse(". ".join([section.heading, section.answers, *section.parts, *section.terms]))


def _passages(
    needs: SectionNeeds, sources: Mapping[str, Source], documents: Mapping[str, Document]
) -> tuple[list[Evidence], dict[str, list[str]]]:
    """Further stretches of the sources, none of them among the section's evidence: those that explain what it names,
    those nearest to a contradiction that is open, for a block to copy one example for each search and part of the
    section, those that its own searches are about, those that bear on each of
    its parts, which may say no more than how the section is laid out, or where it has none those that bear on what it
    must answer and not more on another section, those nearest to what the researchers did not find, and to what is
    open. Also the ids of those near each contradiction, by its id."""
    finder = QuoteFinder(needs.query.text, sources, documents)
    spans = ((row.source_id, span_of(row, documents)) for row in needs.evidence)
    further = FurtherPassages(((name, *span) for name, span in spans if span is not None), finder)
    explained = _add_definitions(further, needs)
    pool = Pool(documents)
    near = {row["id"]: further.add_first(settling(pool, row), _OF_A_CONFLICT) for row in needs.conflicts}

    def add(ranking: Iterable[Ranked], most: int) -> None:
        further.add_first((item for item in ranking if not needs.excludes(item, pool)), most)

    most = len(further.chosen) + _MOST_EXAMPLES
    for text in (*needs.section.searches, *needs.section.parts) if needs.section.has_block else ():
        add(examples(pool, parse(text)), min(1, most - len(further.chosen)))
    for query in needs.section.searches:
        add(nearest(pool, parse(query)), _OF_A_SEARCH)
    parts = needs.section.terms or ([] if needs.section.searches else needs.section.parts)
    for part in parts:
        add(nearest(pool, parse(part), must_bear=True, context=needs.query.text), 1)
    if not (parts or needs.section.searches):
        add((item for item in rank(pool, needs.query) if needs.is_owned(item.unit.text)), _WITHOUT_PARTS)
    most = len(further.chosen) + _MOST_OF_LIMITS
    for limit in needs.limits:
        add(_near_limit(limit, pool, sources, explained), min(_OF_A_LIMIT, most - len(further.chosen)))
    for gap in needs.gaps:
        add(_near_gap(gap, pool, explained), max(1, _MOST_OF_GAPS // len(needs.gaps)))
    return list(further.chosen.values()), near


def _add_definitions(further: FurtherPassages, needs: SectionNeeds) -> set[str]:
    """Add what explains the settings, options, functions and modes that the section and what is open in it name, and
    the question does not, each with what it says on the section; gives their names."""
    section = needs.section
    told = [section.answers, section.form, *section.parts, *needs.open_texts]
    besides = names_in(needs.handoff.get("question") or "")
    named = list(Entries(further.documents).named("\n".join(told), besides))
    for entry in named:
        further.add_entry(entry, needs.query, min(_MOST_OF_AN_ENTRY, _MOST_EXPLAINING_CHARS // len(named)))
    return {entry.name for entry in named}


def _near_limit(limit: str, pool: Pool, sources: Mapping[str, Source], explained: set[str]) -> Iterator[Ranked]:
    """What stands nearest to each thing that a limit names and that is not `explained`: in the sources that it names,
    then what bears on it in all. Of a limit in another language than the texts they share only names, near which
    anything may stand: nothing."""
    names, limit = named_in(limit, {name: sources[name].title for name in pool.documents})
    lacking = sought(limit)
    things = lacking.things if lacking.language in pool.languages else ()
    asking = (query for query in things if asked_words(query.own, query.language))
    queries = [query for query in asking if explained.isdisjoint(names_in(query.text))]
    named = Pool({name: pool.documents[name] for name in names})
    for query in queries if named.documents else ():
        yield from rank(named, query)[:1]
    for query in queries:
        yield from islice(nearest(pool, query, must_bear=True), _OF_A_LIMIT)


def _near_gap(gap: Row, pool: Pool, explained: set[str]) -> Iterator[Ranked]:
    """What stands nearest to the queries that were sent for an open question, then to each thing that it names, where
    it is in the language of the texts, if they name nothing that is `explained`."""
    queries = map(parse, gap.get("suggested_queries") or ())
    asked = sought(gap["description"])
    things = asked.things if asked.language in pool.languages else ()
    for query in (*queries, *things):
        if explained.isdisjoint(names_in(query.text)):
            yield from islice(nearest(pool, query), _OF_A_GAP)


def _rows(
    evidence: Sequence[Evidence],
    passages: Sequence[Evidence],
    numbers: Mapping[str, int],
    sources: Mapping[str, Source],
    documents: Mapping[str, Document],
) -> list[dict[str, Any]]:
    """`{id, quote, text, source, heading, weight}` of each; `text` has the quote between ⟦ and ⟧, that of evidence in
    the text around it. Passages are whole stretches and need none."""
    by_id = {row.id: row for row in (*passages, *evidence)}
    texts = Passages((row.to_json() for row in by_id.values()), sources, documents)
    shown = [
        *texts.rows((row.id for row in evidence), enough_chars=ENOUGH_CHARS),
        *texts.rows((row.id for row in passages), 0),
    ]
    return [
        {
            "id": row["id"],
            "quote": by_id[row["id"]].quote,
            "text": row["text"],
            "source": numbers[row["source_id"]],
            "heading": row["heading"],
            "weight": weight(sources[row["source_id"]]),
        }
        for row in shown
    ]


def _only_adds(handoff: Row, section: OutlineSection) -> bool:
    """Whether a section of the last round gets what is new, and nobody said what else it should do better."""
    return section.action is SectionAction.REVISE and not (
        handoff.get("report_improvements") or handoff.get("guidance")
    )


def _sources(sources: Mapping[str, Source], numbers: Mapping[str, int], handoff: Row) -> list[dict[str, Any]]:
    shown = {n: sources[name] for name, n in numbers.items() if name in sources}
    folders = folders_apart(shown.values())
    return [
        {
            "n": n,
            "id": source.id,
            "title": source.title,
            "url": source.url if host_of(source.url) else folders.get(source.id, ""),
            "publisher": source.publisher or "",
            "published_on": source.published_on,
            "older_release": older_release(handoff.get("question") or "", source, handoff.get("versions") or ()),
        }
        for n, source in shown.items()
    ]


def _notes(needs: SectionNeeds, topics: Iterable[Row], numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """The nearest notes, each with the numbers of its sources in this prompt, the ids of those that have none."""
    return [
        {
            "text": note.text,
            "sources": [f"source {numbers[name]}" if name in numbers else name for name in note.source_ids],
        }
        for note in _nearest_notes(needs, topics)
    ]


def _nearest_notes(needs: SectionNeeds, topics: Iterable[Row]) -> list[Note]:
    """Statements of the researchers' notes that have most to do with the section, and no more with another one, in
    their order; not what the header of the report prints of versions, with which the notes of a topic begin."""
    given, printed = list(topics), needs.handoff.get("versions") or ()
    firsts = {note for topic in given for note in notes_of([topic])[:1] if _tells_versions(note.text, printed)}
    notes = [
        (note, needs.shares(note.text)[0])
        for note in notes_of(given)
        if note not in firsts and needs.is_owned(note.text)
    ]
    least = sorted((share for _, share in notes), reverse=True)[:_MOST_NOTES]
    return [note for note, share in notes if share >= least[-1]]


def _tells_versions(text: str, printed: Iterable[str]) -> bool:
    """Whether a text has numbers, each of a date or the beginning of a version that the header prints."""
    versions = [f"{named.rpartition(' ')[2]}." for named in printed]
    found = figures(text)
    others = [one for one in found if not any(day.date and day.start <= one.start < day.end for day in found)]
    return bool(others) and all(
        any(version.startswith(f"{text[one.start : one.end]}.") for version in versions) for one in others
    )
