"""A report as a list of headings, paragraphs, lists, tables and code: what every printed format lays out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from graph_research.research.evidence.citations import Citation, CitedBlock, CitedContradiction, CitedStatement
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import BlockType, StatementKind
from graph_research.research.report.basis import basis_of
from graph_research.research.report.flow import flow_of
from graph_research.research.report.formatting import (
    attribution,
    clean,
    day,
    description_beside_values,
    one_line,
    percent,
    place,
    quoted,
    source_title,
    web_link,
    who_served,
)
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.research.report.reading import (
    analysis_columns,
    compared_under,
    letter,
    open_gaps,
    runs,
    source_marks,
)


class Style(StrEnum):
    """How a stretch of text is set."""

    PLAIN = "plain"
    STRONG = "strong"
    EMPHASIS = "emphasis"


@dataclass(frozen=True)
class Span:
    """A stretch of text on one line, a link where `url` is set; or, where `citation` is set, the number `text` that
    leads to that passage."""

    text: str
    style: Style = Style.PLAIN
    citation: str = ""
    url: str = ""


Spans = tuple[Span, ...]


@dataclass(frozen=True)
class Heading:
    """`level` 0 is the report's title."""

    text: str
    level: int


@dataclass(frozen=True)
class Paragraph:
    """Running text; `is_quoted` sets it in as a quotation."""

    spans: Spans
    is_quoted: bool = False


@dataclass(frozen=True)
class Items:
    """A list, numbered where `ordered`."""

    items: tuple[Spans, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Table:
    """Every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[Spans, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """Lines to copy, with the marks that stand below them."""

    text: str
    language: str
    marks: Spans


@dataclass(frozen=True)
class Passage:
    """The passage of a citation, to which its number leads: the quote in its marks, and where it stands."""

    citation: str
    number: int
    quote: str
    source: str
    where: str


Element = Heading | Paragraph | Items | Table | Code | Passage


def elements_of(report: Report, labels: Labels) -> list[Element]:
    """The report from its title to its provenance. It holds the run's id, its graph, models and date."""
    return [element for element in _Layout(report, labels).elements() if element]


@dataclass
class _Layout:
    report: Report
    labels: Labels
    citations: dict[str, Citation] = field(init=False)
    sources: dict[str, ReportSource] = field(init=False)
    disputed: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.citations = {citation.id: citation for citation in self.report.citations}
        self.sources = {source.id: source for source in self.report.sources}
        self.disputed = self.report.disputed()

    def elements(self) -> Iterator[Element]:
        report, labels = self.report, self.labels
        yield Heading(one_line(report.question) or labels.untitled, 0)
        if report.notice:
            yield Paragraph((Span(one_line(report.notice), Style.EMPHASIS),))
        answered = labels.short_answer if report.found else labels.not_found
        yield Heading(answered if report.written else labels.no_report_written, 1)
        yield from self._blocks(report.short_answer)
        if report.searched and not report.found:
            yield Paragraph((Span(f"{labels.searched_for}:"),))
            yield Items(tuple((Span(one_line(query)),) for query in report.searched))
        for section in report.sections:
            yield Heading(one_line(section.heading), section.level)
            yield from self._blocks(section.blocks)
        yield from self._disagreements()
        if still_open := open_gaps(report):
            yield Heading(labels.open_questions, 1)
            yield _lines(gap.description for gap in still_open)
        if report.conclusions:
            yield Heading(labels.conclusions, 1)
            yield from self._blocks(report.conclusions)
        if report.more_evidence:
            yield Heading(labels.more_evidence, 1)
            yield Items(tuple(self._sentence(statement) for statement in report.more_evidence))
        yield Heading(labels.basis, 1)
        yield _lines(basis_of(report, labels))
        yield from self._sources()
        yield from self._passages()
        yield from self._methodology()

    def _blocks(self, blocks: Iterable[CitedBlock]) -> Iterator[Element]:
        for block in blocks:
            if block.type is BlockType.LIST:
                yield Items(tuple(self._sentences(item) for item in block.items), block.ordered)
            elif block.type is BlockType.TABLE:
                yield self._table(block)
            elif block.type is BlockType.CODE:
                for row in block.sentences:
                    yield Code(clean(row.text).strip("\n"), one_line(block.language), self._marks(row))
            else:
                yield Paragraph(self._sentences(block.sentences), block.type is BlockType.QUOTE)

    def _table(self, block: CitedBlock) -> Table:
        width = max([len(block.header), *(len(row) for row in block.rows)], default=0)
        header = [one_line(head) for head in block.header]
        analysed = analysis_columns(block)
        header = [f"{head} ({self.labels.analysis})" if n in analysed else head for n, head in enumerate(header)]
        rows = [
            [self._sentence(cell, says_analysis=n not in analysed) for n, cell in enumerate(row)] for row in block.rows
        ]
        return Table(
            tuple(header + [""] * (width - len(header))),
            tuple(tuple(row + [()] * (width - len(row))) for row in rows),
            one_line(block.caption),
        )

    def _sentences(self, statements: Sequence[CitedStatement]) -> Spans:
        spans: list[Span] = []
        for _, run in runs(statements):  # analysis is marked once, where a run of it ends
            for statement in run:
                said = self._sentence(statement, says_analysis=statement is run[-1])
                spans += [*([Span(" ")] if spans else []), *said]
        return tuple(spans)

    def _sentence(self, statement: CitedStatement, *, says_analysis: bool = True) -> Spans:
        text = one_line(statement.text)
        said = quoted(text, self.labels) if statement.kind is StatementKind.QUOTE else text
        who: Spans = ()
        if statement.kind is StatementKind.QUOTE and statement.citations:
            source = self.sources.get(self.citations[statement.citations[0]].source_id)
            who = (Span(" "), Span(attribution(source, self.labels), Style.EMPHASIS)) if source else ()
        return (Span(said), *who, *self._marks(statement, says_analysis=says_analysis))

    def _marks(self, statement: CitedStatement, *, says_analysis: bool = True) -> Spans:
        is_analysis = statement.status is Status.ANALYSIS
        spans: list[Span] = []
        for mark in source_marks(statement.citations, self.citations):
            spans += [Span(" "), Span(f"[{mark.label}]", citation=mark.citations[0].id)]
            is_range = len(mark.numbers) > 1  # its further passages have no text of their own, but are cited
            for n, one in enumerate(mark.citations[1:], start=1):
                spans.append(Span("" if is_range else f"[{letter(n)}]", citation=one.id))
        if not is_analysis and any(name in self.disputed for name in statement.citations):
            spans.append(Span(f" ({self.labels.disputed})", Style.EMPHASIS))
        if is_analysis and says_analysis:
            spans.append(Span(f" ({self.labels.analysis})", Style.EMPHASIS))
        if statement.status is Status.UNSUPPORTED:
            spans.append(Span(f" ({self.labels.unsupported})", Style.STRONG))
        return tuple(spans)

    def _number(self, name: str) -> Span:
        return Span(f"[{self.citations[name].n}]", citation=name)

    def _disagreements(self) -> Iterator[Element]:
        if not self.report.contradictions:
            return
        yield Heading(self.labels.disagreements, 1)
        for contradiction in self.report.contradictions:
            yield Heading(one_line(contradiction.topic), 2)
            if section := compared_under(contradiction, self.report):
                yield Paragraph((Span(self.labels.disagreement_told.format(heading=one_line(section.heading))),))
                continue
            if description := one_line(description_beside_values(contradiction)):
                yield Paragraph((Span(description),))
            yield self._sides(contradiction)

    def _sides(self, contradiction: CitedContradiction) -> Table:
        cells = []
        for side in contradiction.sides:
            spans: list[Span] = []
            for name in side.citations:
                source = self.sources.get(self.citations[name].source_id)
                who = [Span(" "), Span(attribution(source, self.labels), Style.EMPHASIS)] if source else []
                quote = one_line(self.citations[name].quote)
                spans += [
                    *([Span(" ")] if spans else []),
                    Span(f"{quoted(quote, self.labels)} "),
                    self._number(name),
                    *who,
                ]
            cells.append(tuple(spans))
        return Table(tuple(one_line(side.value) for side in contradiction.sides), (tuple(cells),))

    def _sources(self) -> Iterator[Element]:
        cited = [source for source in self.report.sources if source.n is not None]
        yield Heading(self.labels.sources, 1)
        if not cited:
            yield Paragraph((Span(self.labels.no_sources),))
        for source in cited:
            yield Paragraph(self._source(source))

    def _source(self, source: ReportSource) -> Spans:
        title, link = source_title(source), web_link(source.url)
        date = day(source.published_at, self.labels) if source.published_at else self.labels.no_date
        where = "" if link else one_line(source.url or "")
        more = [one_line(source.publisher or ""), date, self.labels.tiers.get(source.tier, source.tier), where]
        named = Span(title, Style.STRONG, url=link or "")
        return (Span(f"[{source.n}] "), named, Span(f". {'. '.join(part for part in more if part and part != title)}."))

    def _passages(self) -> Iterator[Element]:
        if self.report.citations:
            yield Heading(self.labels.passages, 1)
        for citation in sorted(self.report.citations, key=lambda citation: citation.n):
            source = self.sources.get(citation.source_id)
            yield Passage(
                citation=citation.id,
                number=citation.n,
                quote=quoted(one_line(citation.quote), self.labels)
                + ("" if citation.valid else f" ({self.labels.unsupported})"),
                source=source_title(source) if source else citation.source_id,
                where=place(citation.locator, self.labels),
            )

    def _methodology(self) -> Iterator[Element]:
        report, labels = self.report, self.labels
        yield Heading(labels.methodology, 1)
        yield Heading(labels.flow, 2)
        yield _lines(labels.semicolon.join([one.in_words(labels), *one.notes]) for one in flow_of(report, labels))
        yield Heading(labels.confidence, 2)
        value = "" if report.confidence.value is None else f" ({percent(report.confidence.value, labels)})"
        yield Paragraph((Span(f"{labels.levels[report.confidence.level]}{value}"),))
        yield _lines(
            f"{labels.pair.format(name=one.name, value=one.value)} ({one.effect})" for one in report.confidence.factors
        )
        limits = [line for line in report.limitations if line != labels.limit_standing]
        if limits:
            yield Heading(labels.limitations, 2)
            yield _lines(limits)
        yield Heading(labels.run, 2)
        facts = {
            labels.run: report.run_id,
            labels.graph: f"{report.graph} {report.graph_hash}".strip(),
            labels.models: labels.semicolon.join(who_served(report, labels)),
            labels.date: day(report.finished_at or report.started_at, labels),
        }
        yield Table(
            ("", ""), tuple(((Span(name),), (Span(one_line(value)),)) for name, value in facts.items() if value)
        )


def _lines(lines: Iterable[str]) -> Items:
    return Items(tuple((Span(one_line(line)),) for line in lines))
