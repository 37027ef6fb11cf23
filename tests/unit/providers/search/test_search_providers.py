"""Every search over HTTP against a loopback server: its hits, its failures, and what it never shows."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.client import HttpClient
from graph_research.providers.search.base import SOURCE_TYPES, SearchRequest
from graph_research.providers.search.catalog import SEARCHES
from tests.support.network.http_server import Answer, WireServer
from tests.support.providers.search_responses import ENGINE, KEY, QUESTION, SPOKEN

REQUEST = SearchRequest(query=QUESTION, max_results=5)
REFUSED = (400, 401, 403, 404, 413)
TRIED_AGAIN = (408, 429, 500, 503, 529)
ALL = pytest.mark.parametrize("name", SPOKEN)


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    """A transport that waits for nothing."""

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    wall = datetime(2026, 1, 1, tzinfo=UTC)
    async with HttpClient(sleep=sleep, wall=lambda: wall, chance=lambda: 0.5) as open_http:
        yield open_http


@ALL
async def test_a_documented_reply_becomes_hits(name: str, server: WireServer, http: HttpClient) -> None:
    spoken = SPOKEN[name]
    spoken.answer(server)
    hits = await spoken.at(server, http).search(REQUEST)
    assert len(hits) == 2
    first = hits[0]
    assert first.provider == name
    assert first.url == spoken.first_url
    assert first.title
    assert "smolt" in first.document.text.lower()
    assert first.snippet
    assert first.document.text[first.passages[0].start : first.passages[0].end]
    assert all(0 <= hit.relevance <= 1 for hit in hits)
    assert hits[0].relevance >= hits[1].relevance
    assert all(hit.metadata["extent"] in {"full", "abstract", "snippet", "nothing"} for hit in hits)
    orjson.dumps([{**hit.metadata, "authors": list(hit.authors)} for hit in hits])


@ALL
async def test_no_more_hits_come_than_were_asked_for(name: str, server: WireServer, http: HttpClient) -> None:
    SPOKEN[name].answer(server)
    hits = await SPOKEN[name].at(server, http).search(SearchRequest(query=QUESTION, max_results=1))
    assert len(hits) == 1


@ALL
async def test_nothing_found_is_no_error(name: str, server: WireServer, http: HttpClient) -> None:
    SPOKEN[name].answer(server, SPOKEN[name].empty)
    assert list(await SPOKEN[name].at(server, http).search(REQUEST)) == []


@ALL
async def test_a_query_of_any_length_and_signs_is_asked(name: str, server: WireServer, http: HttpClient) -> None:
    SPOKEN[name].answer(server)
    provider = SPOKEN[name].at(server, http)
    for query in ("smolts " * 10_000, "x" * 20_000, '!! ?? "" (*) ~:,&= AND', "lachs & wörter – 鮭", "\x00 \u202e"):
        await provider.search(SearchRequest(query=query, max_results=5))
    assert all(len(one.target) < 8_000 for one in server.received)


@pytest.mark.parametrize(
    ("name", "status"),
    [(name, status) for name in SPOKEN for status in REFUSED if (name, status) != ("openalex", 403)],
)
async def test_what_only_the_user_can_fix_is_refused_at_once(
    name: str, status: int, server: WireServer, http: HttpClient
) -> None:
    server.on("*", Answer(status=status, body={"error": {"message": f"no, {KEY}"}}))
    with pytest.raises(ProviderRefused) as caught:
        await SPOKEN[name].at(server, http).search(REQUEST)
    assert len(server.received) == 1
    assert caught.value.provider == name
    assert not (SPOKEN[name].keyed and KEY in str(caught.value))


@ALL
@pytest.mark.parametrize("status", TRIED_AGAIN)
async def test_what_may_pass_is_tried_again(name: str, status: int, server: WireServer, http: HttpClient) -> None:
    server.on("*", Answer(status=status, body=f"not now, {KEY}"))
    with pytest.raises(ProviderUnavailable) as caught:
        await SPOKEN[name].at(server, http, attempts=3).search(REQUEST)
    assert len(server.received) == 3
    assert not (SPOKEN[name].keyed and KEY in str(caught.value))


@ALL
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "2"}])
async def test_a_server_that_recovers_is_not_noticed(
    name: str, headers: dict[str, str], server: WireServer, http: HttpClient
) -> None:
    spoken = SPOKEN[name]
    spoken.answer(server)
    body = spoken.replies[spoken.path]
    good: Any = body if callable(body) else Answer(body=body)
    server.on(spoken.path, Answer(status=429, headers=headers), good)
    assert len(await spoken.at(server, http).search(REQUEST)) == 2


@ALL
@pytest.mark.parametrize(
    "answer",
    [
        Answer(body="<html>Sign in to the hotel's network</html>"),
        Answer(body=b"\xff\xfe\x00{"),
        Answer(body=[]),
        Answer(body={"login": "please"}),
        Answer(body="null", headers={"Content-Type": "application/json"}),
        Answer(body={"results": [1, 2]}, fault="half"),
        Answer(fault="close"),
        Answer(fault="reset"),
        Answer(fault="garbage"),
    ],
    ids=["html", "bytes", "list", "other", "null", "half", "close", "reset", "garbage"],
)
async def test_an_answer_in_another_format_is_said_to_be_one(
    name: str, answer: Answer, server: WireServer, http: HttpClient
) -> None:
    server.on("*", answer)
    with pytest.raises(ProviderUnavailable, match=name):
        await SPOKEN[name].at(server, http, attempts=2).search(REQUEST)


@ALL
async def test_a_key_goes_to_its_host_and_into_no_hit(name: str, server: WireServer, http: HttpClient) -> None:
    spoken = SPOKEN[name]
    spoken.answer(server)
    provider = spoken.at(server, http)
    hits = await provider.search(REQUEST)
    sent = "".join(f"{one.target} {one.headers} {one.body!r}" for one in server.received)
    assert (KEY in sent) is spoken.keyed
    shown = f"{provider!r} {hits!r}"
    assert KEY not in shown
    assert ENGINE not in shown


@ALL
def test_each_tells_which_sources_it_has(name: str) -> None:
    provider = SPOKEN[name].build(HttpClient(), SPOKEN[name].endpoint("http://127.0.0.1:9"))
    assert provider.name == name
    assert provider.serves <= SOURCE_TYPES
    spec = SEARCHES.find(name)
    assert spec is not None and provider.serves == spec.serves


async def test_a_failed_search_says_who_failed(server: WireServer, http: HttpClient) -> None:
    server.on("*", Answer(status=401, body={"detail": {"error": "Unauthorized: missing or invalid API key."}}))
    with pytest.raises(ProviderError) as caught:
        await SPOKEN["tavily"].at(server, http).search(REQUEST)
    assert "tavily answered 401" in str(caught.value)
    assert "check TAVILY_API_KEY" in str(caught.value)
