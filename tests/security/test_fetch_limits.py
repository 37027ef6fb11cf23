"""What bounds a fetch: sizes, times, kinds of content, tries, and the robots.txt of its host."""

import asyncio
import gzip
from pathlib import Path

import pytest

from graph_research.providers.errors import FetchRefused, ProviderUnavailable
from graph_research.providers.limits.sqlite import SqliteLimits
from graph_research.providers.web.fetcher import FetchLimits
from tests.support.network.fetch_network import NO_RULES, PAGE, Web
from tests.support.network.http_server import Answer, WireServer


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"x" * 20_001, headers={"content-type": "text/plain"}),
        Answer(chunks=(b"x" * 15_000,) * 2, headers={"content-type": "text/plain"}),
        Answer(
            body=gzip.compress(bytes(50_000_000)), headers={"content-type": "text/plain", "content-encoding": "gzip"}
        ),
    ],
)
async def test_a_page_beyond_the_limit_is_not_read_on(server: WireServer, answer: Answer) -> None:
    web = Web(server.on("/", answer), limits=FetchLimits(most_bytes=20_000))
    assert "is longer than 20,000 bytes" in (await web.refusal("http://example.org/")).message


async def test_the_limit_is_ten_million_bytes_and_thirty_seconds() -> None:
    assert FetchLimits() == FetchLimits(most_bytes=10_000_000, seconds=30.0, redirects=5)


async def test_a_stacked_or_unknown_encoding_is_not_unpacked(server: WireServer) -> None:
    for encoding in ("br", "gzip, gzip", "zstd"):
        web = Web(server.on("/", Answer(body=b"x", headers={"content-encoding": encoding})))
        with pytest.raises(ProviderUnavailable, match="was not asked for"):
            await web.fetch("http://example.org/")


async def test_a_slow_body_ends_with_the_time_limit(server: WireServer) -> None:
    web = Web(server.on("/", Answer(body="x" * 1000, drip_seconds=0.01)), limits=FetchLimits(seconds=1.0))
    with pytest.raises(ProviderUnavailable, match=r"example.org/ was not there whole within 1 s"):
        await web.fetch("http://example.org/")
    await asyncio.to_thread(server.wait_for_close)


async def test_cancellation_closes_the_connection(server: WireServer) -> None:
    web = Web(server.on("/", Answer(fault="hang")))
    task = asyncio.ensure_future(web.fetch("http://example.org/"))
    for _ in ("robots.txt", "the page"):
        await asyncio.to_thread(server.wait_for_request)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.wait_for_close)


@pytest.mark.requirement("12.3")
@pytest.mark.parametrize(
    ("header", "body", "becomes"),
    [
        ('text/html; charset="ISO-8859-1"', b"<p>x", "text/html"),
        ("TEXT/PLAIN", b"x", "text/plain"),
        ("application/xhtml+xml", b"<html/>", "application/xhtml+xml"),
        ("application/json", b"{}", "application/json"),
        ("application/ld+json", b"{}", "application/ld+json"),
        ("application/xml", b"<a/>", "application/xml"),
        ("application/atom+xml", b"<feed/>", "application/atom+xml"),
        ("application/pdf", b"%PDF-1.7\n\x00", "application/pdf"),
        ("text/html", b"%PDF-1.7\n\x00", "application/pdf"),
        ("application/octet-stream", b"\n%PDF-1.4\x00", "application/pdf"),
        ("application/octet-stream", b"<!doctype html>", "text/html"),
        ("", b"just words", "text/plain"),
        ("text/plain; charset=utf-16", "ü".encode("utf-16"), "text/plain"),
        ("text/plain", b"", "text/plain"),
    ],
)
async def test_what_can_be_read_is_taken_for_what_it_is(
    server: WireServer, header: str, body: bytes, becomes: str
) -> None:
    web = Web(server.on("/", Answer(body=body, headers={"content-type": header})))
    found = await web.fetch("http://example.org/")
    assert (found.content_type, found.body) == (becomes, body)


@pytest.mark.requirement("12.3")
@pytest.mark.parametrize(
    ("header", "body", "words"),
    [
        ("application/pdf", b"<html>no PDF</html>", "not what it says"),
        ("application/pdf", b"", "not what it says"),
        ("text/html", b"\x7fELF\x00\x00", "not what it says"),
        ("application/octet-stream", b"MZ\x00\x01", "nothing to read"),
        ("application/octet-stream", b"", "nothing to read"),
        ("image/png", b"\x89PNG", "nothing to read"),
        ("video/mp4", b"x" * 100_000, "nothing to read"),
        ("application/zip", b"PK", "nothing to read"),
        ("application/javascript", b"alert(1)", "nothing to read"),
        ("text/html, application/pdf", b"<p>", "nothing to read"),
    ],
)
async def test_what_cannot_be_read_is_refused(server: WireServer, header: str, body: bytes, words: str) -> None:
    web = Web(server.on("/", Answer(body=body, headers={"content-type": header})))
    assert words in (await web.refusal("http://example.org/")).message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 501])
async def test_a_page_that_is_not_there_is_asked_for_once(server: WireServer, status: int) -> None:
    web = Web(server.on("/", Answer(status=status)))
    assert f"http://example.org/ answered {status}" in (await web.refusal("http://example.org/")).message
    assert web.paths() == ["/"]


@pytest.mark.parametrize(
    ("first", "waits"),
    [
        (Answer(status=503), [0.5]),
        (Answer(status=429, headers={"retry-after": "3"}), [3.0]),
        (Answer(fault="reset"), [0.5]),
        (Answer(body="x" * 100, fault="half"), [0.5]),
    ],
)
async def test_a_page_that_may_come_later_is_asked_for_twice(
    server: WireServer, first: Answer, waits: list[float]
) -> None:
    web = Web(server.on("/", first, PAGE), clock=lambda: 0.0)
    assert (await web.fetch("http://example.org/")).content_type == "text/html"
    assert web.slept == pytest.approx(waits)
    again = Web(server.on("/", first))
    with pytest.raises(ProviderUnavailable):
        await again.fetch("http://example.org/")
    assert len(again.slept) == 1


async def test_a_page_that_asks_for_more_patience_than_there_is_time_is_left(server: WireServer) -> None:
    web = Web(server.on("/", Answer(status=429, headers={"retry-after": "60"})))
    with pytest.raises(ProviderUnavailable, match="answered 429"):
        await web.fetch("http://example.org/")
    assert web.slept == []


async def test_a_host_that_asks_for_patience_is_left_alone_by_all_who_share_it(
    server: WireServer, tmp_path: Path
) -> None:
    now = [1000.0]
    server.on("/busy", Answer(status=429, headers={"retry-after": "60"})).on("/", PAGE)
    one, other = (Web(server, pauses=SqliteLimits(tmp_path / "limits.db", clock=lambda: now[0])) for _ in range(2))
    with pytest.raises(ProviderUnavailable, match="answered 429"):
        await one.fetch("http://example.org/busy")
    with pytest.raises(ProviderUnavailable, match="wants to be left alone for 60 s"):
        await other.fetch("http://example.org/")
    await other.fetch("http://example.com/")
    assert other.slept == []
    now[0] += 50
    await other.fetch("http://example.org/")
    assert other.slept[0] == pytest.approx(10)
    assert b"example" not in (tmp_path / "limits.db").read_bytes()


RULES = (
    "User-agent: *\nDisallow: /private\n\nUser-agent: graph-research\nDisallow: /not-for-us\nAllow: /not-for-us/but\n"
)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/", True), ("/private", True), ("/not-for-us", False), ("/not-for-us/x", False), ("/not-for-us/but/this", True)],
)
async def test_robots_txt_is_obeyed(server: WireServer, path: str, allowed: bool) -> None:
    web = Web(server.on("*", PAGE))
    server.on("/robots.txt", Answer(body=RULES))
    if allowed:
        await web.fetch(f"http://example.org{path}")
    else:
        error = await web.refusal(f"http://example.org{path}")
        assert "http://example.org/robots.txt forbids it" in error.message
    assert web.paths() == ([path] if allowed else [])


async def test_robots_txt_is_asked_once_for_each_host(server: WireServer) -> None:
    web = Web(server.on("*", PAGE))
    async with web.fetcher:
        await asyncio.gather(*(web.fetcher.fetch(f"http://example.org/{number}") for number in range(5)))
        await web.fetcher.fetch("http://www.example.org/")
    asked = [one.headers["host"] for one in server.at("/robots.txt")]
    assert sorted(asked) == ["example.org", "www.example.org"]


async def test_the_rules_of_a_redirects_target_count_too(server: WireServer) -> None:
    server.on("/a", Answer(status=302, headers={"location": "http://other.org/b"})).on("/b", PAGE)
    web = Web(server)
    server.on(
        "/robots.txt",
        lambda seen: Answer(body="User-agent: *\nDisallow: /") if seen.headers["host"] == "other.org" else NO_RULES,
    )
    assert "http://other.org/robots.txt forbids it" in (await web.refusal("http://example.org/a")).message
    assert web.paths() == ["/a"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
async def test_a_host_without_rules_allows_everything(server: WireServer, status: int) -> None:
    web = Web(server.on("/", PAGE))
    server.on("/robots.txt", Answer(status=status))
    assert (await web.fetch("http://example.org/")).content_type == "text/html"


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(status=503), Answer(fault="reset")])
async def test_while_rules_cannot_be_had_nothing_is_fetched(server: WireServer, answer: Answer) -> None:
    web = Web(server.on("/", PAGE))
    server.on("/robots.txt", answer)
    with pytest.raises(ProviderUnavailable, match=r"robots\.txt cannot be read"):
        await web.fetch("http://example.org/")
    assert web.paths() == []
    back = Web(server)
    server.on("/robots.txt", answer, NO_RULES)
    assert (await back.fetch("http://example.org/")).content_type == "text/html"


async def test_redirected_rules_are_read_and_led_nowhere_private(server: WireServer) -> None:
    web = Web(server.on("/", PAGE))
    server.on("/robots.txt", Answer(status=301, headers={"location": "/rules"}))
    server.on("/rules", Answer(body="User-agent: *\nDisallow: /"))
    assert "forbids it" in (await web.refusal("http://example.org/")).message
    hostile = Web(server)
    server.on("/robots.txt", Answer(status=301, headers={"location": "http://169.254.169.254/"}))
    assert "robots.txt cannot be read" in (await hostile.refusal("http://example.org/")).message


async def test_of_endless_rules_the_beginning_counts(server: WireServer) -> None:
    web = Web(server.on("/", PAGE).on("/x", PAGE))
    server.on("/robots.txt", Answer(body="User-agent: *\nDisallow: /x\n" + "# more\n" * 200_000))
    async with web.fetcher:
        await web.fetcher.fetch("http://example.org/")
        with pytest.raises(FetchRefused, match="forbids it"):
            await web.fetcher.fetch("http://example.org/x")
