"""Stored runs: where each stands, what it did, and how it is removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from graph_research.app.runs.archive import archive_error
from graph_research.app.runs.limits.budget import Budget, LimitReached, limit_reached
from graph_research.app.runs.research_state import research_state
from graph_research.app.store import Store, open_store, question_of, request_of
from graph_research.app.wiring.prices import prices_of
from graph_research.app.workspace import Workspace
from graph_research.errors import Action, Hint, check_name
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.errors import InputInvalid, StoreDamaged, UnknownRun
from graph_research.graph.events import InputRequested
from graph_research.graph.state.address import path_of
from graph_research.graph.state.rows import RunRow
from graph_research.graph.statuses import CallStatus, Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import decode, references
from graph_research.providers.llm.model_data import Prices
from graph_research.research.report.run_metadata import asks_outside, retries_of, usage_of
from graph_research.research.retrieval.fidelity import content_fidelity_of

ADOPTING_NODE = "adopt_plan"
"""The node of a graph before which a run waits with its plan."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """Where a run stands. `phase` is the one that runs or ran last, in a graph without phases the node. `interrupted`
    is true for a `running` one that no process drives, `pause` says why a paused one is so, `limit` is what ended an
    aborted one, `retries` counts requests that were sent again, `usage` what models outside of this process took so far
    by role and phase, `content_fidelity` how much of the sources models were shown, `archive_error` why the archive's
    files could not be written, empty where they were; times are ISO 8601."""

    run_id: str
    status: str
    cause: str | None
    error: str | None
    question: str
    graph: str
    phase: str | None
    iteration: int
    step: int
    sources: int
    findings: int
    interrupted: bool
    waiting_for: str | None
    pause: str | None
    limit: LimitReached | None
    retries: Sequence[Mapping[str, Any]]
    usage: Sequence[Mapping[str, Any]]
    content_fidelity: Mapping[str, Any]
    archive_error: str
    created_at: str
    updated_at: str


async def run_status(workspace: Workspace, run_id: str) -> RunSummary:
    """Where a run stands. `UnknownRun` where there is none."""
    check_name(run_id, "run id")
    async with open_store(workspace.home) as store:
        return await status_of(store, run_id, prices_of(workspace.settings))


async def list_runs(workspace: Workspace) -> list[dict[str, Any]]:
    """`{run_id, question, status, cause, graph, created_at, interrupted}` of every run, the newest first. One that is
    damaged in the store has an empty question, and what is wrong as `damaged`; it hides no other."""
    async with open_store(workspace.home) as store:
        return [await _listed(store, row) for row in await store.run_rows(None, None)]


async def _listed(store: Store, row: RunRow) -> dict[str, Any]:
    row_facts = {"run_id": row.run_id, "question": "", "status": row.status, "cause": row.cause, "graph": row.graph}
    created_at = datetime.fromtimestamp(row.created_at, UTC).isoformat()
    try:
        record = await store.run(row.run_id)
    except StoreDamaged as error:
        return {**row_facts, "created_at": created_at, "interrupted": False, "damaged": str(error)}
    interrupted = await _is_interrupted(store, record)
    return {**row_facts, "question": _question(record), "created_at": created_at, "interrupted": interrupted}


async def run_history(workspace: Workspace, run_id: str) -> list[dict[str, Any]]:
    """`{step, node, item, status, started_at, seconds, hash}` of every step; `node` is the path from the root."""
    check_name(run_id, "run id")
    async with open_store(workspace.home) as store:
        return [
            {
                "step": step.step,
                "node": step.path,
                "visit": step.visit,
                "item": step.item,
                "attempt": step.attempt,
                "status": step.status,
                "started_at": step.started_at.isoformat(),
                "seconds": step.seconds,
                "hash": step.hash,
            }
            for step in await store.steps(run_id)
        ]


async def delete_run(workspace: Workspace, run_id: str) -> None:
    """Remove a run with its audit log and crash marker. `RunBusy` while a process drives it."""
    check_name(run_id, "run id")
    async with open_store(workspace.home) as store:
        await store.delete(run_id)
    for file in (workspace.home.audit_file(run_id), workspace.home.crash_file(run_id)):
        file.unlink(missing_ok=True)


def waits_with_plan(record: RunRecord) -> bool:
    """Whether the run stands before the node that takes its plan up."""
    return record.status == RunStatus.PAUSED and ADOPTING_NODE in record.nodes


def pause_of(record: RunRecord) -> str | None:
    """Why a run pauses, in words; None where it does not."""
    if waits_with_plan(record):
        return "the run waits with its plan: approve it, or change it first"
    return f"the run pauses before {', '.join(record.nodes)}" if record.status == RunStatus.PAUSED else None


async def check_answered(store: Store, run_id: str, answer: str) -> None:
    """`InputInvalid` where a run has not asked for `answer`; the very one that it went on with may be given again."""
    record = await store.run(check_name(run_id, "run id"))
    was_given = record.status == RunStatus.COMPLETED and _is_among(answer.strip(), await _answers(store, run_id))
    if was_given or record.status == RunStatus.AWAITING_INPUT:
        return
    raise InputInvalid(
        f"run {run_id} is {record.status} and waits for no answer; nothing was done",
        help="go on without an answer",
        hint=Hint(Action.RESUME_RUN, run_id),
    )


def _is_among(answer: str, given: list[Any]) -> bool:
    """Whether the text is one of the answers, as it stands or as JSON."""
    try:
        return answer in given or orjson.loads(answer) in given
    except orjson.JSONDecodeError:
        return False


async def _answers(store: Store, run_id: str) -> list[Any]:
    """What the questions of a run were answered with."""
    asked = {(event.path, event.visit) for event in await store.events(run_id) if isinstance(event, InputRequested)}
    scopes = {row.scope for row in await store.step_rows(run_id, None)} if asked else set()
    updates = [
        row.delta
        for scope in scopes
        for row in await store.step_rows(run_id, scope)
        if row.delta is not None and (path_of(scope) + row.node, row.visit) in asked
    ]
    texts = await store.texts({name for data in updates for name in references(data)})
    return [value for data in updates for part in decode(data, texts).values() for value in part.values()]


async def waiting_for(store: Store, record: RunRecord) -> str | None:
    """What a run asks that waits for an answer, else None."""
    if record.status != RunStatus.AWAITING_INPUT:
        return None
    asked = [event for event in await store.events(record.run_id) if isinstance(event, InputRequested)]
    return str(asked[-1].question) if asked else ""


def run_error(record: RunRecord, limit: LimitReached | None, state: Mapping[str, Any]) -> str | None:
    """What went wrong in one line: the limit that ended the run, its error, or `metadata.synthesis_error` of the state:
    why a run that completed wrote no report."""
    if limit is not None:
        return limit.words
    metadata = state.get("metadata")
    unwritten = metadata.get("synthesis_error") if isinstance(metadata, Mapping) else None
    return error_text(record) or (f"the report could not be written: {unwritten}" if unwritten else None)


def error_text(record: RunRecord) -> str | None:
    """What went wrong in one line; None where nothing did but a cancellation, or the end of the time for the whole
    run, which the cause tells."""
    error = record.error
    if error is None or record.cause == Cause.CANCELLED or error.get("type") == "GraphTimeout":
        return None
    node = f"{error['node']}: " if error.get("node") else ""
    return f"{node}{error.get('message') or error.get('type') or 'unknown'}"


async def limit_of(
    store: Store, record: RunRecord, prices: Prices, *, spent: LimitReached | None = None
) -> LimitReached | None:
    """The limit that ended a stored run, None where it was none; `spent` is the budget that is known to be used up."""
    if record.cause not in (Cause.CANCELLED, Cause.TIMEOUT):
        return None
    try:
        request = request_of(record)
    except UnknownRun:
        return None
    if spent is None:
        budget = Budget(run_id=record.run_id, prices=prices, max_tokens=request.max_tokens, max_cost=request.max_cost)
        budget.count_recorded(await store.calls(record.run_id))
        spent = budget.spent()
    return await limit_reached(store, record, timeout_seconds=request.time_limit, spent=spent)


async def status_of(store: Store, run_id: str, prices: Prices) -> RunSummary:
    """Where a run of an open store stands."""
    record = await store.run(run_id)
    limit = await limit_of(store, record, prices)
    state = research_state(await store.state(run_id))
    answered = [call for call in await store.calls(run_id) if call.status == CallStatus.ANSWERED]
    return RunSummary(
        run_id=run_id,
        status=record.status,
        cause=record.cause,
        error=run_error(record, limit, state),
        question=_question(record),
        graph=record.graph,
        phase=state.get("phase") or (record.nodes[0] if record.nodes else None),
        iteration=state.get("iteration") or 1,
        step=record.step,
        sources=len(state.get("sources") or []),
        findings=len(state.get("findings") or []),
        interrupted=await _is_interrupted(store, record),
        waiting_for=await waiting_for(store, record),
        pause=pause_of(record),
        limit=limit,
        retries=[retry.to_json() for retry in retries_of(await store.events(run_id))],
        usage=[usage.model_dump(mode="json") for usage in usage_of(filter(asks_outside, answered), prices)],
        content_fidelity=content_fidelity_of(state, await _lengths(store, run_id, state)).to_json(),
        archive_error=await archive_error(store, run_id),
        created_at=record.created_at.isoformat(),
        updated_at=record.updated_at.isoformat(),
    )


async def _lengths(store: Store, run_id: str, state: Mapping[str, Any]) -> dict[str, int]:
    """The characters of the archived texts of sources that do not say them, by archive hash."""
    silent = {row["archive_hash"] for row in state.get("sources") or [] if not row.get("characters")}
    kept = await store.text_hashes(run_id) if silent else set()
    names = {name.removeprefix("sha256:"): name for name in silent}
    texts = await store.texts(kept & names.keys())
    return {names[name]: len(text) for name, text in texts.items()}


def goes_on(run: RunRecord | RunRow) -> bool:
    """Whether the run has not ended yet."""
    return run.status in (RunStatus.RUNNING, RunStatus.AWAITING_INPUT, RunStatus.PAUSED)


def _question(record: RunRecord) -> str:
    return question_of(record) or str(record.input.get("question") or "")


async def _is_interrupted(store: Store, record: RunRecord) -> bool:
    return record.status == RunStatus.RUNNING and not await is_driven(store, record.run_id)


async def is_new_fork(store: Store, run_id: str) -> bool:
    """Whether the run is a fork that was not driven yet."""
    last = await store.last_step(run_id)
    return last is not None and last.status == StepStatus.FORKED


async def is_driven(store: Store, run_id: str) -> bool:
    """Whether a process drives the run now; false where its lock cannot be taken at all."""
    try:
        return await store.is_driven(run_id)
    except StoreDamaged:
        return False
