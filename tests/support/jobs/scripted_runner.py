"""A runner whose runs do what a test wrote down for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

OnProgress = Callable[[str, float], Awaitable[None]]
OnSources = Callable[[Sequence[Mapping[str, Any]]], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class End:
    """How a run ends."""

    status: str = "COMPLETED"
    result: Mapping[str, Any] | None = None
    waiting_for: str | None = None
    error: tuple[str, str] | None = None


@dataclass
class ScriptedRunner:
    """Each run begins at once and ends when the test puts an `End`, or an error to raise, into `ends`; without one it
    is driven until its cancellation is asked for. Drives, cancellations and removals are recorded."""

    ends: dict[str, End | Exception] = field(default_factory=dict)
    sources: Sequence[Mapping[str, Any]] = ()
    begun: list[tuple[str, str | None]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(
        self,
        job_id: str,
        request: Mapping[str, Any],
        *,
        submitted_at: datetime,
        answer: str | None,
        on_progress: OnProgress,
        on_sources: OnSources,
    ) -> End:
        try:
            await on_progress("retrieval", 0.5)
            await self._tell(self.begun, (job_id, answer))
            async with self.changed:
                await self.changed.wait_for(lambda: job_id in self.ends or job_id in self.cancelled)
        except asyncio.CancelledError:
            self.stopped.append(job_id)
            raise
        end = self.ends.pop(job_id, End(status="CANCELLED"))
        if isinstance(end, Exception):
            raise end
        if self.sources:
            await on_sources(self.sources)
        return end

    async def cancel(self, job_id: str) -> None:
        await self._tell(self.cancelled, job_id)

    async def remove(self, job_id: str) -> None:
        await self._tell(self.removed, job_id)

    async def end(self, job_id: str, end: End | Exception | None = None) -> None:
        """End a run."""
        self.ends[job_id] = End(result={"markdown": f"# {job_id}"}) if end is None else end
        async with self.changed:
            self.changed.notify_all()

    async def _tell(self, log: list[Any], entry: Any) -> None:
        async with self.changed:
            log.append(entry)
            self.changed.notify_all()
