"""The report as Markdown: readable as plain text, safe in any renderer, the same bytes for the same research."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from graph_research.research.evidence.citations import (
    Citation,
    CitedBlock,
    CitedContradiction,
    CitedSection,
    CitedSide,
    CitedStatement,
)
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import BlockType, StatementKind
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.report.basis import basis_of
from graph_research.research.report.flow import flow_of
from graph_research.research.report.formatting import (
    attribution,
    clean,
    day,
    description_beside_values,
    one_line,
    percent,
    publisher,
    quoted,
    retries_in_words,
    source_title,
    web_link,
    who_served,
)
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.research.report.reading import (
    SourceGroup,
    also_in,
    analysis_columns,
    closed_gaps,
    compared_under,
    grouped_sources,
    open_gaps,
    runs,
    source_marks,
)

_ACTIVE = re.compile(r"[\\`*\[\]|~]|(?<=\])\(|!(?=\[)|(?<![^\W_])_|_(?![^\W_])|\$(?=\S)")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_ANALYSIS = "°"
_LINE_START = re.compile(r"^(?=[#+=-])|^(\d{1,9})(?=[.)](?:\s|$))")

_CONTENTS_FROM = 5


def escape(text: str, *, starts_line: bool = True) -> str:
    """Foreign text as one line that Markdown and HTML leave alone: no markup, link, image, table cell or heading."""
    line = _ACTIVE.sub(lambda match: "\\" + match[0], one_line(text))
    line = _ENTITY.sub("&amp;", line).replace("<", "&lt;")
    if not starts_line:
        return line
    line = "\\" + line if line.startswith(">") else line
    return _LINE_START.sub(lambda match: f"{match[1]}\\" if match[1] else "\\", line)


def render_markdown(report: Report) -> str:
    """The report, ending in a newline. It holds no time, duration, absolute path or run id."""
    blocks = (block for block in _Page(report, labels_for(report.language)).blocks() if block)
    return "\n\n".join(blocks) + "\n"


class _Page:
    """One report's blocks from top to bottom; an empty one is left out."""

    def __init__(self, report: Report, labels: Labels) -> None:
        self.report = report
        self.labels = labels
        self.citations = {citation.id: citation for citation in report.citations}
        self.sources = {source.id: source for source in report.sources}
        self.disputed = report.disputed()

    def blocks(self) -> Iterator[str]:
        report, labels = self.report, self.labels
        yield f"# {escape(report.question) or labels.untitled}"
        yield f"> {escape(report.notice)}" if report.notice else ""
        yield from self._answer()
        yield from self._contents()
        for section in report.sections:
            yield f"{'#' * (section.level + 1)} {escape(section.heading)}"
            yield from self._blocks(section.blocks)
        yield from self._disagreements()
        if gaps := open_gaps(report):
            yield f"## {labels.open_questions}"
            yield _bullets(escape(gap.description) for gap in gaps)
        if report.conclusions:
            yield f"## {labels.conclusions}"
            yield from self._blocks(report.conclusions)
        if report.more_evidence:
            yield f"## {labels.more_evidence}"
            yield _bullets(self._item([statement]) for statement in report.more_evidence)
        yield f"## {labels.basis}"
        yield _bullets(map(escape, basis_of(report, labels)))
        yield from self._sources()
        yield f"## {labels.methodology}"
        yield from self._methodology()

    def _answer(self) -> Iterator[str]:
        report, labels = self.report, self.labels
        if report.written and report.found:
            yield f"## {labels.short_answer}"
            yield from self._blocks(report.short_answer) if report.short_answer else iter([labels.nothing_written])
            if any(row.status is Status.ANALYSIS for row in report.statements()):
                yield f"*{_ANALYSIS} {labels.analysis_title}*"
            return
        yield f"## {labels.not_found if report.written else labels.no_report_written}"
        yield self._not_found() if report.written else self._what_exists()
        yield from self._blocks(report.short_answer)
        if report.searched:
            yield f"{labels.searched_for}:"
            yield _bullets(escape(query) for query in report.searched)

    def _not_found(self) -> str:
        """Said by the writer itself where its answer opens with a limit."""
        opening = next((row for block in self.report.short_answer for row in block.statements()), None)
        said = opening and opening.kind is StatementKind.LIMIT
        return "" if said else self.labels.not_answered

    def _what_exists(self) -> str:
        report, labels = self.report, self.labels
        done = sum(outcome.status == SubQueryStatus.COMPLETED for outcome in report.sub_queries)
        return _bullets(
            [
                labels.sub_queries_answered.format(done=done, all=len(report.sub_queries)),
                labels.sources_collected.format(n=len(report.sources)),
                labels.claims_scored.format(n=len(report.claims)),
            ]
        )

    def _contents(self) -> Iterator[str]:
        """The headings of a report of many sections; without links, since renderers name their targets differently."""
        if len(self.report.sections) < _CONTENTS_FROM:
            return
        yield f"**{self.labels.contents}**"
        yield "\n".join(
            f"{'  ' * (section.level - 1)}- {escape(section.heading)}" for section in _nested(self.report.sections)
        )

    def _blocks(self, blocks: Iterable[CitedBlock]) -> Iterator[str]:
        for block in blocks:
            if block.type is BlockType.LIST:
                items = [self._item(item) for item in block.items]
                yield "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1)) if block.ordered else _bullets(items)
            elif block.type is BlockType.TABLE:
                yield f"**{escape(block.caption)}**" if block.caption else ""
                yield self._table_block(block)
            elif block.type is BlockType.CODE:
                yield from (self._code(row, block.language) for row in block.sentences)
            elif block.type is BlockType.QUOTE:
                yield f"> {self._item(block.sentences)}"
            else:
                yield self._paragraph(block.sentences)

    def _table_block(self, block: CitedBlock) -> str:
        width = max([len(block.header), *map(len, block.rows)])
        analysed = analysis_columns(block)
        heads = [
            escape(head) + (f" {self._analysis}" if place in analysed else "")
            for place, head in enumerate(block.header)
        ]
        rows = [
            [
                self._sentence(cell, says_analysis=place not in analysed, starts_line=False)
                for place, cell in enumerate(row)
            ]
            for row in block.rows
        ]
        return _table(_filled(heads, width), [_filled(row, width) for row in rows])

    def _item(self, statements: Sequence[CitedStatement]) -> str:
        """A quote that stands alone says whose it is."""
        if len(statements) == 1 and statements[0].kind is StatementKind.QUOTE:
            return self._quote(statements[0])
        return self._paragraph(statements)

    def _paragraph(self, statements: Sequence[CitedStatement]) -> str:
        """Analysis is marked once, where a run of it ends."""
        return " ".join(self._sentence(row, says_analysis=row is run[-1]) for _, run in runs(statements) for row in run)

    def _code(self, statement: CitedStatement, language: str) -> str:
        text = clean(statement.text).strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        name = language if re.fullmatch(r"[A-Za-z0-9+#.-]{1,20}", language) else ""
        marks = " ".join([*self._numbers(statement.citations), *self._marks(statement)])
        return f"{fence}{name}\n{text}\n{fence}" + (f"\n\n{marks}" if marks else "")

    def _quote(self, statement: CitedStatement) -> str:
        parts = [quoted(escape(statement.text), self.labels), *self._numbers(statement.citations[:1])]
        first = self._source_of(statement.citations[0]) if statement.citations else None
        if first:
            parts.append(f"*{escape(attribution(first, self.labels))}*")
        if others := also_in(statement, self.citations):
            parts[-1] += ";"
            parts.append(f"{self.labels.also_in} " + " ".join(self._numbers(others)))
        return " ".join([*parts, *self._marks(statement)])

    def _sentence(self, statement: CitedStatement, *, says_analysis: bool = True, starts_line: bool = True) -> str:
        text = escape(statement.text, starts_line=starts_line)
        shown = quoted(text, self.labels) if statement.kind is StatementKind.QUOTE else text
        marks = self._marks(statement, says_analysis=says_analysis)
        return " ".join([shown, *self._numbers(statement.citations), *marks])

    def _marks(self, statement: CitedStatement, *, says_analysis: bool = True) -> list[str]:
        is_analysis = statement.status is Status.ANALYSIS
        disputed = not is_analysis and any(name in self.disputed for name in statement.citations)
        return [
            *([f"({self.labels.disputed})"] if disputed else []),
            *([self._analysis] if is_analysis and says_analysis else []),
            *([self._unsupported] if statement.status is Status.UNSUPPORTED else []),
        ]

    @property
    def _analysis(self) -> str:
        return _ANALYSIS

    @property
    def _unsupported(self) -> str:
        return f"**({self.labels.unsupported})**"

    def _numbers(self, citations: Iterable[str]) -> list[str]:
        """The numbers of the cited sources, each once, three in a row as `[3–5]`."""
        return [f"[{mark.label}]" for mark in source_marks(citations, self.citations)]

    def _source_of(self, citation: str) -> ReportSource | None:
        return self.sources.get(self.citations[citation].source_id)

    def _disagreements(self) -> Iterator[str]:
        if not self.report.contradictions:
            return
        yield f"## {self.labels.disagreements}"
        yield f"{self.labels.disagreements_lead} {self.labels.disagreements_marked}"
        for contradiction in self.report.contradictions:
            yield from self._disagreement(contradiction)

    def _disagreement(self, contradiction: CitedContradiction) -> Iterator[str]:
        topic = one_line(contradiction.topic)
        yield f"### {escape(topic[:1].upper() + topic[1:])}"
        if section := compared_under(contradiction, self.report):
            numbers = " ".join(self._numbers(name for side in contradiction.sides for name in side.citations))
            yield f"{self.labels.disagreement_told.format(heading=escape(section.heading))} {numbers}"
            return
        yield escape(description_beside_values(contradiction))
        sides = contradiction.sides
        yield _table([f"**{escape(side.value)}**" for side in sides], [[self._side(side) for side in sides]])

    def _side(self, side: CitedSide) -> str:
        return "<br>".join(self._side_quote(self.citations[name]) for name in side.citations)

    def _side_quote(self, citation: Citation) -> str:
        source = self.sources.get(citation.source_id)
        who = f" *{escape(attribution(source, self.labels))}*" if source else ""
        return f"{quoted(escape(citation.quote), self.labels)} [{citation.n}]{who}" + (
            "" if citation.valid else f" {self._unsupported}"
        )

    def _sources(self) -> Iterator[str]:
        cited = grouped_sources(self.report)
        yield f"## {self.labels.sources}"
        if not self.report.sources or not cited:
            yield self.labels.none_cited if self.report.sources else self.labels.no_sources
            return
        yield _table(self.labels.source_columns, [self._source_row(group) for group in cited])

    def _source_row(self, group: SourceGroup) -> list[str]:
        first = group.sources[0]
        places = [self._place(source, first) for source in group.sources]
        return [
            " ".join(f"[{n}]" for n in group.numbers),
            "<br>".join(dict.fromkeys(part for part in (self._title(first), *places) if part)),
            escape(publisher(first)) or "–",
            escape(day(first.published_at, self.labels)),
        ]

    def _title(self, source: ReportSource) -> str:
        title, link = escape(source_title(source)), web_link(source.url)
        return f"[{title}](<{_target(link)}>)" if link else title

    def _place(self, source: ReportSource, first: ReportSource) -> str:
        """Where a source is that its title does not lead to."""
        link = web_link(source.url)
        if link:
            return "" if source is first else f"{self.labels.also_at} [{escape(link)}](<{_target(link)}>)"
        named = not source.url or one_line(source.url) == source_title(source)
        return "" if named else escape(_relative(source.url or ""))

    def _methodology(self) -> Iterator[str]:
        report, labels = self.report, self.labels
        yield f"### {labels.flow}"
        yield "\n".join(
            f"- {escape(stage.in_words(labels))}" + "".join(f"\n  - {escape(note)}" for note in stage.notes)
            for stage in flow_of(report, labels)
        )
        if report.sub_queries:
            yield f"### {labels.sub_queries}"
            yield _table(
                labels.sub_query_columns,
                [
                    [escape(row.query), str(row.sources), labels.outcomes.get(row.status, escape(row.status))]
                    for row in report.sub_queries
                ],
            )
        yield from self._reading()
        yield f"### {labels.confidence}"
        value = "" if report.confidence.value is None else f" ({percent(report.confidence.value, labels)})"
        yield f"**{labels.levels[report.confidence.level]}**{value}"
        factors = report.confidence.factors
        yield _table(labels.factors, [[escape(one.name), escape(one.value), escape(one.effect)] for one in factors])
        yield f"### {labels.limitations}"
        yield _bullets(escape(line) for line in report.limitations if line != labels.limit_standing)
        yield f"### {labels.run}"
        yield _bullets(self._run())

    def _reading(self) -> Iterator[str]:
        report, labels = self.report, self.labels
        uncited = [source for source in report.sources if not source.citations]
        if uncited:
            yield labels.not_cited.format(n=len(uncited))
            yield _bullets(map(self._title, uncited))
        limited = [row for row in report.sub_queries if row.limits]
        if limited:
            yield f"### {labels.limits_of_reading}"
            yield _bullets(f"{escape(row.query)}: {escape('; '.join(row.limits))}" for row in limited)
        if closed := closed_gaps(report, labels):
            yield f"### {labels.resolved}"
            yield _bullets(map(escape, closed))

    def _run(self) -> list[str]:
        report, labels = self.report, self.labels
        proved = sum(citation.valid for citation in report.citations)
        lines = [
            (labels.models, escape(labels.semicolon.join(who_served(report, labels))) or labels.none),
            (labels.searches, escape(labels.comma.join(report.search)) or labels.none),
            (labels.graph, escape(report.graph)),
            (labels.rounds, str(report.iterations)),
            (labels.proved_passages, labels.of.format(n=proved, all=len(report.citations))),
        ]
        if again := labels.comma.join(retries_in_words(report.statistics.retries, labels)):
            lines.append((labels.retried_requests, escape(again)))
        return [labels.pair.format(name=name, value=value) for name, value in lines]


def _nested(sections: Sequence[CitedSection]) -> Iterator[CitedSection]:
    """The sections with levels that no step of a list leaves out."""
    level = 0
    for section in sections:
        level = min(section.level, level + 1)
        yield section.model_copy(update={"level": level})


def _filled(cells: Sequence[str], width: int) -> list[str]:
    return [*cells, *[""] * (width - len(cells))]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([_row(heads), _row("---" for _ in heads), *(_row(row) for row in rows)])


def _target(url: str) -> str:
    """A link's address inside `<…>`; what could end it or the table's cell is percent-encoded."""
    return "".join(f"%{ord(character):02X}" if character in '<>|\\`"' else character for character in url)


def _relative(url: str) -> str:
    """A local document's path below the folder that was added; of an absolute one only the file's name."""
    path = url.removeprefix("file://")
    return path.rsplit("/", 1)[-1] if path.startswith("/") or re.match(r"[A-Za-z]:[\\/]", path) else url
