"""A node with `each`: its items run side by side, each durable as it ends, and are joined to one update."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from graph_research.errors import GraphResearchError
from graph_research.graph.errors import NodeFailed
from graph_research.graph.events import ItemFinished
from graph_research.graph.execution.attempts import first_of, run_attempts
from graph_research.graph.execution.journal import JournalContext
from graph_research.graph.execution.node_result import Failure, Suspended, Unrecorded
from graph_research.graph.execution.node_visit import GaveUp, NodeVisit
from graph_research.graph.execution.recorded_answers import Replay
from graph_research.graph.state.reducers import Delta
from graph_research.graph.state.statuses import StepStatus
from graph_research.graph.values.codec import encode


class _EndedItem(NamedTuple):
    """An item: its output or its failure, and the hash of either."""

    output: Any
    failure: Failure | None
    hash: bytes


def items_of(visit: NodeVisit) -> list[Any]:
    """What a node with `each` runs for. Raises `GuardFailed`, `NodeFailed`."""
    assert visit.program.each is not None
    items = visit.program.each.evaluate(visit.scope)
    if not isinstance(items, list):
        raise NodeFailed(f'node "{visit.spec.name}": `each` gave {items!r:.80}, which is not an array')
    return items


def items_at_once(visit: NodeVisit) -> int:
    """How many items run at the same time: the node's number, or the value of the channel that it names."""
    at_once = visit.spec.at_once
    number = visit.scope.get(at_once) if isinstance(at_once, str) else at_once
    if type(number) is not int or number < 1:
        raise NodeFailed(f'node "{visit.spec.name}": `at_once` is "{at_once}", which is {number!r:.80}')
    return number


def item_scope(visit: NodeVisit, index: int, item: Any) -> Mapping[str, Any]:
    """What the expressions of one item see."""
    return {**visit.scope, visit.spec.item_name: item, "index": index}


async def finished_items(visit: NodeVisit) -> Delta | None:
    """The update of the items that have finished so far; None if there are none, or if the update cannot be made
    without the others."""
    finished: dict[int, bytes] = {}
    for row in visit.earlier:
        if row.item is not None and row.delta is not None and row.status == StepStatus.FINISHED:
            finished[row.item] = row.delta
    outputs = [await visit.session.value(finished[item]) for item in sorted(finished)]
    if not outputs:
        return None
    try:
        return visit.delta(visit.program.update({**visit.scope, "outputs": outputs, "errors": []}))
    except GraphResearchError:
        return None


class FanOut:
    """Runs the items of one visit."""

    def __init__(self, visit: NodeVisit) -> None:
        self._visit = visit
        self._suspended: dict[int, Suspended] = {}

    async def run(self) -> tuple[Delta, Sequence[bytes]]:
        """The update of all items, and the hashes of their ends. Raises `GaveUp`, `Suspended`."""
        items = items_of(self._visit)
        ended = await self._ended_before()
        left = [index for index in range(len(items)) if index not in ended]
        at_once = min(items_at_once(self._visit), len(left))
        if (replay := self._visit.session.replay) is not None and left:
            left, at_once = self._in_recorded_order(replay, left), 1
        waiting, unrecorded = iter(left), list[Unrecorded]()

        async def work() -> None:
            for index in waiting:
                try:
                    ended[index] = await self._run_item(index, items[index])
                except Unrecorded as stop:
                    unrecorded.append(stop)
                if self._suspended:
                    return

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(self._guarded(work))
        except BaseExceptionGroup as several:
            raise first_of(several) from None
        if self._suspended:
            raise self._suspended[min(self._suspended)]
        if unrecorded:
            raise unrecorded[0]
        return self._joined(items, [ended[index] for index in range(len(items))])

    def _in_recorded_order(self, replay: Replay, items: Sequence[int]) -> list[int]:
        ordered = replay.in_order([self._visit.address(item) for item in items])
        return [address.item for address in ordered if address.item is not None]

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """When an item has to wait for a human, those that run beside it are brought to their ends."""
        try:
            await work()
        except Suspended as stop:
            inside = stop.key[len(self._visit.graph_run.namespace) :]
            self._suspended[int(inside.partition("[")[2].partition("]")[0])] = stop

    def _joined(self, items: Sequence[Any], ended: Sequence[_EndedItem]) -> tuple[Delta, Sequence[bytes]]:
        errors = [
            {"index": index, "item": item, **end.failure.summary}
            for index, (item, end) in enumerate(zip(items, ended, strict=True))
            if end.failure is not None
        ]
        outputs = [end.output for end in ended if end.failure is None]
        update = self._visit.program.update({**self._visit.scope, "outputs": outputs, "errors": errors})
        return self._visit.delta(update), [end.hash for end in ended]

    async def _ended_before(self) -> dict[int, _EndedItem]:
        """The items that ended before the run was interrupted. The failure of one is that of the node, unless the node
        has failed since and is tried again."""
        ended = {}
        earlier = self._visit.earlier
        failed = (row.step for row in earlier if row.item is None and row.status == StepStatus.FAILED)
        gave_up = max(failed, default=-1)
        for row in earlier:
            if row.item is None or row.delta is None or row.status == StepStatus.RETRIED:
                continue
            value = await self._visit.session.value(row.delta)
            if row.status == StepStatus.FINISHED:
                ended[row.item] = _EndedItem(output=value, failure=None, hash=row.hash)
                continue
            failure = Failure.from_stored(value)
            if self._visit.spec.on_item_error == "keep_going":
                ended[row.item] = _EndedItem(output=None, failure=failure, hash=row.hash)
            elif row.step > gave_up:
                raise GaveUp(failure)
        return ended

    async def _run_item(self, index: int, item: Any) -> _EndedItem:
        clock, scope = self._visit.session.clock, item_scope(self._visit, index, item)
        began = clock.monotonic()
        try:
            output, context = await run_attempts(self._visit, index, scope, began)
        except GaveUp as end:
            assert end.context is not None
            ended = await self._end_item(end.context, None, end.failure, clock.monotonic() - began)
            if self._visit.spec.on_item_error == "fail":
                raise GaveUp(end.failure) from end
            return ended
        return await self._end_item(context, output, None, clock.monotonic() - began)

    async def _end_item(
        self, context: JournalContext, output: Any, failure: Failure | None, seconds: float
    ) -> _EndedItem:
        visit, item = self._visit, context.item
        texts: dict[str, str] = {}
        data = encode(output if failure is None else failure.error, texts)
        hashed = visit.hash(item, data, *(visit.chains[item],) if item in visit.chains else ())
        status = StepStatus.FINISHED
        calls, events = context.pending()
        if failure is not None:
            status, data = StepStatus.FAILED, encode(failure.stored, texts)
            events.append(visit.failed_event(failure, item, context.attempt, retry=False))
        place = {"path": visit.path, "visit": context.visit, "node": visit.spec.name, "item": item}
        events.append({"type": ItemFinished.type, **place, "status": status, "seconds": seconds})
        row = visit.row(item, context.attempt, status, seconds, hashed, data)
        await visit.graph_run.writer.record(row, calls, events, texts)
        return _EndedItem(output=output, failure=failure, hash=hashed)
