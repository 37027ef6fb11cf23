"""An MCP server at an address: the MCP package's own transport, whose answers have an end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

from graph_research.providers.errors import ProviderRefused

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MOST_BYTES = 20_000_000
"""Of one answer, as of any other provider's."""

_NOT_LET_IN = (401, 403)

_TIMES = httpx2.Timeout(30.0, read=300.0)
"""Seconds, as the MCP package has them; the server's own limit of the settings ends each call."""


@asynccontextmanager
async def over_http(url: str, *, name: str, key: str | None = None) -> AsyncIterator[TransportStreams]:
    """The transport of a server at `url`. `key` is sent as a bearer token; redirects are not followed. A response that
    is longer than `MOST_BYTES`, or compressed although that was not requested, is an error: a few kilobytes of it could
    fill the memory. Raises `ProviderRefused` for the statuses 401 and 403."""
    headers = {"accept-encoding": "identity"} | ({"authorization": f"Bearer {key}"} if key else {})

    async def check(response: httpx2.Response) -> None:
        if response.status_code in _NOT_LET_IN:
            raise ProviderRefused(
                f"{name}: its server refuses access (HTTP {response.status_code})",
                provider=name,
                help="name the variable that holds your key for it as `key_name`, and see that it is a valid one",
            )
        _bound(response)

    client = httpx2.AsyncClient(timeout=_TIMES, headers=headers, event_hooks={"response": [check]})
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams


def _bound(response: httpx2.Response) -> None:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    assert isinstance(response.stream, httpx2.AsyncByteStream), "an asynchronous client was asked"
    response.stream = _Bounded(response.stream, most_bytes=MOST_BYTES if encoding == "identity" else 0)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, *, most_bytes: int) -> None:
        self._inner = inner
        self._left = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.StreamError("the answer is compressed, or longer than it may be")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
