"""A job, its statuses, and the rows that a finished one leaves: its result and its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

LOCAL_USER = "local"
"""Whose the jobs of the command line are, and of a service without tokens."""


class JobStatus(StrEnum):
    """The status of a job."""

    QUEUED = "QUEUED"
    """It waits for a worker."""
    PROCESSING = "PROCESSING"
    """A worker holds its lease, or held it and died."""
    AWAITING_INPUT = "AWAITING_INPUT"
    """Its run asks; an answer puts it back into the queue."""
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    """It did not end within its time to live."""


_ENDS = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.EXPIRED})
TRANSITIONS: Mapping[JobStatus, frozenset[JobStatus]] = {
    JobStatus.QUEUED: frozenset({JobStatus.PROCESSING, JobStatus.CANCELLED, JobStatus.EXPIRED}),
    JobStatus.PROCESSING: frozenset({JobStatus.QUEUED, JobStatus.AWAITING_INPUT, *_ENDS}),
    JobStatus.AWAITING_INPUT: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED, JobStatus.EXPIRED}),
    **dict.fromkeys(_ENDS, frozenset()),
}
"""By status those that can follow it; none follows an end."""


@dataclass(frozen=True, kw_only=True)
class JobError:
    """Why a job failed: `code` for programs, `message` for people."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job to be submitted. `id` is that of its run, too. `request` is JSON that only the runner reads.

    A second job of the user with the same `idempotency_key` is the first one. `keeps_run`: the run stays when the job
    is removed, since it belongs to the command line.
    """

    id: str
    user: str
    question: str
    request: Mapping[str, Any]
    idempotency_key: str | None = None
    keeps_run: bool = False


@dataclass(frozen=True, kw_only=True)
class SubmissionLimit:
    """How many submissions a user has in a sliding window."""

    most: int
    window_seconds: float


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as it stands. Times are aware, in UTC.

    `progress` is 0 to 1 and never falls; `stage` is what its runner is at. `attempt` counts the claims of workers: it
    is the fencing token of the latest one. `lost_claims` are those that a worker neither finished nor gave back.
    `waiting_for` is the question of one that awaits input, `answer` the text that its next worker takes along.
    `has_result`: whether a result is stored.
    """

    id: str
    user: str
    status: JobStatus
    question: str
    request: Mapping[str, Any]
    created_at: datetime
    expires_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    progress: float = 0.0
    stage: str | None = None
    attempt: int = 0
    lost_claims: int = 0
    worker: str | None = None
    cancel_requested: bool = False
    waiting_for: str | None = None
    answer: str | None = None
    error: JobError | None = None
    idempotency_key: str | None = None
    keeps_run: bool = False
    has_result: bool = False

    @property
    def run_id(self) -> str:
        """The id of the run that the job drives."""
        return self.id

    @property
    def is_over(self) -> bool:
        """Whether nothing follows."""
        return not TRANSITIONS[self.status]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A job that a worker holds until its lease ends; every write of the worker names it."""

    job: Job

    @property
    def token(self) -> int:
        """The fencing token: higher in every later claim of the job."""
        return self.job.attempt


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """What a completed job leaves in `research_results`. `tokens` is what its models used; `confidence` is 0 to 1."""

    markdown: str
    citations: Sequence[Mapping[str, Any]] = ()
    claims: Sequence[Mapping[str, Any]] = ()
    tokens: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None
    claim_count: int = 0
    source_count: int = 0
    has_contradictions: bool = False


@dataclass(frozen=True, kw_only=True)
class SourceRow:
    """A source of a job in `research_sources`, with each dimension of its score: `authority` 0 to 100, `recency`,
    `relevance`, `credibility` and their weighted sum `composite` 0 to 1."""

    source_id: str
    title: str
    url: str | None
    published_at: str | None
    provider: str
    retrieval_method: str
    tier: str
    authority: float
    recency: float
    relevance: float
    credibility: float
    composite: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a claim of a job ended: with a `status` that can follow PROCESSING, and what belongs to it."""

    status: JobStatus
    result: ResultRow | None = None
    waiting_for: str | None = None
    error: JobError | None = None
