"""Ends what a graph waits for from outside, when its time is over or somebody asks, and costs next to nothing."""

from __future__ import annotations

import asyncio
from types import TracebackType

__all__ = ["Fence", "Struck"]


class Struck(Exception):
    """What stood inside the fence was ended by `strike`."""


class Fence:
    """A context around awaits of one task. `strike` cancels what is inside at that moment, and `with` raises `Struck`;
    a cancellation from elsewhere passes through, and wins when both come. A fence may be entered again and again."""

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None
        self._cancellations = 0
        self._struck = False

    def strike(self) -> None:
        """End what is inside, if anything is."""
        if self._task is not None and not self._struck:
            self._struck = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._task = task = asyncio.current_task()
        assert task is not None
        self._cancellations = task.cancelling()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if not self._struck or task is None:
            return
        self._struck = False
        if task.uncancel() <= self._cancellations and isinstance(problem, asyncio.CancelledError):
            raise Struck from None
