"""The errors of model and search providers."""

from __future__ import annotations

from graph_research.errors import GraphResearchError, Hint, UserMistake


class ProviderError(GraphResearchError):
    """Base class; `provider` is the provider's name."""

    code = "provider"

    def __init__(self, message: str, *, provider: str, help: str = "", hint: Hint | None = None) -> None:
        super().__init__(message, help=help, hint=hint)
        self.provider = provider


class ProviderUnavailable(ProviderError):
    """Unreachable, overloaded or too slow: the same request may succeed later. `retry_after_seconds` is the provider's
    `Retry-After`, None without one."""

    def __init__(
        self, message: str, *, provider: str, retry_after_seconds: float | None = None, help: str = ""
    ) -> None:
        super().__init__(message, provider=provider, help=help)
        self.retry_after_seconds = retry_after_seconds


class ProviderUnreachable(ProviderUnavailable):
    """The host name is unknown, or the certificate is not trusted. Not retried immediately."""


class ProviderRefused(ProviderError):
    """The key, the quota or the request is refused; a retry would not help."""


class FetchRefused(ProviderRefused):
    """A page is not fetched because of its address, size, type or robots.txt."""


class PageGone(FetchRefused):
    """A page that its server no longer has: it answered 404 or 410."""


class PageUnchanged(FetchRefused):
    """A page that its server sent no body of, since it is the version that the request names: it answered 304."""


class AnswerWithheld(ProviderRefused):
    """The model declined to answer, or the provider's filter withheld the answer; the tokens may be billed."""

    def __init__(
        self, message: str, *, provider: str, input_tokens: int = 0, output_tokens: int = 0, help: str = ""
    ) -> None:
        super().__init__(message, provider=provider, help=help)
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


TO_KEEP_WITHIN = ", to keep within "
"""Stands between what is left out and the limit that it is left out for."""


class BudgetReached(AnswerWithheld):
    """The run may not spend any more on calls of this stage. The message says what is left out for it, and the limit:
    `gathering ended early, to keep within 60,000 tokens`."""


class ContextExceeded(ProviderError):
    """The prompt exceeds the model's window of `limit_tokens`, None if the provider did not give it."""

    def __init__(self, message: str, *, provider: str, limit_tokens: int | None = None, help: str = "") -> None:
        super().__init__(message, provider=provider, help=help)
        self.limit_tokens = limit_tokens


class NoProvider(UserMistake):
    """No search provider can be used; the run is refused before it starts."""


class UnknownModel(UserMistake):
    """A model spec that names no known provider."""


class KeyMissing(UserMistake):
    """The environment variable of a provider's key is not set."""


class CommandMissing(UserMistake):
    """The program of a command-line model is not installed."""
