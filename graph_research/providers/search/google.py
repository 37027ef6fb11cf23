"""Google's Programmable Search, Custom Search JSON API: `GET /customsearch/v1` with a key and an engine's id.

Format: developers.google.com/custom-search/v1. The API takes no new customers and ends for the others on 1 January
2027, so the page on searches says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch, message_in
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits
from graph_research.providers.search.support.json_fields import line, mapping, rows
from graph_research.providers.search.support.query_text import shortened
from graph_research.text.language.dates import iso_date

NAME = "google"
QUERY_CHARS = 1_500
"""The API takes 2,048 characters of address in all; what does not fit is refused."""
PAGE = 10
LAST_START = 91
"""`start` + `num` may not go beyond 100 (reference of cse.list)."""
PER_SECOND = 1.6
"""100 queries a minute and user, the quota of a new project (Cloud console)."""

_DATES = ("article:published_time", "datePublished", "date", "dc.date", "citation_publication_date", "pubdate")
_HOLDS = ("items", "searchInformation", "queries")
"""Without results there are no `items`."""
_TRY_AGAIN = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "backendError"})


def google_endpoint(key: str, engine: str, *, base_url: str = "https://www.googleapis.com") -> Endpoint:
    """The official host with the user's key and engine, which the API takes as parameters."""
    return Endpoint(
        name=NAME,
        base_url=base_url,
        params={"key": key, "cx": engine},
        secrets=(key, engine),
        classify=_classify,
        per_second=PER_SECOND,
        remedy="check GOOGLE_API_KEY and GOOGLE_CSE_ID, and that the key's project has the Custom Search API",
    )


@dataclass(frozen=True, kw_only=True)
class GoogleSearch(HttpSearch):
    """Web pages, by snippet; `date_restrict` is the API's (`d7`, `w2`, `m6`, `y1`), for news `d30` without one."""

    name = NAME
    serves = frozenset({"web", "news"})
    date_restrict: str | None = None

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Ten results a request, one after the other until there are enough or no more."""
        news = "news" in request.source_types and "web" not in request.source_types
        restrict = self.date_restrict or ("d30" if news else None)
        hits: list[SearchHit] = []
        start: int | None = 1
        while start is not None and start <= LAST_START and len(hits) < request.max_results:
            params = {
                "q": shortened(request.query, QUERY_CHARS),
                "num": str(min(PAGE, request.max_results - len(hits))),
                "start": str(start),
            }
            if restrict:
                params["dateRestrict"] = restrict
            answer = await self.ask_json("/customsearch/v1", holds=_HOLDS, params=params)
            hits += google_hits(answer, request, first_rank=start - 1)
            start = _next_start(answer, start)
        return hits[: request.max_results]


def google_hits(answer: Mapping[str, Any], request: SearchRequest, *, first_rank: int = 0) -> list[SearchHit]:
    """The items of a response; `first_rank` is the rank of the first one."""
    return make_hits(NAME, request, map(_raw_hit, rows(answer.get("items"))), first_rank=first_rank)


def _raw_hit(item: Mapping[str, Any]) -> RawHit:
    tags = _metatags(item)
    return RawHit(
        title=tags.get("og:title") or item.get("title"),
        url=item.get("link"),
        body=item.get("snippet"),
        extent=Extent.SNIPPET,
        snippet=item.get("snippet"),
        authors=(tags.get("author") or tags.get("citation_author"),),
        publisher=tags.get("og:site_name"),
        published_at=next((date for name in _DATES if (date := iso_date(tags.get(name)))), None),
        doi=normal_doi(tags.get("citation_doi")),
        metadata={"pdf_url": item.get("link") if line(item.get("mime")) == "application/pdf" else None},
    )


def _metatags(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(iter(rows(mapping(item.get("pagemap")).get("metatags"))), {})


def _next_start(answer: Mapping[str, Any], start: int) -> int | None:
    """The start of the next page, None after the last one; never an earlier page."""
    following = next(iter(rows(mapping(answer.get("queries")).get("nextPage"))), {}).get("startIndex")
    return following if isinstance(following, int) and following > start else None


def _classify(reply: Response) -> ProviderError | None:
    """`errors[].reason` says whether a refusal is permanent. The daily quota answers 429 like the rate limit; only its
    message differs."""
    if reply.status not in (403, 429):
        return None
    try:
        error = mapping(mapping(reply.json()).get("error"))
    except ValueError:
        return None
    reasons = {line(entry.get("reason")) for entry in rows(error.get("errors"))}
    words = message_in(error, "message")
    if "per day" in words or "dailyLimitExceeded" in reasons:
        return ProviderRefused(
            f"google: the queries of the day are used up ({words})",
            provider=NAME,
            help="100 a day are free; turn on billing in the Cloud console, wait for tomorrow, or use another search",
        )
    if reply.status == 429 or reasons & _TRY_AGAIN:
        return ProviderUnavailable(f"google: too many requests ({words})", provider=NAME)
    return None


SPEC = SearchSpec(
    adapter=GoogleSearch,
    summary="the web and news, for old customers (Google takes no new ones, and ends it on 2027-01-01)",
    content="snippets",
    keys=("GOOGLE_API_KEY", "GOOGLE_CSE_ID"),
    in_web=True,
    endpoint=lambda clients: google_endpoint(clients.key("GOOGLE_API_KEY") or "", clients.key("GOOGLE_CSE_ID") or ""),
    options=lambda settings: {"date_restrict": settings.google_date_restrict},
)
