"""The one way to a page of the web: checked at every step, bounded in size and time, only what can be read."""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from graph_research.providers.errors import FetchRefused, PageGone, PageUnchanged, ProviderUnavailable
from graph_research.providers.http.status_errors import retry_after
from graph_research.providers.http.telemetry import Retried, Throttled, emit
from graph_research.providers.limits.base import Limits, Server
from graph_research.providers.limits.sqlite import SqliteLimits
from graph_research.providers.web.robots import MOST_BYTES, Robots
from graph_research.providers.web.url_guard import AddressInvalid, OwnHosts, WebAddress, read_address
from graph_research.text.wording import shortened

if TYPE_CHECKING:
    import httpcore

    from graph_research.providers.web.pinned_transport import Answer, PinnedConnections, Resolver

_REDIRECTS = (301, 302, 303, 307, 308)
_FOR_GOOD = (301, 308)
_NOT_MODIFIED = 304
_DATED = "last_modified"
_TRY_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_GONE = (404, 410)
_WAIT_SECONDS = 0.5
_PDF = "application/pdf"
_TEXTS = re.compile(
    r"text/(html|plain|markdown|xml|csv)|application/(xhtml\+xml|xml|json|([\w.-]+\+(xml|json)))", re.ASCII
)
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/x-pdf")
"""Types that say nothing; the first bytes are asked instead."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


_VALIDATOR = re.compile(r"[\x20-\x7e]{1,200}")


@dataclass(frozen=True, kw_only=True)
class Validators:
    """What a server said by which it knows a version of a page again: the `ETag` and `Last-Modified` of its answer."""

    etag: str = ""
    last_modified: str = ""

    @classmethod
    def of(cls, headers: Mapping[str, Any]) -> Validators:
        """From the headers of an answer, or from `to_json`; what is no short line of ASCII is left out."""
        found = {name: str(headers.get(name.replace("_", "-")) or headers.get(name) or "") for name in ("etag", _DATED)}
        return cls(**{name: value for name, value in found.items() if _VALIDATOR.fullmatch(value)})

    def conditions(self) -> list[tuple[str, str]]:
        """The headers that ask for the page only where it is another version."""
        named = (("If-None-Match", self.etag), ("If-Modified-Since", self.last_modified))
        return [(name, value) for name, value in named if value]

    def to_json(self) -> dict[str, str]:
        """The validators that there are."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What stands at an address. `final_url` is where the redirects led, `moved_to` where those of them did that hold
    for good (301, 308), empty without one; `fetched_from` is the address of the socket; `content_type` has no
    parameters and fits the first bytes, `charset` is the header's, None where it names none."""

    url: str
    final_url: str
    content_type: str
    charset: str | None
    body: bytes = field(repr=False)
    fetched_from: str
    moved_to: str = ""
    validators: Validators = field(default_factory=Validators)


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """`seconds` for a page with all its redirects and tries; `most_bytes` of it, decompressed."""

    seconds: float = 30.0
    most_bytes: int = 10_000_000
    redirects: int = 5
    attempts: int = 2


@dataclass(kw_only=True, eq=False)
class Fetcher(AbstractAsyncContextManager["Fetcher"]):
    """Fetches pages of public hosts on the ports 80 and 443, and of `own_hosts` (`NAME` or `NAME:PORT`) the user's own.

    An async context manager; nothing is connected before the first fetch. The address is checked where the socket is
    opened, for each redirect again; a page from https is not followed to http. No cookies, no keys, no proxies.
    A page of an address in `known` is asked for only where it is another version than that of the validators.
    A host that asks for patience (`Retry-After`) is left alone as long by all who use the same `pauses`, by default by
    this fetcher alone. `resolve`, `backend` and `trust` replace this machine's name resolution, sockets and
    certificates.
    """

    own_hosts: Iterable[str] = ()
    known: Mapping[str, Validators] = field(default_factory=dict)
    limits: FetchLimits = field(default_factory=FetchLimits)
    pauses: Limits | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    resolve: Resolver | None = None
    backend: httpcore.AsyncNetworkBackend | None = None
    trust: ssl.SSLContext | None = None
    _connections: PinnedConnections | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._own = OwnHosts.named(self.own_hosts)
        self._robots = Robots(self._read_robots)
        self._pauses = self.pauses or SqliteLimits(clock=self.clock)

    async def __aexit__(self, *error: object) -> None:
        if self._connections is not None:
            await self._connections.aclose()

    async def fetch(self, url: str) -> Fetched:
        """The page at `url`. `FetchRefused` where it may not be fetched or is nothing to read, `PageUnchanged` where it
        is the known version, `ProviderUnavailable` where it cannot be had now."""
        address = self._read(url)
        try:
            async with asyncio.timeout(self.limits.seconds):
                final, moved_to, answer = await self._insist(address)
        except TimeoutError:
            raise ProviderUnavailable(
                f"{address} was not there whole within {self.limits.seconds:g} s", provider="fetch"
            ) from None
        content_type = _checked_type(final, answer)
        return Fetched(
            url=url,
            final_url=str(final),
            content_type=content_type,
            charset=_charset(answer.headers.get("content-type", "")),
            body=answer.body,
            fetched_from=answer.address,
            moved_to=moved_to,
            validators=Validators.of(answer.headers),
        )

    async def _insist(self, address: WebAddress) -> tuple[WebAddress, str, Answer]:
        deadline = self.clock() + self.limits.seconds
        attempt = 1
        while True:
            sent_at = self.clock()
            try:
                return await self._follow(address)
            except ProviderUnavailable as error:
                asked = error.retry_after_seconds
                wait = _WAIT_SECONDS if asked is None else asked
                if attempt >= self.limits.attempts or self.clock() + wait >= deadline:
                    raise
                took = self.clock() - sent_at
                await emit(
                    Retried(
                        peer=address.netloc,
                        attempt=attempt,
                        reason=error.message,
                        took_seconds=took,
                        wait_seconds=wait,
                    )
                )
            attempt += 1
            if asked is None:  # else the next request waits for its turn
                await self.sleep(wait)

    async def _follow(self, address: WebAddress) -> tuple[WebAddress, str, Answer]:
        """The page that the redirects from `address` end at, and the end of those that hold for good and stand before
        all others; each step is asked of robots.txt."""
        moved_to, for_good = "", True
        for _ in range(self.limits.redirects + 1):
            await self._robots.check(address.origin, str(address))
            known = self.known.get(str(address), Validators())
            answer = await self._get(address, self.limits.most_bytes, _is_readable, conditions=known.conditions())
            if answer.status not in _REDIRECTS:
                return address, moved_to, _accepted(address, answer)
            for_good = for_good and answer.status in _FOR_GOOD
            address = self._redirected(address, answer)
            moved_to = str(address) if for_good else moved_to
        raise FetchRefused(f"{address} redirects more than {self.limits.redirects} times", provider="fetch")

    async def _read_robots(self, url: str) -> str | None:
        address = self._read(url)
        for _ in range(self.limits.redirects + 1):
            answer = await self._get(address, MOST_BYTES, _any_text, cut=True)
            if answer.status < 300:
                return answer.body.decode("utf-8", errors="replace").removeprefix("\ufeff")
            if answer.status >= 500:
                raise ProviderUnavailable(f"{address} answered {answer.status}", provider="fetch")
            if answer.status not in _REDIRECTS:
                return None
            address = self._redirected(address, answer)
        return None

    async def _get(
        self,
        address: WebAddress,
        most_bytes: int,
        wanted: Callable[[int, str], bool],
        *,
        cut: bool = False,
        conditions: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        from graph_research.providers.web.pinned_transport import PinnedConnections, resolve_by_system

        if self._connections is None:
            self._connections = PinnedConnections(
                own=self._own, resolve=self.resolve or resolve_by_system, backend=self.backend, trust=self.trust
            )
        host = _host(address)
        await self._wait_for_turn(address, host)
        answer = await self._connections.get(
            address, most_bytes=most_bytes, wanted=wanted, cut=cut, conditions=conditions
        )
        if answer.status in _TRY_AGAIN and (asked := _asked_seconds(answer)) is not None:
            await self._pauses.pause(host, asked)
        return answer

    async def _wait_for_turn(self, address: WebAddress, host: Server) -> None:
        """Wait while the host is left alone, unless that takes too long."""
        turn = await self._pauses.turn(host, most_seconds=self.limits.seconds, probe_seconds=0.0, insist=True)
        if not turn.admitted:
            raise ProviderUnavailable(
                f"{address} is not asked: its server wants to be left alone for {turn.wait_seconds:.0f} s",
                provider="fetch",
                retry_after_seconds=turn.wait_seconds,
            )
        if turn.wait_seconds > 0:
            await emit(Throttled(peer=address.netloc, asked_for=True))
            await self.sleep(turn.wait_seconds)

    def _redirected(self, address: WebAddress, answer: Answer) -> WebAddress:
        location = answer.headers.get("location", "")
        try:
            target = read_address(address.join(location), self._own)
        except ValueError as error:
            raise FetchRefused(
                f"{address} redirects to {_shown(location)}, which is not followed: {error}", provider="fetch"
            ) from None
        if (address.scheme, target.scheme) == ("https", "http"):
            raise FetchRefused(f"{address} redirects to {target}, which is not encrypted", provider="fetch")
        return target

    def _read(self, url: str) -> WebAddress:
        try:
            return read_address(url, self._own)
        except AddressInvalid as error:
            raise FetchRefused(
                f"{_shown(url)} is not fetched: {error}",
                provider="fetch",
                help="name the host in the setting fetch_allow_hosts if it is your own",
            ) from None


def _accepted(address: WebAddress, answer: Answer) -> Answer:
    if 200 <= answer.status < 300:
        return answer
    what = f"{address} answered {answer.status}"
    if answer.status == _NOT_MODIFIED:
        raise PageUnchanged(what, provider="fetch")
    if answer.status in _TRY_AGAIN:
        raise ProviderUnavailable(what, provider="fetch", retry_after_seconds=_asked_seconds(answer))
    raise (PageGone if answer.status in _GONE else FetchRefused)(what, provider="fetch")


def _asked_seconds(answer: Answer) -> float | None:
    return retry_after(answer.headers, now=datetime.now(UTC))


def _host(address: WebAddress) -> Server:
    """The name by which fetchers know a host of pages does not say which it is: it outlives the runs that asked it."""
    return Server(name=f"pages of {hashlib.sha256(address.origin.encode()).hexdigest()[:32]}")


def _is_readable(status: int, content_type: str) -> bool:
    name = _name(content_type)
    return status < 300 and (name == _PDF or name in _UNTOLD or bool(_TEXTS.fullmatch(name)))


def _any_text(status: int, content_type: str) -> bool:  # noqa: ARG001 -- many servers call it HTML or nothing at all
    return status < 300


def _checked_type(address: WebAddress, answer: Answer) -> str:
    """What the page is by its header and by its first bytes."""
    name, start = _name(answer.headers.get("content-type", "")), answer.body[:1024]
    if start.lstrip().startswith(b"%PDF-"):
        return _PDF
    binary = b"\0" in start and not start.startswith(_UTF_16)
    if _TEXTS.fullmatch(name) and not binary:
        return name
    if name in _UNTOLD and start and not binary:
        return "text/html" if start.lstrip().startswith(b"<") else "text/plain"
    what = "not what it says" if name == _PDF or _TEXTS.fullmatch(name) else "nothing to read"
    raise FetchRefused(f"{address} is {what}: {name or 'no content type'}", provider="fetch")


def _name(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _charset(content_type: str) -> str | None:
    found = re.search(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", content_type, re.IGNORECASE)
    return found[1].lower() if found else None


def _shown(url: str) -> str:
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in url)
    return shortened(text, 200)
