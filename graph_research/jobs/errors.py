"""What goes wrong with jobs."""

from __future__ import annotations

from graph_research.errors import GraphResearchError, UserMistake


class UnknownJob(UserMistake):
    """There is no such job, or it is another user's."""


class JobExists(UserMistake):
    """A job with this id exists already."""


class TooManySubmissions(UserMistake):
    """The user has submitted as much as the limit allows. Nothing was done."""


class JobNotWaiting(UserMistake):
    """An answer for a job that has asked nothing."""


class JobNotEnded(UserMistake):
    """A job that is to be removed has not ended."""


class ClaimLost(GraphResearchError):
    """The job is no longer this worker's: it was cancelled, has expired, or another worker has claimed it. Nothing was
    written."""


class JobStoreUnusable(GraphResearchError):
    """The store of jobs cannot be read or written."""
