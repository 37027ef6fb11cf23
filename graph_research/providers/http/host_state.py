"""What all requests to one endpoint share: rate limit, circuit breaker, and the end of its `Retry-After`."""

from __future__ import annotations

from collections.abc import Callable

from aiolimiter import AsyncLimiter

from graph_research.providers.http.circuit_breaker import BreakerPolicy, CircuitBreaker
from graph_research.providers.http.endpoint import Endpoint


class HostState:
    """One for each endpoint name. The endpoint of the first request sets the rate limit."""

    def __init__(self, endpoint: Endpoint, policy: BreakerPolicy, *, clock: Callable[[], float]) -> None:
        self.breaker = CircuitBreaker(policy, clock=clock)
        self._clock = clock
        self._paused_until = clock()
        self._was_open = False
        self._bucket: AsyncLimiter | None = None
        if endpoint.per_second is not None:
            burst = max(1.0, endpoint.per_second)
            self._bucket = AsyncLimiter(burst, burst / endpoint.per_second)

    def pause(self, seconds: float) -> None:
        """Hold back all requests for `seconds`."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def paused_seconds(self) -> float:
        """Remaining seconds of `pause`."""
        return max(0.0, self._paused_until - self._clock())

    def is_full(self) -> bool:
        """Whether `acquire` would wait."""
        return self._bucket is not None and not self._bucket.has_capacity()

    async def acquire(self) -> None:
        """Wait until the rate limit admits a request."""
        if self._bucket is not None:
            await self._bucket.acquire()

    def breaker_changed(self) -> bool:
        """Whether the breaker opened or closed since the last call."""
        changed = self.breaker.is_open != self._was_open
        self._was_open = self.breaker.is_open
        return changed
