"""What a store of runs must do, in rows, and what every store can tell from them: runs, states, steps, calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import orjson

from graph_research.graph.errors import StoreDamaged
from graph_research.graph.events import Event, event_from_json, unpacked_events
from graph_research.graph.state.address import path_of
from graph_research.graph.state.position import Position
from graph_research.graph.state.state_at import fold
from graph_research.graph.state.statuses import FAILURES
from graph_research.graph.values.codec import decode, references

__all__ = [
    "CallRecord",
    "CallRow",
    "Checkpointer",
    "Lease",
    "RunPatch",
    "RunRecord",
    "RunRow",
    "Snapshot",
    "StepRecord",
    "StepRow",
    "Write",
]

INNER_CALLS = frozenset({"now", "note"})
"""Journal entries of the run's context itself, which are no calls to the outside."""


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


class RunRow(NamedTuple):
    """A run as stored; texts are JSON, times are seconds since 1970, `waiting` the key of the node that asks."""

    run_id: str
    graph: str
    graph_hash: str
    definition: bytes
    status: str
    cause: str | None
    error: bytes | None
    metadata: bytes
    input: bytes
    waiting: str | None
    created_at: float
    updated_at: float
    parent: str | None
    seed: str
    """What ids and random numbers derive from: the run's own id, or that of the run a fork goes back to."""


class StepRow(NamedTuple):
    """One entry of the update log. `node` is empty for a start, a move or a rewinding. `delta` of an item is its
    output, that of what failed or is tried again its error; `position` is set where a step of the graph is complete."""

    step: int
    scope: str
    node: str
    visit: int
    item: int | None
    attempt: int
    status: str
    started_at: float
    seconds: float
    hash: bytes
    delta: bytes | None
    position: bytes | None

    @property
    def updates(self) -> bool:
        """Whether `delta` changes the state."""
        return self.item is None and self.delta is not None and self.status not in FAILURES


class CallRow(NamedTuple):
    """One journal entry; `key` is the attempt's (`Address.key`), `ordinal` how many equal ones came before in it."""

    seq: int
    key: str
    path: str
    visit: int
    item: int | None
    attempt: int
    kind: str
    request_hash: bytes
    ordinal: int
    status: str
    started_at: float
    seconds: float
    request: bytes | None
    answer: bytes | None


class Snapshot(NamedTuple):
    """All channels of one scope at a step, and that step's hash and position."""

    scope: str
    step: int
    values: bytes
    hash: bytes
    position: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPatch:
    """A change of a run's row. None leaves `graph_hash`, `definition` and `metadata` as they are; the rest is set."""

    status: str
    updated_at: float
    cause: str | None = None
    error: bytes | None = None
    waiting: str | None = None
    cancel_done: bool = False
    """A request to cancel has been followed."""
    graph_hash: str | None = None
    definition: bytes | None = None
    metadata: bytes | None = None


class Write(NamedTuple):
    """What one transaction writes. A call row replaces the one with its number. `events` is what `packed_events` makes,
    and ends with event `last_seq`; `texts` maps SHA-256 (hex) to text. The numbers of steps and events rise
    from write to write."""

    run_id: str
    steps: Sequence[StepRow] = ()
    calls: Sequence[CallRow] = ()
    last_seq: int = 0
    events: bytes | None = None
    texts: Mapping[str, str] = {}
    snapshot: Snapshot | None = None
    run: RunPatch | None = None
    alone: bool = False
    """Nothing else of the run is under way: nobody is served by letting others join this transaction."""
    shares: str | None = None
    """A run whose texts this one keeps too, whatever becomes of it."""


class Lease(Protocol):
    """The right to drive a run; it ends with `release` or with its owner."""

    def release(self) -> None: ...


class Checkpointer(ABC):
    """A store of runs.

    `write` is all or nothing and durable when it returns; when its caller is cancelled it ends first, and then lets
    the cancellation through. What cannot be read or written as it must raises `StoreDamaged`, an unknown id
    `UnknownRun`.
    """

    @abstractmethod
    async def create(self, run: RunRow, first: Write) -> None:
        """Store a new run. Raises `RunExists`."""

    @abstractmethod
    async def write(self, write: Write) -> None: ...

    @abstractmethod
    async def lease(self, run_id: str) -> Lease:
        """Become the only one to drive a run. Raises `RunBusy`."""

    @abstractmethod
    async def run_rows(self, run_id: str | None, limit: int | None) -> list[RunRow]:
        """One run, or the latest `limit` of all, newest first."""

    @abstractmethod
    async def last_step(self, run_id: str) -> StepRow | None: ...

    @abstractmethod
    async def last_position(self, run_id: str) -> StepRow | None:
        """The root's latest row with a position."""

    @abstractmethod
    async def step_rows(
        self, run_id: str, scope: str | None, after: int = -1, upto: int | None = None
    ) -> list[StepRow]:
        """In order, `after` < step <= `upto`; of all scopes, and without deltas and positions, when `scope` is None."""

    @abstractmethod
    async def snapshot(self, run_id: str, scope: str, upto: int | None = None) -> Snapshot | None:
        """The latest not after step `upto`."""

    @abstractmethod
    async def call_keys(self, run_id: str) -> tuple[set[str], int]:
        """The keys of all attempts with journal entries, and the highest number of an entry (0 for none)."""

    @abstractmethod
    async def call_rows(self, run_id: str, key: str | None) -> list[CallRow]:
        """One attempt's entries, or all of a run, by number."""

    @abstractmethod
    async def lose_calls(self, run_id: str) -> int:
        """Mark every call that is `sent` as `lost`; returns how many."""

    @abstractmethod
    async def event_batches(self, run_id: str, after: int) -> list[bytes]:
        """The lists (`unpacked_events` reads them) that hold the events after `after`, and perhaps a few before."""

    @abstractmethod
    async def last_seq(self, run_id: str) -> int: ...

    @abstractmethod
    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        """Texts by hash (hex), each checked against it. A missing one is `StoreDamaged`."""

    @abstractmethod
    async def text_hashes(self, run_id: str) -> set[str]:
        """The hashes (hex) of all texts that a run keeps."""

    @abstractmethod
    async def delete(self, run_id: str) -> None:
        """Remove a run and the texts that no other refers to. Raises `RunBusy` while somebody drives it."""

    @abstractmethod
    async def forget_texts(self, run_id: str, hashes: Iterable[str]) -> int:
        """Let a run keep these texts (hex) no longer; returns how many are gone because no other run keeps them.
        What refers to them in the run cannot be read any more. Raises `RunBusy` while somebody drives it."""

    @abstractmethod
    async def size(self) -> int:
        """Bytes that the store would take if nothing that was deleted took room."""

    @abstractmethod
    async def request_cancel(self, run_id: str) -> None:
        """Ask whoever drives the run, or resumes it, to lead it over its `cancelled` edges."""

    @abstractmethod
    async def cancel_requested(self, run_id: str) -> bool: ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def compact(self) -> None:
        """Give room that nothing needs any more back to the machine."""

    async def runs(self, limit: int | None = None) -> list[RunRecord]:
        """The latest runs, newest first."""
        return [await self._record(row) for row in await self.run_rows(None, limit)]

    async def run(self, run_id: str) -> RunRecord:
        """One run."""
        return await self._record(await self.run_row(run_id))

    async def run_row(self, run_id: str) -> RunRow:
        """One run as stored."""
        return (await self.run_rows(run_id, 1))[0]

    async def state(self, run_id: str, step: int | None = None, scope: str = "") -> dict[str, Any]:
        """The committed channels after a step (the latest when None), of the root or of the subgraph run `scope`."""
        await self.run_row(run_id)
        folded = await fold(self, run_id, scope, step)
        return folded.state.values if folded else {}

    async def steps(self, run_id: str) -> list[StepRecord]:
        """What ran, in the order of its commits; no state is loaded."""
        await self.run_row(run_id)
        rows = [row for row in await self.step_rows(run_id, None) if row.node]
        folders = {scope: path_of(scope) for scope in {row.scope for row in rows}}
        return [_step_record(row, folders[row.scope]) for row in rows]

    async def events(self, run_id: str, after: int = 0) -> list[Event]:
        """The stored events with a number above `after`."""
        await self.run_row(run_id)
        batches = await self.event_batches(run_id, after)
        stored = (event for batch in batches for event in unpacked_events(batch))
        return [event_from_json({**event, "run_id": run_id}) for event in stored if event["seq"] > after]

    async def calls(self, run_id: str) -> list[CallRecord]:
        """The outside calls of a run, by number; a text that the run was made to forget is named in its place."""
        await self.run_row(run_id)
        rows = [row for row in await self.call_rows(run_id, None) if row.kind not in INNER_CALLS]
        parts = [data for row in rows for data in (row.request, row.answer) if data is not None]
        names = {name for data in parts for name in references(data)}
        try:
            texts = await self.texts(names)
        except StoreDamaged:
            kept = await self.text_hashes(run_id)
            texts = {name: f"(removed: sha256:{name})" for name in names - kept} | await self.texts(names & kept)
        return [_call_record(row, texts) for row in rows]

    async def text(self, text_hash: str) -> str:
        """A text by its hash, with or without `sha256:` before it."""
        name = text_hash.removeprefix("sha256:")
        return (await self.texts([name]))[name]

    async def _record(self, row: RunRow) -> RunRecord:
        last, placed = await self.last_step(row.run_id), await self.last_position(row.run_id)
        position = Position.from_bytes(placed.position, placed.hash) if placed and placed.position else None
        nodes = tuple(active.node for active in position.active) if position else ()
        updated_at = max(row.updated_at, last.started_at + last.seconds if last else 0.0)
        texts = await self.texts(references(row.input) | references(row.metadata))
        return RunRecord(
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
            updated_at=_moment(updated_at),
            parent=row.parent,
        )


def missing_text(name: str) -> StoreDamaged:
    """For stores: a text that is referred to and not there, or not what its hash says."""
    return StoreDamaged(
        f"the stored text sha256:{name} is missing or damaged",
        help="restore the store from a backup, or delete the run; of old runs `prune` keeps only texts that are cited",
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _step_record(row: StepRow, folder: str) -> StepRecord:
    return StepRecord(
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


def _call_record(row: CallRow, texts: Mapping[str, str]) -> CallRecord:
    return CallRecord(
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
