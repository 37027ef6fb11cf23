"""The rate limit of submissions: so many jobs of a user in a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from graph_research.jobs.store import JobStore
from graph_research.service.errors import TooManyJobs

MOST_JOBS = 10
WINDOW_SECONDS = 900


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


def check_quota(quota: Quota) -> None:
    """`TooManyJobs` where nothing is left."""
    if not quota.remaining:
        raise TooManyJobs(
            f"{MOST_JOBS} jobs may be submitted in {WINDOW_SECONDS // 60} minutes",
            help=f"try again in {quota.reset_seconds} seconds",
            quota=quota.headers(),
            retry_after_seconds=quota.reset_seconds,
        )
