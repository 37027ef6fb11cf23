"""Sentences of a report whose sources changed, mended by the model of the role `report`: a run of the graph
`mend_report`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson

from graph_research.app.application import Application
from graph_research.app.request import RunRequest
from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.models import build_model
from graph_research.app.workspace import Workspace
from graph_research.errors import GraphResearchError, UserMistake
from graph_research.graph.state.rows import Write
from graph_research.graph.statuses import CallStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.models.draft import Draft, DraftSection
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.source import Source
from graph_research.research.report.run_metadata import asks_outside
from graph_research.research.revision.mending import Mending, touched_sections, with_answers_of
from graph_research.research.revision.refreshed import Reread
from graph_research.research.revision.revise import State
from graph_research.text.document import text_hash

_GRAPH = "mend_report"
WRITING = "report"
"""The role whose model writes the sentences of a report."""
_REASON = "The passage that it rests on was changed in its source. Before, it read: "


def mending_models(request: RunRequest) -> list[str]:
    """The models outside of this process that write the report of a run."""
    return [spec for spec in request.roles.get(WRITING) or request.models if spec != EXTRACTIVE]


class WriterMissing(UserMistake):
    """The model that is to write sentences of a report anew cannot be asked."""

    def __init__(self, specs: Sequence[str], reason: str) -> None:
        help = "name another model, or the model extractive, which quotes the sources anew"
        super().__init__(f"sentences are written anew by {', '.join(specs)}: {reason}", help=help)


async def require_models(workspace: Workspace, request: RunRequest) -> None:
    """Raises `WriterMissing` where none of the models that write the report can be used, such as for want of a key."""
    specs, reasons = mending_models(request), []
    async with open_clients(workspace) as opened, opened.of_run() as clients:
        for spec in specs:
            try:
                build_model(spec, clients)
            except GraphResearchError as error:
                reasons.append(error.message)
    if len(reasons) == len(specs):
        raise WriterMissing(specs, reasons[0])


async def mended_by_model(
    workspace: Workspace,
    run_id: str,
    request: RunRequest,
    state: State,
    draft: Draft,
    mending: Mending,
    found: Mapping[str, Reread],
) -> tuple[Mending, int]:
    """The mending with the sentences that a model wrote in the place of quotations, and how many calls that took. Where
    the model gave none, the quotation stays; where no call was answered, `WriterMissing` is raised."""
    old = [Evidence.model_validate(row) for row in state.get("evidence") or []]
    sections = touched_sections(draft, mending, {row.id: row.quote for row in old})
    changed = {row.source_id for row in mending.evidence}
    texts: dict[str, str] = {}
    sources = [Source.model_validate(row) for row in state.get("sources") or []]
    sources = [_as_now(row, found[row.id], texts) if row.id in changed else row for row in sources]
    evidence = [*mending.evidence, *(row for row in old if row.source_id not in changed)]
    inputs = {
        "question": state["question"],
        "sections": [
            {
                "section": row.section.model_dump(mode="json"),
                "failing": [
                    {
                        "id": name,
                        "reason": _REASON + row.before[name],
                        "where": row.section.heading,
                        "cell": row.cells.get(name, ""),
                    }
                    for name in row.touched
                ],
            }
            for row in sections
        ],
        "evidence": [row.model_dump(mode="json") for row in evidence],
        "sources": [row.model_dump(mode="json") for row in sources],
        **{name: request.inputs[name] for name in ("report_options",) if request.inputs.get(name)},
    }
    mender = f"mend-{secrets.token_hex(5)}"
    asked = replace(
        request, graph=_GRAPH, question=None, inputs=inputs, search=(), library=(), interactive=False, economies=()
    )
    async with Application(workspace) as app:
        await app.create(asked, run_id=mender)
        await app.store.write(Write(run_id=mender, texts=texts, shares=run_id))
        async for _ in app.drive(mender):
            pass
        result, calls = await app.store.state(mender), await app.store.calls(mender)
    outside = sum(asks_outside(call) for call in calls if call.status == CallStatus.ANSWERED)
    failed = [call for call in calls if call.kind == CallKind.MODEL and call.status == CallStatus.FAILED]
    if failed and not outside:
        raise WriterMissing(mending_models(request), str(failed[0].answer["message"]))
    answered = {row["id"]: DraftSection.model_validate(row) for row in result.get("mended") or []}
    sentences = mending.sentences
    for row in sections:
        sentences = with_answers_of(sentences, row, answered.get(row.section.id) or row.section)
    mended = mending._replace(sentences=sentences)
    known = {row.id: row for row in [*mending.evidence, *map(Evidence.model_validate, result.get("evidence") or [])]}
    return mended._replace(evidence=[row for name, row in known.items() if name in mended.cited]), outside


def _as_now(source: Source, now: Reread, texts: dict[str, str]) -> Source:
    """The source with the text that it has now, which is added to `texts`; without pages, whose table no report has."""
    if now.document is None:
        return source
    layout = orjson.dumps(replace(now.document, pages=()).layout()).decode()
    named = {now.document.hash: now.document.text, text_hash(layout): layout}
    texts |= {name.removeprefix("sha256:"): text for name, text in named.items()}
    return source.model_copy(
        update={
            "archive_hash": now.document.hash,
            "layout_hash": text_hash(layout),
            "characters": len(now.document.text),
        }
    )
