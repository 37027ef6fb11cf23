"""SIGINT and SIGTERM while a command drives a run."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Any


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
def stopped_by_signals() -> Iterator[Signals]:
    """The first SIGINT or SIGTERM cancels this task; a second one ends the process as usual."""
    loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), (signal.SIGINT, signal.SIGTERM)
    assert task is not None, "driven inside a task"
    stopped = Signals(task)

    def stop(received: signal.Signals) -> None:
        if stopped.stop(received):
            for number in signals:
                loop.remove_signal_handler(number)

    for number in signals:
        loop.add_signal_handler(number, stop, number)
    try:
        yield stopped
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
        if stopped.received:
            task.uncancel()
