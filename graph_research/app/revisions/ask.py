"""A further question to a finished research: a run of the graph `follow_up` over its archive, whose answer joins the
report as a section."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graph_research.app.application import Application
from graph_research.app.request import NO_LIMITS, RequestLimits, RunRequest, valid_text, with_limits
from graph_research.app.revisions.changes import Revised, latest, save, timestamp
from graph_research.app.runs.imported import FOLLOW_UP_OF, inherited, refuse_foreign
from graph_research.app.runs.revisions import stored_revisions
from graph_research.app.runs.status import error_text
from graph_research.app.store import Store, metadata_of, request_of
from graph_research.errors import GraphResearchError, check_name
from graph_research.graph.checkpoint.records import CallRecord, RunRecord
from graph_research.graph.context import Clock
from graph_research.graph.errors import InputInvalid, UnknownRun
from graph_research.graph.events import Event
from graph_research.graph.state.rows import Write
from graph_research.graph.statuses import CallStatus, RunStatus
from graph_research.providers.call_kind import CallKind
from graph_research.research.models.draft import Draft, DraftSection, StatementVerdict, Writer, stored_draft
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Finding
from graph_research.research.models.source import Source
from graph_research.research.report.run_metadata import asks_outside
from graph_research.research.revision.model import Exclusion, FollowUp, Refresh, Revision, holding
from graph_research.research.revision.revise import State, revised, with_added
from graph_research.research.revision.sentences import cited_evidence, without_evidence

GRAPH = "follow_up"
_MOST_CHARS = 5_000
_ID_CHARS = 50
_HASH_CHARS = 12
_DEEPEST = 3

OnEvent = Callable[[Event], None]


class FollowUpFailed(GraphResearchError):
    """The run that answers a further question did not complete."""


class FollowUpAborted(FollowUpFailed):
    """It was cancelled, or reached a limit of time or budget."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The new version of the report, the run that answered, and how often a search was asked; `revised.calls` counts
    models outside of this process too."""

    revised: Revised
    run_id: str
    searches: int

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {**self.revised.to_json(), "follow_up": self.run_id, "searches": self.searches}


async def ask(
    app: Application,
    run_id: str,
    question: str,
    *,
    accept_changes: bool = False,
    limits: RequestLimits = NO_LIMITS,
    on_event: OnEvent | None = None,
    clock: Clock | None = None,
) -> Answered:
    """Answer a further question from the archive of a run, search for the parts that no archived text answers, and
    make a version of the report with the answer as a section. Asked again after an interruption, it goes on where it
    stopped. `limits` are `(max_cost, max_tokens, timeout_seconds)`."""
    await latest(app.workspace, app.store, check_name(run_id, "run id"))
    follow_up = await create_follow_up(app, run_id, question, accept_changes=accept_changes, limits=limits)
    if (await app.store.run(follow_up)).status != RunStatus.COMPLETED:
        max_cost, max_tokens, timeout = limits
        drive = app.drive(
            follow_up,
            accept_changes=accept_changes,
            max_cost=max_cost,
            max_tokens=max_tokens,
            timeout_seconds=timeout,
        )
        async with aclosing(drive) as events:
            await _watch(events, on_event)
    return await join_follow_up(app, follow_up, clock=clock)


async def follows_up(store: Store, run_id: str) -> str | None:
    """The id of the research that a run answers a further question to and has not joined yet; None of any other."""
    parent = (await store.run(run_id)).metadata.get(FOLLOW_UP_OF)
    if parent is None:
        return None
    joined = any(isinstance(row, FollowUp) and row.run_id == run_id for row in await stored_revisions(store, parent))
    return None if joined else str(parent)


async def join_follow_up(app: Application, follow_up: str, *, clock: Clock | None = None) -> Answered:
    """Make a version of the report that a run was a further question to, with its answer as a section.
    `FollowUpFailed`, or `FollowUpAborted`, where the run did not complete."""
    store = app.store
    record = await store.run(follow_up)
    if record.status != RunStatus.COMPLETED:
        error = FollowUpAborted if record.status == RunStatus.ABORTED else FollowUpFailed
        why = error_text(record) or record.cause
        raise error(
            f"run {follow_up}, which answers the question, ended {record.status}{f' ({why})' if why else ''}",
            help="ask again, and it goes on",
        )
    run_id, question = record.metadata[FOLLOW_UP_OF], record.input["question"]
    old = await latest(app.workspace, store, run_id)
    await store.write(Write(run_id=run_id, shares=follow_up))
    excluded = _excluded(holding(await stored_revisions(store, run_id)))
    revision = _revision(await store.state(follow_up), follow_up, question, excluded, timestamp(clock))
    searches, models = _asked(await store.calls(follow_up))
    revised = await save(app.workspace, store, old, revision, calls=searches + models)
    return Answered(revised=revised, run_id=follow_up, searches=searches)


def _excluded(revisions: Iterable[Revision]) -> set[str]:
    """The ids of the sources that are left out."""
    return {row.source_id for row in revisions if isinstance(row, Exclusion)}


async def _watch(events: AsyncIterator[Event], on_event: OnEvent | None) -> None:
    async for event in events:
        if on_event:
            on_event(event)


def _checked(question: str) -> str:
    question = question.strip()
    if not question or len(question) > _MOST_CHARS or not valid_text(question):
        raise InputInvalid(f"a question is a text of 1 to {_MOST_CHARS:,} characters")
    return question


async def create_follow_up(
    app: Application,
    run_id: str,
    question: str,
    *,
    follow_up: str | None = None,
    accept_changes: bool = False,
    limits: RequestLimits = NO_LIMITS,
    created_at: datetime | None = None,
) -> str:
    """Store the run `follow_up` that will answer a further question, and return its id; without one the run that this
    research has of this question for this version, created where there is none. `created_at` is as for
    `Application.create`."""
    question = _checked(question)
    store = app.store
    record = await store.run(run_id)
    revisions = await stored_revisions(store, run_id)
    version = len(revisions) + 1
    if follow_up is None:
        follow_up, is_there = await _id_for(store, run_id, question, version)
        if is_there:
            return follow_up
    held = holding(revisions)
    outdated = {name for row in held if isinstance(row, Refresh) for name in row.source_ids}
    excluded, state = _excluded(held), await store.state(run_id)
    archive = [row for row in revised(state, held, {}).get("sources") or [] if row["id"] not in outdated]
    left_out = [row for row in with_added(state, revisions).get("sources") or [] if row["id"] in excluded]
    request = with_limits(_request(request_of(record), question, archive, left_out), *limits)
    if not accept_changes:
        refuse_foreign(record, request)
    async with app.prepared(request, run_id=follow_up) as run:
        metadata = {**metadata_of(run.request), **inherited(record), FOLLOW_UP_OF: run_id}
        await run.runtime().create(run.input(), run_id=follow_up, metadata=metadata, created_at=created_at)
    await store.write(Write(run_id=follow_up, shares=run_id))
    return follow_up


async def _id_for(store: Store, run_id: str, question: str, version: int) -> tuple[str, bool]:
    """An id that tells the question's place among the versions, and whether its run is there already."""
    base, number = f"{_shortened(run_id)}-ask-{version + 1}", 1
    while (existing := await _run_at(store, chosen := base if number == 1 else f"{base}-{number}")) is not None:
        if (existing.metadata.get(FOLLOW_UP_OF), existing.input.get("question")) == (run_id, question):
            return chosen, True
        number += 1
    return chosen, False


def _shortened(run_id: str) -> str:
    """The run id, or its beginning with a hash of the whole where the id of a follow-up would be too long."""
    if len(run_id) <= _ID_CHARS:
        return run_id
    digest = hashlib.sha256(run_id.encode()).hexdigest()[:_HASH_CHARS]
    return f"{run_id[: _ID_CHARS - _HASH_CHARS - 1]}-{digest}"


async def _run_at(store: Store, run_id: str) -> RunRecord | None:
    try:
        return await store.run(run_id)
    except UnknownRun:
        return None


def _request(
    request: RunRequest, question: str, archive: list[dict[str, Any]], left_out: list[dict[str, Any]]
) -> RunRequest:
    """What the run is asked for: models, searches and library as those of the research."""
    options: Mapping[str, Any] = request.inputs.get("report_options") or {}
    taken = ("max_concurrent", "max_sources_per_query", "source_types", "system_prompt")
    inputs = {name: request.inputs[name] for name in taken if request.inputs.get(name) is not None}
    return replace(
        request,
        graph=GRAPH,
        definition=None,
        question=None,
        inputs={
            **inputs,
            "question": question,
            "report_options": {"type": "report", "language": None, "audience": None, **options, "length": "brief"},
            "archive": archive,
            **({"left_out": left_out} if left_out else {}),
        },
        economies=(),
        skipped=(),
        interactive=False,
        pause_before=(),
        steps=False,
    )


def _revision(state: State, run_id: str, question: str, excluded: set[str], at: str) -> FollowUp:
    evidence = {row["id"]: Evidence.model_validate(row) for row in state.get("evidence") or []}
    gone = {name for name, row in evidence.items() if row.source_id in excluded}
    quotes = {name: row.quote for name, row in evidence.items() if name not in gone}
    draft = without_evidence(stored_draft(state.get("draft") or {}), quotes, gone, ())
    sections = _sections(draft, question)
    named = {name for section in sections for row in section.statements() for name in cited_evidence(row)}
    findings = [Finding.model_validate(row) for row in state.get("findings") or []]
    findings = [row for row in findings if named.intersection(row.evidence_ids) and not gone & {*row.evidence_ids}]
    named |= {name for finding in findings for name in finding.evidence_ids}
    disputed = _disputed(state, named, gone)
    named |= {name for row in disputed for side in row.sides for name in side.evidence_ids}
    used = [row for name, row in evidence.items() if name in named]
    behind = {row.source_id for row in used}
    written = {row.id for section in sections for row in section.statements()}
    verdicts = [StatementVerdict.model_validate(row) for row in state.get("statement_verdicts") or []]
    return FollowUp(
        what=question,
        at=at,
        run_id=run_id,
        sections=sections,
        sources=[Source.model_validate(row) for row in state.get("sources") or [] if row["id"] in behind],
        evidence=used,
        findings=findings,
        contradictions=disputed,
        verdicts=[row for row in verdicts if row.id in written],
    )


def _disputed(state: State, named: set[str], gone: set[str]) -> list[Contradiction]:
    """The contradictions of which a side rests on evidence that is `named`, and none on what is gone."""
    rows = [Contradiction.model_validate(row) for row in state.get("contradictions") or []]
    ids = {row.id: {name for side in row.sides for name in side.evidence_ids} for row in rows}
    return [row for row in rows if ids[row.id] & named and not ids[row.id] & gone]


def _sections(draft: Draft, question: str) -> list[DraftSection]:
    """The answer under the question as heading, the sections that a model wrote a level below; quotations that code
    put into sections only where there is no answer above them."""
    blocks = [*draft.summary, *draft.conclusions]
    below = [row for row in draft.sections if row.writer is Writer.MODEL or not blocks]
    first = DraftSection(heading=question, level=1, blocks=blocks)
    return [first, *(row.model_copy(update={"level": min(row.level + 1, _DEEPEST), "id": ""}) for row in below)]


def _asked(calls: list[CallRecord]) -> tuple[int, int]:
    """How many searches and how many models outside of this process were asked."""
    answered = [call for call in calls if call.status == CallStatus.ANSWERED]
    return sum(call.kind == CallKind.SEARCH for call in answered), sum(map(asks_outside, answered))
