"""What a provider of models or search can answer instead of a result."""

from __future__ import annotations

from graph_research.errors import GraphResearchError, Hint, UserMistake


class ProviderError(GraphResearchError):
    """Something outside said no. `provider` names who."""

    code = "provider"

    def __init__(self, message: str, *, provider: str, help: str = "", hint: Hint | None = None) -> None:
        super().__init__(message, help=help, hint=hint)
        self.provider = provider


class ProviderUnavailable(ProviderError):
    """Out of reach, overloaded or too slow: the same request may succeed later. `retry_after_seconds` is how long the
    provider asked to be left alone; None where it did not say."""

    code = "provider-unavailable"

    def __init__(
        self, message: str, *, provider: str, retry_after_seconds: float | None = None, help: str = ""
    ) -> None:
        super().__init__(message, provider=provider, help=help)
        self.retry_after_seconds = retry_after_seconds


class ProviderUnreachable(ProviderUnavailable):
    """There is no way to it: its name is unknown, or its certificate is not trusted. Not worth an immediate retry."""

    code = "provider-unreachable"


class ProviderRefused(ProviderError):
    """A key, a quota or a request that will not get better by asking again."""

    code = "provider-refused"


class FetchRefused(ProviderRefused):
    """A page that is not fetched: its address, its size, its kind, or its owner's robots.txt."""

    code = "fetch-refused"


class AnswerWithheld(ProviderRefused):
    """A model that declines to answer this prompt, or whose answer its provider's filter held back; it may be paid for
    all the same."""

    code = "answer-withheld"

    def __init__(
        self, message: str, *, provider: str, input_tokens: int = 0, output_tokens: int = 0, help: str = ""
    ) -> None:
        super().__init__(message, provider=provider, help=help)
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


class ContextExceeded(ProviderError):
    """The prompt is longer than the model's window; `limit_tokens` is the window where the provider told it."""

    code = "context-exceeded"

    def __init__(self, message: str, *, provider: str, limit_tokens: int | None = None, help: str = "") -> None:
        super().__init__(message, provider=provider, help=help)
        self.limit_tokens = limit_tokens


class NoProvider(UserMistake):
    """No search provider can be used; the run is refused before it starts."""

    code = "no-provider"


class UnknownModel(UserMistake):
    """A model spec that names no known provider."""

    code = "unknown-model"


class KeyMissing(UserMistake):
    """A provider was named whose key is in no variable of the environment."""

    code = "key-missing"


class CommandMissing(UserMistake):
    """A command line was named whose program is not on this machine."""

    code = "command-missing"
