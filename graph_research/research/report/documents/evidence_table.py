"""The evidence of a report as CSV: a row for every citation of every sentence, and for sentences without any."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from graph_research.research.evidence.cited import CitedBlock, CitedStatement
from graph_research.research.report.formatting import one_line, who_served
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report

COLUMNS = (
    *("section", "sentence", "text", "kind", "status", "problem", "support", "verdict", "reason"),
    *("n", "citation", "quote", "valid", "source", "publisher", "published_at", "url", "locator", "archive_hash"),
    *("run_id", "graph_hash", "models", "finished_at"),
)
_FORMULA = ("=", "+", "-", "@")


def render_evidence(report: Report) -> str:
    """The table with its header; every row names the run that it is from. A cell that a spreadsheet would run as a
    formula begins with an apostrophe."""
    labels = labels_for(report.language)
    models = labels.semicolon.join(who_served(report, labels))
    origin = [report.run_id, report.graph_hash, models, report.finished_at]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    citations = {citation.id: citation for citation in report.citations}
    sources = {source.id: source for source in report.sources}
    for section, statement in _statements(report, labels):
        verdict = statement.verdict
        own = [
            *(section, statement.id, statement.text, statement.kind, statement.status, statement.problem),
            *(statement.support, verdict.verdict if verdict else "", verdict.reason if verdict else ""),
        ]
        for name in statement.citations or [""]:
            citation = citations.get(name)
            source = sources.get(citation.source_id) if citation else None
            place = [citation.n, name, citation.quote, citation.valid] if citation else [""] * 4
            who = [source.title, source.publisher, source.published_at, source.url] if source else [""] * 4
            where = [citation.locator, citation.archive_hash] if citation else [""] * 2
            writer.writerow([_cell(value) for value in (*own, *place, *who, *where, *origin)])
    return out.getvalue()


def _statements(report: Report, labels: Labels) -> Iterator[tuple[str, CitedStatement]]:
    yield from _of_blocks(labels.short_answer, report.short_answer)
    for section in report.sections:
        yield from _of_blocks(section.heading, section.blocks)
    yield from _of_blocks(labels.conclusions, report.conclusions)
    yield from ((labels.more_evidence, statement) for statement in report.more_evidence)


def _of_blocks(heading: str, blocks: list[CitedBlock]) -> Iterator[tuple[str, CitedStatement]]:
    return ((heading, statement) for block in blocks for statement in block.statements())


def _cell(value: object) -> str:
    if value is None or isinstance(value, bool | int | float):
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    text = one_line(str(value))
    return "'" + text if text.startswith(_FORMULA) else text
