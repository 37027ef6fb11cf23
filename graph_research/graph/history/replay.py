"""Replaying a run offline: its graph runs again on recorded answers, in memory, and every step's hash is compared."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter, defaultdict, deque
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
from graph_research.graph.execution.node_result import Suspended
from graph_research.graph.execution.run_loop import RunLoop
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.execution.step_writer import NewRun
from graph_research.graph.history.fork import log_until
from graph_research.graph.history.state_diff import apart, first_difference
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import Position
from graph_research.graph.state.statuses import CallStatus, Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import canonical, decode, references

__all__ = ["Difference", "Replayed", "replay"]

_UNHANDLED = {StepStatus.TIMEOUT_UNHANDLED: Cause.TIMEOUT, StepStatus.CANCELLED_UNHANDLED: Cause.CANCELLED}
_HANDLED = frozenset({StepStatus.TIMEOUT, StepStatus.CANCELLED})

Failures = Mapping[str, Callable[[str], Exception]]
"""Makes the error of a call that failed, by the name of its class, from its message."""

_STALLED_SECONDS = 30.0
_SHOWN_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where a replay left the recorded way. `node` is the path from the root; `call` is the kind of the call that the
    journal does not hold, None where a step differs."""

    node: str
    visit: int
    item: int | None
    call: str | None
    difference: str


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """`steps` counts those that came out the same, `taken_over` those that a fork has from its parent's log."""

    steps: int
    identical: bool
    first_difference: Difference | None
    taken_over: int = 0

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON."""
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
    stands. Nothing is asked of the outside and nothing is written to `store`. `interactive` as it was then.
    """
    row = await store.run_row(run_id)
    last = await store.last_step(run_id)
    log = await log_until(store, run_id, last.step if last else 0)
    start = max((place for place, step in enumerate(log) if step.status == StepStatus.FORKED), default=-1) + 1
    scratch = _Scratch(store, log[start:], row.status)
    session = RunSession(
        store=scratch, run_id=run_id, clock=clock or SystemClock(), interactive=interactive, event_channel=_closed()
    )
    session.seed = row.seed
    session.answer_source = session.recorded_interruptions = _Recorded(store, run_id, scratch, failures or {})
    session.answers = await _answers(store, graph, log)
    work = _drive(scratch, session, graph, row, log[:start])
    await _driven(scratch, work, ended=row.status == RunStatus.COMPLETED)
    if scratch.first is None and row.status == RunStatus.COMPLETED:
        await _compare_ends(scratch, log, run_id)
    return Replayed(
        steps=scratch.matched,
        identical=scratch.first is None,
        first_difference=scratch.first,
        taken_over=sum(bool(step.node) for step in log[:start]),
    )


class _Cut(NamedTuple):
    """Where a graph run was interrupted: the step that tells, and the visits of nodes that this ended."""

    scope: str
    step: int
    cause: Cause
    visits: Mapping[str, int]

    def holds(self, step: StepRow) -> bool:
        """Whether `step` is part of what this ended."""
        if not step.scope.startswith(self.scope):
            return False
        within = _address(step).key[len(self.scope) :]
        node, visit = re.split(r"[:/\[~]", within, maxsplit=2)[:2]
        return self.visits.get(node) == int(visit)

    def reaches(self, step: StepRow) -> bool:
        """The same, but for the end of a node that ran alone: from there the graph is on its way to the next one."""
        alone = (
            step.scope == self.scope
            and step.item is None
            and step.status != StepStatus.RETRIED
            and len(self.visits) == 1
        )
        return not alone and self.holds(step)


class _Left(StoreDamaged):
    """The replay has left the recorded way: it ends here."""


class _Scratch(MemoryCheckpointer):
    """Holds the replay, and compares each of its steps with the recorded one as it comes."""

    def __init__(self, source: Checkpointer, recorded: Sequence[StepRow], status: str) -> None:
        super().__init__()
        self._source = source
        self._died = status == RunStatus.RUNNING
        self._stands = None if status == RunStatus.COMPLETED else _standing(recorded)
        self._expected = dict(_numbered(step for step in recorded if step.node or step.status == StepStatus.STARTED))
        self._addresses = {tuple(_address(step)) for step in self._expected.values()}
        self._come: Counter[tuple[Any, ...]] = Counter()
        self._cuts: defaultdict[str, deque[_Cut]] = defaultdict(deque)
        """By graph run where it was interrupted."""
        self._loops: dict[str, Callable[[Cause], None]] = {}
        self._cancelled_here: dict[str, Callable[[Cause], None]] = {}
        """Those that were interrupted, until they have come to the row that tells."""
        self._fences: dict[str, tuple[int, asyncio.Timeout]] = {}
        """By graph run that ran out of its node's time the step that tells, and what ends it."""
        for cut in _cuts(recorded):
            self._cuts[cut.scope].append(cut)
        self.first: Difference | None = None
        self.matched = 0
        self.over = asyncio.Event()
        self.look()

    @property
    def left(self) -> Sequence[StepRow]:
        """The recorded steps that have not come yet."""
        return [step for step in self._expected.values() if step.node]

    def ended(self, address: Address) -> bool:
        """Whether the recorded attempt came to an end."""
        return tuple(address) in self._addresses

    async def ran_out(self, address: Address) -> int | None:
        """The step that tells that the recorded attempt came to the end of its time; None if it did not."""
        for step in self._expected.values():
            failed = step.status in (StepStatus.FAILED, StepStatus.RETRIED) and step.delta is not None
            if failed and tuple(_address(step)) == tuple(address):
                return step.step if orjson.loads(step.delta or b"{}").get("event") == Cause.TIMEOUT else None
        return None

    def expire(self, scope: str, step: int, fence: asyncio.Timeout) -> None:
        """Let the time of a subgraph run be over when all that is recorded of it before `step` has come."""
        self._fences[scope] = (step, fence)
        self.look()

    def follow(self, scope: str, interrupt: Callable[[Cause], None]) -> None:
        """Let the recorded run's interruptions of this graph run reach it."""
        self._loops[scope] = interrupt
        for interrupted, cut in self.look():
            interrupted(cut.cause)

    def differ(self, at: StepRow | Address, difference: str, call: str | None = None) -> _Left:
        """Note the first difference and end the replay."""
        if self.first is None:
            address = _address(at) if isinstance(at, StepRow) else at
            node = address._replace(item=None).path or "the start"
            self.first = Difference(node=node, visit=at.visit, item=at.item, call=call, difference=difference)
        self.over.set()
        return _Left(difference)

    def look(self) -> list[tuple[Callable[[Cause], None], _Cut]]:
        """End what was out of its node's time, or see that there is nothing more to compare; what interrupts the
        graphs that were is for the caller to call, for who runs a graph cannot be interrupted by itself."""
        interrupting: list[tuple[Callable[[Cause], None], _Cut]] = []
        for scope, (step, fence) in list(self._fences.items()):
            if self._has_come(scope, step):
                del self._fences[scope]
                fence.reschedule(0)
        for scope, interrupt in list(self._loops.items()):
            cuts = self._cuts[scope]
            if cuts and self._has_come(scope, cuts[0].step):
                self._cancelled_here[scope] = self._loops.pop(scope)
                interrupting.append((interrupt, cuts.popleft()))
        if not self._expected and not self._cuts[""]:
            self.over.set()
        return interrupting

    def _has_come(self, scope: str, before: int) -> bool:
        """Whether all that is recorded of a graph run before a step has come."""
        return not any(step.step < before and step.scope.startswith(scope) for step in self._expected.values())

    async def write(self, write: Write) -> None:
        for step in write.steps:
            if _is_told(step) and self._was_ended_before(step):
                await asyncio.Event().wait()
            self._compare(step)
        await super().write(write)
        for step in write.steps:
            if step.status in _HANDLED and step.scope in self._cancelled_here:
                self._loops[step.scope] = self._cancelled_here.pop(step.scope)
        if interrupting := self.look():
            for interrupt, cut in interrupting:
                asyncio.get_running_loop().call_soon(interrupt, cut.cause)
            if any(cut.reaches(step) for _, cut in interrupting for step in write.steps):
                await asyncio.Event().wait()
            await asyncio.sleep(0)

    def _was_ended_before(self, step: StepRow) -> bool:
        """Whether the recorded process died before this step, stopped there, or was cancelled or out of time."""
        recorded = self._expected.get((*_key(step), self._come[_key(step)]))
        cuts = [cut for waiting in self._cuts.values() for cut in islice(waiting, 1)]
        if recorded is not None or self.ended(_address(step)):
            return recorded is not None and any(cut.step < recorded.step and cut.reaches(step) for cut in cuts)
        late = any(step.scope.startswith(scope) for scope in self._fences)
        stands = self._stands is not None and self._stands.holds(step)
        return self._died or late or stands or any(cut.reaches(step) for cut in cuts)

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in hashes:
            try:
                found |= await super().texts([name])
            except StoreDamaged:
                found |= await self._source.texts([name])
        return found

    def _compare(self, step: StepRow) -> None:
        if not _is_told(step):
            return
        key = _key(step)
        recorded = self._expected.pop((*key, self._come[key]), None)
        self._come[key] += 1
        if recorded is None:
            ended = self.ended(_address(step))
            raise self.differ(
                step, f"it {step.status} here, in the recorded run it {'did not' if ended else 'never ran'}"
            )
        if recorded.hash != step.hash:
            hashes = f"{step.hash.hex()[:12]} instead of {recorded.hash.hex()[:12]}"
            raise self.differ(step, f"its hash is {hashes}: it changed the state in another way")
        self.matched += bool(step.node)


class _Recorded:
    """Lends the whole journal of the replayed run; what it does not hold is never asked. No time passes: an attempt or
    a subgraph run ends for lack of it exactly where the recorded one did."""

    def __init__(self, store: Checkpointer, run_id: str, scratch: _Scratch, failures: Failures) -> None:
        self._store = store
        self._run_id = run_id
        self._scratch = scratch
        self._failures = failures

    async def recorded(self, key: str) -> Sequence[CallRow]:
        return await self._store.call_rows(self._run_id, key)

    async def refuse(self, address: Address, kind: str, request: Any, known: CallRow | None) -> None:
        if known is not None and known.status == CallStatus.FAILED and known.answer is not None:
            told = decode(known.answer, await self._store.texts(references(known.answer)))
            raise self._error(told["type"], told["message"])
        if known is not None or not self._scratch.ended(address):
            await asyncio.Event().wait()  # the recorded attempt was interrupted here, and so is this one
        near = min(await self._requests(address, kind), key=lambda one: apart(one, request), default=None)
        shown = f": {canonical(request).decode(errors='replace')[:_SHOWN_CHARS]}"
        if near is not None:
            shown = first_difference(near, request)
        raise self._scratch.differ(address, f"the journal holds no such call{shown}", call=kind)

    async def _requests(self, address: Address, kind: str) -> list[Any]:
        """What the recorded attempt asked by calls of this kind."""
        rows = [row.request for row in await self.recorded(address.key) if row.kind == kind and row.request is not None]
        return [decode(data, await self._store.texts(references(data))) for data in rows]

    async def fenced(self, address: Address, fence: asyncio.Timeout, *, nested: bool) -> None:
        step = await self._scratch.ran_out(address)
        if step is None:
            fence.reschedule(None)
        elif nested:
            fence.reschedule(None)
            self._scratch.expire(f"{address.key}/", step, fence)
        else:
            fence.reschedule(0)
            await asyncio.Event().wait()  # whatever it did until then is of no account

    def limited(self, scope: str, interrupt: Callable[[Cause], None]) -> None:
        self._scratch.follow(scope, interrupt)

    def _error(self, name: str, message: str) -> Exception:
        make = self._failures.get(name)
        return make(message) if make else type(name, (GraphResearchError,), {})(message)


async def _driven(scratch: _Scratch, work: Any, *, ended: bool) -> None:
    """Let the replay come to its end, to its first difference, or to where the recorded run stands."""
    drive = asyncio.ensure_future(work)
    over = asyncio.ensure_future(scratch.over.wait())
    try:
        while not drive.done() and (scratch.first is None):
            waited = {drive} if ended and over.done() else {drive, over}
            before = scratch.matched
            done, _ = await asyncio.wait(waited, timeout=_STALLED_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if over in done and not ended:
                break
            if not done and scratch.matched == before:
                break
    finally:
        over.cancel()
        drive.cancel()
        await asyncio.wait([drive, over])
    problem = None if drive.cancelled() else drive.exception()
    if scratch.first is None and problem is not None:
        raise problem
    if scratch.first is None and (rest := scratch.left):
        scratch.differ(rest[0], "it was not reached")


async def _drive(scratch: _Scratch, session: RunSession, graph: Graph, row: RunRow, log: Sequence[StepRow]) -> None:
    """Run from the start, or from where a fork began; then go on as often as the recorded run was resumed."""
    begun = row._replace(status=RunStatus.RUNNING, cause=None, error=None, waiting=None)
    if log:
        await scratch.create(begun, Write(run_id=row.run_id))
        await MemoryCheckpointer.write(scratch, Write(run_id=row.run_id, steps=log))
        graph_run = await _loaded(session, graph)
    else:
        given = decode(row.input, await scratch.texts(references(row.input)))
        graph_run = await GraphRun.start(graph, session, given, root=NewRun(row=begun, texts={}))
    reached = (-1, -1)
    while graph_run is not None and (graph_run.step, scratch.matched) != reached:
        reached = (graph_run.step, scratch.matched)
        loop = RunLoop(graph_run)
        scratch.follow("", loop.interrupt)
        with contextlib.suppress(Suspended):
            await loop.run()
        if not scratch.left and (loop.graph_run.ended or row.status != RunStatus.COMPLETED):
            return
        graph_run = await _loaded(session, graph)
        if loop.graph_run.ended:
            session.clear_failures()


async def _loaded(session: RunSession, graph: Graph) -> GraphRun | None:
    await session.recall()
    graph_run = await GraphRun.load(graph, session, "")
    if graph_run is None or not graph_run.resumable:
        return None
    await graph_run.rewind()
    return graph_run


async def _compare_ends(scratch: _Scratch, log: Sequence[StepRow], run_id: str) -> None:
    """Beside the chain, the last position holds the loops as they were counted after the last node."""
    placed = [step for step in log if not step.scope and step.position is not None]
    reached = await scratch.last_position(run_id)
    if reached is None or reached.position is None or not placed:
        return
    recorded = placed[-1]
    here = Position.from_bytes(reached.position, reached.hash)
    there = Position.from_bytes(recorded.position or b"", recorded.hash)
    if (here.chain, here.loops) != (there.chain, there.loops):
        scratch.differ(reached, "another edge was taken after it, or a loop counted otherwise")


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


def _standing(log: Sequence[StepRow]) -> _Cut | None:
    """Where a run that has not completed stands at the end of its log."""
    for step in reversed(log):
        if not step.scope and step.position is not None:
            active = Position.from_bytes(step.position, step.hash).active
            return _Cut("", step.step, Cause.ERROR, {one.node: one.visit for one in active if not one.done})
    return None


def _cuts(log: Sequence[StepRow]) -> Iterator[_Cut]:
    """Where a graph run was cancelled or out of time."""
    for place, step in enumerate(log):
        if step.node or step.position is None:
            continue
        position = Position.from_bytes(step.position, step.hash)
        if step.status in _HANDLED:
            yield _Cut(step.scope, step.step, Cause(step.status), position.abandoned)
            continue
        cause = _UNHANDLED.get(StepStatus(step.status))
        later = islice(log, place + 1, None)
        if cause is not None and (not step.scope or _was_noticed(step.scope, later)):
            yield _Cut(step.scope, step.step, cause, {active.node: active.visit for active in position.active})


def _was_noticed(scope: str, later: Iterable[StepRow]) -> bool:
    """Whether the node of a subgraph run that was out of time has failed of it; else the run went on after a crash."""
    for step in later:
        if step.scope.startswith(scope):
            return False
        if f"{_address(step).key}/" == scope:
            return True
    return False


def _is_told(step: StepRow) -> bool:
    """Whether a step is compared."""
    return bool(step.node) or step.status == StepStatus.STARTED


def _address(step: StepRow) -> Address:
    return Address(step.scope, step.node, step.visit, step.item, step.attempt)


def _key(step: StepRow) -> tuple[Any, ...]:
    return (step.scope, step.node, step.visit, step.item, step.attempt, step.status)


def _numbered(steps: Iterable[StepRow]) -> Iterator[tuple[tuple[Any, ...], StepRow]]:
    """Each step with its key and how many of the same came before: a subgraph that is tried again keeps its attempt."""
    come: Counter[tuple[Any, ...]] = Counter()
    for step in steps:
        key = _key(step)
        yield (*key, come[key]), step
        come[key] += 1


def _closed() -> EventChannel:
    event_channel = EventChannel()
    event_channel.close()
    return event_channel
