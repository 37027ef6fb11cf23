"""The state and position of one graph of a run, and the one place where its steps become durable."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import Draft, Event, RunEnded
from graph_research.graph.execution.node_result import NodeResult
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.state.address import path_of
from graph_research.graph.state.chunks import packed
from graph_research.graph.state.position import ActiveNode, Position
from graph_research.graph.state.reducers import Delta, replaced
from graph_research.graph.state.rows import CallRow, RunPatch, Snapshot, StepRow
from graph_research.graph.state.state_at import Folded, fold
from graph_research.graph.statuses import CLEARS_FAILURES, Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import encode_each

_LEAST_TAIL_BYTES = 131_072
ROW_BYTES = 64
"""What a row of the log takes beside its update, for the decision when to make a snapshot."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a graph ended. `cause` and `error` are those of the failure that the last event edge took, or that no edge
    took."""

    status: RunStatus
    cause: Cause | None = None
    error: Mapping[str, Any] | None = None


class GraphState:
    """The root graph of a run or a subgraph under it. What is in memory changes before the write of it is awaited. A
    write that is cancelled is durable all the same; when one fails, the run is over."""

    def __init__(self, graph: Graph, session: RunSession, namespace: str, folded: Folded, *, loaded: bool) -> None:
        self.graph = graph
        self.session = session
        self.namespace = namespace
        self.path = path_of(namespace)
        self.state = folded.state
        self.position = folded.position
        self.step = folded.step
        self.routes = session.routes(graph)
        self.visits = dict(session.earlier_visits.get(namespace, {}))
        self.visits.pop("", None)
        left = folded.position.abandoned.items()
        for node, visit in [*(active[:2] for active in folded.position.standing), *left]:
            self.visits[node] = max(visit, self.visits.get(node, 0))
        self.resumed = {node[:2] for node in folded.position.active} if loaded else set()
        self.ended = self.end_of(folded.position)
        self._initial_loops = dict.fromkeys(graph.spec.loops, 0)
        self._tail_bytes = folded.tail_bytes
        """The bytes of the updates since the last snapshot, which has `_snapshot_bytes`."""
        self._snapshot_bytes = folded.snapshot_bytes
        self.refresh_scope()

    @property
    def cancelled(self) -> bool:
        """Whether it is on the way to the end that a request to cancel has led to."""
        return self.position.interruption is not None and self.position.interruption.cause == Cause.CANCELLED

    @property
    def completed(self) -> bool:
        """Whether it has reached an end with the status `completed`."""
        return self.ended is not None and self.ended.status == RunStatus.COMPLETED

    @property
    def resumable(self) -> bool:
        """Whether it can go on: it has not ended, or an event led it to its end."""
        return self.ended is None or (not self.completed and self.position.interruption is not None)

    async def rewind(self) -> None:
        """If the graph has ended over an event edge, return to where that edge was taken."""
        came_from = self.position.interruption
        if self.ended is None or came_from is None or self.completed:
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
        self.resumed = {node[:2] for node in came_from.active}
        await self.edit_state(StepStatus.REWOUND, delta)

    async def add_channels(self) -> None:
        """Give the channels that the graph did not have when the run began their defaults."""
        channels = self.graph.spec.channels
        new = {name: spec.default for name, spec in channels.items() if name not in self.state.values}
        if new:
            await self.edit_state(StepStatus.AMENDED, {"replace": new})

    async def edit_state(self, status: StepStatus, delta: Delta) -> None:
        """Change the state outside of any node, at the position where the graph stands."""
        await self.record(self.edit_row(status, delta))

    def edit_row(self, status: StepStatus, delta: Delta) -> StepRow:
        """Change the state, and return the row that says so."""
        data = self.session.encode(delta)
        self.step = self.session.next_step()
        if not self.namespace and status in CLEARS_FAILURES:
            self.session.clear_failures()
        self.position = self.position._replace(applied=None)
        self.reduce(delta, data)
        return self.mark(status, data)

    def reduce(self, delta: Delta, data: bytes | None) -> None:
        """Change the state by an update, stored as `data`."""
        self.state.apply(delta)
        self._tail_bytes += len(data or b"") + ROW_BYTES
        self.refresh_scope()

    def refresh_scope(self) -> None:
        """Rebuild what expressions see."""
        loops = {**self._initial_loops, **self.position.loops}
        self.scope_values: Mapping[str, Any] = {**self.state.values, "loops": loops}

    def mark_done(self) -> None:
        """Stand at nodes that have ended and that no edge has left."""
        self.position = self.position._replace(active=tuple(map(ActiveNode.ended, self.position.active)))

    def end_of(self, position: Position) -> Ended | None:
        """How the graph has ended if it stands on an end; of several ends the first of the file counts."""
        for active in position.active:
            if (status := self.routes.ends.get(active.node)) is not None:
                if status == RunStatus.COMPLETED or position.interruption is None:
                    return Ended(status=status)
                return Ended(status=status, cause=position.interruption.cause, error=position.interruption.error)
        return None

    def event(self, kind: type[Event], active: ActiveNode, **data: Any) -> Draft:
        """An event of a visit of a node."""
        return {"type": kind.type, "path": self.path + active.node, "visit": active.visit, **data}

    async def rows_of(self, active: ActiveNode, upto: int | None = None) -> list[StepRow]:
        """The rows of a visit so far, or up to a step."""
        rows = await self.session.store.step_rows(self.session.run_id, self.namespace, active.entered, upto)
        return [row for row in rows if (row.node, row.visit) == active[:2]]

    def mark(self, status: StepStatus, delta: bytes | None) -> StepRow:
        """A row of the graph itself, at its present step and position."""
        now = self.session.clock.now().timestamp()
        return StepRow.of_graph(self.step, self.namespace, status, now, self.position, delta)

    def record(self, row: StepRow, calls: Sequence[CallRow] = (), events: Sequence[Draft] = ()) -> Awaitable[None]:
        """Write a row that does not move the graph: of an item, a retry, one of several nodes or an edit."""
        return self.session.write(steps=[row], calls=calls, events=events)

    def commit(
        self,
        own: NodeResult | None,
        events: Sequence[Draft],
        rows: Sequence[StepRow] = (),
        status: StepStatus = StepStatus.MOVED,
        *,
        cancel_done: bool = False,
    ) -> Awaitable[None]:
        """Write the step that has moved the graph to its position: with the row of its only node (`own`), or after
        `rows` with a row that has `status`. If the root graph has ended, so has the run; `cancel_done` says that a
        request to cancel has been followed."""
        position, patch, snapshot = self.position.to_bytes(), None, None
        calls: Sequence[CallRow] = ()
        if own is None:
            row = self.mark(status, None)
        else:
            row, calls, events = StepRow._make((*own.row[:-1], position)), own.calls, [*own.events, *events]
        if self.ended or cancel_done:
            patch, ending = self._ending()
            events = [*events, *ending]
        if self._tail_bytes > _LEAST_TAIL_BYTES and self._tail_bytes > self._snapshot_bytes:
            snapshot = self._snapshot(position)
        return self.session.write(
            steps=(*rows, row) if rows else (row,),
            calls=calls,
            events=events,
            snapshot=snapshot,
            run=patch,
            alone=not self.namespace,
        )

    def write_end(self, own: NodeResult | None = None, rows: Sequence[StepRow] = ()) -> Awaitable[None]:
        """Write that the graph has ended where it stands: the row of its only node (`own`), and `rows`."""
        patch, events = self._ending()
        if own is None:
            return self.session.write(steps=rows, events=events, run=patch)
        return self.session.write(steps=[own.row, *rows], calls=own.calls, events=[*own.events, *events], run=patch)

    def _snapshot(self, position: bytes) -> Snapshot:
        """All channels. It is due when the updates since the last snapshot have outgrown it."""
        texts: dict[str, str] = {}
        channels = self.graph.spec.channels.values()
        growing = {spec.name: spec.reduce == "upsert" for spec in channels if spec.reduce in ("append", "upsert")}
        values = encode_each(packed(self.state, growing, texts), texts)
        self.session.keep_texts(texts)
        self._snapshot_bytes, self._tail_bytes = len(values), 0
        return Snapshot(self.namespace, self.step, values, self.position.chain, position)

    def _ending(self) -> tuple[RunPatch | None, list[Draft]]:
        """The run's own row and last event when its root graph has ended, or has followed a request to cancel."""
        if self.namespace:
            return None, []
        now, ended = self.session.clock.now().timestamp(), self.ended
        if ended is None:
            return RunPatch(status=RunStatus.RUNNING, updated_at=now, cancel_done=True), []
        error = None if ended.error is None else orjson.dumps(ended.error)
        patch = RunPatch(status=ended.status, updated_at=now, cause=ended.cause, error=error, cancel_done=True)
        return patch, [{"type": RunEnded.type, "status": ended.status, "cause": ended.cause, "error": ended.error}]
