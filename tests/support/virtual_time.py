"""An event loop in which no time passes while there is something to do, for tests of time limits: none is waited for,
and none is over too early where the machine is busy."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """A test, or other asynchronous function, that is run in a loop of its own in which time is virtual. It waits for
    timers and for work in threads, not for other processes."""

    @wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> T:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            return runner.run(test(*arguments, **named))

    return run


class _Loop(asyncio.SelectorEventLoop):
    """Where everything waits for timers, it is the time of the next one at once."""

    def __init__(self) -> None:
        self._time = 0.0
        self._in_threads = 0
        super().__init__(_Selector(self._wait))

    def time(self) -> float:
        return self._time

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._thread_ended)
        return future

    def _thread_ended(self, _: object) -> None:
        self._in_threads -= 1

    def _wait(self, select: Callable[[float | None], list[Any]], seconds: float | None) -> list[Any]:
        if self._in_threads and seconds != 0:
            return select(None)
        events = select(None if seconds is None else 0)
        if not events and seconds is not None:
            self._time += seconds
        return events


class _Selector(selectors.DefaultSelector):
    """Leaves it to `wait` how long it waits."""

    def __init__(self, wait: Callable[[Callable[[float | None], list[Any]], float | None], list[Any]]) -> None:
        super().__init__()
        self._wait_for = wait

    def select(self, timeout: float | None = None) -> list[Any]:
        return self._wait_for(super().select, timeout)
