"""One way to every provider over HTTP: a peer with its key, its limits and its breaker, and typed errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

import httpx
import orjson

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable

__all__ = ["Classify", "Http", "HttpxHttp", "Peer", "Reply"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a server answered, whole: `status`, header names in lower case, and the body's bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as JSON; `ValueError` where it is none."""
        return orjson.loads(self.body)

    def text(self) -> str:
        """The body as UTF-8, what does not fit replaced."""
        return self.body.decode("utf-8", errors="replace")


Classify = Callable[[Reply], ProviderError | None]
"""Says what an answer with an error status means to this provider; None leaves it to the status."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Somebody who is asked over HTTP, and how gently. Two peers of one `name` share limits and breaker.

    `headers` carry the key and go to this `base_url` alone; `secrets` are blacked out of every message. Seconds are
    wall-clock: `timeout_seconds` for one try, `budget_seconds` for all tries of a request together.
    """

    name: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request; for the providers whose key is a parameter."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    classify: Classify | None = None
    attempts: int = 3
    timeout_seconds: float = 60.0
    budget_seconds: float = 300.0
    per_second: float | None = None
    """Requests a second at most, as a token bucket; None: unbounded."""
    most_bytes: int = 20_000_000
    remedy: str = ""
    """What to do where this peer refuses, such as the name of the variable its key stands in."""


class Http(Protocol):
    """The seam: adapters build a `Peer` and ask. Errors are those of `graph_research.providers.errors`."""

    async def ask(
        self,
        peer: Peer,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """A reply with a status below 400, after as many tries as the peer allows."""
        ...

    def stream(
        self, peer: Peer, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        """The lines of a reply as they arrive (server-sent events, JSON lines). Tried again only until the first."""
        ...


class HttpxHttp:
    """`Http` over httpx. An async context manager; connections are opened at the first request and kept."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def ask(
        self,
        peer: Peer,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        try:
            answer = await self._open().request(
                method,
                peer.base_url.rstrip("/") + path,
                params={**peer.params, **(params or {})},
                json=json,
                headers={**peer.headers, **(headers or {})},
                timeout=peer.timeout_seconds,
            )
        except httpx.HTTPError as error:
            raise ProviderUnavailable(f"{peer.name}: {type(error).__name__}", provider=peer.name) from error
        reply = Reply(status=answer.status_code, headers=dict(answer.headers), body=answer.content)
        if reply.status < 400:
            return reply
        raise (peer.classify(reply) if peer.classify else None) or ProviderRefused(
            f"{peer.name} answered {reply.status}", provider=peer.name, help=peer.remedy
        )

    async def stream(
        self, peer: Peer, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        reply = await self.ask(peer, method, path, json=json, headers=headers)
        for line in reply.text().splitlines():
            yield line

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(follow_redirects=False)
        return self._client
