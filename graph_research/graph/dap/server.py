"""Where an editor connects: standard input and output, or a port of this machine for those who know the token."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Callable

from graph_research.errors import UserMistake
from graph_research.graph.dap.adapter import Adapter, Launch
from graph_research.graph.dap.wire import WireBroken

__all__ = ["PortUnusable", "serve_port", "serve_stdio"]

_HOST = "127.0.0.1"
_LINE_BYTES = 65_536
_MOST_WAITING = 8


class PortUnusable(UserMistake):
    """The port is taken, not allowed, or none."""

    code = "port-unusable"


async def serve_stdio(launch: Launch) -> None:
    """One session on standard input and output, to its end. Raises `WireBroken`."""
    reader = asyncio.StreamReader(limit=_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)

    def write(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    await Adapter(reader, write, launch).serve()


async def serve_port(launch: Launch, port: int, announce: Callable[[int, str], None]) -> None:
    """One session on a port of 127.0.0.1 (0: any that is free). `announce` is given the port and the token that the
    launch request has to carry; who does not know it is sent away, and others may still come. Raises `PortUnusable`."""
    token = secrets.token_urlsafe(24)
    done = asyncio.Event()
    adapters: list[Adapter] = []
    sessions: set[asyncio.Task[None]] = set()

    async def session(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        adapter = Adapter(reader, writer.write, launch, token=token)
        adapters.append(adapter)
        try:
            await adapter.serve()
            await writer.drain()
        except (WireBroken, ConnectionError):
            pass
        finally:
            adapters.remove(adapter)
            writer.close()
            if adapter.launched:
                done.set()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(adapters) >= _MOST_WAITING or any(adapter.launched for adapter in adapters):
            writer.close()
            return
        task = asyncio.create_task(session(reader, writer))
        sessions.add(task)
        task.add_done_callback(sessions.discard)

    try:
        server = await asyncio.start_server(welcome, _HOST, port, limit=_LINE_BYTES)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "ports are 0 to 65535"
        raise PortUnusable(
            f"port {port} of {_HOST} cannot be listened on: {reason}",
            help="give another, or 0 for one that is free",
        ) from error
    try:
        announce(server.sockets[0].getsockname()[1], token)
        await done.wait()
    finally:
        server.close()
        for task in sessions:
            task.cancel()
        if sessions:
            await asyncio.wait(sessions)
