"""A signal while a service or a worker starts is a clean end: nothing has begun."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.support.cli.cli_process import PATIENCE_SECONDS, User

ENDLESS = "print('loading', flush=True)\nwhile True: pass\n"
"""A module that takes long to load. It computes: a signal that comes just before a sleep does not end it."""
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@contextlib.contextmanager
def silent_database() -> Iterator[tuple[str, socket.socket]]:
    """An address of a database that takes connections and never says anything, and what listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE_SECONDS)
        yield f"postgresql://127.0.0.1:{listening.getsockname()[1]}/jobs", listening


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
def test_while_the_program_is_loaded(received: signal.Signals, user: User) -> None:
    user.write("slow/uvicorn.py", ENDLESS)
    path = os.pathsep.join([str(user.folder / "slow"), user.environment()["PYTHONPATH"]])
    with user.start("serve", environ={"PYTHONPATH": path}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(received)
        _, err = process.finish()
    assert (process.returncode, err) == (0, "")
