"""A signal while a service or a worker starts is a clean end: nothing has begun."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.cli_process import PATIENCE_SECONDS, User, wait_until

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@contextlib.contextmanager
def silent_database() -> Iterator[tuple[str, socket.socket]]:
    """An address of a database that takes connections and never says anything, and what listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE_SECONDS)
        yield f"postgresql://127.0.0.1:{listening.getsockname()[1]}/jobs", listening


@contextlib.contextmanager
def written_slowly(pipe: Path) -> Iterator[None]:
    """A process reads a named pipe, and nothing comes."""
    writers: list[int] = []

    def is_read() -> bool:
        with contextlib.suppress(OSError):
            writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(writers)

    wait_until(is_read)
    try:
        yield
    finally:
        os.close(writers[0])


@pytest.mark.parametrize("received", SIGNALS)
@pytest.mark.parametrize("command", [("worker",), ("serve", "--port", "0")])
def test_while_the_database_is_opened(command: tuple[str, ...], received: signal.Signals, user: User) -> None:
    with silent_database() as (url, listening), user.start(*command, "--db", url) as process:
        connection, _ = listening.accept()
        with connection:
            process.send_signal(received)
            _, err = process.finish()
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("received", SIGNALS)
def test_before_the_service_listens(received: signal.Signals, user: User) -> None:
    tokens = user.folder / "tokens"
    os.mkfifo(tokens)
    environ = {"GRAPH_RESEARCH_TOKENS_FILE": str(tokens)}
    with user.start("serve", environ=environ) as process, written_slowly(tokens):
        process.send_signal(received)
        _, err = process.finish()
    assert (process.returncode, err) == (0, "")
