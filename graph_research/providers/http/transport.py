"""One HTTP request over httpx's transports: sent once, read within bounds, its failure named with a remedy."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import urllib.request
from collections.abc import AsyncGenerator, Mapping
from functools import cache
from typing import Any

import httpcore
import httpx

from graph_research.errors import why_unreadable
from graph_research.providers.errors import ProviderError, ProviderRefused
from graph_research.providers.http.decompression import ACCEPTED_ENCODINGS, Body, BodyBroken, BodyTooLong
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.user_agent import user_agent

_CONNECT_SECONDS = 10.0
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=30.0)
_MOST_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_ERROR_BODY_BYTES = 64_000
_PROXY_CHARS = 100
_WIRE_ERRORS = (httpx.TransportError, ssl.SSLError)
"""httpx passes an `SSLError` after the handshake on as it is."""
_INVALID_ADDRESS = (httpx.InvalidURL, UnicodeError)
"""`UnicodeError` is raised for a host `xn--…` that encodes no name."""


class StreamingResponse:
    """A response whose head has arrived. Read it once, and close it: an unread rest closes the connection."""

    def __init__(self, response: httpx.Response, endpoint: Endpoint, url: httpx.URL) -> None:
        self.status = response.status_code
        self.headers = dict(response.headers)
        self._response = response
        self._endpoint = endpoint
        self._url = url

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The decompressed body as it arrives, at most as many bytes as the endpoint may send."""
        try:
            body = Body(encoding=self.headers.get("content-encoding", ""), most_bytes=self._endpoint.most_bytes)
            async for raw in self._response.aiter_raw():
                yield body.feed(raw)
            body.end()
        except BodyTooLong as error:
            raise self._endpoint.refused(f"the answer is {error}") from None
        except BodyBroken as error:
            raise self._endpoint.unavailable(str(error)) from None
        except _WIRE_ERRORS as error:
            raise _provider_error(error, self._endpoint, self._url) from None

    async def whole(self) -> Response:
        """The response with its body. For an error status, a body that is cut off is accepted as far as it arrived."""
        body = bytearray()
        try:
            async for chunk in self.chunks():
                body += chunk
                if self.status >= 400 and len(body) > _ERROR_BODY_BYTES:
                    break
        except ProviderError:
            if self.status < 400:
                raise
        return Response(status=self.status, headers=self.headers, body=bytes(body))

    async def aclose(self) -> None:
        await self._response.aclose()


class Transport:
    """Kept connections, one pool for each scheme and proxy. Uses httpx's transports without its client, which would
    keep cookies and log addresses together with the keys in them.

    `trust` is what certificates are checked against, by default httpx's own list or what SSL_CERT_FILE names. No
    connection is opened, and no certificate loaded, before it is needed.
    """

    def __init__(self, *, trust: ssl.SSLContext | None = None) -> None:
        self._trust = trust
        self._pools: dict[tuple[str, str | None], httpx.AsyncHTTPTransport] = {}

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()

    async def send(self, endpoint: Endpoint, request: httpx.Request) -> StreamingResponse:
        """Send a request and wait for the head of the response. A redirect is followed on the same host only, since
        another host may see neither the key nor the request."""
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                response = await self._pool(request.url).handle_async_request(request)
            except _WIRE_ERRORS as error:
                raise _provider_error(error, endpoint, request.url) from None
            if response.status_code not in _REDIRECTS or "location" not in response.headers:
                return StreamingResponse(response, endpoint, request.url)
            await response.aclose()
            request = _redirected(endpoint, request, response)
        raise endpoint.refused("redirected in a circle", help="check its address")

    def _pool(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        proxy = _proxy(url)
        if (url.scheme, proxy) not in self._pools:
            self._pools[url.scheme, proxy] = self._new_pool(url.scheme, proxy)
        return self._pools[url.scheme, proxy]

    def _new_pool(self, scheme: str, proxy: str | None) -> httpx.AsyncHTTPTransport:
        """Loading certificates takes time, so a pool without TLS has none."""
        if scheme == "http" and proxy is None:
            return httpx.AsyncHTTPTransport(verify=False, trust_env=False, limits=_LIMITS)
        trust = self._trust = self._trust or trusted_certificates()
        try:
            return httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=_LIMITS, proxy=proxy)
        except (ImportError, RuntimeError, ValueError, httpx.InvalidURL):
            raise ProviderRefused(
                f"the proxy that the environment names for {scheme} cannot be used",
                provider="proxy",
                help="set HTTP_PROXY, HTTPS_PROXY or ALL_PROXY to http://HOST:PORT, or name hosts in NO_PROXY",
            ) from None


def build_request(
    endpoint: Endpoint,
    method: str,
    path: str,
    *,
    params: Mapping[str, str],
    headers: Mapping[str, str],
    content: bytes | None,
) -> httpx.Request:
    """The request as it is sent, keys included. `ProviderRefused` for an address or a header that cannot be sent."""
    every = {"user-agent": user_agent(), "accept-encoding": ACCEPTED_ENCODINGS, "accept": "*/*"}
    if content is not None:
        every["content-type"] = "application/json"
    every |= {name.lower(): text for name, text in headers.items()}
    if any(character in text for text in every.values() for character in "\r\n\0"):
        raise _unsendable(endpoint)
    try:
        url = httpx.URL(endpoint.base_url.rstrip("/") + path)
        url = url.copy_merge_params(params) if params else url
        host = url.host
    except _INVALID_ADDRESS as error:
        raise endpoint.refused(f"its address is not valid: {error}", help="correct the address") from None
    if url.scheme not in ("http", "https") or not host:
        raise endpoint.refused(
            "its address does not begin with http:// or https:// and a host",
            help="correct the address",
        )
    try:
        return httpx.Request(method, url, headers=every, content=content, extensions=_extensions(endpoint))
    except UnicodeEncodeError:
        raise _unsendable(endpoint) from None


def _extensions(endpoint: Endpoint) -> dict[str, Any]:
    """Only the time to connect is bounded here; the caller bounds the whole request."""
    return {"timeout": {"connect": min(_CONNECT_SECONDS, endpoint.timeout_seconds)}}


async def load_client() -> None:
    """Load the code and the certificates that the first request would load, so that a measurement leaves them out.
    Where the certificates cannot be read, the request itself says so."""
    await httpcore.AnyIOBackend().sleep(0)
    with contextlib.suppress(ProviderRefused):
        trusted_certificates()


def trusted_certificates() -> ssl.SSLContext:
    """What certificates are checked against: httpx's own list, or the file or folder that the environment names. Read
    once a process for each."""
    return _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:  # noqa: ARG001 -- httpx reads them itself
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise ProviderRefused(
            f"the trusted certificates cannot be read: {why_unreadable(error)}",
            provider="certificates",
            help="check SSL_CERT_FILE and SSL_CERT_DIR",
        ) from error


def _unsendable(endpoint: Endpoint) -> ProviderRefused:
    return endpoint.refused(
        "a key or header holds a character that cannot be sent, such as the end of a line",
        help=endpoint.remedy or "set the key again, without spaces and line ends",
    )


def _redirected(endpoint: Endpoint, request: httpx.Request, response: httpx.Response) -> httpx.Request:
    """The request to where a redirect leads: the same host over the same scheme, or over https instead of http."""
    url, method = request.url, request.method
    try:
        target = url.join(response.headers["location"])
        host = target.host
    except _INVALID_ADDRESS:
        target, host = httpx.URL(), ""
    same = host == url.host and target.scheme == url.scheme and target.port == url.port
    safer = host == url.host and (url.scheme, target.scheme) == ("http", "https")
    keeps_method = response.status_code in (307, 308) or method in ("GET", "HEAD")
    if not (same or (safer and url.port is None and target.port is None)) or not keeps_method:
        where = f"{target.scheme}://{host}" if host else "nowhere"
        raise ProviderRefused(
            f"{endpoint.name} redirects from {url.scheme}://{url.host} to {where}, which is not followed: "
            "the key belongs to the first",
            provider=endpoint.name,
            help="name the new address if you trust it",
        )
    return httpx.Request(
        method, target, headers=request.headers, content=request.content, extensions=request.extensions
    )


def _proxy(url: httpx.URL) -> str | None:
    """The proxy that the environment names for `url`; this machine itself is never asked through one."""
    if url.host in ("localhost", "::1") or url.host.startswith("127."):
        return None
    proxies = urllib.request.getproxies_environment()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _provider_error(error: Exception, endpoint: Endpoint, url: httpx.URL) -> ProviderError:
    """The provider error for a failed connection, without keys."""
    if isinstance(error, httpx.LocalProtocolError):
        return _unsendable(endpoint)
    where = f"{url.host}:{url.port}" if url.port else url.host
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return endpoint.unreachable(
                f"the certificate of {where} is not trusted: {cause.verify_message}",
                help="check the address and this machine's clock; SSL_CERT_FILE may name certificates of your own",
            )
        if _is_no_handshake(error, cause):
            return endpoint.unreachable(
                f"{where} does not speak TLS",
                help="is the address http:// and not https://?",
            )
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return endpoint.unreachable(
                f"the name {url.host} is unknown",
                help="check the address and the connection to the network",
            )
    return endpoint.unavailable(_what_failed(error, causes, where))


def _is_no_handshake(error: Exception, cause: BaseException) -> bool:
    """Whether a connection failed because the server does not speak TLS."""
    if not isinstance(error, httpx.ConnectError) or not isinstance(cause, ssl.SSLError):
        return False
    return cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")


def _what_failed(error: Exception, causes: list[BaseException], where: str) -> str:
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"nothing listens at {where}"
    if isinstance(error, httpx.ProxyError):
        return f"the proxy of the environment does not connect to {where}: {str(error)[:_PROXY_CHARS]}"
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection to {where} within {_CONNECT_SECONDS:.0f} s"
    if isinstance(error, httpx.ConnectError):
        return f"no connection to {where}"
    if isinstance(error, httpx.RemoteProtocolError) and "complete message body" in str(error):
        return f"{where} sent half an answer"
    if isinstance(error, httpx.RemoteProtocolError) and "without sending a response" not in str(error):
        return f"{where} does not speak HTTP"
    return f"the connection to {where} broke off"


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and what caused it, including each error of a group."""
    if error is None:
        return []
    inner = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else []
    causes = [error, *(cause for each in inner for cause in _causes(each))]
    return causes + _causes(error.__cause__ or error.__context__)
