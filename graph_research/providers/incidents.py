"""What goes wrong between us and a peer without ending a request: frozen facts for whoever watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = ["BreakerClosed", "BreakerOpened", "Incident", "Retried", "Throttled"]


@dataclass(frozen=True, kw_only=True)
class Incident:
    """The base of all; `peer` is the name of who was asked."""

    type: ClassVar[str] = "incident"
    peer: str


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
