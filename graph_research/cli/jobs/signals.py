"""What SIGINT and SIGTERM do to a service or a worker: while it starts, and when it works."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator

from graph_research.cli.errors import DONE
from graph_research.cli.signals import SIGNALS, taken_once


@contextlib.contextmanager
def ended_while_starting() -> Iterator[None]:
    """A signal ends the process with 0: nothing has begun that could be lost."""
    before = {number: signal.signal(number, lambda *_: sys.exit(DONE)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_loop_while_starting() -> None:
    """The same in an event loop, until `stopped_by_signals` takes the signals: a loop that waits for its sockets is
    woken by those signals only that it handles itself."""
    import asyncio

    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, sys.exit, DONE)


@contextlib.contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[list[int]]:
    """The first signal calls `stop`; a second one ends the process as usual. Yields the signals that came."""
    received: list[int] = []

    def take(number: signal.Signals) -> bool:
        received.append(number)
        stop()
        return True

    with taken_once(take):
        yield received
