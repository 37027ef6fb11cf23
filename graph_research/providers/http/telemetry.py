"""Events of HTTP requests that do not end a request: retries, waits, changes of a circuit breaker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

Listener = Callable[["HttpEvent"], Awaitable[None]]
"""Receives the events of requests. The request goes on when it returns."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
"""The listener of the current request; the requests of many nodes share one client."""

_PURPOSE: ContextVar[Mapping[str, str] | None] = ContextVar("purpose", default=None)
"""What the current request is for."""


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Within the block, also in tasks that it starts, `listener` receives the events of requests."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


@contextmanager
def request_purpose(kind: str, **more: str) -> Iterator[None]:
    """Within the block, requests are for a `model`, a `search` or a `page`; `more` may name the role."""
    before = _PURPOSE.set({"kind": kind, **more})
    try:
        yield
    finally:
        _PURPOSE.reset(before)


def current_purpose() -> Mapping[str, str]:
    """What the current request is for, `{kind, …}`; empty outside `request_purpose`."""
    return _PURPOSE.get() or {}


async def emit(event: HttpEvent) -> None:
    """Pass an event to the current listener, if there is one."""
    if (listener := _LISTENER.get()) is not None:
        await listener(event)


@dataclass(frozen=True, kw_only=True)
class HttpEvent:
    """Base class; `peer` is the name of the endpoint."""

    type: ClassVar[str] = "http_event"
    peer: str

    def to_json(self) -> dict[str, Any]:
        """The fields of the event."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Retried(HttpEvent):
    """Request `attempt` (from 1) failed after `took_seconds`, and the next follows after `wait_seconds`. `reason` holds
    no key."""

    type: ClassVar[str] = "retried"
    attempt: int
    reason: str
    took_seconds: float
    wait_seconds: float


RETRIED_NOTE = f"wire:{Retried.type}"
"""The name under which a run notes a retried request."""


@dataclass(frozen=True, kw_only=True)
class Throttled(HttpEvent):
    """A request waits for the rate limit of the endpoint, or for the end of its `Retry-After`."""

    type: ClassVar[str] = "throttled"
    asked_for: bool
    """Whether the wait is for `Retry-After`."""


@dataclass(frozen=True, kw_only=True)
class BreakerOpened(HttpEvent):
    """The circuit breaker opened for `seconds`: `failures` of the last `attempts` requests failed."""

    type: ClassVar[str] = "breaker_opened"
    failures: int
    attempts: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class BreakerClosed(HttpEvent):
    """The circuit breaker closed: the endpoint answers again."""

    type: ClassVar[str] = "breaker_closed"
