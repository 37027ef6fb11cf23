"""What SIGINT and SIGTERM do to a service or a worker: while it starts, and when it works."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

from graph_research.cli.errors import DONE
from graph_research.cli.signals import SIGNALS, taken_once

STOP_SECONDS = 9.0
"""After which a process that was told to stop ends as it is. Podman and docker kill it after 10."""

_log = logging.getLogger("graph_research.service")


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
    """The first signal calls `stop`; a second one ends the process as usual. Yields the signals that came. A process
    that has not ended `STOP_SECONDS` later, since a database does not answer or a document is still read, is ended:
    it loses what any worker that dies loses, and that is its leases."""
    received: list[int] = []

    def take(number: signal.Signals) -> bool:
        received.append(number)
        ending = threading.Timer(STOP_SECONDS, _end_as_it_is)
        ending.daemon = True
        ending.start()
        stop()
        return True

    with taken_once(take):
        yield received


def _end_as_it_is() -> None:
    _log.warning("ended %d s after a signal with work under way; its jobs go on when their leases end", STOP_SECONDS)
    os._exit(DONE)
