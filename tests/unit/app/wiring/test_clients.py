"""The clients of a run follow the settings of the user, and share limits with those of other processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from graph_research.app.wiring.clients import open_clients
from graph_research.app.workspace import open_workspace
from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint
from tests.support.network.http_server import Answer, WireServer
from tests.support.providers import asking_process
from tests.support.providers.asking_process import ask_at_once


@pytest.mark.parametrize(("cooldown", "asked"), [("60", 5), ("0", 8)])
async def test_a_server_that_mostly_fails_is_left_alone_for_as_long_as_the_user_says(
    cooldown: str, asked: int, server: WireServer, tmp_path: Path
) -> None:
    server.on("/", Answer(status=500))
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home"), "GRAPH_RESEARCH_PROVIDER_COOLDOWN": cooldown}
    space = open_workspace(environ, tmp_path, may_use=lambda _: False)
    async with open_clients(space) as clients:
        for _ in range(8):
            with pytest.raises(ProviderUnavailable):
                await clients.http.ask(Endpoint(name="it", base_url=server.url, attempts=1), "GET", "/")
    assert len(server.received) == asked


@pytest.fixture(params=["file", "database"])
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Of two processes with one data home, or on two machines with one database."""
    if request.param == "file":
        return {"GRAPH_RESEARCH_HOME": str(tmp_path / "home")}
    url = request.getfixturevalue("postgres").url
    return {"GRAPH_RESEARCH_HOME": str(tmp_path / "home"), "GRAPH_RESEARCH_DATABASE": url}


class Other:
    """A process that asks `count` times, from `begin` on."""

    def __init__(self, environ: Mapping[str, str], folder: Path, endpoint: Endpoint, count: int) -> None:
        home = environ["GRAPH_RESEARCH_HOME"] + ("-2" if "GRAPH_RESEARCH_DATABASE" in environ else "")
        asked = (endpoint.base_url, endpoint.name, str(endpoint.per_second), str(count))
        self._process = subprocess.Popen(
            [sys.executable, asking_process.__file__, *asked],
            cwd=folder,
            env={**os.environ, **environ, "GRAPH_RESEARCH_HOME": home},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def finish(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


async def test_two_processes_keep_to_one_rate_limit(
    environ: dict[str, str], server: WireServer, tmp_path: Path
) -> None:
    times: list[float] = []

    def answer(_: object) -> Answer:
        times.append(time.monotonic())
        return Answer(body={})

    server.on("/", answer)
    endpoint = Endpoint(name=f"limited {tmp_path.name}", base_url=server.url, per_second=10.0, attempts=1)
    async with open_clients(open_workspace(environ, tmp_path, may_use=lambda _: False)) as clients:
        other = Other(environ, tmp_path, endpoint, 15)
        began = time.monotonic()
        other.begin()
        await ask_at_once(clients.http, endpoint, 15)
        other.finish()
    assert len(times) == 30
    assert max(times) - began > 1.2, "20 requests at 10 a second after a burst of 10"


async def test_a_breaker_that_one_process_opens_is_open_in_the_other_until_a_new_one_finds_it_answers(
    environ: dict[str, str], server: WireServer, tmp_path: Path
) -> None:
    server.on("/", Answer(body={}))
    endpoint = Endpoint(name=f"broken {tmp_path.name}", base_url=server.url, per_second=100.0, attempts=1)
    async with open_clients(open_workspace(environ, tmp_path, may_use=lambda _: False)) as clients:
        await clients.http.ask(endpoint, "GET", "/")
        server.on("/", Answer(status=500))
        failing = Other(environ, tmp_path, endpoint, 5)
        failing.begin()
        failing.finish()
        assert len(server.received) == 6
        with pytest.raises(ProviderUnavailable, match="circuit breaker open"):
            await clients.http.ask(endpoint, "GET", "/")
        assert len(server.received) == 6
        server.on("/", Answer(body={}))
        starting = Other(environ, tmp_path, endpoint, 1)
        starting.begin()
        starting.finish()
        assert (await clients.http.ask(endpoint, "GET", "/")).status == 200
