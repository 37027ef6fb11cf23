"""What a store of jobs promises, to those who submit jobs and to workers. The store has the clock: a worker whose own
is wrong does no harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from graph_research.jobs.job import Claim, Job, JobStatus, NewJob, Outcome, ResultRow, SourceRow, SubmissionLimit

TTL_SECONDS = 86_400.0
"""How long after its submission a job that has not ended expires, and how long after its end it is removed."""
MOST_LOST_CLAIMS = 5
"""The claims of one job that workers may lose before it fails."""
WORKER_LOST = "worker-lost"
"""The code of that failure."""


class SubmittedJobs(Protocol):
    """The jobs of users. A job of another user is as unknown as one that does not exist (`UnknownJob`)."""

    async def now(self) -> datetime:
        """The time by the clock of the store, of which a job has its `created_at`."""
        ...

    async def submit(self, new: NewJob, *, limit: SubmissionLimit | None = None) -> tuple[Job, bool]:
        """Queue a job, and whether it is new: where the user has one with this idempotency key, that one is returned.
        `JobExists` where the id is taken, `TooManySubmissions` where a new one is beyond the limit, also where several
        processes submit for the user at the same time."""
        ...

    async def submitted_with(self, user: str, idempotency_key: str) -> Job | None:
        """The job that the user submitted with this key."""
        ...

    async def get(self, user: str, job_id: str) -> Job:
        """The user's job."""
        ...

    async def find(self, job_id: str) -> Job | None:
        """The job, whoever's it is: for the operator of the store."""
        ...

    async def jobs(self, user: str, *, before: str | None = None, limit: int = 50) -> list[Job]:
        """The user's jobs, the newest first; with `before` those behind the place of `cursor_of`."""
        ...

    async def submitted_within(self, user: str, seconds: float) -> list[float]:
        """How many seconds ago the user submitted jobs in the last `seconds`, the earliest first; without those that
        keep their run."""
        ...

    async def count_submission(self, user: str, *, limit: SubmissionLimit | None = None) -> None:
        """Let something that is no job count in `submitted_within`, from now on. `TooManySubmissions` as for a job."""
        ...

    async def counts(self, user: str | None = None) -> Mapping[JobStatus, int]:
        """How many jobs have each status, of all users without `user`."""
        ...

    async def result(self, user: str, job_id: str) -> ResultRow | None:
        """The result of a completed job, None before."""
        ...

    async def sources(self, user: str, job_id: str) -> list[SourceRow]:
        """The scored sources, best first; empty before they are scored."""
        ...

    async def answer(self, user: str, job_id: str, text: str) -> Job:
        """Put a job that awaits input back into the queue. `JobNotWaiting` where it does not."""
        ...

    async def cancel(self, user: str, job_id: str) -> Job:
        """Cancel a job that no worker holds; of one in process the cancellation is requested, and its worker does the
        rest. One that has ended stays as it is."""
        ...

    async def remove(self, user: str, job_id: str) -> None:
        """Remove a job that has ended, with its result and sources; its submission still counts in
        `submitted_within`. `JobNotEnded` where it has not."""
        ...

    async def withdraw(self, job_id: str) -> bool:
        """Remove a job that has not ended and that no worker holds, so that its run can be driven elsewhere; false for
        any other."""
        ...


class WorkQueue(Protocol):
    """The jobs of workers. A write with a claim that no longer holds raises `ClaimLost` and changes nothing."""

    async def claim(self, worker: str, *, lease_seconds: float, at_most: int) -> Claim | None:
        """The next job: the oldest of the user with the fewest in process, of several such users that of the one whose
        turn it is. A job whose lease has ended is claimed like one that waits, and fails instead after
        `MOST_LOST_CLAIMS`. None where there is no job, or `at_most` of the store's are in process."""
        ...

    async def heartbeat(self, claim: Claim, *, lease_seconds: float) -> bool:
        """Renew the lease; whether a cancellation was requested."""
        ...

    async def progress(self, claim: Claim, stage: str, fraction: float) -> bool:
        """Store how far the job is; whether a cancellation was requested. The answer that it was claimed with has
        arrived in its run, and is dropped."""
        ...

    async def put_sources(self, claim: Claim, sources: Sequence[SourceRow]) -> None:
        """Store the scored sources in the place of those that were stored before."""
        ...

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        """End the claim as its run ended or waits. A job whose cancellation was requested does not wait: it is queued,
        so that its next worker cancels the run."""
        ...

    async def release(self, claim: Claim) -> None:
        """Give the job back into the queue, unfinished."""
        ...


class JobRetention(Protocol):
    """Jobs that have outlived their time."""

    async def expire(self) -> list[Job]:
        """Expire the jobs that did not end within `TTL_SECONDS`, and return them."""
        ...

    async def outdated(self) -> list[Job]:
        """The jobs that ended more than `TTL_SECONDS` ago."""
        ...

    async def needed_runs(self) -> set[str]:
        """The ids of runs that somebody waits for: those of jobs that have not ended, and those that are removed with
        their jobs."""
        ...

    async def delete(self, job_id: str) -> None:
        """Remove a job with its result and its sources; nothing where there is none."""
        ...


class JobStore(SubmittedJobs, WorkQueue, JobRetention, Protocol):
    """All of it, in one store."""

    async def close(self) -> None:
        """Finish what was asked, and close the store."""
        ...
