"""One way to every provider over HTTP: retries, limits, a breaker and a time budget for each peer, and typed errors."""

from __future__ import annotations

import asyncio
import itertools
import random
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import orjson

from graph_research.providers.errors import (
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    ProviderUnreachable,
)
from graph_research.providers.http.circuit_breaker import BreakerOpen, BreakerPolicy
from graph_research.providers.http.endpoint import Classify, Peer, Reply
from graph_research.providers.http.host_state import Lane
from graph_research.providers.http.status_errors import verdict
from graph_research.providers.http.telemetry import BreakerClosed, BreakerOpened, Incident, Retried, Throttled, tell

if TYPE_CHECKING:
    import httpx

    from graph_research.providers.http.transport import StreamingResponse, Transport

__all__ = ["Classify", "Http", "HttpClient", "Peer", "Reply"]

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 20.0

T = TypeVar("T")


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
        """A reply with a status below 300, after as many tries as the peer allows."""
        ...

    def stream(
        self, peer: Peer, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        """The lines of a reply as they arrive (server-sent events, JSON lines), without their ends. Tried again only
        until the first; who stops early closes the iterator (`contextlib.aclosing`)."""
        ...


class HttpClient:
    """`Http` over httpx transports. An async context manager; connections are opened at the
    first request and kept.

    A try is made again where the server is out of reach, overloaded (408, 425, 429, 5xx) or answers with half a body or
    JSON that is none: after what `Retry-After` asks for, else after 0.5 s, doubled each time, with jitter. A wait that
    the budget has no room for is not begun. The breaker counts requests with all their tries.

    `sleep`, `clock` (seconds that only grow), `wall` (the time of day) and `chance` (0 to 1) are there to be replaced;
    `trust` replaces the certificates that are believed; `on_incident` hears what went wrong without ending a request,
    which is by default whoever listens to that request (`graph_research.providers.http.telemetry`).
    """

    def __init__(
        self,
        *,
        breaker: BreakerPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
        trust: ssl.SSLContext | None = None,
        on_incident: Callable[[Incident], None] = tell,
    ) -> None:
        self._policy = breaker or BreakerPolicy()
        self._sleep = sleep
        self._clock = clock
        self._wall = wall
        self._chance = chance
        self._trust = trust
        self._tell = on_incident
        self._transport: Transport | None = None
        self._lanes: dict[str, Lane] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._transport is not None:
            await self._transport.aclose()

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
        request = self._request(peer, method, path, params=params, json=json, headers=headers)

        async def once(seconds: float) -> Reply:
            async with _within(peer, seconds):
                response = await self._connections().send(peer, request)
                try:
                    reply = await response.whole()
                finally:
                    await response.aclose()
            return self._accepted(peer, reply)

        with self._admitted(peer) as lane:
            return await self._insist(peer, lane, once)

    async def stream(
        self, peer: Peer, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        request = self._request(peer, method, path, json=json, headers=headers)
        deadline = self._clock() + peer.budget_seconds

        async def once(seconds: float) -> _Lines:
            async with _within(peer, seconds):
                response = await self._connections().send(peer, request)
                try:
                    if response.status >= 300:
                        self._accepted(peer, await response.whole())
                    return await _Lines.begun(response)
                except BaseException:
                    await response.aclose()
                    raise

        with self._admitted(peer) as lane:
            async with aclosing(await self._insist(peer, lane, once)) as lines:
                while lines.line is not None:
                    yield lines.line
                    if not lines.took_one():
                        async with _within(peer, min(peer.timeout_seconds, deadline - self._clock())):
                            await lines.advance()

    def _request(
        self,
        peer: Peer,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Request:
        """httpx takes longer to load than the whole command line, so it is loaded with the first request."""
        from graph_research.providers.http.transport import build_request

        try:
            content = None if json is None else orjson.dumps(json)
        except orjson.JSONEncodeError as error:
            raise ProviderRefused(f"{peer.name}: the request is not JSON: {error}", provider=peer.name) from error
        return build_request(
            peer,
            method,
            path,
            params={**peer.params, **(params or {})},
            headers={**peer.headers, **(headers or {})},
            content=content,
        )

    def _connections(self) -> Transport:
        if self._transport is None:
            from graph_research.providers.http.transport import Transport

            self._transport = Transport(trust=self._trust)
        return self._transport

    @contextmanager
    def _admitted(self, peer: Peer) -> Iterator[Lane]:
        """One request under the peer's breaker. Whatever error leaves it has its keys blacked out."""
        lane = self._lanes.get(peer.name)
        if lane is None:
            lane = self._lanes[peer.name] = Lane(peer, self._policy, clock=self._clock)
        try:
            with lane.breaker.attempt(failing=(ProviderUnavailable,)):
                yield lane
        except BreakerOpen as closed:
            raise ProviderUnavailable(
                f"{peer.name} is left alone: {closed}", provider=peer.name, retry_after_seconds=closed.seconds
            ) from None
        except ProviderError as error:
            error.message, error.help = peer.black_out(error.message), peer.black_out(error.help)
            error.args = (error.message,)
            raise
        finally:
            if lane.has_turned():
                self._tell(self._turned(peer, lane))

    def _turned(self, peer: Peer, lane: Lane) -> Incident:
        breaker = lane.breaker
        if not breaker.is_open:
            return BreakerClosed(peer=peer.name)
        seconds = self._policy.cooldown_seconds
        return BreakerOpened(peer=peer.name, failures=breaker.failures, attempts=breaker.attempts, seconds=seconds)

    async def _insist(self, peer: Peer, lane: Lane, once: Callable[[float], Awaitable[T]]) -> T:
        """Try until it works or is not worth another try. The waits of a library's loop know neither what is left of
        a budget nor what others were told by the same server."""
        begun = self._clock()
        deadline = begun + peer.budget_seconds
        for attempt in itertools.count(1):
            await self._turn(peer, lane, deadline)
            try:
                return await once(min(peer.timeout_seconds, deadline - self._clock()))
            except ProviderUnreachable:
                raise
            except ProviderUnavailable as error:
                wait = self._wait(attempt, error.retry_after_seconds)
                if error.retry_after_seconds is not None:
                    lane.leave_alone(wait)
                if attempt >= peer.attempts or self._clock() + wait >= deadline:
                    raise self._given_up(peer, error, attempt, begun, wait) from None
                reason = peer.black_out(error.message)
                self._tell(Retried(peer=peer.name, attempt=attempt, reason=reason, wait_seconds=wait))
            await self._sleep(wait)
        raise AssertionError("the loop ends by itself")

    def _wait(self, attempt: int, asked_seconds: float | None) -> float:
        """Seconds until the next try: never less than was asked for."""
        if asked_seconds is not None:
            return asked_seconds + self._chance() * min(1.0, asked_seconds / 10)
        doubled = min(_FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1), _LONGEST_WAIT_SECONDS)
        return doubled * (0.5 + self._chance() / 2)

    async def _turn(self, peer: Peer, lane: Lane, deadline: float) -> None:
        """Wait for this request's turn: until the peer may be asked again, and for room in its bucket."""
        quiet = lane.quiet_seconds()
        if quiet > deadline - self._clock():
            raise ProviderUnavailable(
                f"{peer.name} asked to be left alone for {quiet:.0f} s more",
                provider=peer.name,
                retry_after_seconds=quiet,
            )
        if quiet > 0:
            self._tell(Throttled(peer=peer.name, asked_for=True))
            await self._sleep(quiet)
        if not lane.is_full():
            return await lane.enter()
        self._tell(Throttled(peer=peer.name, asked_for=False))
        try:
            async with asyncio.timeout(deadline - self._clock()):
                await lane.enter()
        except TimeoutError:
            raise ProviderUnavailable(
                f"{peer.name}: more requests wait than its limit of {peer.per_second:g} a second lets through in "
                f"{peer.budget_seconds:g} s",
                provider=peer.name,
            ) from None

    def _given_up(
        self, peer: Peer, error: ProviderUnavailable, attempts: int, begun: float, wait: float
    ) -> ProviderUnavailable:
        tried = f"tried {attempts} times in {self._clock() - begun:.0f} s" if attempts > 1 else "tried once"
        if attempts < peer.attempts:
            tried += f", and the next wait of {wait:.0f} s is longer than what is left of {peer.budget_seconds:g} s"
        return ProviderUnavailable(
            f"{error.message} ({tried})",
            provider=peer.name,
            retry_after_seconds=error.retry_after_seconds,
            help=error.help,
        )

    def _accepted(self, peer: Peer, reply: Reply) -> Reply:
        error = verdict(peer, reply, now=self._wall())
        if error is not None:
            raise error
        return reply


class _Lines:
    """The lines of an answer; `line` is the one that came last, None at the end."""

    def __init__(self, response: StreamingResponse) -> None:
        self.line: str | None = None
        self._response = response
        self._chunks = response.chunks()
        self._rest = bytearray()
        self._ready: list[bytes] = []

    @classmethod
    async def begun(cls, response: StreamingResponse) -> _Lines:
        lines = cls(response)
        await lines.advance()
        return lines

    def took_one(self) -> bool:
        """Go on to the next line, if it has arrived with the one before."""
        if not self._ready:
            return False
        self.line = self._ready.pop().removesuffix(b"\r").decode("utf-8", errors="replace")
        return True

    async def advance(self) -> None:
        """Go on to the next line when it has arrived."""
        while not self.took_one():
            chunk = await anext(self._chunks, None)
            if chunk is None:
                self.line = self._rest.decode("utf-8", errors="replace") if self._rest else None
                self._rest = bytearray()
                return
            first, end, more = chunk.partition(b"\n")
            self._rest += first
            if end:
                *whole, rest = more.split(b"\n")
                self._ready = [*whole[::-1], bytes(self._rest)]
                self._rest = bytearray(rest)

    async def aclose(self) -> None:
        await self._chunks.aclose()
        await self._response.aclose()


@asynccontextmanager
async def _within(peer: Peer, seconds: float) -> AsyncIterator[None]:
    """A time limit whose end is the peer's failure."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise ProviderUnavailable(f"{peer.name}: no answer within {seconds:.3g} s", provider=peer.name) from None
