"""A future for writes: its waiter is cancelled only after the write has ended."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

T = TypeVar("T")


class UncancellableFuture(asyncio.Future[T]):
    """Waits to its end even when its waiter is cancelled; the cancellation then comes through."""

    def cancel(self, msg: Any | None = None) -> bool:  # noqa: ARG002 -- asyncio's signature
        return False
