"""What the writer of a section gets: its findings with all their evidence, passages, notes, limits, conflicts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_research.research.agents.writing.further_passages import FurtherPassages
from graph_research.research.agents.writing.passages import Passages
from graph_research.research.budget.priority import weight
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.outline import OutlineSection, SectionAction
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.language.words import language_of, term_weights
from graph_research.text.relevance.query import Query, parse
from graph_research.text.relevance.ranking import Pool, rank

_MOST_SOURCES = 30
"""So many documents beside those of the evidence are searched for further passages."""
_MOST_PASSAGES = 16
_MOST_OF_LIMITS, _OF_A_LIMIT = 8, 2
"""Passages in which what a researcher did not find may stand, in all and for each limit."""
_MOST_OF_A_SOURCE = 4
_MOST_NOTES = 20
_NOTE = re.compile(r"^- (.+?)\s*((?:\[\d+\])+)$", re.MULTILINE)
_SOURCE = re.compile(r"^\[(\d+)\] (src-[0-9a-f]{10})\b", re.MULTILINE)

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SectionMaterial:
    """`rows` is what the prompt shows, `evidence` what a sentence may cite, by id, `fresh` that of it which the run
    does not have yet."""

    rows: dict[str, Any]
    evidence: Mapping[str, Evidence]
    fresh: Mapping[str, Evidence]


def sources_of_section(handoff: Row, sources: Mapping[str, Source]) -> list[Source]:
    """The sources whose texts a section is written from: those of its evidence, those of the notes that its writer
    sees, then the others that its topics read, the best first."""
    section = OutlineSection.model_validate(handoff["section"])
    cited = [row.source_id for row in _evidence(handoff, section)]
    topics = [topic for topic in handoff.get("topics") or [] if set(topic["source_ids"]) & set(cited)]
    near = {name for topic in topics for name in topic["source_ids"]}
    others = sorted(
        (source for source in sources.values() if source.id in near or not near),
        key=lambda source: (-source.score.composite, source.id),
    )
    noted = [name for note in _nearest_notes(section, topics) for name in note["source_ids"]]
    own = [name for name in dict.fromkeys([*cited, *noted]) if name in sources]
    chosen = dict.fromkeys([*own, *(source.id for source in others[:_MOST_SOURCES])])
    return [sources[name] for name in chosen]


def section_material(handoff: Row, sources: Mapping[str, Source], documents: Mapping[str, Document]) -> SectionMaterial:
    """The material of the handoff's `section`. `documents` are those of `sources_of_section`. Where only what is new is
    to be added to the last round's section, passages and notes of earlier rounds, which it was written from, are left
    out."""
    section = OutlineSection.model_validate(handoff["section"])
    own = _evidence(handoff, section)
    all_topics = handoff.get("topics") or []
    offered = _latest(all_topics) if _only_adds(handoff, section) else all_topics
    before = {name for topic in all_topics if topic not in offered for name in topic["source_ids"]}
    texts = {name: document for name, document in documents.items() if name not in before}
    wanted = _Wanted.of(handoff, section)
    passages = _passages(wanted, own, sources, texts)
    numbers: dict[str, int] = {}
    for row in (*own, *passages):
        numbers.setdefault(row.source_id, len(numbers) + 1)
    findings = {row["id"]: row for row in _scored(handoff, sources)}
    topics = [topic for topic in offered if set(topic["source_ids"]) & numbers.keys()]
    evidence_ids = {row.id for row in own}
    shown = _rows(own, passages, numbers, sources, documents)
    return SectionMaterial(
        rows={
            "findings": [findings[name] for name in section.finding_ids if name in findings],
            "evidence": [row for row in shown if row["id"] in evidence_ids],
            "passages": [row for row in shown if row["id"] not in evidence_ids],
            "sources": [_source(sources[name], n) for name, n in numbers.items() if name in sources],
            "notes": _notes(section, topics, numbers),
            "limits": list(wanted.limits),
            "contradictions": [row for row in handoff.get("contradictions") or [] if _ids(row) & evidence_ids],
        },
        evidence={row.id: row for row in (*own, *passages)},
        fresh={row.id: row for row in passages},
    )


def _scored(handoff: Row, sources: Mapping[str, Source]) -> list[Row]:
    """The findings, each with its claim's confidence in percent, None where it is not scored, whether a source
    contradicts it, and the weight of its sources."""
    claims = {row["finding_id"]: row for row in handoff.get("claims") or []}
    return [
        {
            **row,
            "percent": round(100 * claims[row["id"]]["confidence"]) if row["id"] in claims else None,
            "disputed": row["id"] in claims and claims[row["id"]]["contradiction"],
            "weight": max(
                (weight(sources[name]) for name in row.get("source_ids") or () if name in sources), default=0.0
            ),
        }
        for row in handoff["findings"]
    ]


def _evidence(handoff: Row, section: OutlineSection) -> list[Evidence]:
    """The evidence of the section's findings in their order, then that of the conflicts which it touches."""
    rows = {row["id"]: row for row in handoff["evidence"]}
    wanted = set(section.finding_ids)
    named = [name for row in handoff["findings"] if row["id"] in wanted for name in row["evidence_ids"]]
    for conflict in handoff.get("contradictions") or []:
        if _ids(conflict) & set(named):
            named += sorted(_ids(conflict))
    return [Evidence.model_validate(rows[name]) for name in dict.fromkeys(named) if name in rows]


def _ids(conflict: Row) -> set[str]:
    return {name for side in conflict["sides"] for name in side["evidence_ids"]}


@dataclass(frozen=True)
class _Wanted:
    """What further passages of a section are looked for with: what it must answer, and the limits of the reading that
    have more to do with it than with another section, since the whole texts may hold what their shown parts did not."""

    query: Query
    others: Sequence[Query]
    limits: Sequence[str]

    @classmethod
    def of(cls, handoff: Row, section: OutlineSection) -> _Wanted:
        outline = [OutlineSection.model_validate(row) for row in handoff.get("outline") or []]
        query, *others = (_query_of(row) for row in (section, *(row for row in outline if row.id != section.id)))
        limits = latest_limits(handoff.get("topics") or [])
        own = cls(query, others, ())
        return replace(own, limits=[limit for limit in limits if own.is_owned(limit)])

    def is_owned(self, text: str) -> bool:
        """Whether the text shares words with the section, and no larger share of the words of another one."""
        language, held = language_of(text), set(term_weights(text))
        shares = [_share(query, language, held) for query in (self.query, *self.others)]
        return shares[0] > 0.0 and shares[0] == max(shares)


def _query_of(section: OutlineSection) -> Query:
    return parse(f"{section.heading}. {section.answers}")


def _share(query: Query, language: str, terms: Collection[str]) -> float:
    weights = query.weights(language)
    return sum(weight for term, weight in weights.items() if term in terms) / (sum(weights.values()) or 1.0)


def _passages(
    wanted: _Wanted, own: Sequence[Evidence], sources: Mapping[str, Source], documents: Mapping[str, Document]
) -> list[Evidence]:
    """Further stretches of the sources that bear on what the section must answer, none of them among its evidence nor
    nearer to another section; then those nearest to what the researchers did not find."""
    finder = QuoteFinder(wanted.query.text, sources, documents)
    further = FurtherPassages(((row.source_id, row.quote) for row in own), finder)
    pool = Pool(documents)
    for item in rank(pool, wanted.query):
        if len(further.chosen) == _MOST_PASSAGES:
            break
        if further.of_source.get(item.source, 0) < _MOST_OF_A_SOURCE and wanted.is_owned(item.unit.text):
            further.add(item)
    most = len(further.chosen) + _MOST_OF_LIMITS
    for limit in wanted.limits:
        found = len(further.chosen)
        named = {name for name in documents if sources[name].title and sources[name].title in limit}
        ranked = rank(pool, parse(limit))
        for item in (*(item for item in ranked if item.source in named), *ranked):
            if len(further.chosen) >= min(most, found + _OF_A_LIMIT):
                break
            further.add(item)
    return list(further.chosen.values())


def _rows(
    evidence: Sequence[Evidence],
    passages: Sequence[Evidence],
    numbers: Mapping[str, int],
    sources: Mapping[str, Source],
    documents: Mapping[str, Document],
) -> list[dict[str, Any]]:
    """`{id, quote, text, source, weight}` of each; `text` has the quote between ⟦ and ⟧, that of evidence in the text
    around it. Passages are whole stretches and need none."""
    by_id = {row.id: row for row in (*passages, *evidence)}
    texts = Passages((row.to_json() for row in by_id.values()), sources, documents)
    shown = [*texts.rows(row.id for row in evidence), *texts.rows((row.id for row in passages), 0)]
    return [
        {
            "id": row["id"],
            "quote": by_id[row["id"]].quote,
            "text": row["text"],
            "source": numbers[row["source_id"]],
            "weight": weight(sources[row["source_id"]]),
        }
        for row in shown
    ]


def latest_limits(topics: Sequence[Row]) -> list[str]:
    """What the reading of the latest round lacked: what earlier ones lacked was searched for since."""
    return list(dict.fromkeys(limit for topic in _latest(topics) for limit in topic.get("limits") or []))


def _only_adds(handoff: Row, section: OutlineSection) -> bool:
    """Whether a section of the last round gets what is new, and nobody said what else it should do better."""
    return section.action is SectionAction.REVISE and not (
        handoff.get("report_improvements") or handoff.get("guidance")
    )


def _latest(topics: Sequence[Row]) -> list[Row]:
    """The topics of the latest round."""
    rounds = [int(topic["sub_query_id"].split("-")[1]) for topic in topics]
    return [topic for topic, own in zip(topics, rounds, strict=True) if own == max(rounds)]


def _source(source: Source, n: int) -> dict[str, Any]:
    return {
        "n": n,
        "id": source.id,
        "title": source.title,
        "url": source.url,
        "publisher": source.publisher or "",
        "published_at": source.published_at,
        "tier": source.tier.value,
    }


def _notes(section: OutlineSection, topics: Iterable[Row], numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """The nearest notes, each with the numbers of its sources in this prompt, the ids of those that have none."""
    return [
        {
            "text": note["text"],
            "sources": [f"source {numbers[name]}" if name in numbers else name for name in note["source_ids"]],
        }
        for note in _nearest_notes(section, topics)
    ]


def _nearest_notes(section: OutlineSection, topics: Iterable[Row]) -> list[dict[str, Any]]:
    """Statements of the researchers' notes that share most words with the section, in their order, with their
    sources."""
    query = parse(f"{section.heading}. {section.answers}")
    notes: dict[str, dict[str, Any]] = {}
    for topic in topics:
        text = topic.get("compressed_findings") or ""
        names = {int(n): name for n, name in _SOURCE.findall(text)}
        for said, marks in _NOTE.findall(text):
            read = [names[int(n)] for n in re.findall(r"\d+", marks) if int(n) in names]
            weights = query.weights(language_of(said))
            score = sum(weights.get(term, 0.0) for term in term_weights(said))
            notes.setdefault(said, {"text": said, "source_ids": read, "score": score})
    ordered = sorted(notes.values(), key=lambda note: -float(note["score"]))[:_MOST_NOTES]
    kept = {note["text"] for note in ordered if note["score"] > 0.0}
    return [note for note in notes.values() if note["text"] in kept]
