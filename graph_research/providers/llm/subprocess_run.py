"""Runs a program with text input and output, within limits; leaves no process behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_research.process_tree import ProcessTree

_ERRORS_KEPT = 4_000
_GRACE_SECONDS = 2.0
"""How long to wait for pipes that a surviving child process holds open."""


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """Exit code (negative: the signal), standard output, and the end of standard error."""

    code: int
    output: str
    errors: str


class ProgramTimedOut(Exception):
    """The program did not end in its time; it was killed."""


class OutputTooLong(Exception):
    """The program wrote more than it may; it was killed."""


async def run_program(
    arguments: Sequence[str],
    stdin: str,
    *,
    folder: Path,
    environ: Mapping[str, str],
    timeout_seconds: float,
    most_bytes: int,
) -> ProgramResult:
    """Start a program without a shell, send `stdin` to it and wait for its end.

    Its child processes are killed when it ends, is cancelled or exceeds a limit, as far as `ProcessTree` finds them.
    Raises `OSError` if it cannot be started, `ProgramTimedOut` and `OutputTooLong`.
    """
    tree = ProcessTree()
    transport, process = await tree.start(lambda: _Process(most_bytes), arguments, environ, cwd=folder)
    pid = transport.get_pid()
    try:
        async with asyncio.timeout(timeout_seconds):
            process.write(transport, stdin)
            await process.over.wait()
        tree.kill(pid)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.closed.wait(), _GRACE_SECONDS)
    except TimeoutError as error:
        raise ProgramTimedOut from error
    finally:
        tree.kill(pid)
        await asyncio.shield(process.exited.wait())
        transport.close()
    if process.too_long:
        raise OutputTooLong
    code = transport.get_returncode()
    assert code is not None, "the program has ended"
    return ProgramResult(code=code, output=_text(process.output), errors=_text(process.errors))


class _Process(asyncio.SubprocessProtocol):
    """The pipes of a program. `over` is set when it has exited or written too much, `exited` when it has exited,
    `closed` when its output pipes are closed."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._open = {1, 2}
        self.output = bytearray()
        self.errors = bytearray()
        self.too_long = False
        self.over = asyncio.Event()
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    def write(self, transport: asyncio.SubprocessTransport, text: str) -> None:
        """Send text and close standard input. The program need not read all of it."""
        pipe = transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport), "standard input is a pipe"
        pipe.write(text.encode())
        pipe.write_eof()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1 and len(self.output) + len(data) <= self._most_bytes:
            self.output += data
        elif fd == 1:
            self.too_long = True
            self.over.set()
        else:
            self.errors = (self.errors + data)[-_ERRORS_KEPT:]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 -- as asyncio calls it
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.over.set()


def _text(data: bytearray) -> str:
    return data.decode("utf-8", errors="replace")
