"""The HTTP client against real servers on loopback: what is retried, how long it waits, what it reports."""

import asyncio
import gzip
import itertools
import re
import ssl
import zlib
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
import trustme

from graph_research.providers.errors import (
    ContextExceeded,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    ProviderUnreachable,
)
from graph_research.providers.http.circuit_breaker import BreakerPolicy
from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.telemetry import BreakerClosed, BreakerOpened, HttpEvent, Retried, Throttled
from tests.support.network.http_server import Answer, WireServer

KEY = "very secret/key+1"
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
GOOD = Answer(body={"ok": True})


class Time:
    """A clock that only moves while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 5000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class Bench:
    """A transport without real waits, and all that it told."""

    def __init__(self, **more: Any) -> None:
        self.time = Time()
        self.incidents: list[HttpEvent] = []
        self.http = HttpClient(
            sleep=self.time.sleep,
            clock=self.time.clock,
            wall=lambda: NOW,
            chance=lambda: 1.0,
            on_event=self.hear,
            **more,
        )

    async def hear(self, incident: HttpEvent) -> None:
        self.incidents.append(incident)


@pytest.fixture
async def bench() -> Any:
    made = Bench()
    async with made.http:
        yield made


def endpoint_at(server: WireServer, **more: Any) -> Endpoint:
    return Endpoint(
        name="oracle",
        base_url=server.url,
        headers={"authorization": f"Bearer {KEY}"},
        secrets=(KEY,),
        remedy="set ORACLE_KEY to a key of your account",
        **more,
    )


async def failure_of(bench: Bench, endpoint: Endpoint, path: str = "/x") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await bench.http.ask(endpoint, "POST", path, json={"q": 1})
    return caught.value


async def test_a_request_goes_out_as_asked_and_the_reply_comes_back_whole(bench: Bench, server: WireServer) -> None:
    server.on("POST /v1/x", Answer(status=201, body={"a": "ü"}, headers={"X-Left": "3"}))
    endpoint = endpoint_at(server, params={"version": "2"})
    reply = await bench.http.ask(
        endpoint, "POST", "/v1/x", params={"q": "a b&c"}, json={"t": "ß"}, headers={"x-more": "1"}
    )
    assert (reply.status, reply.json(), reply.headers["x-left"]) == (201, {"a": "ü"}, "3")
    [seen] = server.received
    assert seen.query == {"version": "2", "q": "a b&c"}
    assert seen.json() == {"t": "ß"}
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert (seen.headers["x-more"], seen.headers["content-type"]) == ("1", "application/json")
    assert seen.headers["user-agent"].startswith("graph-research/")
    assert "cookie" not in seen.headers


async def test_a_query_in_the_path_stays_beside_the_parameters(bench: Bench, server: WireServer) -> None:
    server.on("/x", GOOD)
    await bench.http.ask(endpoint_at(server), "GET", "/x?mode=fast", params={"q": "1"})
    assert server.received[0].query == {"mode": "fast", "q": "1"}


async def test_connections_are_used_again(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=503), GOOD)
    for _ in range(5):
        await bench.http.ask(endpoint_at(server), "GET", "/x")
    assert len(server.received) == 6
    assert server.connections == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 529])
async def test_an_overloaded_server_is_asked_again(bench: Bench, server: WireServer, status: int) -> None:
    server.on("/x", Answer(status=status), Answer(status=status), GOOD)
    assert (await bench.http.ask(endpoint_at(server), "GET", "/x")).json() == {"ok": True}
    assert len(server.received) == 3
    assert bench.time.slept == [0.5, 1.0]
    told = [one for one in bench.incidents if isinstance(one, Retried)]
    assert [(one.peer, one.attempt, one.wait_seconds) for one in told] == [("oracle", 1, 0.5), ("oracle", 2, 1.0)]
    assert f"answered {status}" in told[0].reason


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_a_server_that_stays_overloaded_is_given_up_with_its_own_words(
    bench: Bench, server: WireServer, status: int
) -> None:
    server.on("/x", Answer(status=status, body={"error": {"message": "too  many\nrequests", "code": 7}}))
    error = await failure_of(bench, endpoint_at(server, attempts=4))
    assert isinstance(error, ProviderUnavailable)
    assert str(error).startswith(f"oracle answered {status} (")
    assert "too many requests (tried 4 times in 4 s)" in str(error)
    assert len(server.received) == 4


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 410, 413, 422, 501])
async def test_errors_that_a_retry_cannot_fix_are_not_retried(bench: Bench, server: WireServer, status: int) -> None:
    server.on("/x", Answer(status=status, body={"detail": [{"message": "no such thing"}]}))
    error = await failure_of(bench, endpoint_at(server))
    assert isinstance(error, ProviderRefused)
    assert f"oracle answered {status} (" in error.message
    assert "no such thing" in error.message
    assert error.help
    assert len(server.received) == 1
    assert bench.time.slept == []


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_names_its_variable(bench: Bench, server: WireServer, status: int) -> None:
    server.on(
        "/x", Answer(status=status, body="<html>nothing for people</html>", headers={"content-type": "text/html"})
    )
    error = await failure_of(bench, endpoint_at(server))
    assert error.help == "set ORACLE_KEY to a key of your account"
    assert "html" not in error.message


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"retry-after": "7"}, [7.7]),
        ({"retry-after": "60"}, [61.0]),
        ({"retry-after": "0"}, [0.0]),
        ({"retry-after": "1.5"}, [1.65]),
        ({"retry-after": format_datetime(NOW.replace(second=20), usegmt=True)}, [21.0]),
        ({"retry-after": format_datetime(NOW.replace(hour=3), usegmt=True)}, [0.0]),
        (
            {
                "date": format_datetime(NOW.replace(minute=30), usegmt=True),
                "retry-after": format_datetime(NOW.replace(minute=30, second=5), usegmt=True),
            },
            [5.5],
        ),
        ({"retry-after": "soon"}, [0.5]),
        ({"retry-after": "-3"}, [0.5]),
        ({}, [0.5]),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_obeyed(
    bench: Bench, server: WireServer, headers: dict[str, str], waits: list[float], status: int
) -> None:
    server.on("/x", Answer(status=status, headers=headers), GOOD)
    await bench.http.ask(endpoint_at(server), "GET", "/x")
    assert bench.time.slept == pytest.approx(waits)


async def test_a_wait_that_the_budget_has_no_room_for_is_not_begun(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=429, headers={"retry-after": "3600"}))
    error = await failure_of(bench, endpoint_at(server, budget_seconds=120))
    assert isinstance(error, ProviderUnavailable)
    assert error.retry_after_seconds == 3600
    assert "tried once, and the next wait of 3601 s is longer than what is left of 120 s" in error.message
    assert bench.time.slept == []
    assert len(server.received) == 1


async def test_a_server_that_asks_to_wait_gets_no_request_of_any_caller(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=429, headers={"retry-after": "30"}))
    await failure_of(bench, endpoint_at(server, budget_seconds=40))
    error = await failure_of(bench, endpoint_at(server, budget_seconds=20))
    assert "oracle: rate limited; retry after 31 s" in error.message
    server.on("/x", GOOD)
    await bench.http.ask(endpoint_at(server, budget_seconds=40), "GET", "/x")
    assert Throttled(peer="oracle", asked_for=True) in bench.incidents


async def test_the_budget_ends_the_tries(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=500))
    error = await failure_of(bench, endpoint_at(server, attempts=50, budget_seconds=30))
    assert "tried 6 times in 16 s, and the next wait of 16 s is longer than what is left of 30 s" in error.message
    assert bench.time.slept == [0.5, 1.0, 2.0, 4.0, 8.0]


async def test_waits_are_doubled_to_twenty_seconds_and_halved_at_most_by_chance(server: WireServer) -> None:
    bench = Bench()
    bench.http.chance = lambda: 0.0
    server.on("/x", Answer(status=500))
    async with bench.http:
        await failure_of(bench, endpoint_at(server, attempts=9))
    assert bench.time.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(body={"a": "b" * 500}, fault="half"), "sent half an answer"),
        (Answer(body={"a": "b" * 500}, fault="reset"), "broke off"),
        (Answer(fault="close"), "broke off"),
        (Answer(fault="garbage"), "does not speak HTTP"),
        (Answer(body='{"a": [1, 2', headers={"content-type": "application/json"}), "JSON that is broken or cut short"),
        (Answer(body=b"\xff\xfe{}", headers={"content-type": "application/vnd.x+json; charset=utf-8"}), "JSON that is"),
        (Answer(body={"a": 1}, headers={"content-encoding": "gzip"}), "not compressed as its header says"),
        (Answer(body={"a": 1}, headers={"content-encoding": "br"}), "which was not asked for"),
        (Answer(body=gzip.compress(b"{}" * 90)[:-9], headers={"content-encoding": "gzip"}), "ends too early"),
    ],
)
async def test_a_broken_answer_is_asked_for_again(bench: Bench, server: WireServer, answer: Answer, words: str) -> None:
    server.on("/x", answer, GOOD)
    assert (await bench.http.ask(endpoint_at(server), "POST", "/x", json={})).json() == {"ok": True}
    assert [type(one) for one in bench.incidents] == [Retried]
    assert words in bench.incidents[0].reason
    server.on("/x", answer)
    error = await failure_of(bench, endpoint_at(server, attempts=2))
    assert isinstance(error, ProviderUnavailable)
    assert words in error.message
    assert "tried 2 times" in error.message


async def test_a_broken_body_of_an_error_does_not_hide_its_status(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=401, body="no such key, my friend", fault="half"))
    error = await failure_of(bench, endpoint_at(server))
    assert isinstance(error, ProviderRefused)
    assert "401" in error.message


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("identity", bytes),
    ],
)
async def test_compressed_answers_are_unpacked(
    bench: Bench, server: WireServer, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    body = b'{"text": "' + b"tide " * 5000 + b'"}'
    server.on("/x", Answer(body=pack(body), headers={"content-encoding": encoding, "content-type": "application/json"}))
    assert (await bench.http.ask(endpoint_at(server), "GET", "/x")).body == body
    assert server.received[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"x" * 20_001),
        Answer(chunks=(b"x" * 15_000, b"x" * 15_000)),
        Answer(body=gzip.compress(bytes(50_000_000)), headers={"content-encoding": "gzip"}),
        Answer(body=zlib.compress(bytes(50_000_000)), headers={"content-encoding": "deflate"}),
    ],
)
async def test_an_answer_beyond_the_limit_is_not_read_on(bench: Bench, server: WireServer, answer: Answer) -> None:
    server.on("/x", answer)
    error = await failure_of(bench, endpoint_at(server, most_bytes=20_000))
    assert isinstance(error, ProviderRefused)
    assert "longer than 20,000 bytes" in error.message
    assert len(server.received) == 1


async def test_a_long_error_is_quoted_in_one_short_line(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=400, body="wrong\x1b[31m\n" * 100_000))
    error = await failure_of(bench, endpoint_at(server))
    assert len(error.message) < 400
    assert error.message.isprintable()


async def test_a_slow_body_is_cut_off_by_the_time_of_one_try(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(body="x" * 1000, drip_seconds=0.01))
    error = await failure_of(bench, endpoint_at(server, timeout_seconds=0.5, attempts=2))
    assert isinstance(error, ProviderUnavailable)
    assert "no answer within 0.5 s (tried 2 times" in error.message
    server.wait_for_close()
    server.wait_for_close()


async def test_a_server_that_never_answers_is_given_up(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(fault="hang"), GOOD)
    assert (await bench.http.ask(endpoint_at(server, timeout_seconds=0.5), "GET", "/x")).json() == {"ok": True}
    server.wait_for_close()


async def test_cancellation_closes_the_request_at_once(bench: Bench, server: WireServer) -> None:
    server.on("/head", Answer(fault="hang")).on("/body", Answer(body="x" * 1000, drip_seconds=0.05))
    for path in ("/head", "/body"):
        asked = asyncio.ensure_future(bench.http.ask(endpoint_at(server), "GET", path))
        await asyncio.to_thread(server.wait_for_request)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await asyncio.to_thread(server.wait_for_close)
    assert bench.incidents == []


async def test_a_server_that_is_not_there_is_reported_by_its_address(bench: Bench, server: WireServer) -> None:
    with WireServer() as gone:
        endpoint = endpoint_at(gone, attempts=2)
    error = await failure_of(bench, endpoint)
    assert isinstance(error, ProviderUnavailable)
    assert f"nothing listens at 127.0.0.1:{gone.port} (tried 2 times" in error.message


async def test_a_certificate_that_is_not_trusted_is_reported_with_its_remedy(
    bench: Bench, tls_server: WireServer
) -> None:
    error = await failure_of(bench, endpoint_at(tls_server))
    assert isinstance(error, ProviderUnreachable)
    assert "the certificate of 127.0.0.1" in error.message
    assert "SSL_CERT_FILE" in error.help
    assert bench.time.slept == []
    assert tls_server.received == []


async def test_a_trusted_certificate_is_taken(tls_server: WireServer) -> None:
    tls_server.on("/x", GOOD)
    async with HttpClient(trust=tls_server.trust) as http:
        assert (await http.ask(endpoint_at(tls_server), "GET", "/x")).json() == {"ok": True}


async def test_a_certificate_for_another_name_is_not_taken() -> None:
    with WireServer(tls=True, names=("elsewhere.test",)) as server:
        bench = Bench(trust=server.trust)
        async with bench.http:
            error = await failure_of(bench, endpoint_at(server))
    assert isinstance(error, ProviderUnreachable)
    assert "certificate" in error.message


@pytest.mark.parametrize(
    "record", [b"no record of TLS", b"\x17\x03\x03\x00\x20" + bytes(32)], ids=["no record", "not encrypted"]
)
async def test_a_connection_whose_encryption_breaks_is_reported_and_tried_again(record: bytes) -> None:
    authority, trust = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trust)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(own)

    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        below = writer.transport
        await writer.start_tls(own)
        await reader.readuntil(b"\r\n\r\n")
        below.write(record)

    breaking = Bench(trust=trust)
    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as server, breaking.http:
        port = server.sockets[0].getsockname()[1]
        error = await failure_of(breaking, Endpoint(name="oracle", base_url=f"https://127.0.0.1:{port}", attempts=2))
    assert isinstance(error, ProviderUnavailable)
    assert f"the connection to 127.0.0.1:{port} broke off (tried 2 times" in error.message


async def test_https_to_a_server_without_tls_is_reported(bench: Bench, server: WireServer) -> None:
    endpoint = Endpoint(name="oracle", base_url=server.url.replace("http:", "https:"))
    error = await failure_of(bench, endpoint)
    assert isinstance(error, ProviderUnreachable)
    assert "does not speak TLS" in error.message
    assert "http://" in error.help


@pytest.mark.parametrize(
    "address",
    ["ftp://127.0.0.1/", "127.0.0.1:80", "", "http://", "http://[::1", "http://a:b:c/", "http://xn--/"],
)
async def test_an_address_that_is_none_is_refused(bench: Bench, address: str) -> None:
    error = await failure_of(bench, Endpoint(name="oracle", base_url=address))
    assert isinstance(error, ProviderRefused)
    assert "address" in error.message


async def test_redirects_stay_on_the_same_host(bench: Bench, server: WireServer) -> None:
    server.on("/old", Answer(status=308, headers={"location": "/new?x=1"})).on("/new", GOOD)
    await bench.http.ask(endpoint_at(server), "POST", "/old", json={"q": 1})
    assert [(one.method, one.path) for one in server.received] == [("POST", "/old"), ("POST", "/new")]
    assert server.received[1].json() == {"q": 1}


@pytest.mark.parametrize(
    "target",
    ["http://localhost:{port}/x", "http://127.0.0.1:9/x", "https://127.0.0.1/", "//a.b/", "http://[", "//xn--/"],
)
async def test_no_redirect_to_another_host_is_followed(bench: Bench, server: WireServer, target: str) -> None:
    server.on("/old", Answer(status=307, headers={"location": target.format(port=server.port)})).on("/x", GOOD)
    error = await failure_of(bench, endpoint_at(server), "/old")
    assert isinstance(error, ProviderRefused)
    assert "which is not followed" in error.message
    assert len(server.received) == 1


async def test_a_post_is_not_turned_into_a_get_by_a_redirect(bench: Bench, server: WireServer) -> None:
    server.on("/old", Answer(status=302, headers={"location": "/x"})).on("/x", GOOD)
    assert isinstance(await failure_of(bench, endpoint_at(server), "/old"), ProviderRefused)
    assert len(server.received) == 1


async def test_a_circle_of_redirects_ends(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=307, headers={"location": "/x"}))
    error = await failure_of(bench, endpoint_at(server))
    assert "circle" in error.message
    assert len(server.received) == 4


async def test_keys_stand_in_no_message_whatever_the_server_quotes(server: WireServer) -> None:
    texts = [
        f"no such key: {KEY}",
        "wrong key in https://h/?key=very%20secret%2Fkey%2B1&q=1",
        "wrong key in https://h/?q=1&key=very+secret%2Fkey%2B1",
        f"authorization: Bearer {KEY}",
        "you sent hunter2hunter2",
        "key sk-abcdefgh12345678 is for another account",
    ]
    bench = Bench(breaker=BreakerPolicy(least_attempts=1000))
    endpoint = endpoint_at(server, params={"api_key": "hunter2hunter2"}, attempts=2)
    async with bench.http:
        for status, text in itertools.product((400, 401, 429, 500), texts):
            server.on("/x", Answer(status=status, body=text))
            error = await failure_of(bench, endpoint)
            for secret in (KEY, "very%20secret", "very+secret", "hunter2", "sk-abc"):
                assert secret not in f"{error} {error!r} {error.args} {error.help} {bench.incidents}"
            assert error.__suppress_context__ or error.__context__ is None
    assert KEY not in repr(endpoint)
    assert "hunter2" not in repr(endpoint)


@pytest.mark.parametrize("key", ["line\nend", "ünïcode-key", "nul\0byte"])
async def test_a_key_that_cannot_be_sent_is_reported_without_showing_it(
    bench: Bench, server: WireServer, key: str
) -> None:
    endpoint = Endpoint(name="oracle", base_url=server.url, headers={"x-api-key": key}, remedy="set ORACLE_KEY again")
    error = await failure_of(bench, endpoint)
    assert isinstance(error, ProviderRefused)
    assert key not in str(error)
    assert "cannot be sent" in error.message
    assert error.help == "set ORACLE_KEY again"
    assert server.received == []


async def test_the_peers_own_reading_of_an_error_is_heard_first(bench: Bench, server: WireServer) -> None:
    def classify(reply: Response) -> ProviderError | None:
        if reply.json().get("code") == "context":
            return ContextExceeded("too long", provider="oracle", limit_tokens=8192)
        if reply.json().get("code") == "quota":
            return ProviderRefused("no credit left", provider="oracle")
        if reply.json().get("code") == "busy":
            return ProviderUnavailable("busy", provider="oracle")
        return None

    endpoint = endpoint_at(server, classify=classify, attempts=2)
    server.on("/x", Answer(status=400, body={"code": "context"}))
    assert isinstance(await failure_of(bench, endpoint), ContextExceeded)
    server.on("/x", Answer(status=429, body={"code": "quota"}))
    assert str(await failure_of(bench, endpoint)) == "no credit left"
    server.on("/x", Answer(status=400, body={"code": "busy"}, headers={"retry-after": "9"}), GOOD)
    assert (await bench.http.ask(endpoint, "GET", "/x")).status == 200
    server.on("/x", Answer(status=404, body={}))
    assert "404" in str(await failure_of(bench, endpoint))
    assert bench.time.slept == pytest.approx([9.9])


async def test_a_peer_that_mostly_fails_is_left_alone_for_a_minute(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=500))
    endpoint = endpoint_at(server, attempts=1)
    for _ in range(5):
        await failure_of(bench, endpoint)
    assert bench.incidents == [BreakerOpened(peer="oracle", failures=5, attempts=5, seconds=60.0)]
    error = await failure_of(bench, endpoint)
    assert isinstance(error, ProviderUnavailable)
    assert "circuit breaker open for oracle: most of its last requests failed; the next one in 60 s" in str(error)
    assert error.retry_after_seconds == 60
    assert len(server.received) == 5
    bench.time.now += 60
    server.on("/x", GOOD)
    await bench.http.ask(endpoint, "GET", "/x")
    assert bench.incidents[1:] == [BreakerClosed(peer="oracle")]


async def test_requests_that_were_not_sent_do_not_open_the_breaker(bench: Bench, server: WireServer) -> None:
    server.on("/x", GOOD)
    endpoint = endpoint_at(server, per_second=1 / 3, budget_seconds=2)
    await bench.http.ask(endpoint, "GET", "/x")
    for _ in range(8):
        assert "too many requests wait for its rate limit" in str(await failure_of(bench, endpoint))
    bench.time.now += 3
    await bench.http.ask(endpoint, "GET", "/x")
    assert bench.incidents == []


async def test_a_turn_that_comes_after_the_budget_is_reported(bench: Bench, server: WireServer) -> None:
    """On a machine that is busy, a wait may take longer than it should."""
    server.on("/x", GOOD)
    endpoint = endpoint_at(server, per_second=1.0, budget_seconds=2)
    await bench.http.ask(endpoint, "GET", "/x")

    async def oversleep(seconds: float) -> None:
        bench.time.now += seconds + 5

    bench.http.sleep = oversleep
    assert "its turn came only after the 2 s for a request" in str(await failure_of(bench, endpoint))
    assert len(server.received) == 1


async def test_refusals_never_open_the_breaker_and_another_peer_has_its_own(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=401)).on("/y", Answer(status=500)).on("/z", GOOD)
    for _ in range(12):
        await failure_of(bench, endpoint_at(server, attempts=1))
    assert len(server.received) == 12
    for _ in range(30):
        await failure_of(bench, endpoint_at(server, attempts=1), "/y")
    other = Endpoint(name="other", base_url=server.url)
    assert (await bench.http.ask(other, "GET", "/z")).status == 200
    assert bench.incidents == [BreakerOpened(peer="oracle", failures=8, attempts=10, seconds=60.0)]


async def test_half_of_all_answers_failing_loses_few_requests_and_never_opens_the_breaker(
    bench: Bench, server: WireServer
) -> None:
    marks = iter("xx.x.xxx..x.xx.x.x..xxxx.x..xx." * 20)
    server.on("/x", lambda _: Answer(status=500 if next(marks) == "x" else 200, body={}))
    for _ in range(60):
        await bench.http.ask(endpoint_at(server), "GET", "/x")
    assert all(isinstance(one, Retried) for one in bench.incidents)


async def test_a_bucket_spaces_requests_out(bench: Bench, server: WireServer) -> None:
    server.on("/x", GOOD)
    endpoint = endpoint_at(server, per_second=20.0)
    for _ in range(24):
        await bench.http.ask(endpoint, "GET", "/x")
    assert bench.time.slept == pytest.approx([0.05] * 4, abs=1e-5)
    assert bench.incidents == [Throttled(peer="oracle", asked_for=False)] * 4


async def test_a_bucket_that_is_too_slow_for_the_budget_is_reported(server: WireServer) -> None:
    server.on("/x", GOOD)
    async with HttpClient() as http:
        endpoint = endpoint_at(server, per_second=0.01, budget_seconds=20)
        await http.ask(endpoint, "GET", "/x")
        with pytest.raises(ProviderUnavailable, match=r"rate limit of 0.01 a second, more than fit into 20 s"):
            await http.ask(endpoint, "GET", "/x")


async def test_lines_arrive_while_the_server_still_sends(bench: Bench, server: WireServer) -> None:
    chunks = ("data: a\u2028", "b\r\n\r\nda", b"ta: \xc3", b"\xbc\n", "data: last")
    server.on("/x", Answer(chunks=chunks, pause_seconds=0.02))
    lines = [line async for line in bench.http.stream(endpoint_at(server), "POST", "/x", json={})]
    assert lines == ["data: a\u2028b", "", "data: ü", "data: last"]

    server.on("/x", Answer(chunks=("data: 1\n", "data: 2\n"), pause_seconds=30.0))
    async with aclosing(bench.http.stream(endpoint_at(server), "POST", "/x", json={})) as stream:
        assert await anext(stream) == "data: 1"
    await asyncio.to_thread(server.wait_for_close)


async def test_a_stream_is_begun_again_until_its_first_line(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=503), Answer(fault="reset"), Answer(chunks=("one\n", "two\n")))
    assert [line async for line in bench.http.stream(endpoint_at(server), "POST", "/x")] == ["one", "two"]
    assert bench.time.slept == [0.5, 1.0]


async def test_a_stream_that_breaks_off_is_reported_and_not_begun_again(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(body="one\n" * 1000, fault="half"))
    lines = []
    with pytest.raises(ProviderUnavailable, match="half an answer"):
        async for line in bench.http.stream(endpoint_at(server), "POST", "/x"):
            lines.append(line)
    assert lines == ["one"] * 500
    assert len(server.received) == 1


async def test_the_last_try_says_that_it_had_only_the_rest_of_the_time(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(body="x" * 1000, drip_seconds=0.01))
    error = await failure_of(bench, endpoint_at(server, timeout_seconds=30.0, budget_seconds=0.1))
    assert re.search(r"no answer within 0\.[01]\d* s, what was left of 0.1 s", error.message), error.message


async def test_a_stream_that_falls_silent_is_given_up(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(chunks=("one\n", "two\n"), pause_seconds=30.0))
    with pytest.raises(ProviderUnavailable, match=r"no answer within 0.1 s"):
        [line async for line in bench.http.stream(endpoint_at(server, timeout_seconds=0.1), "POST", "/x")]
    await asyncio.to_thread(server.wait_for_close)


async def test_a_refused_stream_says_why(bench: Bench, server: WireServer) -> None:
    server.on("/x", Answer(status=401, body={"error": "wrong key"}))
    with pytest.raises(ProviderRefused, match="wrong key; set ORACLE_KEY"):
        [line async for line in bench.http.stream(endpoint_at(server), "POST", "/x")]


async def test_a_proxy_of_the_environment_serves_others_and_never_this_machine(
    bench: Bench, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("*", Answer(body={"through": "the proxy"}))
    with WireServer() as target:
        target.on("/x", GOOD)
        monkeypatch.setenv("HTTP_PROXY", server.url)
        assert (await bench.http.ask(endpoint_at(target), "GET", "/x")).json() == {"ok": True}
        away = Endpoint(name="away", base_url="http://models.test/v1")
        assert (await bench.http.ask(away, "GET", "/x")).json() == {"through": "the proxy"}
    assert server.received[0].target == "http://models.test/v1/x"


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "ftp://127.0.0.1:1", "http://user:hunter2@[::1"])
async def test_a_proxy_that_cannot_be_used_is_reported_without_its_password(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    error = await failure_of(bench, Endpoint(name="away", base_url="http://models.test/v1"))
    assert isinstance(error, ProviderRefused)
    assert "HTTP_PROXY" in error.help
    assert "hunter2" not in str(error)


async def test_a_proxy_that_refuses_is_reported_with_its_reason(
    bench: Bench, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("*", Answer(status=407))
    monkeypatch.setenv("HTTPS_PROXY", server.url.replace("//", "//user:hunter2@"))
    error = await failure_of(bench, Endpoint(name="away", base_url="https://models.test/v1", attempts=1))
    assert isinstance(error, ProviderUnavailable)
    assert "the proxy of the environment does not connect to models.test: 407" in error.message
    assert "hunter2" not in str(error)


async def test_certificates_that_cannot_be_read_are_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/at/all.pem")
    error = await failure_of(bench, Endpoint(name="away", base_url="https://127.0.0.1:1"))
    assert "trusted certificates cannot be read" in error.message
    assert "SSL_CERT_FILE" in error.help


async def test_keys_stand_in_no_log(bench: Bench, server: WireServer, caplog: pytest.LogCaptureFixture) -> None:
    server.on("/x", Answer(status=500), GOOD)
    caplog.set_level("DEBUG")
    endpoint = endpoint_at(server, params={"api_key": "hunter2hunter2"})
    await bench.http.ask(endpoint, "GET", "/x")
    assert "hunter2" in server.received[0].target
    assert "hunter2" not in caplog.text
    assert KEY not in caplog.text
