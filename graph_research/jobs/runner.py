"""What a worker runs, in types that a runner has without knowing this package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

OnProgress = Callable[[str, float], Awaitable[None]]
"""Takes the name of the stage and the progress, 0 to 1."""
OnSources = Callable[[Sequence[Mapping[str, Any]]], Awaitable[None]]
"""Takes the scored sources, each with the fields of a `SourceRow`."""


class RunEnd(Protocol):
    """How a drive of a run ended."""

    @property
    def status(self) -> str:
        """The value of the `JobStatus` that follows: COMPLETED, FAILED, CANCELLED, AWAITING_INPUT, or PROCESSING
        where the store of the run could not be reached any more: it goes on when the claim has run out."""
        ...

    @property
    def result(self) -> Mapping[str, Any] | None:
        """The fields of a `ResultRow`, where there is a report."""
        ...

    @property
    def waiting_for(self) -> str | None:
        """The question of a run that awaits input."""
        ...

    @property
    def error(self) -> tuple[str, str] | None:
        """Code and message of a failure."""
        ...


class JobRunner(Protocol):
    """Runs jobs. The run of a job has the job's id and outlives every worker: another one goes on with it."""

    async def run(
        self,
        job_id: str,
        request: Mapping[str, Any],
        *,
        submitted_at: datetime,
        answer: str | None,
        on_progress: OnProgress,
        on_sources: OnSources,
    ) -> RunEnd:
        """Create the run where it does not exist, and drive it until it ends or waits, with `answer` where it waits for
        one. Reports its progress only once the answer is part of the run. Cancelled, it leaves a run that can go on."""
        ...

    async def cancel(self, job_id: str) -> None:
        """End the run as cancelled, whoever drives it; nothing where there is none."""
        ...

    async def remove(self, job_id: str) -> None:
        """Remove the run with all that it stored; nothing where there is none."""
        ...
