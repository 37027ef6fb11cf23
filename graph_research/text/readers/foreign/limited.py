"""Foreign formats, read in a child process that has no network, no keys, no files and little time and memory."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graph_research.process_tree import ProcessTree
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.formats import FORMATS
from graph_research.text.readers.limits import FilePart, Limits

_PACKAGES = ("graph_research", "pypdf", "pypdfium2", "lxml", "openpyxl", "striprtf", "selectolax")
_PART_BYTES = 64 * 1024 * 1024
_ANSWER_BYTES = 16 * _PART_BYTES
_MEMORY_BYTES = 400 * 1024 * 1024  # beside what the idle child takes: in all less than 512 MB
_START_SECONDS = 60.0
_KEPT_ENVIRONMENT = ("SYSTEMROOT", "LD_LIBRARY_PATH")


class LimitedReader(AbstractAsyncContextManager["LimitedReader"]):
    """Reads one file after the other in one child process, which is replaced when it has to be ended. `limits` take the
    place of those of each format.

    Use it as an async context manager, so that the child ends with it. `peak_bytes` is the most memory that a child has
    taken, as it said after the last file that it read.
    """

    def __init__(self, limits: Limits | None = None, *, memory_bytes: int = _MEMORY_BYTES) -> None:
        self._limits = limits
        self._memory_bytes = memory_bytes
        self._child: asyncio.subprocess.Process | None = None
        self._tree = ProcessTree()
        self._turn = asyncio.Lock()
        self.peak_bytes = 0

    async def __aexit__(self, *error: object) -> None:
        await self._end()

    async def document(self, data: bytes, media_type: str, name: str = "") -> Document:
        """The one document in a file; `DocumentUnreadable` says why it gives no text."""
        [part, *_] = await self.parts(data, media_type, name)
        if part.document is None:
            raise DocumentUnreadable(part.error)
        return part.document

    async def parts(self, data: bytes, media_type: str, name: str = "") -> tuple[FilePart, ...]:
        """The documents in a file called `name`: those of an archive, else one. Never raises for a bad file: a part
        without a document says what is wrong with it. Where reading an archive ends early, a last part without a name
        says why, after the parts that were read."""
        limits = self._limits or FORMATS[media_type].limits
        if len(data) > limits.bytes:
            return (FilePart(error=f"it has {len(data):,} bytes, more than {limits.bytes:,}"),)
        parts: list[FilePart] = []
        async with self._turn:
            try:
                if self._child is None:
                    await self._start()
                async with asyncio.timeout(limits.seconds):
                    async for part in self._ask(data, media_type, name, limits):
                        parts.append(part)
            except TimeoutError:
                await self._end()
                parts.append(_rest_unread(parts, f"it took longer than {limits.seconds:g} seconds"))
            except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._end()
                parts.append(_rest_unread(parts, "it crashed its reader or went over its memory or time limit"))
            except BaseException:  # a cancellation: the child is in the middle of a file
                await self._end()
                raise
        return tuple(parts)

    async def _ask(self, data: bytes, media_type: str, name: str, limits: Limits) -> AsyncIterator[FilePart]:
        child = self._child
        if child is None or child.stdin is None or child.stdout is None:
            raise OSError("the child process has no pipes")
        request = {"bytes": len(data), "media_type": media_type, "name": name, "limits": asdict(limits)}
        child.stdin.write(json.dumps(request).encode() + b"\n" + data)
        await child.stdin.drain()
        room = _ANSWER_BYTES
        while "peak_bytes" not in (row := json.loads(line := await child.stdout.readuntil(b"\n"))):
            room -= len(line)
            if room < 0:
                raise ValueError("the parts are larger than an answer may be")
            yield _part(row)
        self.peak_bytes = max(self.peak_bytes, row["peak_bytes"])

    async def _start(self) -> None:
        """Isolated mode: no user's settings, no PYTHON* variables, no current folder on the path. That the child loads
        its libraries is no part of a file's time."""
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",  # no site packages but those named next, where the packages of this process lie
            str(Path(__file__).with_name("child.py")),
            json.dumps(list(dict.fromkeys(map(_folder_of, _PACKAGES)))),
            str(self._memory_bytes),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._tree.environ({name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}),
            limit=_PART_BYTES,
            start_new_session=True,
        )
        if self._child.stdout is not None:
            try:
                await asyncio.wait_for(self._child.stdout.readuntil(b"\n"), _START_SECONDS)
            except TimeoutError as error:
                raise OSError("the child process does not start") from error

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        self._tree.kill(child.pid)
        if child.stdin is not None:
            child.stdin.close()
        await child.communicate()  # the end of a child is noticed once all that it wrote is read


def _folder_of(package: str) -> str:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed")
    return str(Path(spec.origin).parent.parent)


def _rest_unread(parts: Sequence[FilePart], reason: str) -> FilePart:
    return FilePart(error=f"{reason}; the rest of it is not read" if parts else reason)


def _part(row: dict[str, Any]) -> FilePart:
    document = Document.from_layout(row["text"], row["layout"]) if "text" in row else None
    return FilePart(name=row["name"], media_type=row["media_type"], document=document, error=row["error"])
