"""The rate limit of submissions: so many jobs of a user in a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from graph_research.jobs.errors import TooManySubmissions
from graph_research.jobs.job import Job, NewJob, SubmissionLimit
from graph_research.jobs.store import JobStore
from graph_research.service.errors import TooManyJobs

MOST_JOBS = 10
WINDOW_SECONDS = 900
_LIMIT = SubmissionLimit(most=MOST_JOBS, window_seconds=WINDOW_SECONDS)


@dataclass(frozen=True, kw_only=True)
class Quota:
    """What is left of a user's limit: `remaining` submissions, and the seconds until another one is free again."""

    remaining: int
    reset_seconds: int

    def headers(self) -> Mapping[str, str]:
        """The fields `RateLimit` and `RateLimit-Policy` of a response."""
        return {
            "RateLimit": f'"jobs";r={self.remaining};t={self.reset_seconds}',
            "RateLimit-Policy": f'"jobs";q={MOST_JOBS};w={WINDOW_SECONDS}',
        }


async def quota_of(jobs: JobStore, user: str) -> Quota:
    """How much the user may still submit. The store itself is counted, so a restart forgets nothing."""
    ages = await jobs.submitted_within(user, WINDOW_SECONDS)
    left = math.ceil(WINDOW_SECONDS - ages[0]) if ages else 0
    return Quota(remaining=max(0, MOST_JOBS - len(ages)), reset_seconds=left)


async def check_quota(jobs: JobStore, user: str) -> None:
    """`TooManyJobs` where nothing is left now."""
    quota = await quota_of(jobs, user)
    if not quota.remaining:
        raise _too_many(quota)


async def submit_within_limit(jobs: JobStore, new: NewJob) -> tuple[Job, bool]:
    """Queue a job, and whether it is new. `TooManyJobs`, whichever process the user's other jobs were submitted to."""
    try:
        return await jobs.submit(new, limit=_LIMIT)
    except TooManySubmissions as error:
        raise _too_many(await quota_of(jobs, new.user)) from error


async def count_within_limit(jobs: JobStore, user: str) -> Quota:
    """Let work that is no job count for the user's rate limit, and say what is left of it. `TooManyJobs`."""
    try:
        await jobs.count_submission(user, limit=_LIMIT)
    except TooManySubmissions as error:
        raise _too_many(await quota_of(jobs, user)) from error
    return await quota_of(jobs, user)


def _too_many(quota: Quota) -> TooManyJobs:
    return TooManyJobs(
        f"{MOST_JOBS} jobs may be submitted in {WINDOW_SECONDS // 60} minutes",
        help=f"try again in {quota.reset_seconds} seconds",
        quota=quota.headers(),
        retry_after_seconds=quota.reset_seconds,
    )
