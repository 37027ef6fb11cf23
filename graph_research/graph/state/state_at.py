"""The state at a step: the latest snapshot and the deltas after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from graph_research.graph.state.position import Position
from graph_research.graph.state.reducers import Pieces, State
from graph_research.graph.state.rows import Snapshot, StepRow
from graph_research.graph.values.codec import chunked_lists, decode, references


class LogReader(Protocol):
    """What a store must read for a state."""

    async def step_rows(
        self, run_id: str, scope: str | None, after: int = -1, upto: int | None = None
    ) -> list[StepRow]: ...

    async def snapshot(self, run_id: str, scope: str, upto: int | None = None) -> Snapshot | None: ...

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]: ...


@dataclass(frozen=True, kw_only=True)
class Folded:
    """A scope's state and position at `step`. `tail_bytes` counts the deltas since the snapshot of `snapshot_bytes`."""

    state: State
    position: Position
    step: int
    tail_bytes: int
    snapshot_bytes: int


async def fold(store: LogReader, run_id: str, scope: str, upto: int | None = None) -> Folded | None:
    """The state of a scope after step `upto` (the latest when None); None if the scope had not started by then."""
    snapshot = await store.snapshot(run_id, scope, upto)
    rows = await store.step_rows(run_id, scope, snapshot.step if snapshot else -1, upto)
    parts = [row.delta for row in rows if row.updates and row.delta is not None]
    names = {name for data in [*parts, *([snapshot.values] if snapshot else [])] for name in references(data)}
    texts = await store.texts(names)
    state = await _unpacked(store, snapshot.values, texts) if snapshot else State({})
    position = Position.from_bytes(snapshot.position, snapshot.hash) if snapshot else None
    step = snapshot.step if snapshot else 0
    pending: dict[int, bytes] = {}
    for row in rows:
        if row.updates and row.delta is not None:
            pending[row.step] = row.delta
        if row.position is not None:
            position, step = Position.from_bytes(row.position, row.hash), row.step
            for applied in (row.step,) if position.applied is None else position.applied:
                if applied in pending:
                    state.apply(decode(pending.pop(applied), texts))
    if position is None:
        return None
    return Folded(
        state=state,
        position=position,
        step=step,
        tail_bytes=sum(map(len, parts)),
        snapshot_bytes=len(snapshot.values) if snapshot else 0,
    )


async def _unpacked(store: LogReader, data: bytes, texts: dict[str, str]) -> State:
    """The state of a snapshot; `texts` holds what it refers to, and takes up what its pieces refer to in turn."""
    pieces = chunked_lists(data)
    inner = {name for part in pieces.values() for text in part.names for name in references(texts[text].encode())}
    texts.update(await store.texts(inner - texts.keys()))
    values = decode(data, texts)
    known = {
        channel: Pieces(tuple(part.names), part.entries if part.by_id else len(values[channel]), part.by_id)
        for channel, part in pieces.items()
    }
    return State(values, known)
