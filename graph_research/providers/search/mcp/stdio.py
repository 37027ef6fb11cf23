"""An MCP server behind a command: lines of JSON on its standard input and output, none of which is without end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
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

_Outgoing = MemoryObjectReceiveStream[SessionMessage]
_Incoming = MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def over_stdio(
    command: Sequence[str], environ: Mapping[str, str], errors: bytearray
) -> AsyncIterator[TransportStreams]:
    """The transport of a server that `command` starts, with PATH and the like and `environ` as its environment; the end
    of its standard error goes into `errors`.

    A line longer than `MOST_BYTES` ends the connection and fails every open request. At the end, the server's input is
    closed, then it gets SIGTERM, then it is killed with its child processes. Raises `OSError` if it cannot be started.
    """
    tree, loop = ProcessTree(), asyncio.get_running_loop()
    transport, protocol = await tree.start(
        lambda: SubprocessStreamProtocol(limit=MOST_BYTES, loop=loop), command, {**get_default_environment(), **environ}
    )
    process = Process(transport, protocol, loop)
    incoming, to_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    from_client, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    pending: set[RequestId] = set()
    async with asyncio.TaskGroup() as group:
        receiving = group.create_task(_receive(process, tree, incoming, pending))
        sending = group.create_task(_send(process, outgoing, pending, incoming))
        reading_errors = group.create_task(_read_errors(process, errors))
        try:
            with incoming, to_client, from_client, outgoing:
                yield to_client, from_client
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, tree)
                await asyncio.wait([reading_errors], timeout=_GRACE_SECONDS)
            for task in (receiving, sending, reading_errors):
                task.cancel()
            transport.close()  # a process that escaped may hold its pipes open


async def _receive(process: Process, tree: ProcessTree, incoming: _Incoming, pending: set[RequestId]) -> None:
    """Forward the server's messages, then read its output to the end: a process that cannot write may not exit."""
    assert process.stdout is not None, "standard output is a pipe"
    with incoming, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        try:
            await _forward(process.stdout, incoming, pending)
        except asyncio.LimitOverrunError:
            tree.kill(process.pid)
            for request in tuple(pending):
                await incoming.send(SessionMessage(_too_long(request)))
    with contextlib.suppress(ConnectionError):
        while await process.stdout.read(_CHUNK_BYTES):
            pass


async def _forward(output: asyncio.StreamReader, incoming: _Incoming, pending: set[RequestId]) -> None:
    """Forward each line that is a message; other lines are skipped."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        while True:
            line = await output.readuntil(b"\n")
            with contextlib.suppress(ValueError):
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await incoming.send(SessionMessage(message))
                pending.discard(getattr(message, "id", None))


async def _send(process: Process, outgoing: _Outgoing, pending: set[RequestId], incoming: _Incoming) -> None:
    assert process.stdin is not None, "standard input is a pipe"
    try:
        async for envelope in outgoing:
            if isinstance(envelope.message, JSONRPCRequest):
                pending.add(envelope.message.id)
            process.stdin.write(envelope.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
    except (ConnectionError, anyio.ClosedResourceError):
        await incoming.aclose()


async def _read_errors(process: Process, errors: bytearray) -> None:
    assert process.stderr is not None, "standard error is a pipe"
    while chunk := await process.stderr.read(_CHUNK_BYTES):
        errors[:] = (errors + chunk)[-_ERRORS_KEPT:]


def _too_long(request: RequestId) -> JSONRPCError:
    message = f"the server wrote a line of more than {MOST_BYTES:,} bytes"
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=CONNECTION_CLOSED, message=message))


async def _end(process: Process, tree: ProcessTree) -> None:
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


async def _ended(process: Process) -> bool:
    """Whether the program ends within the time that it is given."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
    return process.returncode is not None
