"""Circuit breaker over a sliding window: it opens after many failures and lets one attempt pass after a cooldown."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BreakerPolicy:
    """When a breaker opens: strictly more than `failure_rate` of the last `window` attempts failed, and there were at
    least `least_attempts`. It lets one attempt pass after `cooldown_seconds`."""

    window: int = 10
    least_attempts: int = 5
    failure_rate: float = 0.7
    cooldown_seconds: float = 60.0


class BreakerOpen(Exception):
    """The breaker is open for `seconds` more; `failures` of the last `attempts` failed."""

    def __init__(self, seconds: float, failures: int, attempts: int) -> None:
        super().__init__(f"{failures} of the last {attempts} attempts failed; the next one in {seconds:.0f} s")
        self.seconds = seconds
        self.failures = failures
        self.attempts = attempts


class FailureWindow:
    """The outcomes of the last attempts."""

    def __init__(self, policy: BreakerPolicy) -> None:
        self._policy = policy
        self._failed: deque[bool] = deque(maxlen=policy.window)

    @property
    def failures(self) -> int:
        """Failed attempts within the window."""
        return sum(self._failed)

    @property
    def attempts(self) -> int:
        """Attempts within the window."""
        return len(self._failed)

    def opens(self, *, failed: bool) -> bool:
        """Count an attempt, and whether it opens a closed breaker: the last of enough attempts may be a success."""
        self._failed.append(failed)
        enough = self.attempts >= self._policy.least_attempts
        return enough and self.failures > self._policy.failure_rate * self.attempts

    def clear(self) -> None:
        """Forget all attempts."""
        self._failed.clear()


class CircuitBreaker:
    """Counts attempts made under `attempt()`. `clock` gives seconds that only grow."""

    def __init__(self, policy: BreakerPolicy | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy or BreakerPolicy()
        self._clock = clock
        self.window = FailureWindow(self._policy)
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether attempts are refused or, after the cooldown, one alone is let through."""
        return self._opened_at is not None

    @contextmanager
    def attempt(self, *, failing: tuple[type[BaseException], ...]) -> Iterator[None]:
        """Make one attempt. Raises `BreakerOpen` while the breaker is open. Errors of the types `failing` and timeouts
        count as failures; other errors count as success, and a cancelled attempt does not count."""
        probe = self._admit()
        failed = False
        counts = True
        try:
            yield
        except BaseException as error:  # also a cancellation, which is told apart since it does not count
            failed = isinstance(error, (TimeoutError, *failing))
            counts = failed or isinstance(error, Exception)
            raise
        finally:
            self._probing = self._probing and not probe
            if counts:
                self._count(failed=failed, probe=probe)

    def reset(self) -> None:
        """Close the breaker and forget all attempts."""
        self.window.clear()
        self._opened_at, self._probing = None, False

    def _admit(self) -> bool:
        """Whether this attempt is the probe of a breaker that was open long enough."""
        if self._opened_at is None:
            return False
        left = self._opened_at + self._policy.cooldown_seconds - self._clock()
        if left > 0 or self._probing:
            raise BreakerOpen(max(left, 0.0), self.window.failures, self.window.attempts)
        self._probing = True
        return True

    def _count(self, *, failed: bool, probe: bool) -> None:
        if probe and not failed:
            self.reset()
        opens = self.window.opens(failed=failed)
        if failed if probe else opens and not self.is_open:
            self._opened_at = self._clock()
