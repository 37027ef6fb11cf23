"""Contradictions of an analysis: those that code finds in the evidence, and those that the answer names with quotes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from graph_research.research.evidence.cited import CitedContradiction
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.evidence import Contradiction, Evidence, Side
from graph_research.research.models.finding import Gap
from graph_research.research.models.ids import contradiction_id
from graph_research.research.models.inline_marks import plain_line
from graph_research.research.models.source import Source
from graph_research.research.scoring.versions import pages
from graph_research.text.document import Document
from graph_research.text.language.quantities import figures, states
from graph_research.text.locators import resolve
from graph_research.text.relevance.conflicts import Conflict, find_contradictions
from graph_research.text.relevance.statements import SourceSentence, nature

MOST_QUERY_CHARS = 300
"""Of a query that asks what settles a conflict."""

Place = tuple[str, int, int]
"""Source id, start and end of a piece of evidence in the source's canonical text."""


def disagreements(
    named: Sequence[Contradiction],
    evidence: Mapping[Place, Evidence],
    *,
    sources: Mapping[str, Source],
    documents: Mapping[str, Document],
) -> list[Contradiction]:
    """The contradictions that were `named`, then what code finds beside them in the evidence; none among versions of
    one page, of which one may be older than the other."""
    quoted = [
        SourceSentence.at(source_id, documents[source_id], start, end, sources[source_id].subject)
        for source_id, start, end in evidence
    ]
    conflicts = [_of_conflict(conflict, evidence) for conflict in find_contradictions(quoted)]
    page_of = pages(list(sources.values()))
    pages_of = {one.id: (source_id, page_of[source_id]) for (source_id, _, _), one in evidence.items()}
    kept: list[Contradiction] = []
    for contradiction in [*named, *conflicts]:
        if not _is_of_versions(contradiction, pages_of) and not any(_same(contradiction, other) for other in kept):
            kept.append(contradiction)
    return kept


def _is_of_versions(contradiction: Contradiction, pages_of: Mapping[str, tuple[str, str]]) -> bool:
    names = [name for side in contradiction.sides for name in side.evidence_ids]
    said = dict(pages_of[name] for name in names if name in pages_of)
    return len(said) > 1 and len(set(said.values())) == 1


def as_gap(contradiction: Contradiction) -> Gap:
    """What would settle a conflict, as a gap whose query has the thing's name and the values of all sides."""
    values = [side.value for side in contradiction.sides]
    return Gap(
        id=contradiction.id,
        description=f"{contradiction.topic}: {' / '.join(values)}",
        suggested_queries=[" ".join([contradiction.topic, *values])[:MOST_QUERY_CHARS]],
        priority=2,
    )


def by_place(evidence: Iterable[Evidence], documents: Mapping[str, Document]) -> dict[Place, Evidence]:
    """Evidence by where it stands, without that of sources which have no document."""
    places: dict[Place, Evidence] = {}
    for one in evidence:
        if one.source_id in documents:
            document = documents[one.source_id]
            start, end = resolve(document.text, one.locator, document.pages)
            places[one.source_id, start, end] = one
    return places


def from_answer(rows: Sequence[Mapping[str, Any]], finder: QuoteFinder) -> tuple[list[Contradiction], list[Evidence]]:
    """The answer's own contradictions whose quotes are found for at least two sides, of the nature that it gives them
    or that their values show, and that evidence."""
    contradictions: list[Contradiction] = []
    evidence: list[Evidence] = []
    for row in rows:
        sides = [(plain_line(side["value"]), finder.evidence(side["evidence"])) for side in row["sides"]]
        proved = [(value, quotes) for value, quotes in sides if quotes]
        if len(proved) >= 2:
            evidence += [quote for _, quotes in proved for quote in quotes]
            named = [Side(value=value, evidence_ids=[quote.id for quote in quotes]) for value, quotes in proved]
            topic, description = plain_line(row["topic"]), plain_line(row.get("description", ""))
            found = _contradiction(row["kind"], topic, description, named)
            if nature := row.get("nature"):
                contradictions.append(found.model_copy(update={"nature": nature}))
            else:
                contradictions.append(_of_its_nature(found, [quotes for _, quotes in proved]))
    return contradictions, evidence


def told_by_writer(rows: Iterable[Mapping[str, Any]], evidence: Mapping[str, Evidence]) -> list[Contradiction]:
    """The contradictions that the writer of a section names, as far as two sides rest on evidence of its own."""
    told = []
    for row in rows:
        sides = [
            (plain_line(side["value"]), [name for name in side["evidence_ids"] if name in evidence])
            for side in row["sides"]
        ]
        named = [Side(value=value, evidence_ids=ids) for value, ids in sides if ids]
        if len({tuple(side.evidence_ids) for side in named}) >= 2:
            found = _contradiction("statement", plain_line(row["topic"]), "", named)
            found = _of_its_nature(found, [[evidence[name] for name in side.evidence_ids] for side in named])
            told.append(found.model_copy(update={"settled": bool(row.get("settled"))}))
    return told


def new_or_settled(told: Iterable[Contradiction], known: Iterable[Contradiction]) -> list[Contradiction]:
    """The contradictions that are told and not known, each once, and the known ones that are settled now."""
    standing = {one.id: one for one in known}
    changed: dict[str, Contradiction] = {}
    for one in told:
        before = next((other for other in standing.values() if tell_the_same(one, other)), None)
        if before is None or (one.settled and not before.settled):
            standing[one.id if before is None else before.id] = now = (before or one).model_copy(
                update={"settled": one.settled}
            )
            changed[now.id] = now
    return list(changed.values())


def tell_the_same(one: Contradiction | CitedContradiction, other: Contradiction | CitedContradiction) -> bool:
    """Whether both have one topic or share evidence of two sides."""
    return _same_topic(one, other) or share_two_sides(one, other)


def _same_topic(one: Contradiction | CitedContradiction, other: Contradiction | CitedContradiction) -> bool:
    return " ".join(one.topic.split()).casefold() == " ".join(other.topic.split()).casefold()


def share_two_sides(one: Contradiction | CitedContradiction, other: Contradiction | CitedContradiction) -> bool:
    """Whether evidence of two sides of the one stands in the other too: both tell of the same disagreement."""
    others = {evidence_id for side in other.sides for evidence_id in side.evidence_ids}
    return sum(bool(others & set(side.evidence_ids)) for side in one.sides) >= 2


def _of_its_nature(found: Contradiction, sides: Sequence[Sequence[Evidence]]) -> Contradiction:
    natures = {nature(_sentences(sides[0]), _sentences(quotes)).value for quotes in sides[1:]}
    return found.model_copy(update={"nature": natures.pop()}) if len(natures) == 1 else found


def _sentences(quotes: Sequence[Evidence]) -> list[SourceSentence]:
    return [SourceSentence.of_text(one.quote, one.source_id) for one in quotes]


def _of_conflict(conflict: Conflict, evidence: Mapping[Place, Evidence]) -> Contradiction:
    sides = [
        Side(value=side.value, evidence_ids=[evidence[one.source_id, one.start, one.end].id for one in side.evidence])
        for side in conflict.sides
    ]
    return _contradiction(conflict.kind, conflict.topic, conflict.description, sides)


def _contradiction(kind: str, topic: str, description: str, sides: list[Side]) -> Contradiction:
    ids = [evidence_id for side in sides for evidence_id in side.evidence_ids]
    return Contradiction(
        id=contradiction_id(kind, topic, ids), kind=kind, topic=topic, description=description, sides=sides
    )


def _same(one: Contradiction, other: Contradiction) -> bool:
    """Two tell of the same disagreement where topic and values are the same, of whatever passages, or evidence of both
    sides is shared, unless their values show that they are about two things of which that evidence tells."""
    if one.id == other.id or one.kind != other.kind:
        return one.id == other.id
    values, others = ({side.value for side in each.sides} for each in (one, other))
    if _same_topic(one, other) and values == others:
        return True
    return share_two_sides(one, other) and _share_a_value(one, other)


def _share_a_value(one: Contradiction, other: Contradiction) -> bool:
    mine, theirs = ([figures(side.value) for side in each.sides] for each in (one, other))
    if not all(mine) or not all(theirs):
        return True
    return any(states(a, b) or states(b, a) for a in chain(*mine) for b in chain(*theirs))
