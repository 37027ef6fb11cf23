"""What all requests to one peer share: its bucket, its breaker, and until when it asked to be left alone."""

from __future__ import annotations

from collections.abc import Callable

from aiolimiter import AsyncLimiter

from graph_research.providers.http.circuit_breaker import BreakerPolicy, CircuitBreaker
from graph_research.providers.http.endpoint import Peer

__all__ = ["Lane"]


class Lane:
    """One for each name of a peer; the first to come says how many requests a second it takes."""

    def __init__(self, peer: Peer, policy: BreakerPolicy, *, clock: Callable[[], float]) -> None:
        self.breaker = CircuitBreaker(policy, clock=clock)
        self._clock = clock
        self._quiet_until = clock()
        self._was_open = False
        self._bucket: AsyncLimiter | None = None
        if peer.per_second is not None:
            burst = max(1.0, peer.per_second)
            self._bucket = AsyncLimiter(burst, burst / peer.per_second)

    def leave_alone(self, seconds: float) -> None:
        """Nobody asks for so long."""
        self._quiet_until = max(self._quiet_until, self._clock() + seconds)

    def quiet_seconds(self) -> float:
        """How long the peer is to be left alone yet."""
        return max(0.0, self._quiet_until - self._clock())

    def is_full(self) -> bool:
        """Whether `enter` would wait."""
        return self._bucket is not None and not self._bucket.has_capacity()

    async def enter(self) -> None:
        """Take a place in the bucket, or wait for one."""
        if self._bucket is not None:
            await self._bucket.acquire()

    def has_turned(self) -> bool:
        """Whether the breaker opened or closed since this was last asked."""
        turned = self.breaker.is_open != self._was_open
        self._was_open = self.breaker.is_open
        return turned
