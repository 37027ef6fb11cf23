"""The requests of each search: parameters, pages, second tries, and what its own errors mean."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.errors import ProviderRefused, ProviderUnavailable
from graph_research.providers.http.client import HttpClient
from graph_research.providers.search.base import SearchRequest
from graph_research.providers.search.google import GoogleSearch, google_endpoint
from graph_research.providers.search.tavily import TavilyOptions, TavilySearch, tavily_endpoint
from graph_research.providers.search.tavily_pages import TavilyPages
from graph_research.providers.search.wikipedia import WikipediaSearch, wikipedia_endpoint
from graph_research.providers.web.page_reader import Page
from graph_research.text.readers.plain import plain_document
from tests.support.network.http_server import Answer, Received, WireServer
from tests.support.providers import search_responses as wire_replies
from tests.support.providers.search_responses import ENGINE, KEY, QUESTION, SPOKEN

REQUEST = SearchRequest(query=QUESTION, max_results=5)


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    async with HttpClient(sleep=sleep, chance=lambda: 0.5) as open_http:
        yield open_http


async def test_tavily_is_sent_its_parameters_and_the_key_as_a_header(server: WireServer, http: HttpClient) -> None:
    SPOKEN["tavily"].answer(server)
    options = TavilyOptions(
        search_depth="advanced",
        include_raw_content=False,
        include_domains=("gov.example",),
        exclude_domains=("ads.example",),
        time_range="month",
    )
    search = TavilySearch(http=http, endpoint=tavily_endpoint(KEY, base_url=server.url), options=options)
    await search.search(SearchRequest(query="x" * 900, max_results=50))
    (asked,) = server.received
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("POST", "/search", f"Bearer {KEY}")
    assert asked.json() == {
        "query": "x" * 400,
        "topic": "general",
        "max_results": 20,
        "search_depth": "advanced",
        "include_raw_content": False,
        "include_domains": ["gov.example"],
        "exclude_domains": ["ads.example"],
        "time_range": "month",
    }


@pytest.mark.parametrize(
    ("types", "topic"), [(("news",), "news"), (("web", "news"), "general"), (("academic", "news"), "news")]
)
async def test_news_alone_are_searched_as_news(
    types: tuple[str, ...], topic: str, server: WireServer, http: HttpClient
) -> None:
    SPOKEN["tavily"].answer(server)
    await SPOKEN["tavily"].at(server, http).search(replace(REQUEST, source_types=types))
    assert server.received[0].json()["topic"] == topic


async def test_tavily_reads_pages_and_gives_only_those_asked_for(server: WireServer, http: HttpClient) -> None:
    results = [
        {"url": "https://a.example/", "raw_content": "# A\n\nText."},
        {"url": "https://planted.example/", "raw_content": "Not asked for."},
        {"url": "https://b.example/", "raw_content": ""},
    ]
    failed = [{"url": "https://c.example/", "error": "timeout"}]
    server.on("POST /extract", Answer(body={"results": results, "failed_results": failed, "response_time": 1}))
    search = SPOKEN["tavily"].at(server, http)
    assert isinstance(search, TavilySearch)
    pages = await search.extract(["https://a.example/", "https://b.example/", "https://c.example/"])
    assert pages == {"https://a.example/": "# A\n\nText."}
    assert server.received[0].json() == {
        "urls": ["https://a.example/", "https://b.example/", "https://c.example/"],
        "format": "markdown",
        "extract_depth": "basic",
    }


class OwnPages:
    """A reader that says what it was asked for."""

    async def read(self, url: str) -> Page:
        return Page(url=url, content_type="text/html", document=plain_document("Read by ourselves."))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer(body={"results": [{"url": "https://a.example/", "raw_content": "# A\n\n*Text*."}]}), "A Text."),
        (Answer(body={"results": [], "failed_results": [{"url": "https://a.example/"}]}), "Read by ourselves."),
        (Answer(body={"results": [{"url": "https://a.example/", "raw_content": None}]}), "Read by ourselves."),
        (Answer(status=401), "Read by ourselves."),
    ],
    ids=["read", "not read", "empty", "refused"],
)
async def test_a_page_that_tavily_cannot_read_is_read_otherwise(
    answer: Answer, text: str, server: WireServer, http: HttpClient
) -> None:
    server.on("/extract", answer)
    tavily = SPOKEN["tavily"].at(server, http)
    assert isinstance(tavily, TavilySearch)
    page = await TavilyPages(tavily=tavily, otherwise=OwnPages()).read("https://a.example/")
    assert (page.url, page.document.text) == ("https://a.example/", text)


@pytest.mark.parametrize("status", [432, 433])
async def test_credits_that_are_used_up_are_not_asked_for_again(
    status: int, server: WireServer, http: HttpClient
) -> None:
    server.on("*", Answer(status=status, body={"detail": {"error": "This request exceeds your plan's limit."}}))
    with pytest.raises(ProviderRefused, match="credits of this key are used up"):
        await SPOKEN["tavily"].at(server, http).search(REQUEST)
    assert len(server.received) == 1


def _google_page(asked: Received) -> Answer:
    start, num = int(asked.query["start"]), int(asked.query["num"])
    items = [
        {"title": f"T{n}", "link": f"https://e.example/{n}", "snippet": f"s{n}"} for n in range(start, start + num)
    ]
    return Answer(body={"items": items, "queries": {"nextPage": [{"startIndex": start + num}]}})


async def test_google_is_read_page_by_page(server: WireServer, http: HttpClient) -> None:
    server.on("/customsearch/v1", _google_page)
    hits = await SPOKEN["google"].at(server, http).search(SearchRequest(query=QUESTION, max_results=23))
    assert [hit.url for hit in hits] == [f"https://e.example/{n}" for n in range(1, 24)]
    assert [(one.query["start"], one.query["num"]) for one in server.received] == [
        ("1", "10"),
        ("11", "10"),
        ("21", "3"),
    ]
    assert {(one.query["key"], one.query["cx"], one.query["q"]) for one in server.received} == {(KEY, ENGINE, QUESTION)}
    assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)


async def test_google_stops_at_its_hundredth_result(server: WireServer, http: HttpClient) -> None:
    server.on("/customsearch/v1", _google_page)
    hits = await SPOKEN["google"].at(server, http).search(SearchRequest(query=QUESTION, max_results=500))
    assert len(hits) == 100


async def test_google_does_not_go_round_in_circles(server: WireServer, http: HttpClient) -> None:
    reply = {**wire_replies.GOOGLE, "queries": {"nextPage": [{"startIndex": 1}]}}
    server.on("/customsearch/v1", Answer(body=reply))
    await SPOKEN["google"].at(server, http).search(SearchRequest(query=QUESTION, max_results=50))
    assert len(server.received) == 1


async def test_how_old_pages_of_google_may_be_is_sent(server: WireServer, http: HttpClient) -> None:
    SPOKEN["google"].answer(server)
    endpoint = google_endpoint(KEY, ENGINE, base_url=server.url)
    await GoogleSearch(http=http, endpoint=endpoint, date_restrict="m6").search(REQUEST)
    await GoogleSearch(http=http, endpoint=endpoint).search(replace(REQUEST, source_types=("news",)))
    assert [one.query.get("dateRestrict") for one in server.received] == ["m6", "d30"]


def _google_error(code: int, message: str, reason: str) -> Answer:
    error = {"code": code, "message": message, "errors": [{"message": message, "reason": reason}]}
    return Answer(status=code, body={"error": error})


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (_google_error(429, "Quota exceeded for 'Queries per day'.", "rateLimitExceeded"), ProviderRefused, 1),
        (_google_error(403, "Daily Limit Exceeded.", "dailyLimitExceeded"), ProviderRefused, 1),
        (_google_error(429, "Quota exceeded for 'Queries per minute'.", "rateLimitExceeded"), ProviderUnavailable, 2),
        (_google_error(403, "User Rate Limit Exceeded", "userRateLimitExceeded"), ProviderUnavailable, 2),
        (_google_error(403, "Custom Search API has not been used.", "accessNotConfigured"), ProviderRefused, 1),
        (_google_error(400, "API key not valid.", "badRequest"), ProviderRefused, 1),
    ],
)
async def test_quotas_of_google_are_distinguished(
    answer: Answer, kind: type[Exception], tries: int, server: WireServer, http: HttpClient
) -> None:
    server.on("*", answer)
    with pytest.raises(kind):
        await SPOKEN["google"].at(server, http, attempts=2).search(REQUEST)
    assert len(server.received) == tries


async def test_semantic_scholar_is_asked_without_hyphens(server: WireServer, http: HttpClient) -> None:
    SPOKEN["semantic_scholar"].answer(server)
    await SPOKEN["semantic_scholar"].at(server, http).search(SearchRequest(query="heat-pump cold-climate"))
    (asked,) = server.received
    assert asked.query["query"] == "heat pump cold climate"
    assert asked.query["limit"] == "5"
    assert {"abstract", "openAccessPdf", "externalIds"} <= set(asked.query["fields"].split(","))
    assert asked.headers["x-api-key"] == KEY


async def test_openalex_searches_of_the_day_come_to_an_end(server: WireServer, http: HttpClient) -> None:
    server.on("*", Answer(status=429, headers={"X-RateLimit-Remaining": "0"}))
    with pytest.raises(ProviderRefused, match="OPENALEX_API_KEY"):
        await SPOKEN["openalex"].at(server, http).search(REQUEST)
    assert len(server.received) == 1


async def test_openalex_takes_no_word_for_an_operator(server: WireServer, http: HttpClient) -> None:
    SPOKEN["openalex"].answer(server)
    await (
        SPOKEN["openalex"].at(server, http).search(SearchRequest(query='Salmon AND (trout OR "sea*~ ?lice") NOT eels'))
    )
    (asked,) = server.received
    assert asked.query["search"] == "salmon trout sea lice eels"
    assert asked.query["api_key"] == KEY


async def test_crossref_gets_the_contact_address(server: WireServer, http: HttpClient) -> None:
    SPOKEN["crossref"].answer(server)
    await SPOKEN["crossref"].at(server, http).search(REQUEST)
    (asked,) = server.received
    assert asked.query["query.bibliographic"] == QUESTION
    assert asked.query["rows"] == "5"
    assert asked.query["mailto"] == "me@example.org"
    assert "mailto:me@example.org" in asked.headers["user-agent"]
    assert "abstract" in asked.query["select"].split(",")


async def test_arxiv_looks_for_all_words_and_then_for_any(server: WireServer, http: HttpClient) -> None:
    server.on("/api/query", Answer(body=wire_replies.ARXIV_EMPTY), Answer(body=wire_replies.ARXIV))
    hits = await SPOKEN["arxiv"].at(server, http).search(SearchRequest(query="How do smolts pass low-head turbines?"))
    assert len(hits) == 2
    assert [one.query["search_query"] for one in server.received] == [
        'all:smolts AND all:pass AND all:"low head" AND all:turbines',
        'all:smolts OR all:pass OR all:"low head" OR all:turbines',
    ]


async def test_pubmed_looks_for_all_words_and_then_for_any(server: WireServer, http: HttpClient) -> None:
    SPOKEN["pubmed"].answer(server)
    none: Any = {"esearchresult": {"count": "0", "idlist": []}}
    server.on("/entrez/eutils/esearch.fcgi", Answer(body=none), Answer(body=wire_replies.PUBMED_IDS))
    hits = await SPOKEN["pubmed"].at(server, http).search(REQUEST)
    assert [hit.metadata["pubmed_id"] for hit in hits] == ["3001", "3002"]
    terms = [one.query["term"] for one in server.received[:2]]
    assert terms == ["salmon AND smolts AND pass AND tidal AND turbines", terms[0].replace("AND", "OR")]
    fetch = server.received[2]
    assert (fetch.query["id"], fetch.query["retmode"], fetch.query["tool"]) == ("3001,3002", "xml", "graph-research")
    assert {(one.query["db"], one.query["api_key"]) for one in server.received} == {("pubmed", KEY)}


async def test_wikipedia_is_read_article_by_article(server: WireServer, http: HttpClient) -> None:
    SPOKEN["wikipedia"].answer(server)
    await SPOKEN["wikipedia"].at(server, http).search(REQUEST)
    listed, *texts = server.received
    assert listed.query["gsrsearch"] == "salmon smolts pass tidal turbines"
    assert [one.query["pageids"] for one in texts] == ["11", "22"]
    assert "mailto:me@example.org" in listed.headers["user-agent"]


async def test_an_article_whose_text_cannot_be_had_keeps_its_introduction(server: WireServer, http: HttpClient) -> None:
    def answer(asked: Received) -> Answer:
        if "gsrsearch" in asked.query:
            return Answer(body=wire_replies.WIKIPEDIA_LIST)
        return Answer(status=404) if asked.query["pageids"] == "11" else Answer(body={"query": {"pages": []}})

    server.on("/w/api.php", answer)
    hits = await SPOKEN["wikipedia"].at(server, http).search(REQUEST)
    assert [hit.metadata["extent"] for hit in hits] == ["snippet", "snippet"]
    assert hits[0].document.text == "A smolt is a young salmon."


@pytest.mark.parametrize(("code", "kind"), [("ratelimited", ProviderUnavailable), ("badvalue", ProviderRefused)])
async def test_an_error_that_mediawiki_tells_with_status_200_is_one(
    code: str, kind: type[Exception], server: WireServer, http: HttpClient
) -> None:
    server.on("*", Answer(body={"error": {"code": code, "info": "It is told here."}}))
    with pytest.raises(kind, match="It is told here"):
        await SPOKEN["wikipedia"].at(server, http).search(REQUEST)


async def test_another_wikipedia_is_asked_in_whole_sentences(server: WireServer, http: HttpClient) -> None:
    SPOKEN["wikipedia"].answer(server)
    search = WikipediaSearch(http=http, endpoint=wikipedia_endpoint("de", base_url=server.url), language="de")
    await search.search(SearchRequest(query="Was ist ein Smolt?"))
    assert server.received[0].query["gsrsearch"] == "Was ist ein Smolt?"
    assert wikipedia_endpoint("de").base_url == "https://de.wikipedia.org"


async def test_searxng_is_asked_for_the_kinds_of_sources(server: WireServer, http: HttpClient) -> None:
    SPOKEN["searxng"].answer(server)
    search = SPOKEN["searxng"].at(server, http)
    for types in (("web",), ("academic", "news"), ("web", "academic", "news")):
        await search.search(SearchRequest(query=QUESTION, max_results=2, source_types=types))
    assert [one.query["categories"] for one in server.received] == ["general", "science,news", "general,science,news"]
    assert {one.query["format"] for one in server.received} == {"json"}


async def test_searxng_is_read_page_by_page_until_nothing_is_new(server: WireServer, http: HttpClient) -> None:
    def answer(asked: Received) -> Answer:
        page = min(int(asked.query["pageno"]), 2)
        rows = [{"url": f"https://e.example/{page}{n}", "title": "T", "content": "c"} for n in range(10)]
        return Answer(body={"results": rows})

    server.on("/search", answer)
    hits = await SPOKEN["searxng"].at(server, http).search(SearchRequest(query=QUESTION, max_results=50))
    assert len(hits) == 20
    assert [one.query["pageno"] for one in server.received] == ["1", "2", "3"]


async def test_a_searxng_below_a_path_is_asked_there(server: WireServer, http: HttpClient) -> None:
    server.on("/tools/searxng/search", Answer(body=wire_replies.SEARXNG))
    search = SPOKEN["searxng"].at(server, http, base_url=f"{server.url}/tools/searxng")
    assert len(await search.search(REQUEST)) == 2


async def test_a_searxng_without_json_is_reported_with_the_remedy(server: WireServer, http: HttpClient) -> None:
    server.on("*", Answer(status=403, body="<html>403</html>"))
    with pytest.raises(ProviderRefused, match=r"add `- json` .* in its settings\.yml"):
        await SPOKEN["searxng"].at(server, http).search(REQUEST)


async def test_engines_that_all_failed_are_no_empty_answer(server: WireServer, http: HttpClient) -> None:
    silent = [["google", "Suspended: CAPTCHA"], ["brave", "timeout"]]
    server.on("*", Answer(body={"results": [], "unresponsive_engines": silent}))
    with pytest.raises(ProviderUnavailable, match="google: Suspended: CAPTCHA; brave: timeout"):
        await SPOKEN["searxng"].at(server, http).search(REQUEST)


async def test_no_query_chooses_the_engines_of_searxng(server: WireServer, http: HttpClient) -> None:
    SPOKEN["searxng"].answer(server)
    await SPOKEN["searxng"].at(server, http).search(SearchRequest(query="!!g smolts :de what?"))
    assert server.received[0].query["q"] == "g smolts de what?"


@pytest.mark.parametrize(
    ("provider", "sent"),
    [
        ("openalex", {"filter": "from_publication_date:2020-01-01,to_publication_date:2024-02-29"}),
        ("crossref", {"filter": "from-pub-date:2020-01-01,until-pub-date:2024-02-29"}),
        ("semantic_scholar", {"publicationDateOrYear": "2020-01-01:2024-02-29"}),
        ("pubmed", {"datetype": "pdat", "mindate": "2020/01/01", "maxdate": "2024/02/29"}),
    ],
)
async def test_searches_that_know_dates_are_sent_the_days(
    provider: str, sent: dict[str, str], server: WireServer, http: HttpClient
) -> None:
    SPOKEN[provider].answer(server)
    await SPOKEN[provider].at(server, http).search(replace(REQUEST, first_day="2020-01-01", last_day="2024-02-29"))
    assert {name: server.received[0].query.get(name) for name in sent} == sent


async def test_tavily_is_sent_the_domains_and_days_of_the_rules(server: WireServer, http: HttpClient) -> None:
    SPOKEN["tavily"].answer(server)
    options = TavilyOptions(include_domains=("gov.example",), exclude_domains=("ads.example",))
    search = TavilySearch(http=http, endpoint=tavily_endpoint(KEY, base_url=server.url), options=options)
    ruled = replace(REQUEST, allow_domains=("who.int",), deny_domains=("b.org",), first_day="2020-01-01")
    await search.search(ruled)
    sent = server.received[0].json()
    assert (sent["include_domains"], sent["exclude_domains"]) == (["who.int"], ["b.org", "ads.example"])
    assert sent["start_date"] == "2020-01-01"
    assert "end_date" not in sent
