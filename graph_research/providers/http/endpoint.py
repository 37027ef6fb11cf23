"""Endpoints with their limits, and their responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable, ProviderUnreachable
from graph_research.providers.http.redaction import redact

_SECRET_NAMES = ("auth", "key", "token", "secret", "cookie")


@dataclass(frozen=True, kw_only=True)
class Response:
    """A complete response: `status`, headers with names in lower case, and the decompressed body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as JSON. Raises `ValueError` if it is not JSON."""
        return self._parsed

    def text(self) -> str:
        """The body as UTF-8; invalid bytes are replaced."""
        return self.body.decode("utf-8", errors="replace")

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case; empty if there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def _parsed(self) -> Any:
        return orjson.loads(self.body)


Classify = Callable[[Response], ProviderError | None]
"""Maps a response with an error status to the provider's error; None leaves it to the status."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A server and the limits of requests to it. Endpoints of the same `name` share rate limit and circuit breaker.

    `headers` carry the key and go to this `base_url` alone; `secrets` are redacted from every message. Seconds are
    wall-clock: `timeout_seconds` for one try (of a stream: without a line), `budget_seconds` for all tries of a request
    together, the waits between them and the waits for the bucket.
    """

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request; for the providers whose key is a parameter."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    classify: Classify | None = None
    attempts: int = 5
    timeout_seconds: float = 60.0
    budget_seconds: float = 300.0
    per_second: float | None = None
    """Requests a second at most, as a token bucket; None: unbounded."""
    most_bytes: int = 20_000_000
    remedy: str = ""
    """What to do where this endpoint refuses, such as the name of the variable its key stands in."""

    def unavailable(self, what: str, *, retry_after_seconds: float | None = None) -> ProviderUnavailable:
        """An error of this endpoint that a later request may not meet."""
        return ProviderUnavailable(f"{self.name}: {what}", provider=self.name, retry_after_seconds=retry_after_seconds)

    def unreachable(self, what: str, *, help: str) -> ProviderUnreachable:
        """An error of this endpoint's name or certificate."""
        return ProviderUnreachable(f"{self.name}: {what}", provider=self.name, help=help)

    def refused(self, what: str, *, help: str = "") -> ProviderRefused:
        """An error of this endpoint that a later request meets as well."""
        return ProviderRefused(f"{self.name}: {what}", provider=self.name, help=help)

    def redact(self, text: str) -> str:
        """`text` without this endpoint's keys."""
        sent = {**self.headers, **self.params}
        values = [text for name, text in sent.items() if any(word in name.lower() for word in _SECRET_NAMES)]
        return redact(text, [*self.secrets, *values, *(value.rpartition(" ")[2] for value in values)])
