"""The guard under every socket and the cleaned environment, which all other tests rely on."""

import os
import socket
import subprocess
import sys

import httpx
import pytest

from graph_research.providers.keys import KEYS
from tests.support.network import socket_guard
from tests.support.network.http_server import Answer, WireServer

OUTSIDE = ("93.184.216.34", 80)


@pytest.mark.parametrize("address", [OUTSIDE, ("10.0.0.1", 443), ("169.254.169.254", 80), ("192.0.2.1", 9)])
def test_a_connection_to_another_machine_is_refused(
    address: tuple[str, int], nothing_reached_outside: list[str]
) -> None:
    with socket.socket() as one, pytest.raises(socket_guard.ReachedOutside, match="leave this machine"):
        one.connect(address)
    with socket.socket(type=socket.SOCK_DGRAM) as one, pytest.raises(socket_guard.ReachedOutside):
        one.sendto(b"", address)
    with socket.socket(socket.AF_INET6) as one, pytest.raises(socket_guard.ReachedOutside):
        one.connect(("2606:4700::1111", 443))
    assert len(nothing_reached_outside) == 3
    nothing_reached_outside.clear()


async def test_no_name_server_is_asked(nothing_reached_outside: list[str]) -> None:
    with pytest.raises(socket_guard.ReachedOutside):
        socket.getaddrinfo("example.org", 443)
    async with httpx.AsyncClient() as client:
        with pytest.raises(socket_guard.ReachedOutside):
            await client.get("http://example.org/")
    assert len(nothing_reached_outside) == 2
    nothing_reached_outside.clear()


def test_a_child_process_is_guarded_too() -> None:
    code = "import socket; socket.create_connection(('93.184.216.34', 80), timeout=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ReachedOutside" in done.stderr


def test_no_key_and_no_setting_of_the_environment_is_seen() -> None:
    assert not [name for name in os.environ if name in KEYS or name.startswith("GRAPH_RESEARCH_")]


async def test_the_loopback_server_answers_as_written_down_and_remembers(server: WireServer) -> None:
    server.on("POST /a", Answer(status=500), Answer(body={"n": 1}))
    server.on("/b", lambda request: Answer(body=f"{request.method} {request.query['q']}"))
    server.on("/lines", Answer(chunks=("data: 1\n\n", b"data: 2\n\n")))
    async with httpx.AsyncClient(base_url=server.url) as client:
        statuses = [(await client.post("/a", json=[i])).status_code for i in range(3)]
        text = (await client.get("/b", params={"q": "ü x"})).text
        lines = (await client.get("/lines")).text
        missing = await client.get("/c")
    assert statuses == [500, 200, 200]
    assert [one.json() for one in server.at("/a")] == [[0], [1], [2]]
    assert text == "GET ü x"
    assert lines == "data: 1\n\ndata: 2\n\n"
    assert missing.status_code == 404
    assert server.connections == 1


@pytest.mark.parametrize("fault", ["reset", "half", "close", "garbage"])
async def test_the_loopback_server_misbehaves_on_demand(server: WireServer, fault: str) -> None:
    server.on("/", Answer(body="x" * 1000, fault=fault))
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.TransportError):
            await client.get(server.url)


async def test_the_loopback_server_sends_slowly_and_hangs_until_the_client_leaves(server: WireServer) -> None:
    server.on("/slow", Answer(body="x" * 1000, drip_seconds=0.01)).on("/never", Answer(fault="hang"))
    async with httpx.AsyncClient(timeout=0.05) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get(server.url + "/never")
        server.wait_for_close()
        async with client.stream("GET", server.url + "/slow") as reply:
            assert await anext(reply.aiter_bytes(2)) == b"xx"
        server.wait_for_close()


async def test_the_loopback_server_offers_tls_to_clients_that_trust_it(tls_server: WireServer) -> None:
    tls_server.on("/", Answer(body="hello"))
    assert tls_server.trust is not None
    async with httpx.AsyncClient(verify=tls_server.trust) as client:
        assert (await client.get(tls_server.url)).text == "hello"
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(tls_server.url)
