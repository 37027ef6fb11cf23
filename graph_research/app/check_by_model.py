"""The sentences of an audited report judged by the model of the role `verification`, as a run of the graph
`check_report`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graph_research.app.application import Application
from graph_research.app.request import request_for
from graph_research.app.workspace import Workspace
from graph_research.graph.state.rows import Write
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.audit.judge import LibraryDocument
from graph_research.research.audit.model import Audit, AuditedSentence, AuditQuote, Verdict, counts_of
from graph_research.research.audit.statements import ReportSentence
from graph_research.research.models.draft import Block, DraftSection, Statement, StatementVerdict, VerdictWord
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.ids import evidence_id
from graph_research.research.models.source import Source
from graph_research.text.document import text_hash

_GRAPH = "check_report"
_ROLE = "verification"


def verifying_models(workspace: Workspace, roles: Sequence[str] = ()) -> list[str]:
    """The models outside of this program that serve the role `verification`; none where code judges alone."""
    request = request_for(workspace, graph=_GRAPH, roles=roles)
    return [spec for spec in request.roles.get(_ROLE) or request.models if spec != EXTRACTIVE]


async def checked_by_model(
    workspace: Workspace,
    audit: Audit,
    written: Mapping[int, ReportSentence],
    documents: Mapping[str, LibraryDocument],
    roles: Sequence[str] = (),
) -> Audit:
    """The audit with the verdicts of a model on the sentences for which code found passages; `written` has them all by
    number, `documents` are by source id. A sentence on which the model gave none stays as code judged it."""
    evidence_of = {row.n: _evidence_of(row, documents) for row in audit.sentences}
    statements = {n: _statement(written[n].claim, found) for n, found in evidence_of.items() if found}
    evidence = [row for rows in evidence_of.values() for row in rows]
    used = {row.source_id: documents[row.source_id] for row in evidence}
    layouts = {name: orjson.dumps(row.document.layout()).decode() for name, row in used.items()}
    inputs = {
        "question": audit.title,
        "sections": [
            DraftSection(heading="", blocks=[Block(sentences=list(statements.values()))]).model_dump(mode="json")
        ],
        "evidence": list({row.id: row.model_dump(mode="json") for row in evidence}.values()),
        "sources": [_source(row, layouts[name]).model_dump(mode="json") for name, row in used.items()],
    }
    texts = {row.document.hash.removeprefix("sha256:"): row.document.text for row in used.values()}
    texts |= {text_hash(layout).removeprefix("sha256:"): layout for layout in layouts.values()}
    run_id = f"check-{secrets.token_hex(5)}"
    async with Application(workspace) as app:
        request = request_for(workspace, graph=_GRAPH, inputs=inputs, roles=roles, interactive=False)
        await app.create(request, run_id=run_id)
        await app.store.write(Write(run_id=run_id, texts=texts))
        async for _ in app.drive(run_id):
            pass
        state = await app.store.state(run_id)
    sentences = [_judged(row, written[row.n], statements.get(row.n), state) for row in audit.sentences]
    return audit.model_copy(update={"sentences": sentences, "counts": counts_of(sentences), "run_id": run_id})


def _statement(text: str, evidence: Sequence[Evidence]) -> Statement:
    return Statement(text=text, evidence_ids=[each.id for each in evidence])


def _evidence_of(row: AuditedSentence, documents: Mapping[str, LibraryDocument]) -> list[Evidence]:
    """The passages of a sentence, without those whose document is not at hand."""
    return [
        _evidence(quote, documents[quote.source_id].document.hash)
        for quote in row.passages
        if quote.source_id in documents
    ]


def _evidence(quote: AuditQuote, archive_hash: str) -> Evidence:
    return Evidence(
        id=evidence_id(archive_hash, quote.locator),
        source_id=quote.source_id,
        quote=quote.quote,
        locator=quote.locator,
        archive_hash=archive_hash,
    )


def _source(row: LibraryDocument, layout: str) -> Source:
    return Source(
        id=row.source_id,
        title=row.title,
        url=row.path,
        archive_hash=row.document.hash,
        layout_hash=text_hash(layout),
        characters=len(row.document.text),
    )


def _judged(
    row: AuditedSentence, written: ReportSentence, statement: Statement | None, state: Mapping[str, Any]
) -> AuditedSentence:
    """What the model says of a sentence; what it finds supported counts only where code finds its numbers and names. A
    row of a table that code found contradicted stays so, since label and header tell what its numbers are of."""
    said = {each["id"]: StatementVerdict.model_validate(each) for each in state.get("statement_verdicts") or []}
    problems = {each["id"]: each["problem"] for each in state.get("checks") or []}
    verdict = said.get(statement.id) if statement else None
    if statement is None or verdict is None:
        return row
    if written.cells and row.verdict is Verdict.CONTRADICTED:
        return row.model_copy(update={"model": verdict.model})
    if verdict.verdict is VerdictWord.SUPPORTED and not problems.get(statement.id):
        return row.model_copy(update={"verdict": Verdict.SUPPORTED, "reason": "", "model": verdict.model})
    reason = problems.get(statement.id) or verdict.reason
    new = Verdict.UNCLEAR if verdict.verdict is not VerdictWord.NOT else Verdict.NOT_FOUND
    new = Verdict.CONTRADICTED if row.verdict is Verdict.CONTRADICTED else new
    return row.model_copy(update={"verdict": new, "reason": reason, "model": verdict.model})
