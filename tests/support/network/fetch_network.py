"""A small web for the fetcher: sockets that end at one loopback server, and a name server of the test's own."""

import socket
from collections.abc import Mapping, Sequence
from typing import Any

import httpcore
import pytest

from graph_research.providers.errors import FetchRefused
from graph_research.providers.web.fetcher import Fetched, Fetcher
from tests.support.network.http_server import Answer, WireServer

PUBLIC = "93.184.216.34"
NO_RULES = Answer(status=404)
PAGE = Answer(body="<html>tides</html>", headers={"content-type": "text/html; charset=UTF-8"})


class Wires(httpcore.AsyncNetworkBackend):
    """Sockets as the fetcher asks for them, all of which end at a server on loopback; what it asked for is kept.

    `honest`: the sockets tell where they really ended.
    """

    def __init__(self, server: WireServer, *, honest: bool = False, dead: Sequence[str] = ()) -> None:
        self.server = server
        self.honest = honest
        self.dead = dead
        self.asked: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, *more: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append((host, port))
        if host in self.dead:
            raise httpcore.ConnectError("no route")
        stream = await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", self.server.port)
        return stream if self.honest else Ending(stream, (host, port))


class Ending(httpcore.AsyncNetworkStream):
    """A stream that names another end than it has."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, end: tuple[str, int]) -> None:
        self.stream = stream
        self.end = end

    async def read(self, *what: Any, **how: Any) -> bytes:
        return await self.stream.read(*what, **how)

    async def write(self, *what: Any, **how: Any) -> None:
        await self.stream.write(*what, **how)

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def start_tls(self, *what: Any, **how: Any) -> httpcore.AsyncNetworkStream:
        return Ending(await self.stream.start_tls(*what, **how), self.end)

    def get_extra_info(self, info: str) -> Any:
        return self.end if info == "server_addr" else self.stream.get_extra_info(info)


class Names:
    """A name server: answers in turn, the last again and again; names that are not written down are unknown."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]] | None = None) -> None:
        self.answers = {name: list(turns) for name, turns in (answers or {}).items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        turns = self.answers.get(host) or self.answers.get("*")
        if not turns:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return turns.pop(0) if len(turns) > 1 else turns[0]


class Web:
    """A fetcher, the server behind every address, and the name server that leads there."""

    def __init__(self, server: WireServer, names: Names | None = None, **more: Any) -> None:
        server.on("/robots.txt", NO_RULES)
        self.server = server
        self.names = names or Names({"*": [[PUBLIC]]})
        self.wires = more.pop("backend", None) or Wires(server)
        self.slept: list[float] = []
        self.fetcher = Fetcher(resolve=self.names, backend=self.wires, sleep=self.sleep, **more)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def fetch(self, url: str) -> Fetched:
        async with self.fetcher:
            return await self.fetcher.fetch(url)

    async def refusal(self, url: str) -> FetchRefused:
        with pytest.raises(FetchRefused) as caught:
            await self.fetch(url)
        return caught.value

    def paths(self) -> list[str]:
        return [one.target for one in self.server.received if one.path != "/robots.txt"]
