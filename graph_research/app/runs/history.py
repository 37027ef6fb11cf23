"""Stored runs looked at and compared: one step with its state, two runs or steps against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.app.runs.research_state import research_state
from graph_research.app.runs.revisions import revised_state
from graph_research.app.runs.state_edits import at_path, keys_of
from graph_research.app.store import Store, open_store
from graph_research.app.workspace import Workspace
from graph_research.errors import Action, Hint, UserMistake, check_name
from graph_research.graph.checkpoint.records import CallRecord, StepRecord
from graph_research.graph.errors import InputInvalid
from graph_research.graph.history.state_diff import changes_between
from graph_research.graph.values.codec import decode, references
from graph_research.research.models.draft import stored_draft
from graph_research.research.revision.sentences import shown_text


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A run as it stood after a step. `state` is that of the graph the step belongs to, the root's or a subgraph's;
    `update` is what the step itself gave: by reducer and channel, or the output of a fan-out's item."""

    run_id: str
    step: int
    node: str
    visit: int
    item: int | None
    attempt: int
    status: str
    hash: str
    update: Any
    state: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What leads from run `old` to run `new`; both are `{run_id, step, status}`, with `version` where a version of the
    report is compared. `sentences` are those of the report by their texts. Calls are `{path, kind, asked}`."""

    old: Mapping[str, Any]
    new: Mapping[str, Any]
    state: Sequence[Mapping[str, Any]]
    claims: Sequence[Mapping[str, Any]]
    sentences: Sequence[Mapping[str, Any]]
    calls: Mapping[str, Any]


async def show_step(workspace: Workspace, run_id: str, step: int, path: str | None = None) -> Any:
    """The `Moment` after a step, or with a `path` one value of its state."""
    check_name(run_id, "run id")
    async with open_store(workspace.home) as store:
        moment = await _moment(store, run_id, step)
    return moment if path is None else at_path(moment.state, keys_of(path))


async def diff_runs(workspace: Workspace, old: str, new: str) -> Differences:
    """Compare two runs, steps of them (`RUN_ID@STEP`) or versions of their reports (`RUN_ID@vN`): their states, claims,
    sentences and calls."""
    async with open_store(workspace.home) as store:
        before, after = await _side(store, old), await _side(store, new)
    claims = changes_between(_claims(before.state), _claims(after.state))
    left, right = _counted(before.calls), _counted(after.calls)
    return Differences(
        old=before.facts,
        new=after.facts,
        state=[change.to_json() for change in changes_between(before.state, after.state)],
        claims=[change.to_json() for change in claims],
        sentences=[change.to_json() for change in changes_between(_sentences(before.state), _sentences(after.state))],
        calls={
            "same": sum((left & right).values()),
            "only_old": _calls_in(before.calls, left - right),
            "only_new": _calls_in(after.calls, right - left),
        },
    )


@dataclass(frozen=True, kw_only=True)
class _Side:
    facts: Mapping[str, Any]
    state: Mapping[str, Any]
    calls: Sequence[CallRecord]


async def _side(store: Store, name: str) -> _Side:
    run_id, at, number = name.partition("@")
    check_name(run_id, "run id")
    is_version, number = number.startswith("v"), number.removeprefix("v")
    if at and not (number.isascii() and number.isdigit()):
        raise InputInvalid(f"{name[:80]!r} is not RUN_ID@STEP or RUN_ID@vVERSION", help="such as tides@12 or tides@v2")
    record = await store.run(run_id)
    if is_version:
        state = await revised_state(store, run_id, int(number))
        facts = {"run_id": run_id, "step": record.step, "status": record.status, "version": int(number)}
        return _Side(facts=facts, state=state, calls=await store.calls(run_id))
    step = int(number) if at else record.step
    steps = [record for record in await store.steps(run_id) if record.step <= step]
    if step > record.step:
        raise _no_step(run_id, step, record.step)
    calls = await store.calls(run_id)
    if at:
        ended = {_place(record) for record in steps}
        calls = [call for call in calls if (call.path, call.visit, call.attempt) in ended]
    state = await store.state(run_id, step)
    return _Side(facts={"run_id": run_id, "step": step, "status": record.status}, state=state, calls=calls)


def _place(step: StepRecord) -> tuple[str, int, int]:
    item = "" if step.item is None else f"[{step.item}]"
    return f"{step.path}{item}", step.visit, step.attempt


def _claims(state: Mapping[str, Any]) -> dict[str, Any]:
    """Claims by their text: an id says nothing across two runs."""
    return {str(claim.get("text")): claim for claim in research_state(state).get("claims") or []}


def _sentences(state: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds of the report's sentences by their texts."""
    draft = stored_draft(research_state(state).get("draft") or {})
    return {shown_text(statement): statement.kind.value for statement in draft.statements()}


def _counted(calls: Sequence[CallRecord]) -> Counter[tuple[str, str]]:
    return Counter((call.kind, call.request_hash) for call in calls)


def _calls_in(calls: Sequence[CallRecord], left: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    rest = Counter(left)
    rows = []
    for call in calls:
        if rest[call.kind, call.request_hash] > 0:
            rest[call.kind, call.request_hash] -= 1
            rows.append({"path": call.path, "visit": call.visit, "kind": call.kind, "asked": _asked(call)})
    return rows


def _asked(call: CallRecord) -> Any:
    """What a reader knows the call by: its query, or which agent asked which model."""
    if not isinstance(call.request, Mapping):
        return call.request
    facts = {name: call.request[name] for name in ("agent", "model", "provider", "query") if name in call.request}
    return facts or dict(call.request)


async def _moment(store: Store, run_id: str, step: int) -> Moment:
    marks = await store.step_rows(run_id, None, after=step - 1, upto=step) if step >= 0 else []
    if not marks:
        raise _no_step(run_id, step, (await store.run(run_id)).step)
    scope = marks[0].scope
    row = (await store.step_rows(run_id, scope, after=step - 1, upto=step))[0]
    update = None if row.delta is None else decode(row.delta, await store.texts(references(row.delta)))
    records = [record for record in await store.steps(run_id) if record.step == step]
    return Moment(
        run_id=run_id,
        step=step,
        node=records[0].path if records else row.status,
        visit=row.visit,
        item=row.item,
        attempt=row.attempt,
        status=row.status,
        hash=row.hash.hex(),
        update=update,
        state=await store.state(run_id, step, scope),
    )


def _no_step(run_id: str, step: int, last: int) -> UserMistake:
    return InputInvalid(
        f"run {run_id} has no step {step}", help=f"its last is {last}", hint=Hint(Action.SHOW_STEPS, run_id)
    )
