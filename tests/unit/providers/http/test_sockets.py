"""The sockets under HTTP, with a real server at the other end."""

from __future__ import annotations

from typing import Any

import httpcore
import pytest

from graph_research.providers.http.sockets import Sockets
from tests.support.network.http_server import Answer, WireServer


class _Recorded(httpcore.AnyIOBackend):
    """Connects, and keeps what is written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    async def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        stream = await super().connect_tcp(*arguments, **options)
        send = stream.write

        async def write(buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 -- httpcore's
            self.written.append(buffer)
            await send(buffer, timeout)

        stream.write = write  # type: ignore[method-assign]
        return stream


async def test_a_request_leaves_in_one_piece(server: WireServer) -> None:
    server.on("/x", Answer(body={"ok": True}), Answer(body={"ok": True}))
    inner = _Recorded()
    async with httpcore.AsyncConnectionPool(network_backend=Sockets(inner)) as pool:
        for _ in range(2):
            reply = await pool.request("POST", f"{server.url}/x", content=b"the body")
            assert reply.status == 200
    assert [piece.count(b"POST /x") for piece in inner.written] == [1, 1]
    assert all(piece.endswith(b"\r\n\r\nthe body") for piece in inner.written)
    assert [one.connection for one in server.received] == [1, 1]


async def test_a_closed_connection_counts_as_one_that_has_ended(server: WireServer) -> None:
    sockets = Sockets()
    stream = await sockets.connect_tcp("127.0.0.1", int(server.url.rpartition(":")[2]))
    assert stream.get_extra_info("is_readable") is False
    await stream.aclose()
    assert stream.get_extra_info("is_readable") is True


async def test_what_was_never_waited_for_is_never_sent(server: WireServer) -> None:
    inner = _Recorded()
    stream = await Sockets(inner).connect_tcp("127.0.0.1", int(server.url.rpartition(":")[2]))
    await stream.write(b"GET / HTTP/1.1\r\n")
    await stream.aclose()
    assert inner.written == []


async def test_a_server_that_is_not_there_is_an_error_of_the_connection() -> None:
    with pytest.raises(httpcore.ConnectError):
        await Sockets().connect_tcp("127.0.0.1", 1)
