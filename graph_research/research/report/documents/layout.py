"""The order and the parts of a report, which every format but the page lays out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graph_research.research.evidence.cited import CitedBlock, CitedContradiction
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import BlockType
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.report.basis import as_of, basis_of
from graph_research.research.report.documents.elements import (
    SPACE,
    Code,
    Element,
    Heading,
    Item,
    Items,
    Paragraph,
    Passage,
    Span,
    Spans,
    Style,
    Table,
    bullets,
    joined,
    line,
)
from graph_research.research.report.documents.methodology import methodology_of
from graph_research.research.report.documents.sentences import Sentences, analysis_legend
from graph_research.research.report.formatting import (
    bracketed,
    clean,
    day,
    description_beside_values,
    identifiers,
    in_one_line,
    local_file,
    one_line,
    place,
    publisher,
    quoted,
    remarks,
    source_title,
    web_link,
)
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.research.report.reading import (
    SourceGroup,
    cited_folders,
    explained_differences,
    grouped_sources,
    has_contents,
    matrix_view,
    more_evidence,
    of_disagreements,
    open_disagreements,
    opens_with_limit,
    points_left_open,
    section_headings,
    with_short_titles,
)

_MOST_CONTENTS = 20
"""Headings of sections up to which the contents list those below others."""


def elements_of(report: Report, labels: Labels, *, for_print: bool) -> list[Element]:
    """The report from its title to its methodology.

    For print it holds the claims by source, the passages that numbers lead to, and the run's id, the graph's hash and
    the date; else nothing that differs between two runs of the same research.
    """
    return list(_Layout(report, labels, for_print).elements())


class _Layout:
    def __init__(self, report: Report, labels: Labels, for_print: bool) -> None:
        self.report = with_short_titles(report)
        self.labels = labels
        self.for_print = for_print
        self.sentences = Sentences(self.report, labels)
        self.products = [row.name for row in report.newest_versions]
        self.folders = cited_folders(report)

    def elements(self) -> Iterator[Element]:
        head, sections, behind = [*self._head()], [*self._sections()], [*self._open()]
        yield from head
        if has_contents(self.report):
            of_head, of_sections = (len(list(_headings(part))) for part in (head, sections))
            placed = list(enumerate(_headings([*sections, *behind]), of_head))
            whole = of_sections if of_sections <= _MOST_CONTENTS else 0
            yield from self._contents([*placed[:whole], *(row for row in placed[whole:] if row[1].level == 1)])
        yield from sections
        yield from behind
        yield from self._apparatus()

    def _head(self) -> Iterator[Element]:
        yield Heading(one_line(self.report.headline) or self.labels.untitled, 0)
        yield from self._below_title()
        if self.report.notice:
            yield Paragraph(line(self.report.notice), is_quoted=True)
        yield from self._answer()

    def _below_title(self) -> Iterator[Element]:
        """The day of the report, for print, the age of its sources, and how analysis is marked."""
        report, labels = self.report, self.labels
        written = day(report.finished_at or report.started_at, labels) if self.for_print else ""
        made = labels.pair.format(name=labels.date, value=written) if written else ""
        has_analysis = any(row.status is Status.ANALYSIS for row in report.statements())
        legend = analysis_legend(labels) if has_analysis else ""
        head = labels.semicolon.join(filter(None, [made, as_of(report, labels)]))
        if said := in_one_line(filter(None, [head, legend]), labels):
            yield Paragraph(line(said, Style.EMPHASIS))

    def _sections(self) -> Iterator[Element]:
        for heading, section in zip(section_headings(self.report), self.report.sections, strict=True):
            yield Heading(heading, section.level)
            yield from self._blocks(section.blocks)

    def _open(self) -> Iterator[Element]:
        """On what the sources disagree, what follows, and what no section quotes."""
        report, labels = self.report, self.labels
        yield from self._disagreements()
        if report.conclusions:
            yield Heading(labels.conclusions, 1)
            yield from self._blocks(report.conclusions)
        if more := more_evidence(report):
            yield Heading(labels.more_evidence, 1)
            yield Items(self.sentences.items([[statement] for statement in more]))

    def _apparatus(self) -> Iterator[Element]:
        """What the report leaves open and rests on."""
        report, labels = self.report, self.labels
        yield Heading(labels.basis, 1)
        basis = [line(text) for text in basis_of(report, labels, is_brief=True)]
        left = points_left_open(report, labels)
        asked = self._listed(labels.open_questions, left.questions)
        above_all = [labels.above_all] if left.more else []
        lacking = self._listed(labels.comma.join([labels.not_found_in_reading, *above_all]), left.not_found)
        yield Items((*asked, *map(Item, [*basis, *self._explained()]), *lacking))
        yield from self._sources()
        if self.for_print:
            yield from self._matrix()
            yield from self._passages()
        yield Heading(labels.methodology, 1)
        yield from methodology_of(report, labels, for_print=self.for_print)

    def _answer(self) -> Iterator[Element]:
        report, labels = self.report, self.labels
        if report.written and report.found:
            yield Heading(labels.short_answer, 1)
            if not report.short_answer:
                yield Paragraph(line(labels.nothing_written))
            yield from self._blocks(report.short_answer)
            return
        yield Heading(labels.not_found if report.written else labels.no_report_written, 1)
        if not report.written:
            yield bullets(self._what_exists())
        elif report.short_answer and not opens_with_limit(report):
            yield Paragraph(line(labels.not_answered))
        yield from self._blocks(report.short_answer)
        if report.searched:
            yield Paragraph(line(labels.pair.format(name=labels.searched_for, value="")))
            yield bullets(report.searched)

    def _what_exists(self) -> list[str]:
        report, labels = self.report, self.labels
        done = sum(outcome.status == SubQueryStatus.COMPLETED for outcome in report.sub_queries)
        return [
            labels.sub_queries_answered.format(done=done, all=len(report.sub_queries)),
            labels.sources_collected.format(n=len(report.sources)),
            labels.claims_scored.format(n=len(report.claims)),
        ]

    def _contents(self, headings: Iterable[tuple[int, Heading]]) -> Iterator[Element]:
        """The headings of a report of many sections, each with its place among all headings."""
        yield Paragraph(line(self.labels.contents, Style.STRONG))
        yield Items(tuple(_nested(headings)))

    def _blocks(self, blocks: Sequence[CitedBlock]) -> Iterator[Element]:
        for block in blocks:
            if block.type is BlockType.LIST:
                yield Items(self.sentences.items(block.items), block.ordered)
            elif block.type is BlockType.TABLE:
                yield self.sentences.table(block)
            elif block.type is BlockType.CODE:
                for row in block.sentences:
                    marks = self.sentences.of_block(block, row, blocks)
                    yield Code(clean(row.text).strip("\n"), block.language, marks, one_line(block.caption))
            elif block.type is BlockType.QUOTE:
                yield Paragraph(self.sentences.item(block.sentences), is_quoted=True)
            else:
                yield Paragraph(self.sentences.paragraph(block.sentences))

    def _disagreements(self) -> Iterator[Element]:
        """Those that are open and that no section compares."""
        left_open = [row.contradiction for row in open_disagreements(self.report, self.labels) if not row.compared_in]
        if left_open:
            yield Heading(self.labels.disagreements, 1)
            yield Paragraph(line(of_disagreements(self.labels, are_marked=self.sentences.has_disputed)))
        for contradiction in left_open:
            yield Heading(_topic(contradiction), 2)
            if description := one_line(description_beside_values(contradiction)):
                yield Paragraph(line(description))
            yield self.sentences.sides(contradiction)

    def _explained(self) -> Iterator[Spans]:
        """What only differs in scope, date, unit or definition, that no section compares and of which somebody said
        how; the page has the rest."""
        for row in explained_differences(self.report):
            if description := one_line(description_beside_values(row)):
                nature = line(self.labels.not_a_conflict.format(nature=self.labels.natures.get(row.nature, row.nature)))
                cited = (name for side in row.sides for name in side.citations)
                topic = line(_topic(row), Style.STRONG)
                yield joined([topic, line(description), self.sentences.numbers(cited), nature])

    def _listed(self, name: str, points: Sequence[str]) -> Iterator[Item]:
        """What is open, one point below the other."""
        if points:
            yield Item(line(self.labels.pair.format(name=name, value="")))
        yield from (Item(line(point), 1) for point in points)

    def _sources(self) -> Iterator[Element]:
        cited = grouped_sources(self.report)
        yield Heading(self.labels.sources, 1)
        if len(self.folders) == 1:
            names = self.labels.comma.join(map(one_line, self.folders))
            yield Paragraph(line(self.labels.folders.format(names=names)))
        if cited:
            yield Items(tuple(Item(self._source(group)) for group in cited))
        else:
            yield Paragraph(line(self.labels.none_cited if self.report.sources else self.labels.no_sources))

    def _source(self, group: SourceGroup) -> Spans:
        """The numbers of a source, who stands behind it, its title, which leads to its page on the web, its date, what
        names it in a catalogue, where it is that its title does not lead to, and remarks."""
        first = group.sources[0]
        title, who = source_title(first), publisher(first, self.products)
        link = web_link(first.url) or ""
        dated = day(first.published_at, self.labels)
        facts = [
            (Span(title, Style.PLAIN if link else Style.EMPHASIS, url=link),),
            line(dated) if first.published_at and dated not in title else (),
            *(line(said) for said in identifiers(first) if said != who),
            *(self._place(source, first) for source in group.sources),
            *(line(remark) for source in group.sources for remark in remarks(source, self.labels)),
        ]
        return (
            *joined(line(f"[{n}]", Style.NUMBER) for n in group.numbers),
            SPACE,
            *((Span(self.labels.pair.format(name=who, value="")),) if who and who != title else ()),
            *joined(dict.fromkeys(facts), Span(self.labels.aside)),
        )

    def _place(self, source: ReportSource, first: ReportSource) -> Spans:
        """Where a source is that its title does not lead to."""
        link = web_link(source.url)
        if link:
            return () if source is first else (*line(self.labels.also_at), SPACE, Span(link, url=link))
        named = not source.url or one_line(source.url) == source_title(source)
        return () if named else line(local_file(source, self.folders))

    def _matrix(self) -> Iterator[Element]:
        """Which source supports or contradicts a claim, where two cited sources speak of one."""
        labels = self.labels
        if (view := matrix_view(self.report, labels)) is None:
            return
        yield Heading(labels.matrix, 1)
        yield Paragraph(line(labels.matrix_legend))
        header = (labels.claims[0], *(str(source.n) for source in view.sources))
        rows = ((line(claim.text), *map(line, marks)) for claim, marks in view.rows)
        yield Table(header=header, rows=tuple(rows))

    def _passages(self) -> Iterator[Element]:
        if self.report.citations:
            yield Heading(self.labels.passages, 1)
        sources = {source.id: source for source in self.report.sources}
        for citation in sorted(self.report.citations, key=lambda citation: citation.n):
            source = sources.get(citation.source_id)
            yield Passage(
                citation=citation.id,
                number=citation.n,
                quote=quoted(one_line(citation.quote), self.labels)
                + ("" if citation.valid else f" {bracketed(self.labels.unsupported, self.labels)}"),
                source=source_title(source) if source else citation.source_id,
                where=f"{self.labels.aside}{place(citation.locator, self.labels, citation.place)}",
            )


def _topic(contradiction: CitedContradiction) -> str:
    topic = one_line(contradiction.topic)
    return topic[:1].upper() + topic[1:]


def _headings(elements: Iterable[Element]) -> Iterator[Heading]:
    return (element for element in elements if isinstance(element, Heading))


def _nested(headings: Iterable[tuple[int, Heading]]) -> Iterator[Item]:
    """The headings with levels that no step of a list leaves out."""
    level = -1
    for number, heading in headings:
        level = min(heading.level - 1, level + 1)
        yield Item((Span(one_line(heading.text), leads_to=number),), level)
