"""One graph in motion: its state, its position, and how both are stored and found again."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_research.graph.checkpoint.base import CallRow, RunPatch, RunRow, Snapshot, StepRow
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import GraphChanged
from graph_research.graph.events import Draft, NodeStarted, RunEnded, RunStarted
from graph_research.graph.execution.failures import Failure
from graph_research.graph.execution.inputs import first_values
from graph_research.graph.execution.node_result import NodeResult
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.state.address import path_of
from graph_research.graph.state.chunks import packed
from graph_research.graph.state.position import ActiveNode, Position
from graph_research.graph.state.reducers import Delta, State, replaced
from graph_research.graph.state.state_at import Folded, fold
from graph_research.graph.state.statuses import CLEARS_FAILURES, Cause, RunStatus, StepStatus
from graph_research.graph.state.step_hash import digest, joined
from graph_research.graph.values.codec import encode

__all__ = ["Ended", "GraphRun", "NewRun"]

_LEAST_TAIL_BYTES = 32_768
_ROW_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """The row of a run that is to be stored, and the texts it refers to."""

    row: RunRow
    texts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a graph ended. `cause` and `error` are those of the failure that the last event edge took, or that no edge
    took."""

    status: RunStatus
    cause: Cause | None = None
    error: Mapping[str, Any] | None = None


class GraphRun:
    """A graph's state and position, and the loop that moves them. Memory moves first, the write follows at once: when
    the write fails the run is over, and when it is cancelled it is durable all the same."""

    def __init__(self, graph: Graph, session: RunSession, namespace: str, folded: Folded, *, loaded: bool) -> None:
        self.graph = graph
        self.session = session
        self.namespace = namespace
        self.path = path_of(namespace)
        self.state = folded.state
        self.position = folded.position
        self.step = folded.step
        self._tail_bytes = folded.tail_bytes
        self._snapshot_bytes = folded.snapshot_bytes
        self.routes = session.routes(graph)
        self.visits = dict(session.history.visits.get(namespace, {}))
        self.visits.pop("", None)
        came_from = folded.position.interruption
        active = (*folded.position.active, *(came_from.active if came_from else ()))
        unrecorded = [*((one.node, one.visit) for one in active), *folded.position.abandoned.items()]
        for node, visit in unrecorded:
            self.visits[node] = max(visit, self.visits.get(node, 0))
        self.resumed = {(active.node, active.visit) for active in folded.position.active} if loaded else set()
        self.ended = self.end_of(folded.position)
        self._unturned = dict.fromkeys(graph.spec.loops, 0)
        self.refresh_scope()

    @classmethod
    async def start(
        cls,
        graph: Graph,
        session: RunSession,
        given: Mapping[str, Any],
        *,
        namespace: str = "",
        chain: bytes = b"",
        root: NewRun | None = None,
    ) -> GraphRun:
        """A new graph run, stored with its first values. Raises `InputInvalid`."""
        values = first_values(graph, given)
        texts: dict[str, str] = {}
        data = encode({"replace": values}, texts)
        step = session.next_step()
        active = ActiveNode(node=graph.spec.start, visit=1, entered=step)
        position = Position(active=(active,), chain=digest(chain, data))
        folded = Folded(
            state=State(values), position=position, step=step, tail_bytes=len(data) + _ROW_BYTES, snapshot_bytes=0
        )
        graph_run = cls(graph, session, namespace, folded, loaded=False)
        row = graph_run._mark(step, StepStatus.STARTED, position, data)
        events = graph_run.started([active])
        if root is None:
            await session.write(steps=[row], events=events, texts=texts)
        else:
            opening = {"type": RunStarted.type, "graph": graph.spec.name}
            await session.create(root.row, row, [opening, *events], {**texts, **root.texts})
        if graph_run.ended:
            await graph_run._end_at_once()
        return graph_run

    @classmethod
    async def load(cls, graph: Graph, session: RunSession, namespace: str) -> GraphRun | None:
        """A graph run as it was stored; None if it never started. Raises `GraphChanged` if it stands on a node that
        the graph has no longer."""
        folded = await fold(session.store, session.run_id, namespace)
        if folded is None:
            return None
        came_from = folded.position.interruption
        for active in (*folded.position.active, *(came_from.active if came_from else ())):
            if active.node not in graph.spec.nodes:
                raise GraphChanged(
                    f'run {session.run_id} stands on node "{path_of(namespace)}{active.node}", which is gone',
                    help="put the node back, or start a new run",
                )
        return cls(graph, session, namespace, folded, loaded=True)

    @property
    def limited(self) -> bool:
        """Whether `limits.steps` counts: not on the way to the end that an event edge has led to."""
        return self.position.interruption is None

    @property
    def cancelled(self) -> bool:
        """Whether it is on the way to the end that a request to cancel has led to."""
        return self.position.interruption is not None and self.position.interruption.cause == Cause.CANCELLED

    @property
    def resumable(self) -> bool:
        """Whether there is something to go on with: it has not ended, or an event led it to its end."""
        return self.ended is None or (
            self.ended.status != RunStatus.COMPLETED and self.position.interruption is not None
        )

    @property
    def completed(self) -> bool:
        """Whether it has ended as it should."""
        return self.ended is not None and self.ended.status == RunStatus.COMPLETED

    def apply(self, results: Sequence[NodeResult]) -> None:
        """The state after the nodes, and the chain of hashes; `hold` where they are not left."""
        given = [result for result in results if result.delta is not None]
        for result in given:
            self.reduce(result)
        own = len(results) == 1 and not results[0].written
        self.position = self.position._replace(
            active=tuple(sorted(self.position.active, key=lambda active: self.routes.order[active.node])),
            chain=joined(self.position.chain, [result.hash for result in given]),
            applied=None if own else [result.step for result in given],
        )
        self.refresh_scope()

    def reduce(self, result: NodeResult) -> None:
        """The channels after one node that gave something."""
        assert result.delta is not None and result.data is not None
        self.state.apply(result.delta)
        self._tail_bytes += len(result.data) + _ROW_BYTES

    def can_advance_directly(self, result: NodeResult) -> bool:
        """Whether the only active node gave what is not written yet, and is left over one edge to one node."""
        return not result.written and result.delta is not None and result.active.node in self.routes.single_exit

    def entered(self, node: str, step: int, failure: Failure | None = None) -> ActiveNode:
        """A node that `step` leads to, with the failure that led there."""
        self.visits[node] = visit = self.visits.get(node, 0) + 1
        return ActiveNode(node, visit, step, error=None if failure is None else failure.error)

    def enter(self, position: Position, step: int) -> list[Draft]:
        """Go on to `position`, where the graph may have ended. Returns the events that tell of its nodes."""
        turned = position.loops is not self.position.loops
        self.position, self.step = position, step
        if turned:
            self.refresh_scope()
        self.ended = self.end_of(position)
        return self.started(position.active)

    def mark_done(self) -> None:
        """Stand at nodes that are done but not left."""
        self.position = self.position._replace(active=tuple(map(ActiveNode.ended, self.position.active)))

    async def rewind(self) -> None:
        """Go back to where an event edge led away from, if the graph has ended over one."""
        came_from = self.position.interruption
        if self.ended is None or came_from is None or self.ended.status == RunStatus.COMPLETED:
            return
        folded = await fold(self.session.store, self.session.run_id, self.namespace, came_from.step)
        delta = replaced(self.state.values, folded.state.values if folded else {})
        self.position = Position(
            active=came_from.active,
            chain=bytes.fromhex(came_from.chain),
            loops=came_from.loops,
            join_arrivals=came_from.join_arrivals,
            abandoned=self.position.without(self.position.active),
        )
        self.ended = None
        self.resumed = {(active.node, active.visit) for active in came_from.active}
        await self.edit_state(StepStatus.REWOUND, delta)

    async def _end_at_once(self) -> None:
        patch, events = self.ending(cancelled=False)
        await self.session.write(events=events, run=patch)

    async def add_channels(self) -> None:
        """Give the channels that the graph had not when the run began their defaults."""
        channels = self.graph.spec.channels
        new = {name: spec.default for name, spec in channels.items() if name not in self.state.values}
        if new:
            await self.edit_state(StepStatus.AMENDED, {"replace": new})

    async def edit_state(self, status: StepStatus, delta: Delta) -> None:
        """Change the state outside of any node, at the position where the graph stands."""
        await self.session.write(steps=[self.edit_row(status, delta)])

    def edit_row(self, status: StepStatus, delta: Delta) -> StepRow:
        """The row that `edit_state` writes; its texts go with the next write."""
        texts: dict[str, str] = {}
        data = encode(delta, texts)
        for name, text in texts.items():
            self.session.keep_text(name, text)
        self.state.apply(delta)
        self.refresh_scope()
        self.step = self.session.next_step()
        if not self.namespace and status in CLEARS_FAILURES:
            self.session.clear_failures()
        self.position = self.position._replace(applied=None)
        self._tail_bytes += len(data) + _ROW_BYTES
        return self._mark(self.step, status, self.position, data)

    def commit(
        self,
        own: NodeResult | None,
        events: Sequence[Draft],
        *,
        cancelled: bool = False,
        kept: Sequence[StepRow] = (),
        status: StepStatus = StepStatus.MOVED,
    ) -> Awaitable[None]:
        """Write the position, with the row of the only node of this step (`own`), or after the rows `kept` with one of
        its own that has `status`."""
        position, patch, taken = self.position.to_bytes(), None, None
        calls: Sequence[CallRow] = ()
        texts: dict[str, str] = {}
        if own is None:
            row = self._mark(self.step, status, self.position, None)
        else:
            row, calls, texts = own.row(self.namespace, position), own.calls, {**own.texts}
            events = [*own.events, *events]
        if cancelled or self.ended:
            patch, ending = self.ending(cancelled=cancelled)
            events = [*events, *ending]
        if self._tail_bytes > _LEAST_TAIL_BYTES and self._tail_bytes > self._snapshot_bytes:
            taken = self._snapshot(position, texts)
        return self.session.write(
            steps=(*kept, row) if kept else (row,),
            calls=calls,
            events=events,
            texts=texts,
            snapshot=taken,
            run=patch,
            alone=not self.namespace,
        )

    def _snapshot(self, position: bytes, texts: dict[str, str]) -> Snapshot:
        """All channels; it is time when the deltas since the last snapshot have outgrown it."""
        channels = self.graph.spec.channels.values()
        growing = {spec.name: spec.reduce == "upsert" for spec in channels if spec.reduce in ("append", "upsert")}
        values = encode(packed(self.state, growing, texts), texts)
        self._snapshot_bytes, self._tail_bytes = len(values), 0
        return Snapshot(self.namespace, self.step, values, self.position.chain, position)

    def ending(self, *, cancelled: bool) -> tuple[RunPatch | None, list[Draft]]:
        """What the run's own row and log say when its root has ended, or has followed a request to cancel."""
        if self.namespace or not (self.ended or cancelled):
            return None, []
        now = self.session.clock.now().timestamp()
        if self.ended is None:
            return RunPatch(status=RunStatus.RUNNING, updated_at=now, cancel_done=True), []
        ended = self.ended
        patch = RunPatch(
            status=ended.status,
            updated_at=now,
            cause=ended.cause,
            error=None if ended.error is None else orjson.dumps(ended.error),
            cancel_done=True,
        )
        told = {"type": RunEnded.type, "status": ended.status, "cause": ended.cause, "error": ended.error}
        return patch, [told]

    def _mark(self, step: int, status: StepStatus, position: Position, delta: bytes | None) -> StepRow:
        return StepRow(
            step=step,
            scope=self.namespace,
            node="",
            visit=0,
            item=None,
            attempt=1,
            status=status,
            started_at=self.session.clock.now().timestamp(),
            seconds=0.0,
            hash=position.chain,
            delta=delta,
            position=position.to_bytes(),
        )

    def started(self, active: Sequence[ActiveNode]) -> list[Draft]:
        """The events that tell of these nodes."""
        return [
            {"type": NodeStarted.type, "path": self.path + one.node, "visit": one.visit, "node": one.node}
            for one in active
            if one.node not in self.routes.ends
        ]

    def refresh_scope(self) -> None:
        """What expressions see from now on."""
        loops = {**self._unturned, **self.position.loops}
        self.scope_values: Mapping[str, Any] = {**self.state.values, "loops": loops}

    def end_of(self, position: Position) -> Ended | None:
        """How the graph has ended if it stands on an end; on several the first of the file counts."""
        for active in position.active:
            if (status := self.routes.ends.get(active.node)) is not None:
                if status == RunStatus.COMPLETED or position.interruption is None:
                    return Ended(status=status)
                return Ended(status=status, cause=position.interruption.cause, error=position.interruption.error)
        return None
