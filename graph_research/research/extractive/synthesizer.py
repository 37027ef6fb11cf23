"""The synthesizer's answer: a draft of verbatim quotes in sections, a short answer, or what was nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from graph_research.research.extractive.analysis import Analysis, Group, Part, Quote, analyze
from graph_research.research.extractive.gaps import description
from graph_research.research.extractive.sections import Section, outline
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.extractive.sources import labels_of, options_of, question_of
from graph_research.research.extractive.tables import quotations
from graph_research.research.models.draft import Draft, DraftSection, Statement, StatementKind, Writer, paragraphs_of
from graph_research.research.models.evidence import is_open
from graph_research.research.report.labels.table import Labels
from graph_research.text.document import Document
from graph_research.text.errors import LocatorInvalid
from graph_research.text.language.words import held_share, read_sentence, terms
from graph_research.text.locators import resolve

_MOST_NEAREST = 4
_NEAR = 0.3
"""Of the weight of the question's words."""

_Ids = Mapping[Group, Sequence[str]]


def answer(material: Mapping[str, Any]) -> dict[str, Any]:
    """A `Draft` as JSON; it cites only evidence of the handoff."""
    fresh = analyze(material)
    ids = _cited(material, fresh)
    analysis = replace(fresh, groups=list(ids))
    short = short_answer(analysis)
    if not short:
        return _not_found(analysis, ids, material).to_json()
    return _found(analysis, short, ids, material).to_json()


def no_outline(material: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 -- every answer is made of a material
    """An outliner's answer: nothing is outlined, since the draft above is the report."""
    return {"sections": [], "not_answered": []}


def _found(analysis: Analysis, picked: Sequence[Group], ids: _Ids, material: Mapping[str, Any]) -> Draft:
    documents: Mapping[str, Document] = material.get("documents") or {}
    labels = labels_of(material)
    sections = outline(analysis, options_of(material).words, documents)
    remarks = [remark for part in analysis.parts for remark in _missing(part, labels)]
    disputed = _disputed_evidence(material)
    if any(disputed.intersection(ids[group]) for group in picked):
        remarks.append(Statement(text=labels.disputed_values, kind=StatementKind.TRANSITION))
    return Draft(
        notice=labels.selected_by_code,
        found=True,
        searched=_searched(material),
        summary=[*quotations(picked, ids, documents), *paragraphs_of(remarks)],
        sections=list(_sections(sections, analysis, picked, ids, documents, labels)),
    )


def _sections(
    sections: Sequence[Section],
    analysis: Analysis,
    picked: Sequence[Group],
    ids: _Ids,
    documents: Mapping[str, Document],
    labels: Labels,
) -> Iterator[DraftSection]:
    """The sections; those of one of several parts of the question under a heading of their own, which says first what
    no passage tells of that part. What has no heading stands below that; where the question has one part it stands at
    the end, as far as the short answer lacks it."""

    def made(heading: str, level: int, groups: Sequence[Group] = (), remarks: Sequence[Statement] = ()) -> DraftSection:
        blocks = [*paragraphs_of(remarks), *quotations(groups, ids, documents)]
        return DraftSection(heading=heading, level=level, blocks=blocks, writer=Writer.EXTRACTIVE)

    if len(analysis.parts) == 1:
        yield from (made(section.heading, 1, section.groups) for section in sections if section.heading)
        if more := [
            group for section in sections if not section.heading for group in section.groups if group not in picked
        ]:
            yield made(labels.more_evidence, 1, more)
        return
    for number, of_part in groupby(sections, key=lambda section: section.part):
        first, *others = of_part
        part = analysis.parts[number]
        asked = part.query.own
        leading = () if first.heading else first.groups
        yield made(asked[:1].upper() + asked[1:], 1, leading, _missing(part, labels))
        for section in [first, *others] if first.heading else others:
            yield made(section.heading, 2, section.groups)


def _not_found(analysis: Analysis, ids: _Ids, material: Mapping[str, Any]) -> Draft:
    related = any(group.lead.score > 0.0 for group in analysis.groups)
    nearest = [group for group in analysis.groups if not related or _is_near(group, analysis)][:_MOST_NEAREST]
    labels = labels_of(material)
    shown = labels.nearest if related else labels.unrelated
    opening = shown if nearest else labels.nothing_near
    return Draft(
        notice=labels.selected_by_code,
        found=False,
        searched=_searched(material),
        summary=[*paragraphs_of([_limit(opening)]), *quotations(nearest, ids, material.get("documents") or {})],
    )


def _is_near(group: Group, analysis: Analysis) -> bool:
    """Whether a quotation, with its title and heading and the header of a row that is asked for, holds enough of what
    is asked to be of use where nothing answers it."""
    language, written = read_sentence(group.lead.text)
    asked, held = analysis.query.weights(language), {word.term for word in written}
    header = group.lead.header if asked.keys() & held else ""
    around = terms(f"{group.lead.title} {group.lead.heading} {header}", language)
    return held_share(asked, {*around, *held}) >= _NEAR


def _missing(part: Part, labels: Labels) -> list[Statement]:
    """What no passage tells of a part of the question; empty where all of it is answered."""
    return [] if part.found and not part.absent else [_limit(description(part, labels))]


def _limit(text: str) -> Statement:
    return Statement(text=text, kind=StatementKind.LIMIT)


def _searched(material: Mapping[str, Any]) -> list[str]:
    asked = [str(row.get("query", "")) for row in material.get("sub_queries") or ()]
    return list(dict.fromkeys(query for query in asked if query)) or [question_of(material)]


def _disputed_evidence(material: Mapping[str, Any]) -> frozenset[str]:
    """What the sides of the open conflicts rest on, which the report lists."""
    return frozenset(
        evidence_id
        for conflict in filter(is_open, material.get("contradictions") or ())
        for side in conflict.get("sides") or ()
        for evidence_id in side.get("evidence_ids") or ()
    )


def _cited(material: Mapping[str, Any], analysis: Analysis) -> dict[Group, Sequence[str]]:
    """The handoff's findings as groups with the evidence ids that prove them, those that rank best now first."""
    rows = {str(row["id"]): row for row in material.get("evidence") or ()}
    documents: Mapping[str, Document] = material.get("documents") or {}
    known = {(q.source_id, q.start, q.text): q for group in analysis.groups for q in group.quotes}
    found: dict[str, tuple[Group, Sequence[str]]] = {}
    for finding in material.get("findings") or ():
        ids = [key for key in dict.fromkeys(finding.get("evidence_ids") or ()) if _is_usable(rows.get(key), analysis)]
        if ids:
            lead, *others = [_quote_of(rows[key], documents, known) for key in ids]
            found.setdefault(lead.text, (Group(lead=lead, others=tuple(others)), ids))
    return dict(sorted(found.values(), key=lambda entry: -entry[0].lead.score))


def _is_usable(row: Mapping[str, Any] | None, analysis: Analysis) -> bool:
    facts = analysis.sources.get(str(row["source_id"])) if row else None
    return facts is not None and not facts.flagged


def _quote_of(
    row: Mapping[str, Any], documents: Mapping[str, Document], known: Mapping[tuple[str, int, str], Quote]
) -> Quote:
    source_id, text = str(row["source_id"]), str(row["quote"])
    document = documents.get(source_id)
    start = _start(str(row.get("locator", "")), text, document)
    quote = known.get((source_id, start, text))
    title = document.title if document else ""
    return quote or Quote(source_id=source_id, start=start, end=start + len(text), text=text, heading="", title=title)


def _start(locator: str, quote: str, document: Document | None) -> int:
    """The offset in the canonical text that a locator means, or the quote's first place where it means none."""
    if document is None:
        return 0
    try:
        start, _ = resolve(document.text, locator, document.pages)
    except LocatorInvalid:
        return max(0, document.text.find(quote))
    return start
