"""One run of a program: text in, text out, within limits, and nothing of it left behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_research.process_tree import ProcessTree

_ERRORS_KEPT = 4_000
_GRACE_SECONDS = 2.0
"""How long a pipe may stay open that somebody holds who cannot be ended with the program."""


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """How a program ended: its code (negative: the signal), its output, and the end of what it wrote as errors."""

    code: int
    output: str
    errors: str


class ProgramTimedOut(Exception):
    """The program did not end in its time; it was killed."""


class OutputTooLong(Exception):
    """The program wrote more than it may; it was killed."""


async def run_program(
    arguments: Sequence[str],
    given: str,
    *,
    folder: Path,
    environ: Mapping[str, str],
    timeout_seconds: float,
    most_bytes: int,
) -> ProgramResult:
    """Start a program without a shell, hand it `given` on standard input and wait for its end.

    All that it started is killed when it ends, is cancelled or goes beyond a limit, as far as `ProcessTree` finds it.
    Raises `OSError` where it cannot be started, `ProgramTimedOut` and `OutputTooLong`.
    """
    tree = ProcessTree()
    transport, talk = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Talk(most_bytes), *arguments, cwd=folder, env=tree.environ(environ), start_new_session=True
    )
    pid = transport.get_pid()
    try:
        async with asyncio.timeout(timeout_seconds):
            talk.say(transport, given)
            await talk.over.wait()
        tree.kill(pid)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(talk.closed.wait(), _GRACE_SECONDS)
    except TimeoutError as error:
        raise ProgramTimedOut from error
    finally:
        tree.kill(pid)
        await asyncio.shield(talk.exited.wait())
        transport.close()
    if talk.too_long:
        raise OutputTooLong
    code = transport.get_returncode()
    assert code is not None, "the program has ended"
    return ProgramResult(code=code, output=_text(talk.output), errors=_text(talk.errors))


class _Talk(asyncio.SubprocessProtocol):
    """What is said to and heard from a program. `over` is set when it has ended or said too much, `exited` when it has
    ended, `closed` when nobody can say anything more."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._open = {1, 2}
        self.output = bytearray()
        self.errors = bytearray()
        self.too_long = False
        self.over = asyncio.Event()
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    def say(self, transport: asyncio.SubprocessTransport, text: str) -> None:
        """A program that does not read to the end is judged by what it answers."""
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
