"""Replaying a run offline: its graph runs again on recorded answers, in memory, and every step's hash is compared."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graph_research.errors import GraphResearchError
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Clock, SystemClock
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import StoreDamaged
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.node_result import Suspended, Unrecorded
from graph_research.graph.execution.run_loop import RunLoop
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.history.fork import log_until
from graph_research.graph.history.recorded_run import Difference, Differs, RecordedRun
from graph_research.graph.history.state_diff import apart, first_difference
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import Position
from graph_research.graph.state.rows import CallRow, RunRow, StepRow, Write
from graph_research.graph.statuses import CallStatus, RunStatus, StepStatus
from graph_research.graph.values.codec import canonical, decode, references

Failures = Mapping[str, Callable[[str], Exception]]
"""Makes the error of a call that failed, by the name of its class, from its message."""

_SHOWN_CHARS = 200
_STALL_SECONDS = 30.0
"""Longer than a replayed handler may wait without a step or a recorded answer: nothing else can end its wait."""


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """`steps` counts the steps that came out the same, `taken_over` those that a fork has from its parent's log."""

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
    stall_seconds: float = _STALL_SECONDS,
) -> Replayed:
    """Run `graph` as the stored run did, with the answers, times and errors of its journal, up to where that run
    stands. No outside call is made and nothing is written to `store`. `interactive` as it was then. A handler that
    waits for `stall_seconds` without a step or a recorded answer is a difference.
    """
    row = await store.run_row(run_id)
    last = await store.last_step(run_id)
    log = await log_until(store, run_id, last.step if last else 0)
    start = max((place for place, step in enumerate(log) if step.status == StepStatus.FORKED), default=-1) + 1
    recorded = RecordedRun(log[start:], row.status)
    stall = asyncio.timeout(stall_seconds)

    def progress() -> None:
        if not stall.expired():
            stall.reschedule(asyncio.get_running_loop().time() + stall_seconds)

    scratch = _Scratch(store, recorded, progress)
    session = RunSession(store=scratch, run_id=run_id, clock=clock or SystemClock(), interactive=interactive)
    session.seed = row.seed
    calls = _RecordedCalls(store, run_id, recorded, failures or {}, progress)
    session.inherited, session.refuse = calls.recorded, calls.refuse
    session.replay = recorded
    session.answers = await _answers(store, graph, log)
    try:
        async with stall:
            await _drive(scratch, recorded, session, graph, row, log[:start])
        if rest := recorded.left:
            recorded.differ(rest[0], "it was not reached")
        elif row.status == RunStatus.COMPLETED:
            await _compare_ends(scratch, recorded, log, run_id)
    except StoreDamaged:
        if recorded.first is None:
            raise
    except TimeoutError:
        if not stall.expired() or not recorded.left:
            raise
        recorded.differ(recorded.left[0], f"it waited for {stall_seconds:g} s for something that is not recorded")
    return Replayed(
        steps=recorded.matched,
        identical=recorded.first is None,
        first_difference=recorded.first,
        taken_over=sum(bool(step.node) for step in log[:start]),
    )


class _Scratch(MemoryCheckpointer):
    """Holds the replay, and compares each of its steps with the recorded one as it comes."""

    def __init__(self, source: Checkpointer, recorded: RecordedRun, progress: Callable[[], None]) -> None:
        super().__init__()
        self._source = source
        self._recorded = recorded
        self._progress = progress

    async def write(self, write: Write) -> None:
        if self._recorded.first is not None:
            raise Differs(self._recorded.first.difference)
        for step in write.steps:
            self._recorded.compare(step)
        self._progress()
        await super().write(write)

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for name in hashes:
            try:
                texts |= await super().texts([name])
            except StoreDamaged:
                texts |= await self._source.texts([name])
        return texts

    async def text_hashes(self, run_id: str) -> set[str]:
        return await super().text_hashes(run_id) | await self._source.text_hashes(run_id)


class _RecordedCalls:
    """Gives the recorded answers of the replayed run; a call that its journal does not hold is a difference."""

    def __init__(
        self,
        store: Checkpointer,
        run_id: str,
        recorded: RecordedRun,
        failures: Failures,
        progress: Callable[[], None],
    ) -> None:
        self._store = store
        self._run_id = run_id
        self._recorded = recorded
        self._failures = failures
        self._progress = progress

    async def recorded(self, key: str) -> Sequence[CallRow]:
        self._progress()
        return await self._store.call_rows(self._run_id, key)

    async def refuse(self, address: Address, kind: str, request: Any, entry: CallRow | None) -> None:
        if entry is not None and entry.status == CallStatus.FAILED and entry.answer is not None:
            error = decode(entry.answer, await self._store.texts(references(entry.answer)))
            make = self._failures.get(error["type"])
            raise make(error["message"]) if make else type(error["type"], (GraphResearchError,), {})(error["message"])
        if entry is not None:
            await asyncio.Event().wait()  # the handler ended without waiting for this call, and does so again
        near = min(await self._requests(address, kind), key=lambda recorded: apart(recorded, request), default=None)
        shown = f": {canonical(request).decode(errors='replace')[:_SHOWN_CHARS]}"
        if near is not None:
            shown = first_difference(near, request)
        raise self._recorded.differ(address, f"the journal does not hold such a call{shown}", call=kind)

    async def _requests(self, address: Address, kind: str) -> list[Any]:
        """The requests of the recorded attempt's calls of this kind."""
        rows = [row.request for row in await self.recorded(address.key) if row.kind == kind and row.request is not None]
        return [decode(data, await self._store.texts(references(data))) for data in rows]


async def _drive(
    scratch: _Scratch,
    recorded: RecordedRun,
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
        run = await GraphRun.start(graph, session, given, new=begun)
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
    run = await GraphRun.load(graph, session)
    if run is None or not run.resumable:
        return None
    await run.rewind()
    return run


async def _compare_ends(scratch: _Scratch, recorded: RecordedRun, log: Sequence[StepRow], run_id: str) -> None:
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
    for key in scope.split("/")[:-1]:
        node = graph.spec.nodes.get(key.partition(":")[0])
        subgraph = graph.subgraphs.get(node.target or "") if node is not None else None
        if subgraph is None:
            return None
        graph = subgraph
    return graph
