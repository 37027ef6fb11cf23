"""Health checks: what a server's first answer, or none within the time, says of the server and of the key."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.health_check import Probe, check_health
from tests.support.network.http_client_stubs import Nobody
from tests.support.network.http_server import Answer, WireServer

KEY = "sk-MARKED-4f1c9a7be2d05836"


def probe(url: str, *, tells_key: bool = True) -> Probe:
    headers = {"Authorization": f"Bearer {KEY}", "User-Agent": "me"}
    endpoint = Endpoint(
        name="it", base_url=url, headers=headers, params={"key": KEY}, secrets=(KEY,), remedy="check IT_KEY"
    )
    return Probe(endpoint=endpoint, path="/models", tells_key=tells_key)


async def test_a_server_that_takes_the_key_is_reported_with_the_time_it_took(server: WireServer) -> None:
    server.on("/models", Answer(body={"data": []}))
    times = iter([10.0, 10.25])
    async with HttpClient() as http:
        result = await check_health(http, probe(server.url), clock=lambda: next(times))
    assert (result.reachable, result.refused, result.latency_ms, result.text) == (True, False, 250, "key accepted")


@pytest.mark.parametrize(
    ("status", "body"), [(401, {"error": f"no {KEY}"}), (403, ""), (400, {"error": {"message": "API key not valid"}})]
)
async def test_a_refused_key_is_reported_with_its_remedy_and_without_the_key(
    status: int, body: Any, server: WireServer
) -> None:
    server.on("/models", Answer(status=status, body=body))
    async with HttpClient() as http:
        result = await check_health(http, probe(server.url))
    assert (result.reachable, result.refused) == (True, True)
    assert str(status) in result.text
    assert "check IT_KEY" in result.text
    assert KEY not in repr(result)


@pytest.mark.parametrize("status", [200, 302, 401, 404, 429])
async def test_without_a_key_to_judge_any_answer_will_do_and_none_is_sent(status: int, server: WireServer) -> None:
    server.on("/models", Answer(status=status, body="<html>hello</html>"))
    async with HttpClient() as http:
        result = await check_health(http, probe(server.url, tells_key=False))
    assert (result.reachable, result.refused, result.text) == (True, False, "")
    assert len(server.received) == 1
    assert KEY not in repr(server.received)
    assert server.received[0].headers["user-agent"] == "me"


@pytest.mark.parametrize(("status", "tells_key"), [(503, False), (503, True), (404, True), (429, True)])
async def test_a_server_that_answers_with_a_fault_is_reported_as_reachable(
    status: int, tells_key: bool, server: WireServer
) -> None:
    server.on("/models", Answer(status=status))
    async with HttpClient() as http:
        result = await check_health(http, probe(server.url, tells_key=tells_key))
    assert (result.reachable, result.refused) == (True, False)
    assert str(status) in result.text


async def test_silence_is_waited_for_only_so_long(server: WireServer) -> None:
    server.on("/models", Answer(fault="hang"))
    async with HttpClient() as http:
        result = await check_health(http, probe(server.url), seconds=0.05)
    assert (result.reachable, result.latency_ms) == (False, None)
    assert result.text.startswith("it: no answer within 0.0")


@pytest.mark.parametrize("fault", ["reset", "close", "garbage"])
async def test_no_http_is_no_answer(fault: Any, server: WireServer) -> None:
    server.on("/models", Answer(fault=fault))
    async with HttpClient() as http:
        assert not (await check_health(http, probe(server.url))).reachable


async def test_a_port_where_nobody_listens_is_reported(server: WireServer) -> None:
    url = server.url
    server.__exit__(None, None, None)
    async with HttpClient() as http:
        result = await check_health(http, probe(url))
    server.__enter__()
    assert not result.reachable
    assert "nothing listens" in result.text


async def test_a_certificate_that_is_not_trusted_is_reported(tls_server: WireServer) -> None:
    async with HttpClient() as http:
        result = await check_health(http, probe(tls_server.url))
    assert not result.reachable
    assert "certificate" in result.text


async def test_a_name_that_nobody_knows_is_reported() -> None:
    result = await check_health(Nobody(), probe("http://nobody.example"))
    assert (result.reachable, result.text) == (False, "it: its name is unknown; check the network")
