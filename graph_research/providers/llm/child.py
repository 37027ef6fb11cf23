"""One run of a program: text in, text out, within limits, and nothing of it left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Finished", "OutputTooLong", "TookTooLong", "run_program"]

_CHUNK = 65_536
_ERRORS_KEPT = 4_000


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a program ended: its code (negative: the signal), its output, and the end of what it wrote as errors."""

    code: int
    output: str
    errors: str


class TookTooLong(Exception):
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
) -> Finished:
    """Start a program without a shell, hand it `given` on standard input and wait for its end.

    It leads a process group of its own, all of which is killed when it ends, is cancelled or goes beyond a limit.
    Raises `OSError` where it cannot be started, `TookTooLong` and `OutputTooLong`.
    """
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=dict(environ),
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_seconds), asyncio.TaskGroup() as tasks:
            tasks.create_task(_write(process, given))
            output = tasks.create_task(_read(process, most_bytes))
            errors = tasks.create_task(_read_end(process.stderr))
            tasks.create_task(_end(process))
    except TimeoutError as error:
        raise TookTooLong from error
    finally:
        _kill_group(process.pid)
        await asyncio.shield(process.wait())
    written = output.result()
    if written is None:
        raise OutputTooLong
    assert process.returncode is not None, "the program has ended"
    return Finished(code=process.returncode, output=written, errors=errors.result())


async def _end(process: asyncio.subprocess.Process) -> None:
    """What the program leaves behind would hold its output open."""
    await process.wait()
    _kill_group(process.pid)


async def _write(process: asyncio.subprocess.Process, text: str) -> None:
    """A program that does not read to the end is judged by what it answers."""
    assert process.stdin is not None, "standard input is a pipe"
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.close()
        await process.stdin.wait_closed()


async def _read(process: asyncio.subprocess.Process, most_bytes: int) -> str | None:
    """What the program writes, None where that is more than `most_bytes`, which ends it."""
    assert process.stdout is not None, "standard output is a pipe"
    read = bytearray()
    while chunk := await process.stdout.read(_CHUNK):
        read += chunk
        if len(read) > most_bytes:
            _kill_group(process.pid)
            return None
    return read.decode("utf-8", errors="replace")


async def _read_end(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None, "standard error is a pipe"
    read = bytearray()
    while chunk := await stream.read(_CHUNK):
        read = (read + chunk)[-_ERRORS_KEPT:]
    return read.decode("utf-8", errors="replace")


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
