"""Bundles that users bring: checked in a child process, of which nothing is kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import graph_research
from graph_research.errors import UserMistake
from graph_research.service.bundles import child

MOST_BYTES = 20_000_000
"""Of one bundle."""
_MEMORY_BYTES = 1 << 30
_CPU_SECONDS = 90
_SECONDS = 120.0
_MOST_ANSWER_BYTES = 1 << 24
_KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH")


class BundleRefused(UserMistake):
    """A bundle that is none, was changed, or takes too much to check."""


async def received(folder: Path, chunks: AsyncIterator[bytes]) -> None:
    """Store the bytes of a bundle in the folder in which it will be checked; their number is bounded by the request."""
    with (folder / child.BUNDLE).open("xb") as file:
        async for chunk in chunks:
            await asyncio.to_thread(file.write, chunk)


async def checked(folder: Path, *, memory_bytes: int = _MEMORY_BYTES, seconds: float = _SECONDS) -> dict[str, Any]:
    """What a replay and a verification of the received bundle find. `BundleRefused`."""
    environ = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        child.__name__,
        str(memory_bytes),
        str(_CPU_SECONDS),
        cwd=folder,
        env={
            **environ,
            "PYTHONPATH": str(Path(str(graph_research.__file__)).parent.parent),
            "HOME": str(folder),
            "GRAPH_RESEARCH_HOME": str(folder / "home"),
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            answer = await _read(process.stdout)
        found: dict[str, Any] = json.loads(answer)
    except (TimeoutError, ValueError) as problem:
        raise BundleRefused(
            "the bundle takes too much time or memory to check", help="check it at a terminal"
        ) from problem
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if "error" in found:
        raise BundleRefused(**found["error"])
    return found


async def _read(stream: asyncio.StreamReader) -> bytes:
    """All that comes, up to a bound behind which it is no answer any more."""
    parts: list[bytes] = []
    while (part := await stream.read(1 << 16)) and sum(map(len, parts)) < _MOST_ANSWER_BYTES:
        parts.append(part)
    return b"".join(parts)
