"""Connections on which a request does not arrive, breaks off, or is ambiguous, at the socket of a service."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from graph_research.app.workspace import open_workspace
from graph_research.service.http.connections import Connection
from graph_research.service.server import Service, listen
from graph_research.service.users import Users
from tests.support.cli.cli_process import PATIENCE_SECONDS, User
from tests.support.service.service_client import JOBS

UPLOAD = "PUT /api/library/documents/notes.md HTTP/1.1\r\nHost: {host}\r\nContent-Length: 300\r\n\r\nTides"
UNFINISHED = {
    "nothing": "",
    "no end of the headers": "GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Tide: high\r\n",
    "no end of a document": UPLOAD,
    "no end of a JSON body": "POST " + JOBS + " HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    "Content-Length: 300\r\n\r\n{{",
}


NO_REQUESTS = {
    "another protocol": "TIDES\r\n\r\n",
    "no name of the host": "GET /healthz HTTP/1.1\r\n\r\n",
    "headers without an end": "GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Tide: " + 20_000 * "high",
}
COMPLETE = "GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"


class Impatient(Connection):
    grace_seconds = 0.5


@pytest.fixture
async def host(user: User) -> AsyncIterator[str]:
    """Of a service without tokens."""
    workspace = open_workspace(user.environment(), user.folder, may_use=lambda _: None)
    service, is_ready = Service(workspace, Users(None), host="127.0.0.1", port=0), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(service.run(is_ready.set, lambda _: None))
        await is_ready.wait()
        yield urlsplit(service.url).netloc
        service.stop()


@pytest.fixture
def impatient_host(monkeypatch: pytest.MonkeyPatch, host: str) -> str:
    """Of one that waits for a request for half a second."""
    monkeypatch.setattr(Connection, "grace_seconds", 0.5)
    return host


@contextmanager
def logged(name: str) -> Iterator[asyncio.Queue[logging.LogRecord]]:
    """What a logger is given in this event loop meanwhile."""
    records, handler, logger = asyncio.Queue[logging.LogRecord](), logging.Handler(), logging.getLogger(name)
    handler.emit = records.put_nowait  # type: ignore[method-assign]
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield records
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


class Client:
    """A client that has connected and sent something before the service looks."""

    def __init__(self, host: str, sent: str) -> None:
        self._socket = socket.create_connection(host.split(":"))
        self._socket.sendall(sent.format(host=host).encode())
        self._socket.setblocking(False)

    def send(self, more: str) -> None:
        self._socket.sendall(more.encode())

    async def received(self, until: bytes | None = None) -> bytes:
        """What comes until the connection ends, or until this has come."""
        received = b""
        with suppress(ConnectionResetError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while until is None or until not in received:
                    piece = await asyncio.get_running_loop().sock_recv(self._socket, 65_536)
                    if not piece:
                        break
                    received += piece
        return received

    def close(self) -> None:
        self._socket.close()


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED.keys())
async def test_a_request_that_does_not_arrive_in_time_ends_its_connection(sent: str, impatient_host: str) -> None:
    client = Client(impatient_host, sent)
    assert await client.received() == b""
    client.close()


@pytest.mark.parametrize("sent", NO_REQUESTS.values(), ids=NO_REQUESTS.keys())
async def test_what_is_no_request_is_answered_with_a_problem(sent: str, host: str) -> None:
    client = Client(host, sent)
    head, _, body = (await client.received()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["code"] == "request-malformed"
    client.close()


async def test_a_body_that_goes_wrong_after_its_answer_ends_the_connection_and_nothing_else(host: str) -> None:
    with logged("asyncio") as records:
        client = Client(host, "POST /tides HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert b'"not-found"' in await client.received(until=b"}")
        client.send("no chunk\r\n")
        assert await client.received() == b""
    assert records.empty()
    client.close()


async def test_an_answer_may_take_longer_than_its_request() -> None:
    release = asyncio.Event()

    async def slow(scope: Scope, _: Receive, send: Send) -> None:
        await release.wait()
        await PlainTextResponse("at last")(scope, _, send)

    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(slow, http=Impatient, lifespan="off", log_config=None))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        asked, silent = Client(host, COMPLETE), Client(host, "")
        assert await silent.received() == b"", "so the time is over"
        release.set()
        assert (await asked.received()).endswith(b"at last")
        server.should_exit = True
        await serving
    asked.close()
    silent.close()


async def test_an_upload_that_breaks_off_is_no_failure_of_the_service(impatient_host: str, user: User) -> None:
    with logged("graph_research.service") as records:
        client = Client(impatient_host, UPLOAD)
        await client.received()
        client.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            record = await records.get()
    assert (record.levelname, vars(record).get("status")) == ("INFO", 400), record.getMessage()
    assert [*user.home.rglob("*incoming*")] == []


async def test_a_request_that_states_its_length_in_two_ways_is_the_last_of_its_connection(host: str) -> None:
    client = Client(
        host,
        "POST " + JOBS + " HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 4\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n",
    )
    received = await client.received()
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"HTTP/1.1 ") == 1
    client.close()
