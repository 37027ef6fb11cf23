"""Serves editors on standard input and output, or on a port of this machine to clients with the token."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Callable

from graph_research.errors import UserMistake
from graph_research.graph.dap.adapter import Adapter, Launch
from graph_research.graph.dap.wire import WireBroken

_HOST = "127.0.0.1"
_LINE_BYTES = 65_536
_MOST_WAITING = 8


class PortUnusable(UserMistake):
    """The port is in use, not allowed, or not a port number."""


async def serve_stdio(launch: Launch) -> None:
    """One session on standard input and output, to its end. Raises `WireBroken`."""
    reader = asyncio.StreamReader(limit=_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)

    def write(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    await Adapter(reader, write, launch).serve()


class Server:
    """Serves one session on a port of 127.0.0.1 to the first client whose launch request carries `token`. A client
    without it is disconnected, and the server keeps listening."""

    def __init__(self, launch: Launch) -> None:
        self.token = secrets.token_urlsafe(24)
        self._launch = launch
        self._adapters: list[Adapter] = []
        self._sessions: set[asyncio.Task[None]] = set()
        self._done = asyncio.Event()

    async def serve(self, port: int, announce: Callable[[int, str], None]) -> None:
        """Serve on `port` (0: any that is free) until the session has ended; `announce` is given port and token.

        Raises `PortUnusable`.
        """
        try:
            server = await asyncio.start_server(self._connect, _HOST, port, limit=_LINE_BYTES)
        except (OSError, OverflowError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "ports are 0 to 65535"
            raise PortUnusable(
                f"port {port} of {_HOST} cannot be listened on: {reason}",
                help="give another, or 0 for one that is free",
            ) from error
        try:
            announce(server.sockets[0].getsockname()[1], self.token)
            await self._done.wait()
        finally:
            server.close()
            for session in self._sessions:
                session.cancel()
            if self._sessions:
                await asyncio.wait(self._sessions)

    def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._adapters) >= _MOST_WAITING or any(adapter.launched for adapter in self._adapters):
            writer.close()
            return
        session = asyncio.create_task(self._session(reader, writer))
        self._sessions.add(session)
        session.add_done_callback(self._sessions.discard)

    async def _session(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        adapter = Adapter(reader, writer.write, self._launch, token=self.token)
        self._adapters.append(adapter)
        try:
            await adapter.serve()
            await writer.drain()
        except (WireBroken, ConnectionError):
            pass
        finally:
            self._adapters.remove(adapter)
            writer.close()
            if adapter.launched:
                self._done.set()
