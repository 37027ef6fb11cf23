"""What a reader is shown: numbers of sources grouped, runs of analysis with one mark, sources that are one text as one,
open gaps apart from closed ones, and the disagreements that the text does not compare already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, zip_longest
from string import ascii_lowercase
from typing import NamedTuple

from graph_research.research.evidence.cited import (
    Citation,
    CitedBlock,
    CitedContradiction,
    CitedSection,
    CitedSide,
    CitedStatement,
)
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import BlockType, StatementKind, Writer, statements_of
from graph_research.research.report.formatting import attribution, one_line, publisher, quoted, side_by_side
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportClaim, ReportGap, ReportSource
from graph_research.research.scoring.origin import UNNAMED
from graph_research.research.scoring.tiers import is_maker
from graph_research.text.language.words import held_weight, language_of, term_weights
from graph_research.text.relevance.open_points import asked_again

_RARE = 1.5
"""What words weigh together that say what a sentence is about: a rare one, or several common ones."""
_RANGE = 3
"""As many numbers in a row are shown as their first and last."""
_CONTENTS_FROM = 5
"""Sections from which on there are contents."""
_MOST_NOT_FOUND = 6
"""Points that reading did not find up to which each is listed."""
_LEAST_OF_A_PLACE = 3
"""Words that say in which document something would stand: "in the manual"."""

_TITLE_PART = re.compile(r"(\s+[—–|·•-]\s+)")
_LEAST_SHARING = 3


def with_short_titles(report: Report) -> Report:
    """The report as it is shown, its sources without what the titles of three of one origin end with behind a dash or a
    bar, such as "— Django 3.2 documentation". A title that another source has then stays whole; so do those of sources
    that name neither a publisher nor an author, which may have nothing else in common."""
    parts = {source.id: _TITLE_PART.split(one_line(source.title)) for source in report.sources}
    named = [source for source in report.sources if source.origin != UNNAMED]
    ends = Counter((source.origin, parts[source.id][-1]) for source in named if len(parts[source.id]) > 1)
    short = {
        source.id: "".join(parts[source.id][:-2])
        if ends[source.origin, parts[source.id][-1]] >= _LEAST_SHARING
        else source.title
        for source in report.sources
    }
    texts = Counter(title for title, _ in {(short[source.id], source.archive_hash) for source in report.sources})
    sources = [
        source.model_copy(update={"title": short[source.id]}) if texts[short[source.id]] == 1 else source
        for source in report.sources
    ]
    return report.model_copy(update={"sources": sources})


class MatrixView(NamedTuple):
    """The claims of which two sources or more say something: the columns' sources by number, and for each claim a mark
    for each source, `+`, `−`, `·` or what it means apart."""

    sources: tuple[ReportSource, ...]
    rows: tuple[tuple[ReportClaim, tuple[str, ...]], ...]


def matrix_view(report: Report, labels: Labels) -> MatrixView | None:
    """The claims × sources matrix as it is shown; None where fewer than two cited sources speak of one claim."""
    claims = {claim.id: claim for claim in report.claims}
    cited = [source for source in report.sources if source.n is not None]
    shown = {source.id for source in cited}
    marks = {
        row.claim: {
            **dict.fromkeys(row.supports, "+"),
            **dict.fromkeys(row.refutes, "−"),
            **{one.source: labels.natures[one.nature] for one in row.differs},
        }
        for row in report.matrix
    }
    rows = {name: said for name, said in marks.items() if len(said.keys() & shown) > 1}
    columns = tuple(source for source in cited if any(source.id in said for said in rows.values()))
    if not rows:
        return None
    return MatrixView(
        sources=columns,
        rows=tuple(
            (claims[name], tuple(said.get(source.id, "·") for source in columns)) for name, said in rows.items()
        ),
    )


class SourceMark(NamedTuple):
    """One source, or three and more with numbers in a row, and the passages that are cited of them."""

    numbers: tuple[int, ...]
    citations: tuple[Citation, ...]

    @property
    def label(self) -> str:
        """`3`, or `95–100`."""
        return f"{self.numbers[0]}–{self.numbers[-1]}" if len(self.numbers) > 1 else str(self.numbers[0])


def source_marks(names: Iterable[str], citations: Mapping[str, Citation]) -> list[SourceMark]:
    """The marks of a sentence that cites these passages, by number; each number once."""
    passages: dict[int, list[Citation]] = {}
    for name in names:
        passages.setdefault(citations[name].n, []).append(citations[name])
    marks: list[SourceMark] = []
    for _, run in groupby(enumerate(sorted(passages)), key=lambda placed: placed[1] - placed[0]):
        numbers = [number for _, number in run]
        for group in [numbers] if len(numbers) >= _RANGE else [[number] for number in numbers]:
            marks.append(SourceMark(tuple(group), tuple(one for number in group for one in passages[number])))
    return marks


def letter(place: int) -> str:
    """What marks a further passage of a source: `b` for the second of the sentence."""
    return ascii_lowercase[min(place, len(ascii_lowercase) - 1)]


def also_in(statement: CitedStatement, citations: Mapping[str, Citation]) -> list[str]:
    """Of a quote, the passages of other sources that say the same."""
    first = citations[statement.citations[0]].n if statement.citations else 0
    return [name for name in statement.citations[1:] if citations[name].n != first]


def same_source(statement: CitedStatement, citations: Mapping[str, Citation]) -> list[str]:
    """Of a quote, its own passage and further ones of the same source."""
    others = also_in(statement, citations)
    return [name for name in statement.citations if name not in others]


def cited_once(row: Sequence[CitedStatement]) -> Sequence[CitedStatement]:
    """The cells of a row, whose label alone keeps its citations where all that have some have the same: those of a row
    that is quoted."""
    label, *cells = row
    cited = [cell for cell in cells if cell.citations]
    if not all((cell.citations, cell.status) == (label.citations, label.status) for cell in cited):
        return row
    return [label, *(cell.model_copy(update={"citations": []}) for cell in cells)]


def runs(statements: Sequence[CitedStatement]) -> list[tuple[bool, list[CitedStatement]]]:
    """The sentences in order, cut where analysis begins or ends; each run with whether it is analysis."""
    return [
        (is_analysis, list(group))
        for is_analysis, group in groupby(statements, key=lambda one: one.status is Status.ANALYSIS)
    ]


@dataclass(frozen=True)
class SourceGroup:
    """The cited sources that have one and the same archived text, by number."""

    sources: Sequence[ReportSource]
    passages: int
    sentences: int

    @property
    def numbers(self) -> list[int]:
        """The numbers that the sources are cited by."""
        return [source.n for source in self.sources if source.n]


def grouped_sources(report: Report) -> list[SourceGroup]:
    """The cited sources in the order of their numbers, duplicates together, with how often each group is cited."""
    groups: dict[str, list[ReportSource]] = {}
    for source in report.sources:
        if source.n:
            groups.setdefault(source.archive_hash, []).append(source)
    cited = [set(statement.citations) for statement in report.statements()]
    grouped = []
    for sources in groups.values():
        passages = {name for source in sources for name in source.citations}
        grouped.append(SourceGroup(sources, len(passages), sum(not passages.isdisjoint(names) for names in cited)))
    return grouped


def cited_folders(report: Report) -> list[str]:
    """The folders of the cited local files, in the order of their numbers."""
    return list(dict.fromkeys(source.folder for source in report.sources if source.n and source.folder))


def cited_makers(report: Report, products: Iterable[str]) -> list[str]:
    """The products of which the makers' own documents are cited."""
    cited = [source.publisher for source in report.sources if source.n]
    return [name for name in products if any(is_maker(publisher, [name]) for publisher in cited)]


def opens_with_limit(report: Report) -> bool:
    """Whether the answer itself says that nothing was found."""
    first = next((row for block in report.short_answer for row in block.statements()), None)
    return first is not None and first.kind is StatementKind.LIMIT


class Attributions:
    """Who is named behind the quotations of a report: a name behind most of its sources does not tell them apart, so
    that their titles do."""

    def __init__(self, report: Report, labels: Labels) -> None:
        self._labels = labels
        self._citations = {citation.id: citation for citation in report.citations}
        self._sources = {source.id: source for source in report.sources}
        cited = {citation.source_id for citation in report.citations}
        self._behind = Counter(publisher(source) for source in report.sources if source.id in cited)

    def of(self, citation: Citation) -> str:
        """What stands behind a quotation of this passage; empty where its source is not known."""
        source = self._sources.get(citation.source_id)
        if source is None:
            return ""
        of_it = self._behind[publisher(source)]
        by_title = of_it > 1 and of_it * 2 > self._behind.total()
        return attribution(source, self._labels, by_title=by_title, heading=citation.heading)

    def named_in(self, items: Sequence[Sequence[CitedStatement]]) -> frozenset[str]:
        """The ids of the quotations of a list that say whose they are: each that stands alone, but for those behind
        one of the same source that would say the same."""
        first = [self._citations[item[0].citations[0]] if _is_lone_quote(item) else None for item in items]
        named = [(one.source_id, self.of(one)) if one else None for one in first]
        return frozenset(
            item[0].id
            for item, name, before in zip(items, named, [None, *named], strict=False)
            if name and name != before
        )


def _is_lone_quote(item: Sequence[CitedStatement]) -> bool:
    """Whether an item of a list is one quotation that is cited."""
    return len(item) == 1 and item[0].kind is StatementKind.QUOTE and bool(item[0].citations)


def more_evidence(report: Report) -> list[CitedStatement]:
    """The statements that no section has, without those that failed their check."""
    return [statement for statement in report.more_evidence if statement.status is not Status.UNSUPPORTED]


def open_gaps(report: Report) -> list[ReportGap]:
    """The gaps that no round closed."""
    return [gap for gap in report.gaps if not gap.addressed]


class LeftOpen(NamedTuple):
    """The open questions, what reading did not find, the most important of each sub-question first, and what is left of
    that where it is too long to list."""

    questions: list[str]
    not_found: list[str]
    more: list[str]


def points_left_open(report: Report, labels: Labels) -> LeftOpen:
    """The points that are open, each once, but for those of which a sentence of the text says that nothing was found:
    of those that ask the same the one that asks most. What would stand in the same document is one point."""
    questions = [one_line(gap.description) for gap in open_gaps(report)]
    rows = zip_longest(*(outcome.limits for outcome in report.sub_queries))
    points = [*questions, *(one_line(point) for row in rows for point in row if point)]
    again = asked_again(points, _limits_told(report), [source.title for source in report.sources])
    asked, lacking = (
        [points[n] for n in places if n not in again]
        for places in (range(len(questions)), range(len(questions), len(points)))
    )
    lacking = _by_document(lacking, labels)
    return LeftOpen(asked, lacking[:_MOST_NOT_FOUND], lacking[_MOST_NOT_FOUND:])


def _by_document(points: Sequence[str], labels: Labels) -> list[str]:
    """The points, of which those are one that end with the same words behind their last comma, such as a document in
    which they would stand: where the first of them stands, with these words once."""
    groups: dict[str, list[str]] = {}
    for point in points:
        said, _, document = point.rpartition(labels.comma)
        is_named = said and len(document.split()) >= _LEAST_OF_A_PLACE
        groups.setdefault(document if is_named else point, []).append(said if is_named else "")
    return [
        f"{labels.semicolon.join(said)}{labels.comma}{document}" if all(said) else document
        for document, said in groups.items()
    ]


def _limits_told(report: Report) -> list[str]:
    """What sentences of the text say was not found."""
    return [row.text for row in report.statements() if row.kind is StatementKind.LIMIT]


def closed_gaps(report: Report, labels: Labels) -> list[str]:
    """The others, each with the round that closed it."""
    return [_closed(gap, labels) for gap in report.gaps if gap.addressed]


def _closed(gap: ReportGap, labels: Labels) -> str:
    description = one_line(gap.description)
    if gap.addressed_in is None:
        return description
    return labels.resolved_in_iteration.format(gap=description, n=gap.addressed_in)


class Disagreement(NamedTuple):
    """A contradiction, and the places of the sections that compare its sides, from 1."""

    contradiction: CitedContradiction
    compared_in: tuple[int, ...]


def disagreements(report: Report) -> list[Disagreement]:
    """The contradictions of a report of which no section says which side holds."""
    found = []
    for row in report.contradictions:
        if row.settled:
            continue
        sides = [_with_longer(side.citations, report.citations) for side in row.sides]
        places = [n for n, section in enumerate(report.sections, 1) if _compares(section, sides)]
        found.append(Disagreement(row, tuple(places)))
    return found


def open_disagreements(report: Report, labels: Labels) -> list[Disagreement]:
    """The conflicts that are left open: as many as the account of the report counts, also where a section compares
    the sides. That section is named in place of a description."""
    compared = {row.contradiction.id: row.compared_in for row in disagreements(report)}
    found = []
    for row in filter(lambda row: row.is_open, report.contradictions):
        places = compared.get(row.id, ())
        named = row.model_copy(update={"description": _compared_in(places, report, labels)}) if places else row
        found.append(Disagreement(named, places))
    return found


def of_disagreements(labels: Labels, *, are_marked: bool) -> str:
    """What stands above the open disagreements: how they are told, and whether statements that cite a side
    `are_marked`."""
    return side_by_side([labels.disagreements_lead, *([labels.disagreements_marked] if are_marked else [])])


def _compared_in(places: Sequence[int], report: Report, labels: Labels) -> str:
    headings = (quoted(one_line(report.sections[place - 1].heading), labels) for place in places)
    return labels.compared_in.format(sections=labels.comma.join(headings))


def section_headings(report: Report) -> list[str]:
    """The headings of the sections, numbered (`3.`, and `3.1` for a part of the third) where there are as many as have
    contents."""
    headings = [one_line(section.heading) for section in report.sections]
    if not has_contents(report):
        return headings
    numbered: list[str] = []
    counts: list[int] = []
    for section, heading in zip(report.sections, headings, strict=True):
        counts = [*counts, 0][: section.level]
        counts[-1] += 1
        numbered.append(f"{'.'.join(map(str, counts))}{'.' if len(counts) == 1 else ''} {heading}")
    return numbered


def has_contents(report: Report) -> bool:
    """Whether a report has so many sections that a reader looks one up."""
    return len(report.sections) >= _CONTENTS_FROM


def explained_differences(report: Report) -> list[CitedContradiction]:
    """Those whose sides no section compares and mean something else: another date, unit, scope or definition."""
    return [row.contradiction for row in disagreements(report) if not row.compared_in and not row.contradiction.is_open]


def disputed_statements(report: Report) -> dict[str, CitedContradiction]:
    """The ids of the statements that cite a side of a conflict that is open, with that conflict. Analysis is left out,
    and so is the text of a section that compares the sides; sides that mean something else deny nothing."""
    found: dict[str, CitedContradiction] = {}
    quotes = {one.id: one.quote for one in report.citations}
    for row in disagreements(report):
        if not row.contradiction.is_open:
            continue
        cited = {name for side in row.contradiction.sides for name in side.citations}
        compared = {
            statement.id for place in row.compared_in for statement in statements_of(report.sections[place - 1].blocks)
        }
        for statement in report.statements():
            is_told = statement.status is Status.ANALYSIS or statement.id in compared
            is_cited = not is_told and not cited.isdisjoint(statement.citations)
            if is_cited and _is_about(statement, row.contradiction, quotes):
                found.setdefault(statement.id, row.contradiction)
    return found


def _is_about(statement: CitedStatement, contradiction: CitedContradiction, quotes: Mapping[str, str]) -> bool:
    """Whether a sentence that cites a side of a conflict has a rare word of what is disputed, or half of its words
    there, by weight: a passage may say more, and of a quoted row one cell has the value. One in another language than
    that shares no words with it."""
    told = ". ".join([contradiction.topic, *(side.value for side in contradiction.sides)])
    if _is_beside_the_value(statement, contradiction, quotes):
        return False
    if statement.kind is StatementKind.QUOTE or language_of(statement.text) != language_of(told):
        return True
    said = term_weights(statement.text)
    return held_weight(said, term_weights(told)) >= min(_RARE, sum(said.values()) / 2)


def _is_beside_the_value(statement: CitedStatement, row: CitedContradiction, quotes: Mapping[str, str]) -> bool:
    """Whether a statement is a part, as a cell is, of the quote of a side, whose value stands in another part of it."""
    own = [(side.value, quotes[name]) for side in row.sides for name in side.citations if name in statement.citations]
    return any(
        statement.kind is StatementKind.QUOTE
        and statement.text != quote
        and statement.text in quote
        and value in quote
        and value not in statement.text
        for value, quote in own
    )


def other_values(report: Report, disputed: Mapping[str, CitedContradiction]) -> dict[str, list[CitedSide]]:
    """What other sides give in place of the number or date of a `disputed` statement of the short answer, by its id, so
    that a reader of that alone knows of them."""
    found = {}
    for statement in statements_of(report.short_answer):
        row = disputed.get(statement.id)
        if row is not None and row.kind != "statement":
            found[statement.id] = [side for side in row.sides if set(side.citations).isdisjoint(statement.citations)]
    return found


def _with_longer(names: Sequence[str], citations: Sequence[Citation]) -> set[str]:
    """The ids of these citations, and of those whose passage of the same text holds one of theirs."""
    own = [one for one in citations if one.id in names]
    return {
        one.id
        for one in citations
        if any(one.archive_hash == side.archive_hash and side.quote in one.quote for side in own)
    }


def _compares(section: CitedSection, sides: Sequence[Set[str]]) -> bool:
    """Whether a model's text cites every side of a contradiction in one paragraph, item or table."""
    if section.writer is not Writer.MODEL or len(sides) < 2:
        return False
    groups = [
        group for block in section.blocks for group in (*_together(block), [cell for row in block.rows for cell in row])
    ]
    return any(_cites_all((name for row in group for name in row.citations), sides) for group in groups)


def _together(block: CitedBlock) -> list[list[CitedStatement]]:
    """The sentences of a paragraph and of each item; no code, which advises nothing."""
    return [] if block.type is BlockType.CODE else [block.sentences, *block.items]


def _cites_all(names: Iterable[str], sides: Sequence[Set[str]]) -> bool:
    cited = set(names)
    return all(cited & side for side in sides)
