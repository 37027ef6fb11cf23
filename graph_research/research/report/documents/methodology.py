"""How a report came about, in short: the last part of every format but the page, which shows it at length."""

from __future__ import annotations

from collections.abc import Iterator

from graph_research.research.report.basis import how_proved
from graph_research.research.report.documents.elements import Element, Paragraph, line
from graph_research.research.report.formatting import in_one_line, one_line, retries_in_words, who_served
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report


def methodology_of(report: Report, labels: Labels, *, for_print: bool) -> Iterator[Element]:
    """How the sentences are proved, and the run, in one paragraph. For print with the question, and with what differs
    between two runs of the same research."""
    run = _run(report, labels, for_print=for_print)
    yield Paragraph(line(in_one_line([*how_proved(report, labels), *run], labels)))


def _run(report: Report, labels: Labels, *, for_print: bool) -> list[str]:
    proved, cited = sum(citation.valid for citation in report.citations), len(report.citations)
    told = labels.of.format(n=proved, all=cited)
    lines = [
        (labels.question, report.question if report.title and for_print else ""),
        (labels.models, labels.semicolon.join(who_served(report, labels)) or labels.none),
        (labels.searches, labels.comma.join(report.search) or labels.none),
        (labels.rounds, str(report.iterations) if report.iterations > 1 else ""),
        (labels.proved_passages, told if for_print or proved < cited else ""),
        (labels.retried_requests, labels.comma.join(retries_in_words(report.statistics.retries, labels))),
    ]
    if for_print:
        lines += [(labels.graph, f"{report.graph} {report.graph_hash}"), (labels.run, report.run_id)]
    return [labels.pair.format(name=name, value=one_line(value)) for name, value in lines if value]
