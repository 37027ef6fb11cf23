"""How a report came about, in short: the last part of every format but the page, which shows it at length."""

from __future__ import annotations

from collections.abc import Iterator

from graph_research.research.evidence.claim_support import Status
from graph_research.research.report.basis import how_proved, how_read, what_a_citation_shows
from graph_research.research.report.documents.elements import Element, Paragraph, line
from graph_research.research.report.formatting import in_one_line, one_line, retries_in_words, search_name, who_served
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report

_IN_DOUBT = (Status.CITED, Status.UNSUPPORTED, Status.USER)
"""Where no sentence has one of these there is nothing to count: the text marks analysis."""


def methodology_of(report: Report, labels: Labels, *, for_print: bool) -> Iterator[Element]:
    """What a citation shows, how much of the sources was read, which models wrote, and how many sentences are proved in
    which way where some are cited only or fail. For print also the rest of the run, with what differs between two of
    the same research."""
    is_counted = for_print or any(report.statistics.statements.get(status) for status in _IN_DOUBT)
    proved = how_proved(report, labels) if is_counted else what_a_citation_shows(report, labels)
    said = [*proved, *how_read(report, labels), *_run(report, labels, for_print=for_print)]
    yield Paragraph(line(in_one_line(said, labels)))


def _run(report: Report, labels: Labels, *, for_print: bool) -> list[str]:
    proved, cited = sum(citation.valid for citation in report.citations), len(report.citations)
    lines = [
        (labels.models, labels.semicolon.join(who_served(report, labels)) or labels.none),
        (labels.searches, labels.comma.join(search_name(name, labels) for name in report.search) or labels.none),
        (labels.retried_requests, labels.comma.join(retries_in_words(report.statistics.retries, labels))),
    ]
    if for_print or proved < cited:
        lines.append((labels.proved_passages, labels.of.format(n=proved, all=cited)))
    if for_print:
        lines += [
            (labels.question, report.question if report.title else ""),
            (labels.rounds, str(report.iterations) if report.iterations > 1 else ""),
            (labels.graph, f"{report.graph} {report.graph_hash}"),
            (labels.run, report.run_id),
        ]
    return [labels.pair.format(name=name, value=one_line(value)) for name, value in lines if value]
