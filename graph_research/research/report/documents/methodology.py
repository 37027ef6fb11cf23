"""How a report came about: the last part of every format but the page, which shows more of it."""

from __future__ import annotations

from collections.abc import Iterator

from graph_research.research.report.documents.elements import (
    Element,
    Heading,
    Item,
    Items,
    Paragraph,
    Span,
    Spans,
    Style,
    Table,
    bullets,
    line,
)
from graph_research.research.report.flow import flow_of
from graph_research.research.report.formatting import (
    day,
    number,
    one_line,
    percent,
    retries_in_words,
    source_title,
    web_link,
    who_served,
)
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportClaim, ReportSource
from graph_research.research.report.reading import closed_gaps, matrix_view


def methodology_of(report: Report, labels: Labels, *, for_print: bool) -> Iterator[Element]:
    """From search to citation, what was read, confidence, limitations and the run."""
    yield Heading(labels.flow, 2)
    flow = [(stage.in_words(labels), stage.notes) for stage in flow_of(report, labels)]
    yield Items(
        tuple(item for stage, notes in flow for item in (Item(line(stage)), *(Item(line(note), 1) for note in notes)))
    )
    yield from _sub_queries(report, labels)
    yield from _reading(report, labels)
    yield Heading(labels.confidence, 2)
    value = "" if report.confidence.value is None else f" ({percent(report.confidence.value, labels)})"
    yield Paragraph((Span(labels.levels[report.confidence.level], Style.STRONG), Span(value)))
    factors = report.confidence.factors
    yield Table(tuple(labels.factors), tuple((line(row.name), line(row.value), line(row.effect)) for row in factors))
    yield from _matrix(report, labels)
    if limits := [limit for limit in report.limitations if limit != labels.limit_standing]:
        yield Heading(labels.limitations, 2)
        yield bullets(limits)
    yield Heading(labels.run, 2)
    yield bullets(_run(report, labels, for_print=for_print))


def _matrix(report: Report, labels: Labels) -> Iterator[Element]:
    if view := matrix_view(report, labels):
        yield Heading(labels.matrix, 2)
        yield Paragraph(line(labels.matrix_legend))
        header = (labels.claims[0], *(f"[{source.n}]" for source in view.sources), labels.claims[3])
        yield Table(
            header,
            tuple((line(claim.text), *map(line, marks), line(_sureness(claim, labels))) for claim, marks in view.rows),
        )


def _sureness(claim: ReportClaim, labels: Labels) -> str:
    """The confidence of a claim: word, number and reasons."""
    value = f"{labels.levels[claim.level]}, {number(claim.confidence, labels, 2)}"
    return f"{value} ({labels.semicolon.join(claim.why)})" if claim.why else value


def _sub_queries(report: Report, labels: Labels) -> Iterator[Element]:
    if report.sub_queries:
        yield Heading(labels.sub_queries, 2)
        yield Table(
            tuple(labels.sub_query_columns),
            tuple(
                (line(row.query), line(str(row.sources)), line(labels.outcomes.get(row.status, row.status)))
                for row in report.sub_queries
            ),
        )


def _reading(report: Report, labels: Labels) -> Iterator[Element]:
    if uncited := [source for source in report.sources if not source.citations]:
        yield Paragraph(line(labels.not_cited.format(n=len(uncited))))
        yield Items(tuple(Item(titled(source)) for source in uncited))
    if limited := [row for row in report.sub_queries if row.limits]:
        yield Heading(labels.limits_of_reading, 2)
        yield bullets(f"{row.query}: {'; '.join(row.limits)}" for row in limited)
    if closed := closed_gaps(report, labels):
        yield Heading(labels.resolved, 2)
        yield bullets(closed)


def titled(source: ReportSource) -> Spans:
    """A source's title, which leads to its page on the web where it has one."""
    return (Span(source_title(source), url=web_link(source.url) or ""),)


def _run(report: Report, labels: Labels, *, for_print: bool) -> list[str]:
    proved = sum(citation.valid for citation in report.citations)
    lines = [
        (labels.models, labels.semicolon.join(who_served(report, labels)) or labels.none),
        (labels.searches, labels.comma.join(report.search) or labels.none),
        (labels.graph, f"{report.graph} {report.graph_hash}" if for_print else report.graph),
        (labels.rounds, str(report.iterations)),
        (labels.proved_passages, labels.of.format(n=proved, all=len(report.citations))),
        (labels.retried_requests, labels.comma.join(retries_in_words(report.statistics.retries, labels))),
    ]
    if for_print:
        lines += [(labels.run, report.run_id), (labels.date, day(report.finished_at or report.started_at, labels))]
    return [labels.pair.format(name=name, value=one_line(value)) for name, value in lines if value]
