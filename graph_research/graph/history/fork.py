"""Forks: a new run whose log begins with that of another run up to a step, with edited state or another definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_research.errors import Action, Hint
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.identity import definition
from graph_research.graph.definition.reduced_values import value_misfit
from graph_research.graph.errors import GraphChanged, HandoffInvalid, InputInvalid
from graph_research.graph.events import EventType, unpacked_events
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import Position, digest, joined
from graph_research.graph.state.rows import CallRow, RunRow, StepRow, Write
from graph_research.graph.statuses import CLEARS_FAILURES, RunStatus, StepStatus
from graph_research.graph.values.codec import duplicate, encode

_CLEARS_OR_ENDS = CLEARS_FAILURES | {StepStatus.TIMEOUT_UNHANDLED, StepStatus.CANCELLED_UNHANDLED}


@dataclass(frozen=True, kw_only=True)
class _ForkPoint:
    """Where a fork stands: a position of the root graph, and the steps whose updates lead there."""

    position: Position
    applied: Sequence[int]
    rows: Sequence[StepRow]


async def fork(
    store: Checkpointer,
    graph: Graph,
    parent: str,
    step: int | None,
    *,
    run_id: str,
    now: float,
    created_at: float | None = None,
    values: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Store the run `run_id`: it stands where `parent` stood after `step`, before the edges out of that step's node
    are tried, so that they see the edited `values` (whole channels). Nothing is run; it is paused, to be resumed.

    `step` None: it stands where `parent` was stopped, and goes on as `resume` of that would, but pauses again where
    that paused; it takes no `values` then.

    A step inside of a fan-out or a subgraph, or beside others, can be forked too: what had finished by then is kept.
    `now` and `created_at`, None: now, are in seconds since 1970; `metadata` None takes over the parent's. Raises
    `UnknownRun`, `RunExists`, `InputInvalid` for a step or a value that does not fit, `GraphChanged` where `graph`
    lacks a node it would stand on.
    """
    old = await store.run_row(parent)
    if step is None:
        place = await _standing_point(store, graph, old, values)
    else:
        place = await _fork_point(store, graph, old, step)
    last = place.rows[-1].step
    texts: dict[str, str] = {}
    edit = await _edit(store, graph, parent, last, values or {})
    data = encode({"replace": edit}, texts) if edit else None
    mark = _mark(place, last, data, now)
    stored, definition_texts = definition(graph)
    row = old._replace(
        run_id=run_id,
        graph=graph.spec.name,
        graph_hash=graph.hash,
        definition=stored,
        status=RunStatus.PAUSED,
        cause=None,
        error=None,
        metadata=old.metadata if metadata is None else encode(metadata, texts),
        waiting=None,
        created_at=now if created_at is None else created_at,
        updated_at=now,
        parent=parent,
    )
    steps = [*place.rows, mark]
    seq, events = await _events(store, parent, None if step is None else place.rows)
    first = Write(
        run_id=run_id,
        steps=steps,
        calls=_calls(await store.call_rows(parent, None), steps),
        last_seq=seq,
        events=events,
        texts={**texts, **definition_texts},
        snapshot=await store.snapshot(parent, "", last),
        shares=parent,
    )
    await store.create(row, first)


async def _ended_by_failures(store: Checkpointer, run: RunRow, step: int) -> bool:
    """Whether the run ended because of the failures up to `step`, so that the fork tries these nodes again."""
    after = await store.step_rows(run.run_id, None, after=step, upto=step + 1)
    return after[0].status in _CLEARS_OR_ENDS if after else run.status in (RunStatus.FAILED, RunStatus.ABORTED)


def _without_failure(row: StepRow) -> StepRow:
    """A failed row without its failure: the node is tried again."""
    return row._replace(delta=None) if row.status == StepStatus.FAILED and row.item is None else row


async def log_until(store: Checkpointer, run_id: str, step: int) -> list[StepRow]:
    """The whole update log of a run up to `step`, with the deltas and positions of every scope."""
    marks = await store.step_rows(run_id, None, upto=step)
    scopes = dict.fromkeys(mark.scope for mark in marks)
    rows = [row for scope in scopes for row in await store.step_rows(run_id, scope, upto=step)]
    return sorted(rows, key=lambda row: row.step)


async def _fork_point(store: Checkpointer, graph: Graph, run: RunRow, step: int) -> _ForkPoint:
    rows = await log_until(store, run.run_id, step)
    if step < 0 or not rows or rows[-1].step != step:
        last = await store.last_step(run.run_id)
        raise InputInvalid(
            f"run {run.run_id} has no step {step}",
            help=f"its last is {last.step if last else 0}",
            hint=Hint(Action.SHOW_STEPS, run.run_id),
        )
    if await _ended_by_failures(store, run, step):
        rows = [*map(_without_failure, rows)]
    root = [row for row in rows if not row.scope]
    left = root[-1].step == step and root[-1].node and root[-1].updates
    placed = [row for row in (root[:-1] if left else root) if row.position is not None]
    base = Position.from_bytes(placed[-1].position or b"", placed[-1].hash)
    ended = _ended(base, root)
    order = {name: place for place, name in enumerate(graph.spec.nodes)}
    _check_nodes(graph, run.run_id, base)
    if len(ended) < len(base.active) or _conflict(ended):
        return _ForkPoint(position=base._replace(applied=None), applied=(), rows=rows)
    ended.sort(key=lambda row: order[row.node])
    active = sorted(base.active, key=lambda active: order[active.node])
    position = Position(
        active=tuple(node.ended() for node in active),
        chain=joined(base.chain, [row.hash for row in ended]),
        loops=base.loops,
        join_arrivals=base.join_arrivals,
        interruption=base.interruption,
        abandoned=base.abandoned,
    )
    rows = [row._replace(position=None) if row.step == step else row for row in rows]
    return _ForkPoint(position=position, applied=[row.step for row in ended], rows=rows)


async def _standing_point(
    store: Checkpointer, graph: Graph, run: RunRow, values: Mapping[str, Any] | None
) -> _ForkPoint:
    last = await store.last_step(run.run_id)
    if last is None or run.status == RunStatus.COMPLETED or values:
        why = "has not begun" if last is None else "is completed" if not values else "may go back to an earlier state"
        raise InputInvalid(
            f"run {run.run_id} {why}", help="name a step to fork", hint=Hint(Action.SHOW_STEPS, run.run_id)
        )
    rows = await log_until(store, run.run_id, last.step)
    standing = next(row for row in reversed(rows) if not row.scope and row.position is not None)
    base = Position.from_bytes(standing.position or b"", standing.hash)
    _check_nodes(graph, run.run_id, base)
    if base.interruption is None and await _ended_by_failures(store, run, last.step):  # else it returns and clears them
        rows = [*map(_without_failure, rows)]
    return _ForkPoint(position=base.before_pauses()._replace(applied=None), applied=(), rows=rows)


def _ended(base: Position, root: Sequence[StepRow]) -> list[StepRow]:
    """The rows of the active nodes that have finished."""
    finished = {
        (row.node, row.visit): row
        for row in root
        if row.item is None and row.status == StepStatus.FINISHED and row.delta is not None
    }
    rows = [finished.get((active.node, active.visit)) for active in base.active if not active.done]
    return [row for row in rows if row is not None]


def _conflict(ended: Sequence[StepRow]) -> bool:
    """Whether two nodes of one step replaced the same channel, so that the run loop has to fail one of them."""
    channels = [name for row in ended for name in orjson.loads(row.delta or b"{}").get("replace", {})]
    return len(channels) != len(set(channels))


def _check_nodes(graph: Graph, run_id: str, base: Position) -> None:
    for active in base.active:
        if active.node not in graph.spec.nodes:
            raise GraphChanged(
                f'the fork of {run_id} would stand on node "{active.node}", which graph "{graph.spec.name}" lacks',
                help="fork another step, or put the node back",
            )


async def _edit(store: Checkpointer, graph: Graph, run_id: str, step: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """The channels that are set: those asked for, checked, and the defaults of those that are new in `graph`."""
    old = await store.state(run_id, step)
    values = duplicate(values) if graph.typed else values
    channels = graph.spec.channels
    for name, value in values.items():
        if name not in channels:
            raise InputInvalid(
                f'graph "{graph.spec.name}" has no channel "{name}"', help=f"channels are {', '.join(channels)}"
            )
        if reasons := graph.channels[name].misfits(value) or value_misfit(channels[name], value):
            raise InputInvalid(f'channel "{name}" cannot be set: {reasons}', help="give a value of its type")
    edit = {**{name: spec.default for name, spec in channels.items() if name not in old}, **values}
    try:
        return dict(graph.to_stored(edit, {}, graph.spec.start))
    except HandoffInvalid as problem:
        raise InputInvalid(f"a channel cannot be set: {problem.message}", help="give a value of its type") from problem


def _mark(place: _ForkPoint, step: int, data: bytes | None, now: float) -> StepRow:
    chain = place.position.chain if data is None else digest(place.position.chain, data)
    applied = [*place.applied, *(() if data is None else (step + 1,))]
    position = place.position._replace(chain=chain, applied=applied)
    return StepRow.of_graph(step + 1, "", StepStatus.FORKED, now, position, data)


def _calls(calls: Sequence[CallRow], steps: Sequence[StepRow]) -> list[CallRow]:
    """The journal of the attempts that had ended by then; calls of other attempts are inherited when they are made."""
    keys = {row.address.key for row in steps if row.node}
    return [call for call in calls if call.key in keys]


async def _events(store: Checkpointer, run_id: str, steps: Sequence[StepRow] | None) -> tuple[int, bytes | None]:
    """The events until those of the last of `steps`, as one batch, and the number of its last. Where that one's node
    is done and not left, the edges that were taken then are left out. None: all, but that the run ended."""
    if steps is None:
        told = [event for batch in await store.event_batches(run_id, 0) for event in unpacked_events(batch)]
        while told and told[-1]["type"] == EventType.RUN_ENDED:
            told.pop()
        return (told[-1]["seq"], orjson.dumps(told)) if told else (0, None)
    last = next((row for row in reversed(steps) if row.node), None)
    copied: list[dict[str, Any]] = []
    kept = 0
    for batch in await store.event_batches(run_id, 0):
        events = list(unpacked_events(batch))
        place = next((place for place, event in enumerate(events) if last is None or _is_end_of(event, last)), None)
        if place is not None:
            left = last is None or last.position is not None
            kept = len(copied) + (len(events) if left else place + 1)
        copied.extend(events)
        if last is None:
            break
    return (copied[kept - 1]["seq"], orjson.dumps(copied[:kept])) if kept else (0, None)


def _is_end_of(event: Mapping[str, Any], row: StepRow) -> bool:
    """Whether an event says that the node or item of a row ended."""
    ends = {EventType.NODE_FINISHED, EventType.NODE_FAILED} if row.item is None else {EventType.ITEM_FINISHED}
    path = Address(row.scope, row.node, row.visit).path
    return (
        event["type"] in ends
        and (event["path"], event["visit"]) == (path, row.visit)
        and (row.item is None or event.get("item") == row.item)
    )
