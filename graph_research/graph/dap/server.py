"""Where an editor connects: standard input and output, or a port of this machine for those who know the token."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable

from graph_research.graph.dap.adapter import Adapter, Launch
from graph_research.graph.dap.wire import WireBroken

__all__ = ["serve_port", "serve_stdio"]

_HOST = "127.0.0.1"
_LINE_BYTES = 65_536
_MOST_WAITING = 8


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
    launch request has to carry; who does not know it is sent away, and others may still come."""
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

    server = await asyncio.start_server(welcome, _HOST, port, limit=_LINE_BYTES)
    try:
        announce(server.sockets[0].getsockname()[1], token)
        await done.wait()
    finally:
        server.close()
        for task in sessions:
            task.cancel()
        if sessions:
            await asyncio.wait(sessions)
