"""What all requests to one server keep to: its rate limit, the end of its `Retry-After`, its circuit breaker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

LONGEST_PAUSE_SECONDS = 3600.0
"""What a server asks for outlives the process that it was asked of, and may be a mistake."""


class LimitsUnavailable(Exception):
    """The place where limits are kept cannot be reached."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server under the name by which those who ask it know each other, and its rate limit: a token bucket that holds
    the requests of a second, at least one. Without `per_second` there is none."""

    name: str
    per_second: float | None = None

    @property
    def interval_seconds(self) -> float:
        """The time that one request takes of the bucket."""
        return 0.0 if self.per_second is None else 1.0 / self.per_second

    @property
    def burst_seconds(self) -> float:
        """The time by which requests may be early."""
        return 0.0 if self.per_second is None else max(0.0, 1.0 - self.interval_seconds)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Whether a request may be sent, and after how many seconds; for `paused_seconds` of them the server has asked.

    `open_seconds` are what is left until the next probe where the circuit breaker refuses the request. A request that
    is let through while the breaker is open `is_probe`: its end says whether the breaker closes."""

    admitted: bool
    wait_seconds: float = 0.0
    paused_seconds: float = 0.0
    open_seconds: float | None = None
    is_probe: bool = False


class Limits(Protocol):
    """The limits of servers. `LimitsUnavailable` where they cannot be reached."""

    async def turn(self, server: Server, *, most_seconds: float, probe_seconds: float, insist: bool) -> Turn:
        """Take the next turn of a server, unless it comes after more than `most_seconds`. While its breaker is open,
        one request is let through in `probe_seconds`, or any that insists."""
        ...

    async def pause(self, server: Server, seconds: float) -> None:
        """Let no turn begin within `seconds`, an hour at most, of a server that has been asked."""
        ...

    async def set_breaker(self, server: Server, open_seconds: float | None) -> None:
        """Open the circuit breaker of a server that has been asked for so long, or close it."""
        ...

    async def close(self) -> None: ...
