"""The one place where the steps of a graph run become durable: rows, events, snapshots and the end of the run."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import Draft, RunEnded, RunStarted
from graph_research.graph.execution.node_result import NodeResult
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.state.chunks import packed
from graph_research.graph.state.position import Position
from graph_research.graph.state.reducers import State
from graph_research.graph.state.rows import CallRow, RunPatch, RunRow, Snapshot, StepRow
from graph_research.graph.state.statuses import Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import encode

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


class StepWriter:
    """Writes the steps of one graph run. A write that is cancelled is durable all the same; when one fails, the run is
    over. `tail_bytes` counts the updates since the last snapshot, of `snapshot_bytes`."""

    def __init__(
        self, graph: Graph, session: RunSession, namespace: str, *, tail_bytes: int, snapshot_bytes: int
    ) -> None:
        self._graph = graph
        self._session = session
        self._namespace = namespace
        self._tail_bytes = tail_bytes
        self._snapshot_bytes = snapshot_bytes

    def start(
        self, row: StepRow, events: Sequence[Draft], texts: Mapping[str, str], root: NewRun | None
    ) -> Awaitable[None]:
        """Write the first row of the graph run; with `root` that of the whole run."""
        self.count(row.delta)
        if root is None:
            return self._session.write(steps=[row], events=events, texts=texts)
        opening = {"type": RunStarted.type, "graph": self._graph.spec.name}
        return self._session.create(root.row, row, [opening, *events], {**texts, **root.texts})

    def record(
        self, row: StepRow, calls: Sequence[CallRow] = (), events: Sequence[Draft] = (), texts: Mapping[str, str] = {}
    ) -> Awaitable[None]:
        """Write a row that does not move the graph: of an item, a retry, one of several nodes or an edit."""
        return self._session.write(steps=[row], calls=calls, events=events, texts=texts)

    def commit(
        self,
        step: int,
        position: Position,
        state: State,
        own: NodeResult | None,
        events: Sequence[Draft],
        ended: Ended | None,
        rows: Sequence[StepRow] = (),
        status: StepStatus = StepStatus.MOVED,
        *,
        cancel_done: bool = False,
    ) -> Awaitable[None]:
        """Write a step that moves the graph to `position`: with the row of its only node (`own`), or after `rows` with
        a row that has `status`. `ended` ends the run if this is its root graph."""
        data, patch, snapshot = position.to_bytes(), None, None
        calls: Sequence[CallRow] = ()
        texts: dict[str, str] = {}
        if own is None:
            row = self.mark(step, status, position, None)
        else:
            row, calls, texts = own.row(self._namespace, data), own.calls, {**own.texts}
            events = [*own.events, *events]
        if ended or cancel_done:
            patch, ending = self._ending(ended, cancel_done=cancel_done)
            events = [*events, *ending]
        if self._tail_bytes > _LEAST_TAIL_BYTES and self._tail_bytes > self._snapshot_bytes:
            snapshot = self._snapshot(step, position, data, state, texts)
        return self._session.write(
            steps=(*rows, row) if rows else (row,),
            calls=calls,
            events=events,
            texts=texts,
            snapshot=snapshot,
            run=patch,
            alone=not self._namespace,
        )

    def end(self, ended: Ended, results: Sequence[NodeResult] = (), row: StepRow | None = None) -> Awaitable[None]:
        """Write that the graph ended where it stands: the rows of `results` that are not written yet, and `row`."""
        fresh = [result for result in results if not result.written]
        rows = [*(result.row(self._namespace) for result in fresh), *([] if row is None else [row])]
        patch, events = self._ending(ended, cancel_done=True)
        return self._session.write(
            steps=rows,
            calls=[call for result in fresh for call in result.calls],
            events=[*(event for result in fresh for event in result.events), *events],
            texts={name: text for result in fresh for name, text in result.texts.items()},
            run=patch,
        )

    def mark(self, step: int, status: StepStatus, position: Position, delta: bytes | None) -> StepRow:
        """A row of the graph itself."""
        now = self._session.clock.now().timestamp()
        return StepRow.of_graph(step, self._namespace, status, now, position, delta)

    def count(self, delta: bytes | None) -> None:
        """An update was added to the log."""
        self._tail_bytes += len(delta or b"") + _ROW_BYTES

    def _snapshot(self, step: int, position: Position, data: bytes, state: State, texts: dict[str, str]) -> Snapshot:
        """All channels. It is due when the updates since the last snapshot have outgrown it."""
        channels = self._graph.spec.channels.values()
        growing = {spec.name: spec.reduce == "upsert" for spec in channels if spec.reduce in ("append", "upsert")}
        values = encode(packed(state, growing, texts), texts)
        self._snapshot_bytes, self._tail_bytes = len(values), 0
        return Snapshot(self._namespace, step, values, position.chain, data)

    def _ending(self, ended: Ended | None, *, cancel_done: bool) -> tuple[RunPatch | None, list[Draft]]:
        """The run's own row and last event when its root graph has ended, or has followed a request to cancel."""
        if self._namespace:
            return None, []
        now = self._session.clock.now().timestamp()
        if ended is None:
            return RunPatch(status=RunStatus.RUNNING, updated_at=now, cancel_done=cancel_done), []
        patch = RunPatch(
            status=ended.status,
            updated_at=now,
            cause=ended.cause,
            error=None if ended.error is None else orjson.dumps(ended.error),
            cancel_done=True,
        )
        return patch, [{"type": RunEnded.type, "status": ended.status, "cause": ended.cause, "error": ended.error}]
