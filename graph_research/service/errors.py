"""What the service refuses, beside the errors of the packages below it."""

from __future__ import annotations

from collections.abc import Mapping

from graph_research.errors import GraphResearchError, UserMistake


class TokenMissing(UserMistake):
    """A request without a valid token, where users have tokens."""


class NotAllowed(UserMistake):
    """A request that the user may not make."""


class ForeignOrigin(UserMistake):
    """A request that a page of another site sent, or that was sent to another name than that of this machine."""


class RequestMalformed(UserMistake):
    """What arrives on a connection is not a valid HTTP request, or its headers are longer than the service reads."""


class RequestAmbiguous(UserMistake):
    """A request that states its length in two ways: who goes by the other one takes its end for another request."""


class BodyTooLarge(UserMistake):
    """A request with a longer body than its route takes."""


class TooManyJobs(UserMistake):
    """The user has submitted as many jobs as the rate limit allows."""

    def __init__(self, message: str, *, retry_after_seconds: int, quota: Mapping[str, str], help: str) -> None:
        super().__init__(message, help=help)
        self.headers = {"Retry-After": str(retry_after_seconds), **quota}


class DocumentNameInvalid(UserMistake):
    """A document with a name that it cannot have, or of a format that is not read."""


class UnknownDocument(UserMistake):
    """The user has no document of this name."""


class KeyReused(UserMistake):
    """An idempotency key that came with another request before."""


class NothingYet(UserMistake):
    """What is asked for does not exist at the job's present status."""


class TokensUnusable(UserMistake):
    """A tokens file that cannot be read or understood, or that is missing where users need tokens."""


class AddressUnusable(UserMistake):
    """An address that the service cannot listen at."""


class FoldersAlike(UserMistake):
    """Folders that users of the service are to search, and that they could not tell from one another."""


class NotReady(GraphResearchError):
    """The service cannot take jobs or documents at the moment."""
