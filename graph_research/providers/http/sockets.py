"""The sockets under HTTP: a request leaves in one piece, and it is soon known whether a kept connection has ended."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import httpcore

__all__ = ["Sockets"]


class Sockets(httpcore.AsyncNetworkBackend):
    """Connects as `inner` does."""

    def __init__(self, inner: httpcore.AsyncNetworkBackend | None = None) -> None:
        self._inner = inner or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _Socket(await self._inner.connect_tcp(host, port, timeout, local_address, socket_options))


class _Socket(httpcore.AsyncNetworkStream):
    """Holds back what is written until an answer is waited for: head and body of a request go out together."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._held: list[bytes] = []
        self._socket: socket.socket = stream.get_extra_info("socket")

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 -- httpcore's
        if self._held:
            with suppress(httpcore.WriteError):  # as httpcore does: a server may refuse a request before its end
                await self._send(timeout)
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109 -- httpcore's
        if buffer:
            self._held.append(buffer)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- the signature is httpcore's
    ) -> httpcore.AsyncNetworkStream:
        return _Socket(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return _is_readable(self._socket) if info == "is_readable" else self._stream.get_extra_info(info)

    async def _send(self, timeout: float | None) -> None:  # noqa: ASYNC109 -- handed on to httpcore
        held, self._held = self._held, []
        await self._stream.write(b"".join(held), timeout)


def _is_readable(one: socket.socket) -> bool:
    """Also of a closed one, from which the end can be read."""
    if one.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(one, select.POLLIN)
    return bool(poll.poll(0))
