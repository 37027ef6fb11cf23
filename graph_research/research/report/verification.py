"""Verification: every citation of a report against the archived texts, again and from nothing but the two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph_research.research.evidence.citations import Archive, Citation, CitedStatement, writes_from_templates
from graph_research.research.evidence.claim_support import judge
from graph_research.research.models.draft import StatementKind
from graph_research.research.models.record import Record
from graph_research.research.report.model import Report
from graph_research.text.wording import shortened


class Problem(Record):
    """One thing that is wrong: `where` is `[n]`, or a statement's id with the start of its text."""

    where: str
    what: str


class Verification(Record):
    """Counts over a report. `coverage` is supported/statements, 0 to 1, and 1 for a report that states nothing.

    `statements` are those that state a fact; `fabricated` counts the ids and numbers that name no evidence,
    with those that were dropped before the report was written.
    """

    citations: int
    valid: int
    invalid: int
    statements: int
    supported: int
    unsupported: int
    fabricated: int
    coverage: float
    problems: list[Problem]


def verify(
    report: Report, texts: Mapping[str, str], layouts: Mapping[str, Mapping[str, Any]] | None = None
) -> Verification:
    """Prove a report again; nothing that it says of itself (`valid`, `supported`) is believed.

    `texts` maps archive hash to canonical text, `layouts` the same hashes to `Document.layout()`.
    """
    archive = Archive(texts, layouts)
    known = {source.id for source in report.sources}
    checked = [_proved(citation, archive, known) for citation in report.citations]
    problems = [Problem(where=f"[{citation.n}]", what=citation.problem) for citation in checked if not citation.valid]
    proved = {citation.n: citation for citation in checked}
    facts = _factual(report)
    unsupported = [Problem(where=_where(fact), what=why) for fact in facts if (why := _why_unsupported(fact, proved))]
    problems += unsupported
    statements = report.statements()
    fabricated = [(_where(statement), name) for statement in statements for name in _fabricated(statement, proved)]
    fabricated += [
        (contradiction.id, f"[{n}]")
        for contradiction in report.contradictions
        for side in contradiction.sides
        for n in side.citations
        if n not in proved
    ]
    problems += [Problem(where=where, what=f"{name} names no evidence") for where, name in fabricated]
    supported = len(facts) - len(unsupported)
    valid = sum(citation.valid for citation in checked)
    return Verification(
        citations=len(checked),
        valid=valid,
        invalid=len(checked) - valid,
        statements=len(facts),
        supported=supported,
        unsupported=len(unsupported),
        fabricated=len(fabricated) + report.fabricated_dropped,
        coverage=round(supported / len(facts), 4) if facts else 1.0,
        problems=problems,
    )


def _why_unsupported(statement: CitedStatement, proved: Mapping[int, Citation]) -> str:
    cited = [proved[n] for n in statement.citations if n in proved]
    return judge(statement.text, statement.kind, cited).problem


def _proved(citation: Citation, archive: Archive, known_sources: Iterable[str]) -> Citation:
    problem = archive.prove(citation.quote, citation.locator, citation.archive_hash).problem
    if citation.source_id not in known_sources:
        problem = f"the report lists no source {citation.source_id}"
    return citation.model_copy(update={"valid": not problem, "problem": problem})


def _factual(report: Report) -> Sequence[CitedStatement]:
    from_templates = writes_from_templates(report.models)
    return [
        statement
        for statement in report.statements()
        if statement.kind is not StatementKind.CONNECTIVE or not from_templates or any(map(str.isdigit, statement.text))
    ]


def _fabricated(statement: CitedStatement, proved: Mapping[int, Citation]) -> list[str]:
    return [*statement.fabricated, *(f"[{n}]" for n in statement.citations if n not in proved)]


def _where(statement: CitedStatement) -> str:
    return f"{statement.id} {shortened(statement.text, 60)!r}"
