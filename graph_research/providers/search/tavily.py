"""Tavily: a web and news search that gives pages' texts with its results, and an extractor that reads pages.

Format: docs.tavily.com, endpoints `POST /search` and `POST /extract`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderRefused
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.health_check import Probe
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch, message_in
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.hit import RawHit, make_hits
from graph_research.providers.search.support.json_fields import line, number, rows, text
from graph_research.providers.search.support.query_text import shortened
from graph_research.settings.config import Settings
from graph_research.text.language.dates import iso_date

NAME = "tavily"
QUERY_CHARS = 400
"""A longer query is answered with 400 (Tavily's guide to good searches)."""
MOST_RESULTS = 20
EXTRACT_URLS = 20
MOST_INCLUDED = 300
MOST_EXCLUDED = 150
PER_SECOND = 1.6
"""100 requests a minute with a development key (Tavily's page on rate limits)."""


def tavily_endpoint(key: str, *, base_url: str = "https://api.tavily.com") -> Endpoint:
    """The official host with the user's key."""
    return Endpoint(
        name=NAME,
        base_url=base_url,
        headers={"Authorization": f"Bearer {key}"},
        secrets=(key,),
        classify=_classify,
        per_second=PER_SECOND,
        remedy="check TAVILY_API_KEY",
    )


@dataclass(frozen=True, kw_only=True)
class TavilyOptions:
    """The API's parameters of these names; None and empty ones are not sent.

    `search_depth` is `basic` or `advanced` (which costs double), `time_range` one of day, week, month, year. Without
    `include_raw_content` hits hold snippets alone.
    """

    search_depth: str = "basic"
    include_raw_content: bool = True
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    time_range: str | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> TavilyOptions:
        return cls(
            search_depth=settings.tavily_search_depth,
            include_raw_content=settings.tavily_include_raw_content,
            include_domains=settings.tavily_include_domains,
            exclude_domains=settings.tavily_exclude_domains,
            time_range=settings.tavily_time_range,
        )

    def body(self) -> dict[str, Any]:
        """The parameters that are sent."""
        raw = "markdown" if self.include_raw_content else False
        given = {
            "search_depth": self.search_depth,
            "include_raw_content": raw,
            "include_domains": list(self.include_domains),
            "exclude_domains": list(self.exclude_domains),
            "time_range": self.time_range,
        }
        return {name: value for name, value in given.items() if value not in (None, [])}


@dataclass(frozen=True, kw_only=True)
class TavilySearch(HttpSearch):
    """Web pages, or news where a query asks for news alone. `extract` reads pages."""

    name = NAME
    serves = frozenset({"web", "news"})
    options: TavilyOptions = field(default_factory=TavilyOptions)

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """One request, whatever the number of results, of which it gives 20 at most."""
        news = "news" in request.source_types and "web" not in request.source_types
        query = {
            "query": shortened(request.query, QUERY_CHARS),
            "topic": "news" if news else "general",
            "max_results": min(request.max_results, MOST_RESULTS),
        }
        body = {**query, **self.options.body(), **_wishes(request, self.options)}
        answer = await self.ask_json("/search", holds=("results",), json=body)
        return tavily_hits(answer, request)

    async def extract(self, urls: Sequence[str]) -> Mapping[str, str]:
        """The texts of pages in Markdown by address, at most 20 at once; a page that it cannot read is not in it."""
        body = {"urls": list(urls)[:EXTRACT_URLS], "format": "markdown", "extract_depth": self.options.search_depth}
        answer = await self.ask_json("/extract", holds=("results",), json=body)
        requested = frozenset(urls)
        pages = {line(row.get("url")): text(row.get("raw_content")) for row in rows(answer.get("results"))}
        return {url: page for url, page in pages.items() if url in requested and page.strip()}


def tavily_hits(answer: Mapping[str, Any], request: SearchRequest) -> list[SearchHit]:
    """The results of a response to `/search`; its `score` is 0 to 1."""
    return make_hits(NAME, request, map(_raw_hit, rows(answer.get("results"))))


def _wishes(request: SearchRequest, options: TavilyOptions) -> dict[str, Any]:
    """The parameters for the domains and days of a request. Where it allows domains, those of the options are left
    out; the API takes 300 domains to search and 150 to leave out."""
    allowed = [*request.allow_domains, *(() if request.allow_domains else options.include_domains)]
    denied = dict.fromkeys([*request.deny_domains, *options.exclude_domains])
    wishes: dict[str, Any] = {
        "include_domains": allowed[:MOST_INCLUDED],
        "exclude_domains": list(denied)[:MOST_EXCLUDED],
        "start_date": request.first_day,
        "end_date": request.last_day,
    }
    return {name: value for name, value in wishes.items() if value}


def _raw_hit(row: Mapping[str, Any]) -> RawHit:
    whole = text(row.get("raw_content"))
    return RawHit(
        title=row.get("title"),
        url=row.get("url"),
        body=whole if whole.strip() else row.get("content"),
        extent=Extent.FULL if whole.strip() else Extent.SNIPPET,
        form="text/markdown" if whole.strip() else "text/plain",
        snippet=row.get("content"),
        relevance=number(row.get("score")),
        published_at=iso_date(row.get("published_date")),
    )


def _classify(reply: Response) -> ProviderError | None:
    """Tavily's statuses 432 and 433: the credits of the plan, or the pay-as-you-go limit, are used up."""
    if reply.status not in (432, 433):
        return None
    return ProviderRefused(
        f"tavily: the credits of this key are used up {_quoted_message(reply)}".rstrip(),
        provider=NAME,
        help="raise the plan's limit at app.tavily.com, or use another search",
    )


def _quoted_message(reply: Response) -> str:
    try:
        message = message_in(reply.json(), "detail", "error")
    except ValueError:
        return ""
    return f"({message})" if message else ""


SPEC = SearchSpec(
    adapter=TavilySearch,
    summary="the web and news",
    content="whole pages",
    keys=("TAVILY_API_KEY",),
    in_web=True,
    endpoint=lambda clients: tavily_endpoint(clients.key("TAVILY_API_KEY") or ""),
    options=lambda settings: {"options": TavilyOptions.from_settings(settings)},
    probe=lambda clients, endpoint: Probe(
        endpoint=endpoint, path="/usage", tells_key=bool(clients.key("TAVILY_API_KEY"))
    ),
)
