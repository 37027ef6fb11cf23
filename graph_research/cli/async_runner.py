"""Running a command's coroutine; the event loop is loaded only then, so that `--help` is quick."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


def wait_for(work: Coroutine[Any, Any, _T]) -> _T:
    """Run to the end in an event loop of its own."""
    import asyncio

    return asyncio.run(work)
