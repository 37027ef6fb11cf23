"""A node with `each`: its items run side by side, each durable as it ends, and are joined to one update."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from graph_research.errors import GraphResearchError
from graph_research.graph.errors import NodeFailed
from graph_research.graph.events import ItemFinished
from graph_research.graph.execution.attempts import first_of, run_attempts
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.node_result import Failure, Suspended, Unrecorded
from graph_research.graph.execution.node_visit import FAILED, FINISHED, Child, GaveUp, NodeVisit
from graph_research.graph.messages import show_value
from graph_research.graph.state.reducers import Delta
from graph_research.graph.statuses import StepStatus


class _EndedItem(NamedTuple):
    """An item: its output or its failure, and the hash of either."""

    output: Any
    failure: Failure | None
    hash: bytes


def items_of(visit: NodeVisit) -> list[Any]:
    """What a node with `each` runs for. Raises `ExpressionFailed`, `NodeFailed`."""
    assert visit.program.each is not None
    items = visit.program.each.evaluate(visit.scope)
    if not isinstance(items, list):
        raise NodeFailed(f'node "{visit.spec.name}": `each` gave {show_value(items)}, which is not an array')
    return items


def _items_at_once(visit: NodeVisit) -> int:
    """How many items run at the same time: the node's number, or the value of the channel that it names."""
    at_once = visit.spec.at_once
    number = visit.scope.get(at_once) if isinstance(at_once, str) else at_once
    if type(number) is not int or number < 1:
        raise NodeFailed(f'node "{visit.spec.name}": `at_once` is "{at_once}", which is {show_value(number)}')
    return number


def item_scope(visit: NodeVisit, index: int, item: Any) -> Mapping[str, Any]:
    """What the expressions of one item see."""
    return {**visit.scope, visit.spec.item_name: item, "index": index}


async def finished_items(graph_run: GraphRun, child: Child) -> list[Delta]:
    """The updates of the items that have finished so far, one for each active node that has some; a node whose update
    cannot be made without its other items is left out."""
    deltas = []
    for active in graph_run.position.active:
        if active.done or graph_run.graph.programs[active.node].each is None:
            continue
        visit = NodeVisit(graph_run, child, active, await graph_run.rows_of(active))
        rows = (row for row in visit.earlier if row.status == FINISHED)
        finished = {row.item: row.delta for row in rows if row.item is not None and row.delta is not None}
        outputs = [await visit.session.value(finished[item]) for item in sorted(finished)]
        if outputs:
            with suppress(GraphResearchError):
                deltas.append(_joined(visit, outputs, []))
    return deltas


async def run_items(visit: NodeVisit) -> tuple[Delta, Sequence[bytes]]:
    """Run the items that have not ended: the update of all, and the hashes of their ends. Where one waits for a human,
    those that run beside it are brought to their ends. Raises `GaveUp`, `Suspended`."""
    items = items_of(visit)
    ended = await _ended_before(visit)
    left = [index for index in range(len(items)) if index not in ended]
    at_once = min(_items_at_once(visit), len(left))
    first_failed = None
    if (replay := visit.session.replay) is not None and left:
        addresses = [visit.address(index) for index in left]
        first_failed, ordered = replay.first_failed(addresses).item, replay.in_order(addresses)
        left, at_once = [address.item for address in ordered if address.item is not None], 1
    waiting, unrecorded, suspended = iter(left), list[Unrecorded](), dict[int, Suspended]()
    gave_up: dict[int | None, GaveUp] = {}

    async def work() -> None:
        for index in waiting:
            try:
                ended[index] = await _run_item(visit, index, items[index])
            except GaveUp as end:
                if replay is None:
                    raise
                gave_up[index] = end  # what ended beside it follows
            except Unrecorded as stop:
                unrecorded.append(stop)
            except Suspended as stop:
                suspended[index] = stop
            if suspended:
                return

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work())
    except BaseExceptionGroup as several:
        raise first_of(several) from None
    if gave_up:
        raise gave_up.get(first_failed) or next(iter(gave_up.values()))
    if suspended:
        raise suspended[min(suspended)]
    if unrecorded:
        raise unrecorded[0]
    in_order = [ended[index] for index in range(len(items))]
    errors = [
        {"index": index, "item": item, **end.failure.summary}
        for index, (item, end) in enumerate(zip(items, in_order, strict=True))
        if end.failure is not None
    ]
    outputs = [end.output for end in in_order if end.failure is None]
    return _joined(visit, outputs, errors), [end.hash for end in in_order]


def _joined(visit: NodeVisit, outputs: Sequence[Any], errors: Sequence[Mapping[str, Any]]) -> Delta:
    """The update of a node, made of what its items have given."""
    return visit.delta(visit.program.update({**visit.scope, "outputs": outputs, "errors": errors}))


async def _ended_before(visit: NodeVisit) -> dict[int, _EndedItem]:
    """The items that ended before the run was interrupted. The failure of one is that of the node, unless the node
    has failed since and is tried again."""
    ended = {}
    failed = (row.step for row in visit.earlier if row.item is None and row.status == FAILED)
    gave_up = max(failed, default=-1)
    for row in visit.earlier:
        if row.item is None or row.delta is None or row.status == StepStatus.RETRIED:
            continue
        value = await visit.session.value(row.delta)
        if row.status == FINISHED:
            ended[row.item] = _EndedItem(output=value, failure=None, hash=row.hash)
            continue
        failure = Failure.from_stored(value)
        if visit.spec.on_item_error == "keep_going":
            ended[row.item] = _EndedItem(output=None, failure=failure, hash=row.hash)
        elif row.step > gave_up:
            raise GaveUp(failure)
    return ended


async def _run_item(visit: NodeVisit, index: int, item: Any) -> _EndedItem:
    """Run one item to its end and store it. Raises `GaveUp` if its failure is that of the node."""
    clock, encode = visit.session.clock, visit.session.encode
    began = clock.monotonic()
    failure: Failure | None = None
    try:
        output, context = await run_attempts(visit, index, item_scope(visit, index, item), began)
        status, data = FINISHED, encode(output)
        hashed = data
    except GaveUp as end:
        assert end.context is not None
        output, context, failure = None, end.context, end.failure
        status, data, hashed = FAILED, encode(failure.stored), encode(failure.error)
    seconds = clock.monotonic() - began
    chain = visit.hash(index, hashed, *(visit.chains[index],) if index in visit.chains else ())
    calls, events = context.pending()
    if failure is not None:
        events.append(visit.failed_event(failure, index, context.attempt, retry=False))
    place = {"path": visit.path, "visit": context.visit, "node": visit.spec.name, "item": index}
    events.append({"type": ItemFinished.type, **place, "status": status, "seconds": seconds})
    row = visit.row(index, context.attempt, status, seconds, chain, data)
    await visit.graph_run.record(row, calls, events)
    if failure is not None and visit.spec.on_item_error == "fail":
        raise GaveUp(failure)
    return _EndedItem(output=output, failure=failure, hash=chain)
