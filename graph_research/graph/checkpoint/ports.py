"""What a store of runs must do, in rows: small interfaces, whose sum is `Checkpointer`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol

from graph_research.graph.errors import RunBusy, StoreDamaged
from graph_research.graph.events import unpacked_events
from graph_research.graph.state.rows import CallRow, Instruction, RunRow, Snapshot, StepRow, Write
from graph_research.graph.statuses import CallStatus


class Lease(Protocol):
    """The right to drive a run; it ends with `release` or with its owner."""

    def release(self) -> None: ...


class RunLog(ABC):
    """The rows of runs. Methods with a body may be overridden where a store can do the same faster.

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

    async def is_driven(self, run_id: str) -> bool:
        """Whether somebody holds the lease of a run now."""
        try:
            lease = await self.lease(run_id)
        except RunBusy:
            return True
        lease.release()
        return False

    @abstractmethod
    async def run_rows(self, run_id: str | None, limit: int | None) -> list[RunRow]:
        """One run, or the latest `limit` of all, newest first."""

    @abstractmethod
    async def step_rows(
        self, run_id: str, scope: str | None, after: int = -1, upto: int | None = None
    ) -> list[StepRow]:
        """In order, `after` < step <= `upto`; of all scopes, and without deltas and positions, when `scope` is None."""

    @abstractmethod
    async def snapshot(self, run_id: str, scope: str, upto: int | None = None) -> Snapshot | None:
        """The latest not after step `upto`."""

    @abstractmethod
    async def call_rows(self, run_id: str, key: str | None) -> list[CallRow]:
        """One attempt's entries, or all of a run, by number."""

    @abstractmethod
    async def event_batches(self, run_id: str, after: int) -> list[bytes]:
        """The lists (`unpacked_events` reads them) that hold the events after `after`, and perhaps a few before."""

    @abstractmethod
    async def request_cancel(self, run_id: str) -> None:
        """Ask the process that drives the run, or the next that resumes it, to cancel it. Nothing where it has
        ended."""

    @abstractmethod
    async def cancel_requested(self, run_id: str) -> bool: ...

    @abstractmethod
    async def instruct(self, run_id: str, instruction: Instruction) -> None:
        """Keep an instruction for the process that drives the run, or the next that resumes it."""

    @abstractmethod
    async def instructions(self, run_id: str) -> list[Instruction]:
        """All instructions of a run, in order."""

    async def last_step(self, run_id: str) -> StepRow | None:
        """The latest row of all scopes."""
        rows = await self.step_rows(run_id, None)
        return rows[-1] if rows else None

    async def last_position(self, run_id: str) -> StepRow | None:
        """The root's latest row with a position."""
        rows = await self.step_rows(run_id, "")
        return next((row for row in reversed(rows) if row.position is not None), None)

    async def last_seq(self, run_id: str) -> int:
        """The number of the latest event, 0 if there is none."""
        batches = await self.event_batches(run_id, 0)
        return max((int(event["seq"]) for batch in batches[-1:] for event in unpacked_events(batch)), default=0)

    async def call_keys(self, run_id: str) -> tuple[set[str], int]:
        """The keys of all attempts with journal entries, and the highest number of an entry (0 for none)."""
        rows = await self.call_rows(run_id, None)
        return {row.key for row in rows}, max((row.seq for row in rows), default=0)

    async def lose_calls(self, run_id: str) -> int:
        """Mark every call that is `sent` as `lost`; returns how many."""
        sent = [row for row in await self.call_rows(run_id, None) if row.status == CallStatus.SENT]
        if sent:
            await self.write(Write(run_id=run_id, calls=[row._replace(status=CallStatus.LOST) for row in sent]))
        return len(sent)


class TextStore(ABC):
    """Large texts, stored once under their SHA-256 and kept as long as a run refers to them."""

    @abstractmethod
    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        """Texts by hash (hex), each checked against it. A missing one is `StoreDamaged`."""

    @abstractmethod
    async def text_hashes(self, run_id: str) -> set[str]:
        """The hashes (hex) of all texts that a run keeps."""

    @abstractmethod
    async def forget_texts(self, run_id: str, hashes: Iterable[str]) -> int:
        """Let a run keep these texts (hex) no longer; returns how many are gone because no other run keeps them.
        What refers to them in the run cannot be read any more. Raises `RunBusy` while somebody drives it."""


class Maintenance(ABC):
    """The room that runs take."""

    @abstractmethod
    async def delete(self, run_id: str) -> None:
        """Remove a run and the texts that no other refers to. Raises `RunBusy` while somebody drives it."""

    @abstractmethod
    async def size(self) -> int:
        """Bytes that the store would take if nothing that was deleted took room."""

    @abstractmethod
    async def close(self) -> None: ...

    async def compact(self) -> None:  # noqa: B027 -- most stores have nothing to give back
        """Give room that nothing needs any more back to the machine."""


def missing_text(name: str) -> StoreDamaged:
    """For stores: a text that is referred to and not there, or not what its hash says."""
    return StoreDamaged(
        f"the stored text sha256:{name} is missing or damaged",
        help="restore the store from a backup, or delete the run; of old runs `prune` keeps only texts that are cited",
    )
