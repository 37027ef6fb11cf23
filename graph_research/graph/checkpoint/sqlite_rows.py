"""Rows of the SQLite store: what is bound and read, and the checksums that find a damaged row."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import orjson

from graph_research.graph.errors import StoreDamaged
from graph_research.graph.state.rows import CallRow, RunRow, Snapshot, StepRow

_LISTED = attrgetter("step", "scope", "node", "visit", "item", "attempt", "status", "started_at", "seconds")
"""The fields of a step that a history shows, without its hash."""
_RUN = attrgetter(
    "run_id", "graph", "graph_hash", "status", "cause", "waiting", "created_at", "updated_at", "parent", "seed"
)
_CALL = attrgetter("seq", "key", "path", "visit", "item", "attempt", "kind")


def bound_step(base: int, step: StepRow, last_seq: int | None, events: bytes | None) -> tuple[Any, ...]:
    """What is bound for a step; no `bytes`, for which the `sqlite3` module looks for an adapter each time."""
    number, *listed = _LISTED(step)
    return (
        base | number,
        *listed,
        bytearray(step.hash),
        step.delta and bytearray(step.delta),
        step.position and bytearray(step.position),
        last_seq,
        events and bytearray(events),
        _seal(step, last_seq, events),
    )


def read_step(run_id: str, row: tuple[Any, ...]) -> StepRow:
    """A step from its row, which ends with the number of its last event, its events and its seal."""
    *fields, last_seq, events, seal = row
    step = StepRow(*fields)
    try:
        sound = _seal(step, last_seq, events) == seal
    except TypeError:  # a damaged row may hold anything
        sound = False
    if not sound:
        raise _damaged(f"step {step.step} of run {run_id}")
    return step


def read_listed_steps(run_id: str, rows: Sequence[tuple[Any, ...]]) -> list[StepRow]:
    """Steps from rows without deltas and positions, which end with the number of the last event and the seal."""
    steps = []
    for *fields, last_seq, seal in rows:
        step = StepRow(*fields)
        try:
            sound = _listed_checksum(step, last_seq) >> 1 == seal >> 32
        except TypeError:  # a damaged row may hold anything
            sound = False
        if not sound:
            raise _damaged(f"step {step.step} of run {run_id}")
        steps.append(step)
    return steps


def read_run(row: tuple[Any, ...]) -> RunRow:
    """A run from its row, which ends with its checksum."""
    *fields, checksum = row
    run = RunRow(*fields)
    verify(checksum, run_parts(run), f"the record of run {run.run_id!r:.80}")
    return run


def read_call(run_id: str, row: tuple[Any, ...]) -> CallRow:
    """A call from its row, which ends with its checksum."""
    *fields, checksum = row
    call = CallRow(*fields)
    verify(checksum, call_parts(call), f"call {call.seq} of run {run_id}")
    return call


def run_parts(run: RunRow) -> tuple[bytes | None, ...]:
    """What goes into the checksum of a run."""
    return _small_parts(_RUN(run)), run.definition, run.error, run.metadata, run.input


def call_parts(call: CallRow) -> tuple[bytes | None, ...]:
    """What goes into the checksum of a call: all but status and seconds, which change while the row stands."""
    return _small_parts(_CALL(call)), call.request_hash, _small_parts((call.ordinal,)), call.request, call.answer


def snapshot_parts(snapshot: Snapshot) -> tuple[bytes, ...]:
    """What goes into the checksum of a snapshot."""
    return snapshot.values, snapshot.hash, snapshot.position


def checksum_of(*parts: bytes | None) -> int:
    """The CRC-32 of the parts that are there."""
    present: Sequence[Any] = [part for part in parts if part is not None] if None in parts else parts
    return zlib.crc32(b"".join(present))


def verify(checksum: int, parts: Sequence[bytes | None], what: str) -> None:
    """Raises `StoreDamaged` where the parts of a row do not have its checksum."""
    try:
        sound = checksum_of(*parts) == checksum
    except TypeError:  # a damaged row may hold anything
        sound = False
    if not sound:
        raise _damaged(what)


def _seal(step: StepRow, last_seq: int | None, events: bytes | None) -> int:
    """Two checksums in one number: in the lower 32 bits that of the whole row, above them the upper 31 bits of that of
    the listed fields, so that a history can be checked without deltas, positions and events."""
    listed = _listed_checksum(step, last_seq)
    return listed >> 1 << 32 | zlib.crc32((step.delta or b"") + (step.position or b"") + (events or b""), listed)


def _listed_checksum(step: StepRow, last_seq: int | None) -> int:
    return zlib.crc32(_small_parts((*_LISTED(step), last_seq)) + step.hash)


def _small_parts(values: tuple[Any, ...]) -> bytes:
    """Numbers and short strings as they go into a checksum; a damaged row may hold anything."""
    return orjson.dumps(values, default=repr)


def _damaged(what: str) -> StoreDamaged:
    return StoreDamaged(f"{what} is damaged in the store", help="restore the store from a backup, or delete the run")
