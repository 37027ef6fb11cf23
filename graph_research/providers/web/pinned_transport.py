"""Connections to exactly the address that was checked: names are resolved once, sockets asked where they went."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpcore

from graph_research.providers.errors import FetchRefused, ProviderUnavailable
from graph_research.providers.http.decompression import ACCEPTED_ENCODINGS, Body, BodyBroken, BodyTooLong
from graph_research.providers.http.transport import trusted_certificates
from graph_research.providers.http.user_agent import user_agent
from graph_research.providers.web.url_guard import OwnHosts, WebAddress, why_private

_CONNECT_SECONDS = 5.0
_MOST_ADDRESSES = 4
_ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/plain,application/json;q=0.9,application/xml;q=0.9"

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a name, best first; `OSError` where it has none."""


async def resolve_by_system(host: str) -> Sequence[str]:
    """As this machine is set up to resolve names."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to one GET; `address` is where the socket went. The body is empty where it was not wanted."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    address: str


class PinnedConnections:
    """Sends GETs without cookies, proxies, keys or redirects."""

    def __init__(
        self,
        *,
        own: OwnHosts,
        resolve: Resolver = resolve_by_system,
        backend: httpcore.AsyncNetworkBackend | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=trust or trusted_certificates(),
            max_connections=20,
            keepalive_expiry=10.0,
            network_backend=_CheckedBackend(own, resolve, backend or httpcore.AnyIOBackend()),
        )

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def get(
        self,
        address: WebAddress,
        *,
        most_bytes: int,
        wanted: Callable[[int, str], bool],
        cut: bool = False,
        conditions: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """One GET, with `conditions` such as `If-None-Match` among its headers. The body is read where `wanted(status,
        content type)`, and never beyond `most_bytes`: a longer one is refused, or with `cut` left at that."""
        async with self._sent(address, conditions) as response:
            headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in response.headers}
            body = b""
            if wanted(response.status, headers.get("content-type", "")):
                body = await _read(address, response, headers.get("content-encoding", ""), most_bytes, cut)
            elif _is_short(headers.get("content-length", "")):
                await response.aread()
            endpoint = response.extensions["network_stream"].get_extra_info("server_addr")
            return Answer(status=response.status, headers=headers, body=body, address=str(endpoint[0]))

    @asynccontextmanager
    async def _sent(
        self, address: WebAddress, conditions: Sequence[tuple[str, str]]
    ) -> AsyncIterator[httpcore.Response]:
        url = httpcore.URL(
            scheme=address.scheme, host=address.host.encode(), port=address.port, target=address.target.encode()
        )
        headers = [
            ("Host", address.netloc),
            ("User-Agent", user_agent()),
            ("Accept", _ACCEPT),
            ("Accept-Encoding", ACCEPTED_ENCODINGS),
            *conditions,
        ]
        try:
            async with self._pool.stream(
                "GET", url, headers=headers, extensions={"timeout": {"connect": _CONNECT_SECONDS}}
            ) as response:
                yield response
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise _named(address, error) from None


def _is_short(content_length: str) -> bool:
    """Whether reading on costs less than a new connection."""
    return content_length.isdecimal() and len(content_length) < 6


async def _read(address: WebAddress, response: httpcore.Response, encoding: str, most_bytes: int, cut: bool) -> bytes:
    parts = bytearray()
    try:
        body = Body(encoding=encoding, most_bytes=most_bytes)
        async for raw in response.aiter_stream():
            parts += body.feed(raw)
        body.end()
    except BodyTooLong as error:
        if not cut:
            raise FetchRefused(f"{address} is {error}", provider="fetch") from None
    except BodyBroken as error:
        raise ProviderUnavailable(f"{address}: {error}", provider="fetch") from None
    return bytes(parts)


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens a socket to an address that was looked at, and to no other. A name with one private address among public
    ones is refused altogether, since it could lead to another address each time it is resolved (DNS rebinding)."""

    def __init__(self, own: OwnHosts, resolve: Resolver, inner: httpcore.AsyncNetworkBackend) -> None:
        self._own = own
        self._resolve = resolve
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        own = self._own.allow(host, port)
        addresses = await self._addresses(host)
        for address in addresses:
            self._check(host, address, own=own)
        problem: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                stream = await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
                continue
            return await self._verified(stream, host, address, own=own)
        raise problem

    async def _addresses(self, host: str) -> Sequence[str]:
        if why_private(host) != "no address":
            return [host]
        try:
            return await self._resolve(host)
        except OSError as error:
            kind = ProviderUnavailable if error.errno == socket.EAI_AGAIN else FetchRefused
            raise kind(f"the name {host} is unknown", provider="fetch") from None

    def _check(self, host: str, address: str, *, own: bool) -> None:
        if what := why_private(address, own=own):
            raise FetchRefused(
                f"{host} leads to {address}, which is {what}",
                provider="fetch",
                help="" if own else "name the host in the setting fetch_allow_hosts if it is your own",
            )

    async def _verified(
        self, stream: httpcore.AsyncNetworkStream, host: str, address: str, *, own: bool
    ) -> httpcore.AsyncNetworkStream:
        went_to = str(stream.get_extra_info("server_addr")[0])
        if went_to != address:
            await stream.aclose()
            self._check(host, went_to, own=own)
            raise FetchRefused(f"{host} was to be reached at {address}, not at {went_to}", provider="fetch")
        return stream


def _named(address: WebAddress, error: Exception) -> FetchRefused | ProviderUnavailable:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return FetchRefused(f"the certificate of {address.netloc} is not trusted", provider="fetch")
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
        return ProviderUnavailable(f"no connection to {address.netloc}", provider="fetch")
    return ProviderUnavailable(f"the connection to {address.netloc} broke off", provider="fetch")
