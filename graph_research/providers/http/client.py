"""HTTP client for providers: retries, rate limits, a circuit breaker and a time budget for each endpoint."""

from __future__ import annotations

import asyncio
import itertools
import random
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import orjson

from graph_research.providers.errors import (
    ProviderError,
    ProviderUnavailable,
    ProviderUnreachable,
)
from graph_research.providers.http.circuit_breaker import BreakerPolicy
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.host import Attempt, Host
from graph_research.providers.http.status_errors import status_error
from graph_research.providers.http.telemetry import BreakerClosed, BreakerOpened, Listener, Retried, Throttled, emit
from graph_research.providers.limits.base import Limits, Turn
from graph_research.providers.limits.sqlite import SqliteLimits

if TYPE_CHECKING:
    import httpx

    from graph_research.providers.http.transport import StreamingResponse, Transport

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 20.0

T = TypeVar("T")


class Http(Protocol):
    """The HTTP client that adapters use. Raises the errors of `graph_research.providers.errors`."""

    async def ask(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """The response with a status below 300, after at most `endpoint.attempts` requests."""
        ...

    def stream(
        self, endpoint: Endpoint, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        """The lines of a response as they arrive (server-sent events, JSON lines), without line ends. Retried only
        before the first line. A caller that stops early closes the iterator (`contextlib.aclosing`)."""
        ...


@dataclass(kw_only=True, eq=False)
class HttpClient(AbstractAsyncContextManager["HttpClient"]):
    """`Http` over httpx transports. An async context manager; connections are opened at the first request and kept.

    A request is retried if the server is unreachable, overloaded (408, 425, 429, 5xx), or sends an incomplete body or
    invalid JSON: after the time of `Retry-After`, else after 0.5 s, doubled each time, with jitter. A wait that exceeds
    the budget is not started. The circuit breaker counts a request with all its retries once, and none that was not
    sent. `limits` hold rate limits and breakers for all who use the same; by default for this client alone. The first
    request to a server is sent also while its breaker is open: the user may have mended what another client met.

    Tests replace `sleep`, `clock` (monotonic seconds), `wall` (the time of day) and `chance` (0 to 1). `trust` replaces
    the trusted certificates. `on_event` receives retries, waits and changes of a circuit breaker, by default for the
    listener of the request (`graph_research.providers.http.telemetry`).
    """

    breaker: BreakerPolicy = field(default_factory=BreakerPolicy)
    limits: Limits | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    chance: Callable[[], float] = random.random
    trust: ssl.SSLContext | None = None
    on_event: Listener = emit
    _transport: Transport | None = field(default=None, init=False)
    _hosts: dict[str, Host] = field(default_factory=dict, init=False)
    _limits: Limits = field(init=False)

    def __post_init__(self) -> None:
        self._limits = self.limits or SqliteLimits(clock=self.clock)

    async def __aexit__(self, *error: object) -> None:
        if self._transport is not None:
            await self._transport.aclose()

    async def ask(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        request = self._request(endpoint, method, path, json, headers, params)

        async def once(seconds: float) -> Response:
            async with _time_limit(endpoint, seconds):
                response = await self._connections().send(endpoint, request)
                try:
                    reply = await response.whole()
                finally:
                    await response.aclose()
            return self._checked(endpoint, reply)

        async with self._attempt(endpoint) as attempt:
            return await self._retry(endpoint, attempt, once)

    async def stream(
        self, endpoint: Endpoint, method: str, path: str, *, json: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[str]:
        request = self._request(endpoint, method, path, json, headers)
        deadline = self.clock() + endpoint.budget_seconds

        async def once(seconds: float) -> _Lines:
            async with _time_limit(endpoint, seconds):
                response = await self._connections().send(endpoint, request)
                try:
                    if response.status >= 300:
                        self._checked(endpoint, await response.whole())
                    return await _Lines.open(response)
                except BaseException:  # also a cancellation: nobody else has the response to close
                    await response.aclose()
                    raise

        async with (
            self._attempt(endpoint) as attempt,
            aclosing(await self._retry(endpoint, attempt, once)) as lines,
        ):
            while lines.line is not None:
                yield lines.line
                if not lines.advance_buffered():
                    async with _time_limit(endpoint, min(endpoint.timeout_seconds, deadline - self.clock())):
                        await lines.advance()

    def _request(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        json: Any,
        headers: Mapping[str, str] | None,
        params: Mapping[str, str] | None = None,
    ) -> httpx.Request:
        """httpx takes longer to load than the whole command line, so it is loaded with the first request."""
        from graph_research.providers.http.transport import build_request

        try:
            content = None if json is None else orjson.dumps(json)
        except orjson.JSONEncodeError as error:
            raise endpoint.refused(f"the request is not JSON: {error}") from error
        return build_request(
            endpoint,
            method,
            path,
            params={**endpoint.params, **(params or {})},
            headers={**endpoint.headers, **(headers or {})},
            content=content,
        )

    def _connections(self) -> Transport:
        if self._transport is None:
            from graph_research.providers.http.transport import Transport

            self._transport = Transport(trust=self.trust)
        return self._transport

    @asynccontextmanager
    async def _attempt(self, endpoint: Endpoint) -> AsyncIterator[Attempt]:
        """One request, whose outcome the circuit breaker counts. Errors count as success where the server answered; a
        cancelled request does not count. Keys are redacted from every error that leaves it."""
        host = self._hosts.get(endpoint.name)
        if host is None:
            host = self._hosts[endpoint.name] = Host(endpoint, self.breaker)
        attempt, failed = Attempt(host), False
        try:
            yield attempt
        except ProviderError as error:
            failed = isinstance(error, ProviderUnavailable)
            error.message, error.help = endpoint.redact(error.message), endpoint.redact(error.help)
            error.args = (error.message,)
            await self._count(endpoint, attempt, failed=failed)
            raise
        else:
            await self._count(endpoint, attempt, failed=failed)

    async def _count(self, endpoint: Endpoint, attempt: Attempt, *, failed: bool) -> None:
        """Count the outcome of a request; it may open the circuit breaker or, where it is open, close it."""
        host, window = attempt.host, attempt.host.window
        if not attempt.was_sent:
            return
        if attempt.is_probe:
            host.is_open = failed
            window.clear()
            await self._limits.set_breaker(host.server, self.breaker.cooldown_seconds if failed else None)
            if not failed:
                await self.on_event(BreakerClosed(peer=endpoint.name))
        elif window.opens(failed=failed) and not host.is_open:
            host.is_open = True
            seconds = self.breaker.cooldown_seconds
            await self._limits.set_breaker(host.server, seconds)
            await self.on_event(
                BreakerOpened(peer=endpoint.name, failures=window.failures, attempts=window.attempts, seconds=seconds)
            )

    async def _retry(self, endpoint: Endpoint, attempt: Attempt, once: Callable[[float], Awaitable[T]]) -> T:
        """Call `once` with its time limit in seconds until it succeeds, fails for good, or the budget is spent. All
        requests to a host wait for the `Retry-After` that one of them got."""
        begun = self.clock()
        deadline = begun + endpoint.budget_seconds
        for number in itertools.count(1):
            await self._wait_for_turn(endpoint, attempt, deadline)
            left = deadline - self.clock()
            if left <= 0.0:
                raise endpoint.unavailable(f"its turn came only after the {endpoint.budget_seconds:g} s for a request")
            sent_at = self.clock()
            try:
                return await once(min(endpoint.timeout_seconds, left))
            except ProviderUnreachable:
                raise
            except ProviderUnavailable as error:
                wait = self._backoff(number, error.retry_after_seconds)
                if error.retry_after_seconds is not None:
                    await self._limits.pause(attempt.host.server, wait)
                if number >= endpoint.attempts or self.clock() + wait >= deadline:
                    raise self._final_error(endpoint, error, number, begun, wait) from None
                reason = endpoint.redact(error.message)
                took = self.clock() - sent_at
                await self.on_event(
                    Retried(peer=endpoint.name, attempt=number, reason=reason, took_seconds=took, wait_seconds=wait)
                )
            await self.sleep(wait)
        raise AssertionError("the loop ends by itself")

    def _backoff(self, attempt: int, asked_seconds: float | None) -> float:
        """Seconds until the next request: never less than `Retry-After`."""
        if asked_seconds is not None:
            return asked_seconds + self.chance() * min(1.0, asked_seconds / 10)
        doubled = min(_FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1), _LONGEST_WAIT_SECONDS)
        return doubled * (0.5 + self.chance() / 2)

    async def _wait_for_turn(self, endpoint: Endpoint, attempt: Attempt, deadline: float) -> None:
        """Wait until the host's `Retry-After` is over and its rate limit admits a request. Where that takes too long,
        or the circuit breaker is open, nothing is waited for."""
        host, left = attempt.host, deadline - self.clock()
        insist, host.was_asked = attempt.was_sent or not host.was_asked, True
        turn = await self._limits.turn(
            host.server, most_seconds=left, probe_seconds=self.breaker.cooldown_seconds, insist=insist
        )
        if not turn.admitted:
            raise self._refusal(endpoint, turn, left)
        attempt.was_sent, attempt.is_probe = True, turn.is_probe
        if host.is_open and not turn.is_probe:  # another client closed it
            host.is_open = False
            host.window.clear()
        if turn.wait_seconds > 0:
            await self.on_event(Throttled(peer=endpoint.name, asked_for=turn.paused_seconds > 0))
            await self.sleep(turn.wait_seconds)

    def _refusal(self, endpoint: Endpoint, turn: Turn, left: float) -> ProviderUnavailable:
        if turn.open_seconds is not None:
            return ProviderUnavailable(
                f"circuit breaker open for {endpoint.name}: most of its last requests failed; the next one in "
                f"{turn.open_seconds:.0f} s",
                provider=endpoint.name,
                retry_after_seconds=turn.open_seconds,
            )
        if turn.paused_seconds > left:
            paused = turn.paused_seconds
            return endpoint.unavailable(f"rate limited; retry after {paused:.0f} s", retry_after_seconds=paused)
        return endpoint.unavailable(
            f"too many requests wait for its rate limit of {endpoint.per_second:g} a second, more than fit into "
            f"{endpoint.budget_seconds:g} s"
        )

    def _final_error(
        self, endpoint: Endpoint, error: ProviderUnavailable, attempts: int, begun: float, wait: float
    ) -> ProviderUnavailable:
        tried = f"tried {attempts} times in {self.clock() - begun:.0f} s" if attempts > 1 else "tried once"
        if attempts < endpoint.attempts:
            tried += f", and the next wait of {wait:.0f} s is longer than what is left of {endpoint.budget_seconds:g} s"
        return ProviderUnavailable(
            f"{error.message} ({tried})",
            provider=endpoint.name,
            retry_after_seconds=error.retry_after_seconds,
            help=error.help,
        )

    def _checked(self, endpoint: Endpoint, reply: Response) -> Response:
        error = status_error(endpoint, reply, now=self.wall())
        if error is not None:
            raise error
        return reply


class _Lines:
    """The lines of a response; `line` is the latest one, None at the end."""

    def __init__(self, response: StreamingResponse) -> None:
        self.line: str | None = None
        self._response = response
        self._chunks = response.chunks()
        self._rest = bytearray()
        self._ready: list[bytes] = []

    @classmethod
    async def open(cls, response: StreamingResponse) -> _Lines:
        lines = cls(response)
        await lines.advance()
        return lines

    def advance_buffered(self) -> bool:
        """Advance to the next line if it has been received already."""
        if not self._ready:
            return False
        self.line = self._ready.pop().removesuffix(b"\r").decode("utf-8", errors="replace")
        return True

    async def advance(self) -> None:
        """Wait for the next line and advance to it."""
        while not self.advance_buffered():
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
async def _time_limit(endpoint: Endpoint, seconds: float) -> AsyncIterator[None]:
    """A time limit that raises `ProviderUnavailable`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        rest = f", what was left of {endpoint.budget_seconds:g} s" if seconds < endpoint.timeout_seconds else ""
        raise endpoint.unavailable(f"no answer within {seconds:.3g} s{rest}") from None
