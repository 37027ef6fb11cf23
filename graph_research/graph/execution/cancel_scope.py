"""Ends what a graph waits for from outside, when its time is over or somebody asks, and costs next to nothing."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

__all__ = ["Fence", "Struck"]


class Struck(Exception):
    """What stood inside the fence was ended by `strike`."""


class Fence:
    """A context around awaits of `task`. `strike` cancels what is inside at that moment, and `with` raises `Struck`;
    a cancellation from elsewhere passes through, and wins when both come. A fence may be entered again and again."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self._inside = False
        self._cancellations = 0
        self._struck = False

    def strike(self) -> None:
        """End what is inside, if anything is."""
        if self._inside and not self._struck:
            self._struck = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._inside = True
        self._cancellations = self._task.cancelling()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside = False
        if not self._struck:
            return
        self._struck = False
        if self._task.uncancel() <= self._cancellations and isinstance(problem, asyncio.CancelledError):
            raise Struck from None
