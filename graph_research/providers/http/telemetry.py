"""What goes wrong between us and a peer without ending a request: frozen facts for whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

__all__ = [
    "BreakerClosed",
    "BreakerOpened",
    "Incident",
    "Retried",
    "Throttled",
    "asked_for",
    "asking_for",
    "listening",
    "tell",
]

_LISTENER: ContextVar[Callable[[Incident], None] | None] = ContextVar("listener", default=None)
"""Whose request it is that meets with an incident: requests of many nodes share one transport."""

_PURPOSE: ContextVar[Mapping[str, str] | None] = ContextVar("purpose", default=None)
"""What the request is for that meets with an incident."""


@contextmanager
def listening(listener: Callable[[Incident], None]) -> Iterator[None]:
    """Within the block `listener` hears the incidents of the requests that are made there, by tasks begun there too."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


@contextmanager
def asking_for(kind: str, **more: str) -> Iterator[None]:
    """Within the block requests are made for a `model`, a `search` or a `page`; `more` may say for which role."""
    before = _PURPOSE.set({"kind": kind, **more})
    try:
        yield
    finally:
        _PURPOSE.reset(before)


def asked_for() -> Mapping[str, str]:
    """What the request of this moment is for, `{kind, …}`; empty where nobody said."""
    return _PURPOSE.get() or {}


def tell(incident: Incident) -> None:
    """Tell whoever listens, if anybody does."""
    if (listener := _LISTENER.get()) is not None:
        listener(incident)


@dataclass(frozen=True, kw_only=True)
class Incident:
    """The base of all; `peer` is the name of who was asked."""

    type: ClassVar[str] = "incident"
    peer: str

    def to_json(self) -> dict[str, Any]:
        """The incident's own fields."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Retried(Incident):
    """A try failed, `attempt` from 1, and another follows after `wait_seconds`. `reason` holds no key."""

    type: ClassVar[str] = "retried"
    attempt: int
    reason: str
    wait_seconds: float


@dataclass(frozen=True, kw_only=True)
class Throttled(Incident):
    """A request waits: for the peer's bucket, or because the peer asked to be left alone."""

    type: ClassVar[str] = "throttled"
    asked_for: bool
    """Whether the peer itself asked for it."""


@dataclass(frozen=True, kw_only=True)
class BreakerOpened(Incident):
    """So many of the last requests failed that the peer is not asked for `seconds`."""

    type: ClassVar[str] = "breaker_opened"
    failures: int
    attempts: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class BreakerClosed(Incident):
    """The peer answers again."""

    type: ClassVar[str] = "breaker_closed"
