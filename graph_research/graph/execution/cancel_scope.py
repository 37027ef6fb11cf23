"""A cancel scope for the task that drives a graph, which may be entered again for each step; and who cancelled."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class ScopeCancelled(Exception):
    """The code inside the scope was cancelled by `CancelScope.cancel`."""


def cancel_requested(problem: BaseException) -> bool:
    """Whether `problem` comes of a request to cancel the current task. A handler also raises `CancelledError` where it
    awaits a task that was cancelled by itself: that is an error like any other."""
    task = asyncio.current_task()
    return isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling() > 0


class CancelScope:
    """A context around awaits of `task`. `cancel` cancels what runs inside at that moment, and the scope raises
    `ScopeCancelled`. A cancellation from outside passes through and takes precedence. Entering it costs no task and no
    timer."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self._inside = False
        self._cancellations = 0
        self._cancelled_here = False

    def cancel(self) -> None:
        """Cancel what runs inside; does nothing when the scope is not entered."""
        if self._inside and not self._cancelled_here:
            self._cancelled_here = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._inside = True
        self._cancellations = self._task.cancelling()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside = False
        if not self._cancelled_here:
            return
        self._cancelled_here = False
        if self._task.uncancel() <= self._cancellations and isinstance(problem, asyncio.CancelledError):
            raise ScopeCancelled from None
