"""An MCP server behind a command: lines of JSON on its standard input and output, none of which is without end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, ErrorData, JSONRPCError, JSONRPCRequest, RequestId, jsonrpc_message_adapter

from graph_research.process_tree import ProcessTree
from graph_research.providers.search.mcp.http import MOST_BYTES

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_CHUNK_BYTES = 65_536
_ERRORS_KEPT = 4_000
_GRACE_SECONDS = 2.0
"""As long as the MCP package waits for a server to end once its input is closed, and again once it was asked to."""

_Said = MemoryObjectReceiveStream[SessionMessage]
_Heard = MemoryObjectSendStream[SessionMessage | Exception]


def over_stdio(command: Sequence[str], environ: Mapping[str, str], errors: bytearray) -> Transport:
    """The transport of a server that `command` starts. It sees PATH and the like and what `environ` holds; the end of
    what it complains about is in `errors`.

    A line longer than `MOST_BYTES` is the end of the connection, and the answer to every open question says so. When
    the connection is left the server is told by the end of its input, then asked to end, then killed with all that it
    started. Raises `OSError` where it cannot be started.
    """
    return _transport(command, environ, errors)


@asynccontextmanager
async def _transport(
    command: Sequence[str], environ: Mapping[str, str], errors: bytearray
) -> AsyncIterator[TransportStreams]:
    tree = ProcessTree()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=tree.environ({**get_default_environment(), **environ}),
        limit=MOST_BYTES,
        start_new_session=True,
    )
    heard, to_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    from_client, said = anyio.create_memory_object_stream[SessionMessage](0)
    waiting: set[RequestId] = set()
    async with asyncio.TaskGroup() as group:
        hearing = group.create_task(_hear(process, tree, heard, waiting))
        saying = group.create_task(_say(process, said, waiting, heard))
        complaining = group.create_task(_complain(process, errors))
        try:
            with heard, to_client, from_client, said:
                yield to_client, from_client
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, tree)
                await asyncio.wait([complaining], timeout=_GRACE_SECONDS)
            for task in (hearing, saying, complaining):
                task.cancel()


async def _hear(process: asyncio.subprocess.Process, tree: ProcessTree, heard: _Heard, waiting: set[RequestId]) -> None:
    """Hand on what the server says, and then read to its end, since who cannot write does not end either."""
    assert process.stdout is not None, "standard output is a pipe"
    with heard, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        try:
            await _hand_on(process.stdout, heard, waiting)
        except asyncio.LimitOverrunError:
            tree.kill(process.pid)
            for question in tuple(waiting):
                await heard.send(SessionMessage(_too_long(question)))
    with contextlib.suppress(ConnectionError):
        while await process.stdout.read(_CHUNK_BYTES):
            pass


async def _hand_on(output: asyncio.StreamReader, heard: _Heard, waiting: set[RequestId]) -> None:
    """Each line that is a message; what else a server prints is passed over."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        while True:
            line = await output.readuntil(b"\n")
            with contextlib.suppress(ValueError):
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await heard.send(SessionMessage(message))
                waiting.discard(getattr(message, "id", None))


async def _say(process: asyncio.subprocess.Process, said: _Said, waiting: set[RequestId], heard: _Heard) -> None:
    assert process.stdin is not None, "standard input is a pipe"
    try:
        async for one in said:
            if isinstance(one.message, JSONRPCRequest):
                waiting.add(one.message.id)
            process.stdin.write(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
    except (ConnectionError, anyio.ClosedResourceError):
        await heard.aclose()


async def _complain(process: asyncio.subprocess.Process, errors: bytearray) -> None:
    assert process.stderr is not None, "standard error is a pipe"
    while chunk := await process.stderr.read(_CHUNK_BYTES):
        errors[:] = (errors + chunk)[-_ERRORS_KEPT:]


def _too_long(question: RequestId) -> JSONRPCError:
    told = f"the server wrote a line of more than {MOST_BYTES:,} bytes"
    return JSONRPCError(jsonrpc="2.0", id=question, error=ErrorData(code=CONNECTION_CLOSED, message=told))


async def _end(process: asyncio.subprocess.Process, tree: ProcessTree) -> None:
    assert process.stdin is not None, "standard input is a pipe"
    process.stdin.close()
    try:
        if not await _ended(process):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)
            await _ended(process)
    finally:
        tree.kill(process.pid)
    await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> bool:
    """Whether the program ends within the time that it is given."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
    return process.returncode is not None
