"""SIGINT and SIGTERM while a command drives a run, and what all commands that handle them share."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a service takes signals before it imports anything large
    import asyncio

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """The signal that stopped a task, None where none did."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self._ignores_interrupts = False
        self.received: signal.Signals | None = None

    def stop(self, received: signal.Signals) -> bool:
        """Cancel the task, unless the signal is an interrupt and those are ignored."""
        if received is signal.SIGINT and self._ignores_interrupts:
            return False
        self.received = received
        return self._task.cancel()

    @contextlib.contextmanager
    def interrupts_ignored(self) -> Iterator[None]:
        """While another program has the terminal, whose Ctrl-C means that program."""
        self._ignores_interrupts = True
        try:
            yield
        finally:
            self._ignores_interrupts = False


@contextlib.contextmanager
def taken_once(take: Callable[[signal.Signals], bool]) -> Iterator[None]:
    """`take` gets SIGINT and SIGTERM until it returns True; the next one ends the process as usual."""
    import asyncio

    loop = asyncio.get_running_loop()

    def on_signal(received: signal.Signals) -> None:
        if take(received):
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[Signals]:
    """The first SIGINT or SIGTERM cancels this task; a second one ends the process as usual."""
    import asyncio

    task = asyncio.current_task()
    assert task is not None, "driven inside a task"
    stopped = Signals(task)
    try:
        with taken_once(stopped.stop):
            yield stopped
    finally:
        if stopped.received:
            task.uncancel()
