"""A real HTTP(S) server on loopback: scripted answers and faults, recorded requests.

    with WireServer() as server:
        server.on("POST /v1/chat", Answer(status=500), Answer(body={"ok": True}))
        ...  # ask server.url
        assert server.received[0].json() == {...}

The server runs in a thread of its own, so that it serves tests with and without a loop, and child processes too.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson
import trustme

REASONS = {200: "OK", 302: "Found", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}

Fault = Literal["reset", "half", "hang", "close", "garbage"]
"""`reset`: TCP reset instead of an answer; `half`: whole head, half of the body, then the end; `hang`: no answer until
the client goes; `close`: the connection ends without a byte; `garbage`: bytes that are no HTTP."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is sent for one request. `body`: bytes and text as they are, anything else as JSON.

    `chunks` instead of `body`: sent one by one with chunked encoding, `pause_seconds` between them. `drip_seconds`: the
    body byte by byte with that pause. `length` is written as Content-Length instead of the true one.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = b""
    chunks: tuple[bytes | str, ...] | None = None
    pause_seconds: float = 0.0
    delay_seconds: float = 0.0
    drip_seconds: float = 0.0
    length: int | None = None
    fault: Fault | None = None

    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else orjson.dumps(self.body)

    def content_type(self) -> str:
        return "text/plain; charset=utf-8" if isinstance(self.body, bytes | str) else "application/json"


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request as it came in. `connection` counts the connections of the server from 1."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    def json(self) -> Any:
        return orjson.loads(self.body)


PATIENCE_SECONDS = 120.0
"""The longest wait for something that takes milliseconds on a machine with nothing else to do."""

Reaction = Answer | Callable[[Received], Answer]


class WireServer:
    """A context manager. `received` grows as requests come in, `url` is what to ask.

    `tls=True` serves `https` with a certificate for `names`; `trust` is a context that believes in it.
    """

    def __init__(self, *, tls: bool = False, names: tuple[str, ...] = ("localhost", "127.0.0.1")) -> None:
        self.received: list[Received] = []
        self.connections = 0
        self.port = 0
        self._script: dict[str, list[Reaction]] = {}
        self._closed = threading.Semaphore(0)
        self._arrived = threading.Semaphore(0)
        self._tls: ssl.SSLContext | None = None
        self.trust: ssl.SSLContext | None = None
        if tls:
            authority = trustme.CA()
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(*names).configure_cert(self._tls)
            self.trust = ssl.create_default_context()
            authority.configure_trust(self.trust)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def on(self, where: str, *answers: Reaction) -> Self:
        """Answer requests at `where` (`/path`, or `METHOD /path`; `*` is every other path) in this order; the last
        answer is given again and again. A function makes its answer from the request."""
        self._script[where] = list(answers)
        return self

    def at(self, path: str) -> list[Received]:
        """The requests that came in at `path`."""
        return [one for one in self.received if one.path == path]

    def wait_for_request(self, timeout_seconds: float = PATIENCE_SECONDS) -> None:
        """Block until one more request has come in whole."""
        assert self._arrived.acquire(timeout=timeout_seconds), "no request came in"

    def wait_for_close(self, timeout_seconds: float = PATIENCE_SECONDS) -> None:
        """Block until the client has closed one more connection while its answer was still owed."""
        assert self._closed.acquire(timeout=timeout_seconds), "the client kept its connection open"

    def __enter__(self) -> Self:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="wire", daemon=True)
        self._thread.start()
        assert self._ready.wait(PATIENCE_SECONDS), "the server did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        await self._settled()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        server.close()
        await self._settled()

    async def _settled(self) -> None:
        """A connection that was accepted just now gets its streams: a closed server would lose its socket."""
        for _ in range(3):
            await asyncio.sleep(0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        task = asyncio.ensure_future(self._converse(reader, writer, self.connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            early: bytes | None = await reader.read(1)
            if early == b"\x16" and self._tls is None:
                writer.write(b"HTTP/1.1 400 This server speaks no TLS\r\ncontent-length: 0\r\n\r\n")
                early = None
            while early is not None and (request := await _read_request(early, reader, number)) is not None:
                answer = self._react(request)
                self.received.append(request)
                self._arrived.release()
                early = await self._answer(answer, request, reader, writer)
        except (ConnectionError, ssl.SSLError, TimeoutError):
            self._closed.release()
        finally:
            writer.close()

    def _react(self, request: Received) -> Answer:
        for where in (f"{request.method} {request.path}", request.path, "*"):
            if answers := self._script.get(where):
                chosen = answers.pop(0) if len(answers) > 1 else answers[0]
                return chosen(request) if callable(chosen) else chosen
        return Answer(status=404, body=f"the test wrote down nothing for {request.method} {request.path}")

    async def _answer(
        self, answer: Answer, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes | None:
        """Send `answer` and return what the client said meanwhile, None where the connection is to end.

        `ConnectionResetError` where the client left before the end of the answer.
        """
        listening = asyncio.ensure_future(reader.read(1))
        sending = asyncio.ensure_future(_send(answer, request, writer))
        try:
            await asyncio.wait({listening, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done() and not listening.result():
                raise ConnectionResetError("the client left")
            stays = await sending
        finally:
            for task in (listening, sending):
                task.cancel()
            await asyncio.gather(listening, sending, return_exceptions=True)
        heard = b"" if listening.cancelled() else listening.result()
        return heard if stays else None


async def _read_request(early: bytes, reader: asyncio.StreamReader, connection: int) -> Received | None:
    try:
        head = (early + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = head[0].split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, target=target, headers=headers, body=body, connection=connection)


async def _send(answer: Answer, request: Received, writer: asyncio.StreamWriter) -> bool:
    await asyncio.sleep(answer.delay_seconds)
    if answer.fault == "hang":
        await asyncio.Event().wait()
    if answer.fault == "reset":
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False
    if answer.fault == "close":
        return False
    if answer.fault == "garbage":
        writer.write(b"\x00\x01 this is no HTTP \xff\r\n\r\n")
        await writer.drain()
        return False
    await _send_http(answer, request, writer)
    return answer.fault is None and answer.length is None


async def _send_http(answer: Answer, request: Received, writer: asyncio.StreamWriter) -> None:
    body = answer.content()
    headers = {"content-type": answer.content_type(), **{name.lower(): text for name, text in answer.headers.items()}}
    if answer.chunks is None:
        headers["content-length"] = str(len(body) if answer.length is None else answer.length)
    else:
        headers["transfer-encoding"] = "chunked"
    lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    await writer.drain()
    if request.method == "HEAD":
        return
    if answer.fault == "half":
        writer.write(body[: len(body) // 2])
    elif answer.chunks is not None:
        await _send_chunks(answer, writer)
    elif answer.drip_seconds:
        for byte in body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(answer.drip_seconds)
    else:
        writer.write(body)
    await writer.drain()


async def _send_chunks(answer: Answer, writer: asyncio.StreamWriter) -> None:
    for chunk in answer.chunks or ():
        data = chunk.encode() if isinstance(chunk, str) else chunk
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await writer.drain()
        await asyncio.sleep(answer.pause_seconds)
    writer.write(b"0\r\n\r\n")
