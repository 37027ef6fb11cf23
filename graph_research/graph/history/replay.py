"""Replaying a run offline: its graph runs again on recorded answers, in memory, and every step's hash is compared."""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, NamedTuple

import orjson

from graph_research.errors import GraphResearchError
from graph_research.graph.checkpoint.base import CallRow, Checkpointer, RunRow, StepRow, Write
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Clock, SystemClock
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import StoreDamaged
from graph_research.graph.execution.event_channel import EventChannel
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.node_result import Suspended, Unrecorded
from graph_research.graph.execution.run_loop import RunLoop
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.execution.step_writer import NewRun
from graph_research.graph.history.fork import log_until
from graph_research.graph.history.state_diff import apart, first_difference
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import Position
from graph_research.graph.state.statuses import FAILURES, CallStatus, Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import canonical, decode, references

__all__ = ["Difference", "Replayed", "replay"]

_UNHANDLED = {StepStatus.TIMEOUT_UNHANDLED: Cause.TIMEOUT, StepStatus.CANCELLED_UNHANDLED: Cause.CANCELLED}
_HANDLED = {StepStatus.TIMEOUT: Cause.TIMEOUT, StepStatus.CANCELLED: Cause.CANCELLED}

Failures = Mapping[str, Callable[[str], Exception]]
"""Makes the error of a call that failed, by the name of its class, from its message."""

_SHOWN_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first difference between a replay and the recorded run. `node` is the path from the root; `call` is the kind
    of the call that the journal does not hold, None where a step differs."""

    node: str
    visit: int
    item: int | None
    call: str | None
    difference: str


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """`steps` counts the steps that came out the same, `taken_over` those that a fork has from its parent's log."""

    steps: int
    identical: bool
    first_difference: Difference | None
    taken_over: int = 0

    def to_json(self) -> dict[str, Any]:
        """As `replay --json` prints it."""
        return asdict(self)


async def replay(
    store: Checkpointer,
    graph: Graph,
    run_id: str,
    *,
    interactive: bool = False,
    clock: Clock | None = None,
    failures: Failures | None = None,
) -> Replayed:
    """Run `graph` as the stored run did, with the answers, times and errors of its journal, up to where that run
    stands. No outside call is made and nothing is written to `store`. `interactive` as it was then.
    """
    row = await store.run_row(run_id)
    last = await store.last_step(run_id)
    log = await log_until(store, run_id, last.step if last else 0)
    start = max((place for place, step in enumerate(log) if step.status == StepStatus.FORKED), default=-1) + 1
    recorded = _RecordedRun(log[start:], row.status)
    scratch = _Scratch(store, recorded)
    channel = EventChannel()
    channel.close()
    session = RunSession(
        store=scratch, run_id=run_id, clock=clock or SystemClock(), interactive=interactive, event_channel=channel
    )
    session.seed = row.seed
    session.answer_source = _RecordedCalls(store, run_id, recorded, failures or {})
    session.replay = recorded
    session.answers = await _answers(store, graph, log)
    try:
        await _drive(scratch, recorded, session, graph, row, log[:start])
        if rest := recorded.left:
            recorded.differ(rest[0], "it was not reached")
        elif row.status == RunStatus.COMPLETED:
            await _compare_ends(scratch, recorded, log, run_id)
    except StoreDamaged:
        if recorded.first is None:
            raise
    return Replayed(
        steps=recorded.matched,
        identical=recorded.first is None,
        first_difference=recorded.first,
        taken_over=sum(bool(step.node) for step in log[:start]),
    )


class _Interruption(NamedTuple):
    """Where a graph run was interrupted: the step that says so, and the visits of nodes that this ended."""

    namespace: str
    step: int
    cause: Cause
    visits: Mapping[str, int]

    def ended(self, key: str) -> bool:
        """Whether the attempt with this key was part of what it ended."""
        if not key.startswith(self.namespace):
            return False
        node, visit = re.split(r"[:/\[~]", key[len(self.namespace) :], maxsplit=2)[:2]
        return self.visits.get(node) == int(visit)


class _Differs(StoreDamaged):
    """The replay differs from the recorded run: it ends here."""


class _RecordedRun:
    """The log of the run that is replayed (`execution.recorded_answers.Replay`), with the steps that are still to come.

    What interrupted the run is read from it: an attempt that did not end before the next interruption of a graph around
    it is not made, and the graph is interrupted when all that was recorded before has come.
    """

    def __init__(self, log: Sequence[StepRow], status: str) -> None:
        self._died = status == RunStatus.RUNNING
        self._standing = None if status == RunStatus.COMPLETED else _standing(log)
        self._attempts: defaultdict[str, deque[StepRow]] = defaultdict(deque)
        """By attempt the rows that say how it ended, and ended again after the run was resumed."""
        self._interruptions: defaultdict[str, deque[_Interruption]] = defaultdict(deque)
        """By graph run."""
        self._expiring: dict[str, int] = {}
        """By subgraph run whose node runs out of time the step that says so."""
        self._gave_up = {_address(step).key for step in log if step.item is None and step.status in FAILURES}
        for step in log:
            if _is_compared(step):
                self._attempts[_address(step).key].append(step)
        for interruption in _interruptions(log):
            self._interruptions[interruption.namespace].append(interruption)
        self.first: Difference | None = None
        self.matched = 0
        self._rows = 0

    @property
    def progress(self) -> tuple[int, int]:
        """Changes whenever the replay comes further."""
        return self._rows, sum(map(len, self._interruptions.values()))

    @property
    def left(self) -> Sequence[StepRow]:
        """The recorded steps of nodes that have not come yet, in their order."""
        rows = [step for rows in self._attempts.values() for step in rows if step.node]
        return sorted(rows, key=lambda step: step.step)

    def interruption(self, namespace: str) -> Cause | None:
        waiting = self._interruptions[namespace]
        if not waiting or not self._has_come(namespace, waiting[0].step):
            return None
        return waiting.popleft().cause

    def begin_attempt(self, address: Address, *, nested: bool) -> bool:
        end, namespace = self._end(address.key), f"{address.key}/"
        self._expiring.pop(namespace, None)
        steps = [end.step] if end is not None else []
        if nested:
            steps += self._steps_in(namespace)
        self._check(address, min(steps, default=None))
        expired = end is not None and end.status in FAILURES and _event_of(end) == Cause.TIMEOUT
        if expired and nested and end is not None:
            self._expiring[namespace] = end.step
        return expired

    def check_end(self, address: Address) -> None:
        end = self._end(address.key)
        self._check(address, None if end is None else end.step)

    def _check(self, address: Address, step: int | None) -> None:
        """Raise `Unrecorded` if an interruption came before the next recorded step of an attempt, or if there is none
        because the attempt was given up."""
        around = [waiting[0] for waiting in self._interruptions.values() if waiting]
        ending = [interruption.step for interruption in around if interruption.ended(address.key)]
        ending += [last for namespace, last in self._expiring.items() if address.namespace.startswith(namespace)]
        if step is not None:
            left = any(last < step for last in ending)
        else:
            left = not self.ended(address) and (bool(ending) or self._was_left(address))
        if left:
            raise Unrecorded(address.key)

    def in_order(self, items: Sequence[Address]) -> Sequence[Address]:
        def place(item: Address) -> float:
            within = re.compile(re.escape(item.key) + r"(?![^~/])")
            rows = (rows[0] for key, rows in self._attempts.items() if rows and within.match(key))
            return min((row.step for row in rows), default=math.inf)

        return sorted(items, key=place)

    def ended(self, address: Address) -> bool:
        """Whether the recorded attempt came to an end, ever."""
        return address.key in self._attempts

    def compare(self, step: StepRow) -> None:
        """Compare a step of the replay with the recorded one. Raises `_Differs`."""
        self._rows += bool(step.node) or step.status in (StepStatus.STARTED, StepStatus.PAUSED)
        if not _is_compared(step):
            return
        rows = self._attempts.get(_address(step).key)
        if not rows or rows[0].status != step.status:
            instead = "did not" if self.ended(_address(step)) else "never ran"
            raise self.differ(step, f"it {step.status} here, in the recorded run it {instead}")
        expected = rows.popleft()
        if expected.hash != step.hash:
            hashes = f"{step.hash.hex()[:12]} instead of {expected.hash.hex()[:12]}"
            raise self.differ(step, f"its hash is {hashes}: it changed the state in another way")
        self.matched += bool(step.node)

    def differ(self, at: StepRow | Address, difference: str, call: str | None = None) -> _Differs:
        """Note the first difference; the error ends the replay."""
        if self.first is None:
            address = _address(at) if isinstance(at, StepRow) else at
            node = address._replace(item=None).path or "the start"
            self.first = Difference(node=node, visit=at.visit, item=at.item, call=call, difference=difference)
        return _Differs(difference)

    def _end(self, key: str) -> StepRow | None:
        """The row that says how the attempt ended next."""
        rows = self._attempts.get(key)
        return rows[0] if rows else None

    def _was_left(self, address: Address) -> bool:
        """Whether an attempt that never ended was given up: its process died, the run stands there, or another item
        failed beside it or beside the subgraph that it is part of."""
        if self._died or (self._standing is not None and self._standing.ended(address.key)):
            return True
        keys = [f"{address.namespace[: match.start()]}" for match in re.finditer("/", address.namespace)]
        return any("[" in key.rpartition("/")[2] and self._item_left(key) for key in [*keys, address.key])

    def _item_left(self, key: str) -> bool:
        return key not in self._attempts and key.rpartition("[")[0] in self._gave_up

    def _has_come(self, namespace: str, before: int) -> bool:
        """Whether all that is recorded of a graph run before a step has come."""
        rows = (rows[0] for rows in self._attempts.values() if rows)
        return not any(row.step < before and row.scope.startswith(namespace) for row in rows)

    def _steps_in(self, namespace: str) -> list[int]:
        """The next steps of a subgraph run: of its attempts and what interrupts it."""
        rows = [rows[0].step for rows in self._attempts.values() if rows and rows[0].scope.startswith(namespace)]
        waiting = self._interruptions.items()
        return rows + [queue[0].step for key, queue in waiting if queue and key.startswith(namespace)]


class _Scratch(MemoryCheckpointer):
    """Holds the replay, and compares each of its steps with the recorded one as it comes."""

    def __init__(self, source: Checkpointer, recorded: _RecordedRun) -> None:
        super().__init__()
        self._source = source
        self._recorded = recorded

    async def write(self, write: Write) -> None:
        if self._recorded.first is not None:
            raise _Differs(self._recorded.first.difference)
        for step in write.steps:
            self._recorded.compare(step)
        await super().write(write)

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in hashes:
            try:
                found |= await super().texts([name])
            except StoreDamaged:
                found |= await self._source.texts([name])
        return found


class _RecordedCalls:
    """Gives the recorded answers of the replayed run; a call that its journal does not hold is a difference."""

    def __init__(self, store: Checkpointer, run_id: str, recorded: _RecordedRun, failures: Failures) -> None:
        self._store = store
        self._run_id = run_id
        self._recorded = recorded
        self._failures = failures

    async def recorded(self, key: str) -> Sequence[CallRow]:
        return await self._store.call_rows(self._run_id, key)

    async def refuse(self, address: Address, kind: str, request: Any, known: CallRow | None) -> None:
        if known is not None and known.status == CallStatus.FAILED and known.answer is not None:
            error = decode(known.answer, await self._store.texts(references(known.answer)))
            make = self._failures.get(error["type"])
            raise make(error["message"]) if make else type(error["type"], (GraphResearchError,), {})(error["message"])
        if known is not None:
            await asyncio.Event().wait()  # the handler ended without waiting for this call, and does so again
        near = min(await self._requests(address, kind), key=lambda one: apart(one, request), default=None)
        shown = f": {canonical(request).decode(errors='replace')[:_SHOWN_CHARS]}"
        if near is not None:
            shown = first_difference(near, request)
        raise self._recorded.differ(address, f"the journal holds no such call{shown}", call=kind)

    async def _requests(self, address: Address, kind: str) -> list[Any]:
        """The requests of the recorded attempt's calls of this kind."""
        rows = [row.request for row in await self.recorded(address.key) if row.kind == kind and row.request is not None]
        return [decode(data, await self._store.texts(references(data))) for data in rows]


async def _drive(
    scratch: _Scratch,
    recorded: _RecordedRun,
    session: RunSession,
    graph: Graph,
    row: RunRow,
    log: Sequence[StepRow],
) -> None:
    """Run from the start, or from where a fork began; then go on as often as the recorded run was resumed."""
    begun = row._replace(status=RunStatus.RUNNING, cause=None, error=None, waiting=None)
    run: GraphRun | None
    if log:
        await scratch.create(begun, Write(run_id=row.run_id))
        await MemoryCheckpointer.write(scratch, Write(run_id=row.run_id, steps=log))
        run = await _loaded(session, graph)
    else:
        given = decode(row.input, await scratch.texts(references(row.input)))
        run = await GraphRun.start(graph, session, given, root=NewRun(row=begun, texts={}))
    reached = None
    while run is not None and recorded.progress != reached:
        reached = recorded.progress
        with contextlib.suppress(Suspended, Unrecorded):
            await RunLoop(run).run()
        if not recorded.left and (run.ended or row.status != RunStatus.COMPLETED):
            return
        ended = run.ended
        run = await _loaded(session, graph)
        if ended:
            session.clear_failures()


async def _loaded(session: RunSession, graph: Graph) -> GraphRun | None:
    await session.recall()
    run = await GraphRun.load(graph, session, "")
    if run is None or not run.resumable:
        return None
    await run.rewind()
    return run


async def _compare_ends(scratch: _Scratch, recorded: _RecordedRun, log: Sequence[StepRow], run_id: str) -> None:
    """Beside the chain, the last position holds the loops as they were counted after the last node."""
    placed = [step for step in log if not step.scope and step.position is not None]
    reached = await scratch.last_position(run_id)
    if reached is None or reached.position is None or not placed:
        return
    here = Position.from_bytes(reached.position, reached.hash)
    there = Position.from_bytes(placed[-1].position or b"", placed[-1].hash)
    if (here.chain, here.loops) != (there.chain, there.loops):
        recorded.differ(reached, "another edge was taken after it, or a loop counted otherwise")


async def _answers(store: Checkpointer, graph: Graph, log: Sequence[StepRow]) -> dict[str, Any]:
    """What was answered to `ask` nodes, by the key of the node's visit."""
    answers: dict[str, Any] = {}
    for step in log:
        owner = _graph_of(graph, step.scope)
        spec = owner.spec.nodes.get(step.node) if owner else None
        if spec is None or spec.kind != "ask" or step.status != StepStatus.FINISHED or step.delta is None:
            continue
        delta = decode(step.delta, await store.texts(references(step.delta)))
        operands = {channel: value for part in delta.values() for channel, value in part.items()}
        answers[Address(step.scope, step.node, step.visit).key] = operands.get(spec.into)
    return answers


def _graph_of(graph: Graph, scope: str) -> Graph | None:
    """The graph of a subgraph run."""
    for part in scope.split("/")[:-1]:
        node = graph.spec.nodes.get(part.partition(":")[0])
        subgraph = graph.subgraphs.get(node.target or "") if node is not None else None
        if subgraph is None:
            return None
        graph = subgraph
    return graph


def _standing(log: Sequence[StepRow]) -> _Interruption | None:
    """The nodes that a run which has not completed stands at, at the end of its log."""
    for step in reversed(log):
        if not step.scope and step.position is not None:
            active = Position.from_bytes(step.position, step.hash).active
            return _Interruption("", step.step, Cause.ERROR, {one.node: one.visit for one in active if not one.done})
    return None


def _interruptions(log: Sequence[StepRow]) -> Iterator[_Interruption]:
    """Where a graph run was cancelled or out of time."""
    for place, step in enumerate(log):
        if step.node or step.position is None:
            continue
        status, position = StepStatus(step.status), Position.from_bytes(step.position, step.hash)
        if status in _HANDLED:
            yield _Interruption(step.scope, step.step, _HANDLED[status], position.abandoned)
        elif status in _UNHANDLED and (not step.scope or _was_noticed(step.scope, islice(log, place + 1, None))):
            visits = {active.node: active.visit for active in position.active}
            yield _Interruption(step.scope, step.step, _UNHANDLED[status], visits)


def _was_noticed(namespace: str, later: Iterable[StepRow]) -> bool:
    """Whether the node of a subgraph run that was out of time has failed for it; else the run went on after a crash."""
    for step in later:
        if step.scope.startswith(namespace):
            return False
        if f"{_address(step).key}/" == namespace:
            return True
    return False


def _is_compared(step: StepRow) -> bool:
    return bool(step.node) or step.status == StepStatus.STARTED


def _event_of(step: StepRow) -> str:
    return str(orjson.loads(step.delta or b"{}").get("event", Cause.ERROR))


def _address(step: StepRow) -> Address:
    return Address(step.scope, step.node, step.visit, step.item, step.attempt)
