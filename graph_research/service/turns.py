"""Work for a request that takes seconds, of the processor or of waiting for other servers: beside the requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

_AT_ONCE = 2
T = TypeVar("T")


class Turns:
    """Does it in a thread with an event loop of its own, so that other requests are answered meanwhile: of one user one
    thing after another, so that nobody keeps the others waiting and two changes of a report do not meet; of all users
    two at once."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._users: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def work(self, user: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What `work` gives, when it is the user's turn. Where the caller is cancelled, so is the work, and the turn
        lasts until that has ended."""
        turn = self._users.setdefault(user, asyncio.Lock())
        async with turn, self._places:
            return await _in_thread(work)


async def _in_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    under_way: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    given_up = threading.Event()

    async def tracked() -> T:
        task = asyncio.ensure_future(work())
        under_way.append((asyncio.get_running_loop(), task))
        if given_up.is_set():  # before it stood there
            task.cancel()
        return await task

    thread = asyncio.ensure_future(asyncio.to_thread(lambda: asyncio.run(tracked())))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        given_up.set()
        for loop, task in under_way:
            with suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(task.cancel)
        await asyncio.gather(thread, return_exceptions=True)
        raise
