"""What users bring is checked in a child process, which keeps nothing of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import graph_research
from graph_research.errors import UserMistake
from graph_research.service.untrusted import child

MOST_BUNDLE_BYTES = 20_000_000
_MOST_ANSWER_BYTES = 1 << 24
_KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH")


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What a check may take."""

    memory_bytes: int
    cpu_seconds: int
    seconds: float


_FOR_BUNDLE = Allowance(memory_bytes=1 << 30, cpu_seconds=90, seconds=120)
_FOR_GRAPH = Allowance(memory_bytes=1 << 29, cpu_seconds=10, seconds=20)


class BundleRefused(UserMistake):
    """A bundle that is none, was changed, or takes too much to check."""


class GraphRefused(UserMistake):
    """A graph that cannot be drawn, or takes too much to check."""


async def receive_bundle(folder: Path, chunks: AsyncIterator[bytes]) -> None:
    """Store the bytes of a bundle in the folder in which it will be checked; their number is bounded by the request."""
    with (folder / child.BUNDLE).open("xb") as file:
        async for chunk in chunks:
            await asyncio.to_thread(file.write, chunk)


async def check_bundle(folder: Path, *, allowance: Allowance = _FOR_BUNDLE) -> dict[str, Any]:
    """What a replay and a verification of the received bundle find. `BundleRefused`."""
    return await _checked(folder, child.BUNDLE, allowance, BundleRefused)


async def check_graph(definition: str, picture: str, *, allowance: Allowance = _FOR_GRAPH) -> dict[str, Any]:
    """What is wrong with a graph, and where that is nothing its picture, where one is asked for. It may name what is
    shipped, and nothing that the operator or another user has. `GraphRefused`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / child.GRAPH).write_text(definition, encoding="utf-8", errors="surrogatepass")
        return await _checked(folder, child.GRAPH, allowance, GraphRefused, picture)


async def _checked(
    folder: Path, file: str, allowance: Allowance, refused: type[UserMistake], picture: str = ""
) -> dict[str, Any]:
    environ = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        child.__name__,
        file,
        str(allowance.memory_bytes),
        str(allowance.cpu_seconds),
        picture,
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
        async with asyncio.timeout(allowance.seconds):
            answer = await _read(process.stdout)
        found: dict[str, Any] = json.loads(answer)
    except (TimeoutError, ValueError) as problem:
        raise refused("it takes too much time or memory to check", help="check it at a terminal") from problem
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if "error" in found:
        raise refused(**found["error"])
    return found


async def _read(stream: asyncio.StreamReader) -> bytes:
    """All that comes, up to a bound behind which it is no answer any more."""
    parts: list[bytes] = []
    while (part := await stream.read(1 << 16)) and sum(map(len, parts)) < _MOST_ANSWER_BYTES:
        parts.append(part)
    return b"".join(parts)
