"""One try of one HTTP request: sent once, and read within bounds. Whatever fails has a name and a remedy."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import urllib.request
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

import httpcore
import httpx

from graph_research.errors import why_unreadable
from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable, ProviderUnreachable
from graph_research.providers.http.decompression import ACCEPTED_ENCODINGS, Body, BodyBroken, BodyTooLong
from graph_research.providers.http.endpoint import Peer, Reply
from graph_research.providers.http.sockets import Sockets
from graph_research.providers.http.user_agent import user_agent

_Headers = Sequence[tuple[bytes, bytes]]

__all__ = ["Arriving", "Exchange", "Outgoing", "load_client", "trusted_certificates"]

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 30.0
_MOST_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_ERROR_BODY_BYTES = 64_000
_PROXY_CHARS = 100
_WIRE_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
    ssl.SSLError,
)
"""A record of TLS that is none after the handshake comes through httpcore as it is."""
_NO_ADDRESS = (httpx.InvalidURL, UnicodeError)
"""A host `xn--…` that stands for no name is told by its encoding."""
_KNOWN_ADDRESSES = 64


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """A request as it is sent, keys included; it is never shown."""

    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes | None = field(default=None, repr=False)


class Arriving:
    """An answer whose head has come. Read it once, and close it: an unread rest closes the connection."""

    def __init__(self, response: httpcore.Response, peer: Peer, url: httpx.URL) -> None:
        self.status = response.status
        self.headers = _received(response.headers)
        self._response = response
        self._peer = peer
        self._url = url

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The decompressed body as it arrives, at most as many bytes as the peer may send."""
        try:
            body = Body(encoding=self.headers.get("content-encoding", ""), most_bytes=self._peer.most_bytes)
            async for raw in self._response.aiter_stream():
                yield body.feed(raw)
            body.end()
        except BodyTooLong as error:
            raise ProviderRefused(f"{self._peer.name}: the answer is {error}", provider=self._peer.name) from None
        except BodyBroken as error:
            raise ProviderUnavailable(f"{self._peer.name}: {error}", provider=self._peer.name) from None
        except _WIRE_ERRORS as error:
            raise _named(error, self._peer, self._url) from None

    async def whole(self) -> Reply:
        """The answer with its body. Of an answer with an error status what came of the body is enough."""
        body = bytearray()
        try:
            async for chunk in self.chunks():
                body += chunk
                if self.status >= 400 and len(body) > _ERROR_BODY_BYTES:
                    break
        except ProviderError:
            if self.status < 400:
                raise
        return Reply(status=self.status, headers=self.headers, body=bytes(body))

    async def aclose(self) -> None:
        await self._response.aclose()


class Exchange:
    """Connections that are kept and used again. Nothing is connected, and no certificate loaded, before it is needed.

    `trust` is what certificates are checked against, by default httpx's own list or what SSL_CERT_FILE names.
    """

    def __init__(self, *, trust: ssl.SSLContext | None = None) -> None:
        self._trust = trust
        self._pools: dict[tuple[str, str | None], httpcore.AsyncConnectionPool] = {}

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()

    async def open(self, peer: Peer, outgoing: Outgoing) -> Arriving:
        """Send a request and wait for the head of its answer. Redirects are followed on the same host alone: nobody
        else is to see the key or what was asked."""
        url, headers = _address(peer, outgoing), _sent(peer, outgoing)
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._send(peer, outgoing, url, headers)
            if answer.status not in _REDIRECTS or "location" not in answer.headers:
                return answer
            await answer.aclose()
            url = _redirected(peer, outgoing.method, url, answer)
        raise ProviderRefused(f"{peer.name}: redirected in a circle", provider=peer.name, help="check its address")

    async def _send(self, peer: Peer, outgoing: Outgoing, url: httpx.URL, headers: _Headers) -> Arriving:
        request = httpcore.Request(
            outgoing.method,
            _core_url(url),
            headers=[(b"host", url.netloc), *headers],
            content=outgoing.content,
            extensions={"timeout": {"connect": min(_CONNECT_SECONDS, peer.timeout_seconds)}},
        )
        try:
            response = await self._pool(url).handle_async_request(request)
        except _WIRE_ERRORS as error:
            raise _named(error, peer, url) from None
        return Arriving(response, peer, url)

    def _pool(self, url: httpx.URL) -> httpcore.AsyncConnectionPool:
        proxy = _proxy(url)
        if (url.scheme, proxy) not in self._pools:
            self._pools[url.scheme, proxy] = self._made(url.scheme, proxy)
        return self._pools[url.scheme, proxy]

    def _made(self, scheme: str, proxy: str | None) -> httpcore.AsyncConnectionPool:
        """Without TLS no certificates are loaded, which takes time."""
        trust = None
        if scheme == "https" or proxy is not None:
            trust = self._trust = self._trust or trusted_certificates()
        if trust is None or proxy is None:
            return httpcore.AsyncConnectionPool(
                trust, max_connections=None, keepalive_expiry=_IDLE_SECONDS, network_backend=Sockets()
            )
        try:
            return _proxied(httpx.Proxy(proxy), trust)
        except (RuntimeError, ValueError, httpx.InvalidURL):
            raise ProviderRefused(
                f"the proxy that the environment names for {scheme} cannot be used",
                provider="proxy",
                help="set HTTP_PROXY, HTTPS_PROXY or ALL_PROXY to http://HOST:PORT, or name hosts in NO_PROXY",
            ) from None


async def load_client() -> None:
    """Load what the first request would load, for who measures: code, which takes longer than many a server, and the
    certificates. Where these cannot be read the request itself will say so."""
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


def _proxied(proxy: httpx.Proxy, trust: ssl.SSLContext) -> httpcore.AsyncConnectionPool:
    """Connections through a proxy. `RuntimeError` where its kind takes a package that is not there."""
    kind = httpcore.AsyncSOCKSProxy if proxy.url.scheme.startswith("socks5") else httpcore.AsyncHTTPProxy
    return kind(
        _core_url(proxy.url),
        proxy_auth=proxy.raw_auth,
        ssl_context=trust,
        max_connections=None,
        keepalive_expiry=_IDLE_SECONDS,
    )


def _address(peer: Peer, outgoing: Outgoing) -> httpx.URL:
    """Where a request goes, its parameters included."""
    try:
        url = _parsed(outgoing.url)
        if outgoing.params:
            url = url.copy_merge_params(outgoing.params)
        host = url.host
    except _NO_ADDRESS as error:
        raise ProviderRefused(
            f"{peer.name}: its address is not valid: {error}", provider=peer.name, help="mend the address"
        ) from None
    if url.scheme not in ("http", "https") or not host:
        raise ProviderRefused(
            f"{peer.name}: its address does not begin with http:// or https:// and a host",
            provider=peer.name,
            help="mend the address",
        )
    return url


@lru_cache(_KNOWN_ADDRESSES)
def _parsed(url: str) -> httpx.URL:
    """A model is asked a hundred times at one address, which takes long to read."""
    return httpx.URL(url)


def _core_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _sent(peer: Peer, outgoing: Outgoing) -> _Headers:
    """The headers of a request but for the host."""
    headers = {"user-agent": user_agent(), "accept-encoding": ACCEPTED_ENCODINGS, "accept": "*/*"}
    if outgoing.content is not None:
        headers |= {"content-type": "application/json", "content-length": str(len(outgoing.content))}
    elif outgoing.method not in ("GET", "HEAD"):
        headers["content-length"] = "0"
    headers |= {name.lower(): text for name, text in outgoing.headers.items()}
    if any(character in text for text in headers.values() for character in "\r\n\0"):
        raise _unsendable(peer)
    try:
        return [(name.encode("ascii"), text.encode("ascii")) for name, text in headers.items()]
    except UnicodeEncodeError:
        raise _unsendable(peer) from None


def _received(headers: _Headers) -> dict[str, str]:
    """Names in lower case; what came several times stands in one list, as RFC 9110 (5.3) has it."""
    found: dict[str, str] = {}
    for raw_name, raw_text in headers:
        name, text = raw_name.decode("latin-1").lower(), raw_text.decode(errors="replace")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def _unsendable(peer: Peer) -> ProviderRefused:
    return ProviderRefused(
        f"{peer.name}: a key or header holds a character that cannot be sent, such as the end of a line",
        provider=peer.name,
        help=peer.remedy or "set the key again, without spaces and line ends",
    )


def _redirected(peer: Peer, method: str, url: httpx.URL, answer: Arriving) -> httpx.URL:
    """Where a redirect leads: to the same host over the same or a safer scheme."""
    try:
        target = url.join(answer.headers["location"])
        host = target.host
    except _NO_ADDRESS:
        target, host = httpx.URL(), ""
    same = host == url.host and target.scheme == url.scheme and target.port == url.port
    safer = host == url.host and (url.scheme, target.scheme) == ("http", "https")
    keeps_method = answer.status in (307, 308) or method in ("GET", "HEAD")
    if not (same or (safer and url.port is None and target.port is None)) or not keeps_method:
        where = f"{target.scheme}://{host}" if host else "nowhere"
        raise ProviderRefused(
            f"{peer.name} redirects from {url.scheme}://{url.host} to {where}, which is not followed: the key belongs "
            "to the first",
            provider=peer.name,
            help="name the new address if you trust it",
        )
    return target


def _proxy(url: httpx.URL) -> str | None:
    """The proxy that the environment names for `url`; this machine itself is never asked through one."""
    if url.host in ("localhost", "::1") or url.host.startswith("127."):
        return None
    proxies = urllib.request.getproxies_environment()
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or urllib.request.proxy_bypass(url.host):
        return None
    return found if "://" in found else f"http://{found}"


def _named(error: Exception, peer: Peer, url: httpx.URL) -> ProviderError:
    """What an error of the wire means; keys are no part of it."""
    if isinstance(error, httpcore.LocalProtocolError):
        return _unsendable(peer)
    where = f"{url.host}:{url.port}" if url.port else url.host
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ProviderUnreachable(
                f"{peer.name}: the certificate of {where} is not trusted: {cause.verify_message}",
                provider=peer.name,
                help="check the address and this machine's clock; SSL_CERT_FILE may name certificates of your own",
            )
        if _is_no_handshake(error, cause):
            return ProviderUnreachable(
                f"{peer.name}: {where} does not speak TLS",
                provider=peer.name,
                help="is the address http:// and not https://?",
            )
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return ProviderUnreachable(
                f"{peer.name}: the name {url.host} is unknown",
                provider=peer.name,
                help="check the address and the connection to the network",
            )
    return ProviderUnavailable(f"{peer.name}: {_what(error, causes, where)}", provider=peer.name)


def _is_no_handshake(error: Exception, cause: BaseException) -> bool:
    """Whether a connection failed since the other end does not speak TLS at all."""
    if not isinstance(error, httpcore.ConnectError) or not isinstance(cause, ssl.SSLError):
        return False
    return cause.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")


def _what(error: Exception, causes: list[BaseException], where: str) -> str:
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"nothing listens at {where}"
    if isinstance(error, httpcore.ProxyError):
        return f"the proxy that the environment names leads nobody to {where}: {str(error)[:_PROXY_CHARS]}"
    if isinstance(error, httpcore.ConnectTimeout):
        return f"no connection to {where} within {_CONNECT_SECONDS:.0f} s"
    if isinstance(error, httpcore.ConnectError):
        return f"no connection to {where}"
    if isinstance(error, httpcore.RemoteProtocolError) and "complete message body" in str(error):
        return f"{where} sent half an answer"
    if isinstance(error, httpcore.RemoteProtocolError) and "without sending a response" not in str(error):
        return f"{where} does not speak HTTP"
    return f"the connection to {where} broke off"


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and what it came from, groups of several addresses tried included."""
    if error is None:
        return []
    inner = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else []
    found = [error, *(cause for one in inner for cause in _causes(one))]
    return found + _causes(error.__cause__ or error.__context__)
