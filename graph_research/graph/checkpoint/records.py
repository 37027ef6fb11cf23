"""Runs, steps and calls as they are read: rows with their times, paths and JSON values decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from graph_research.graph.state.address import path_of
from graph_research.graph.state.position import Position
from graph_research.graph.state.rows import CallRow, RunRow, StepRow
from graph_research.graph.values.codec import decode


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """A run as it stands. `nodes` are the paths of the root's active nodes, or of the one that asks; `step` is the
    latest. `error` is `{node, visit, type, message, attempts}`; `metadata` is what the caller gave."""

    run_id: str
    graph: str
    graph_hash: str
    status: str
    cause: str | None
    error: Mapping[str, Any] | None
    metadata: Mapping[str, Any]
    input: Mapping[str, Any]
    nodes: tuple[str, ...]
    step: int
    created_at: datetime
    updated_at: datetime
    parent: str | None

    @classmethod
    def of(cls, row: RunRow, last: StepRow | None, placed: StepRow | None, texts: Mapping[str, str]) -> RunRecord:
        """The record of a row, given the run's latest step, the root's latest row with a position, and its texts."""
        position = Position.from_bytes(placed.position, placed.hash) if placed and placed.position else None
        nodes = tuple(active.node for active in position.active) if position else ()
        return cls(
            run_id=row.run_id,
            graph=row.graph,
            graph_hash=row.graph_hash,
            status=row.status,
            cause=row.cause,
            error=None if row.error is None else orjson.loads(row.error),
            metadata=decode(row.metadata, texts),
            input=decode(row.input, texts),
            nodes=nodes if row.waiting is None else (path_of(row.waiting),),
            step=last.step if last else 0,
            created_at=_moment(row.created_at),
            updated_at=_moment(max(row.updated_at, last.started_at + last.seconds if last else 0.0)),
            parent=row.parent,
        )


class StepRecord(NamedTuple):
    """One finished, failed or retried node or item. `path` is the node's path from the root, `hash` (hex) chains it to
    all that came before on its own branch."""

    step: int
    path: str
    node: str
    visit: int
    item: int | None
    attempt: int
    status: str
    started_at: datetime
    seconds: float
    hash: str

    @classmethod
    def of(cls, row: StepRow, folder: str) -> StepRecord:
        """The record of a row; `folder` is the path to the graph that it is in."""
        return cls(
            step=row.step,
            path=folder + row.node,
            node=row.node,
            visit=row.visit,
            item=row.item,
            attempt=row.attempt,
            status=row.status,
            started_at=_moment(row.started_at),
            seconds=row.seconds,
            hash=row.hash.hex(),
        )


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """One outside call. `status` is `sent`, `answered`, `failed`, or `lost` for one that was sent before a crash and
    has no answer; `answer` of a failed one is `{type, message}`."""

    seq: int
    path: str
    visit: int
    item: int | None
    attempt: int
    kind: str
    request_hash: str
    status: str
    started_at: datetime
    seconds: float
    request: Any
    answer: Any

    @classmethod
    def of(cls, row: CallRow, texts: Mapping[str, str]) -> CallRecord:
        """The record of a row, given the texts that it refers to."""
        return cls(
            seq=row.seq,
            path=row.path,
            visit=row.visit,
            item=row.item,
            attempt=row.attempt,
            kind=row.kind,
            request_hash=row.request_hash.hex(),
            status=row.status,
            started_at=_moment(row.started_at),
            seconds=row.seconds,
            request=None if row.request is None else decode(row.request, texts),
            answer=None if row.answer is None else decode(row.answer, texts),
        )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
