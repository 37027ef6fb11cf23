"""Who is asked over HTTP, how gently, and what they answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from graph_research.providers.errors import ProviderError
from graph_research.providers.http.redaction import black_out

__all__ = ["Classify", "Peer", "Reply"]

_SECRET_NAMES = ("auth", "key", "token", "secret", "cookie")


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a server answered, whole: `status`, header names in lower case, and the body's bytes, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as JSON; `ValueError` where it is none."""
        return self._parsed

    def text(self) -> str:
        """The body as UTF-8, what does not fit replaced."""
        return self.body.decode("utf-8", errors="replace")

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case; empty where none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def _parsed(self) -> Any:
        return orjson.loads(self.body)


Classify = Callable[[Reply], ProviderError | None]
"""Says what an answer with an error status means to this provider; None leaves it to the status."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Somebody who is asked over HTTP, and how gently. Two peers of one `name` share limits and breaker.

    `headers` carry the key and go to this `base_url` alone; `secrets` are blacked out of every message. Seconds are
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
    """What to do where this peer refuses, such as the name of the variable its key stands in."""

    def black_out(self, text: str) -> str:
        """`text` without this peer's keys."""
        sent = {**self.headers, **self.params}
        values = [text for name, text in sent.items() if any(word in name.lower() for word in _SECRET_NAMES)]
        return black_out(text, [*self.secrets, *values, *(value.rpartition(" ")[2] for value in values)])
