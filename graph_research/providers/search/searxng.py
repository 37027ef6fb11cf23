"""SearXNG: a metasearch engine that one runs oneself, so that no key is needed. `GET /search?format=json`.

Format: docs.searxng.org/dev/search_api.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.health_check import Probe
from graph_research.providers.search.base import SOURCE_TYPES, Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits, web_address
from graph_research.providers.search.support.json_fields import line, lines, rows
from graph_research.providers.search.support.query_text import shortened
from graph_research.text.language.dates import iso_date

NAME = "searxng"
QUERY_CHARS = 1_000
"""No limit is documented; the engines behind it have their own."""
MOST_PAGES = 5
PER_SECOND = 5.0
"""No limit is documented; it is the user's own server, and the engines behind it are not."""
_COMMAND = re.compile(r"(?:^|(?<=\s))[!:?]+")
"""The prefixes of commands that select engines or a language, or redirect."""
_CATEGORIES = {"web": "general", "academic": "science", "news": "news"}
_NO_JSON = "the server does not give JSON"
_JSON_ON = "add `- json` to `search: formats:` in its settings.yml and restart it"
_LIMITED = "its limiter takes this program for a robot"
_LIMITER_OFF = "set `limiter: false` in its settings.yml, or allow this machine's address in its limiter.toml"


def searxng_endpoint(url: str) -> Endpoint:
    """The user's own server, which may stand below a path."""
    return Endpoint(name=NAME, base_url=url.rstrip("/"), classify=_classify, per_second=PER_SECOND)


class SearxngSearch(HttpSearch):
    """What the server's engines find, by snippet. The kinds of sources asked for choose its categories."""

    name = NAME
    serves = SOURCE_TYPES

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Request pages until there are enough results or no more; the server sets the page size."""
        kinds = [_CATEGORIES[kind] for kind in request.source_types if kind in _CATEGORIES]
        hits: list[SearchHit] = []
        for page in range(1, MOST_PAGES + 1):
            params = {
                "q": shortened(_COMMAND.sub(" ", request.query), QUERY_CHARS),
                "format": "json",
                "categories": ",".join(dict.fromkeys(kinds)) or _CATEGORIES["web"],
                "pageno": str(page),
            }
            answer = await self.ask_json("/search", holds=("results",), params=params)
            more = searxng_hits(answer, request, first_rank=len(hits))
            fresh = [hit for hit in more if hit.url not in {earlier.url for earlier in hits}]
            if not hits and not fresh:
                _check_engines(answer)
            hits += fresh
            if not fresh or len(hits) >= request.max_results:
                break
        return hits[: request.max_results]


def searxng_hits(answer: Mapping[str, Any], request: SearchRequest, *, first_rank: int = 0) -> list[SearchHit]:
    """The results of a response in order, since its scores have no fixed scale; `first_rank` is that of the first."""
    return make_hits(NAME, request, map(_raw_hit, rows(answer.get("results"))), first_rank=first_rank)


def _raw_hit(row: Mapping[str, Any]) -> RawHit | None:
    if web_address(row.get("url")) is None:
        return None
    return RawHit(
        title=row.get("title"),
        url=row.get("url"),
        body=row.get("content"),
        extent=Extent.SNIPPET,
        authors=lines(row.get("authors")) or lines(row.get("author")),
        publisher=row.get("journal") or row.get("publisher"),
        published_at=iso_date(row.get("publishedDate")),
        doi=normal_doi(row.get("doi")),
        metadata={
            "pdf_url": web_address(row.get("pdf_url")),
            "engines": sorted(lines(row.get("engines"))),
            "category": line(row.get("category")),
        },
    )


def _check_engines(answer: Mapping[str, Any]) -> None:
    """Raise `ProviderUnavailable` if there are no results because engines failed (`[[name, reason], …]`)."""
    engines = answer.get("unresponsive_engines")
    engines = engines if isinstance(engines, list) else []
    failed = [": ".join(lines(engine)) for engine in engines if isinstance(engine, list)]
    if any(failed):
        raise ProviderUnavailable(f"searxng: none of its engines answered ({'; '.join(failed)[:200]})", provider=NAME)


def _classify(reply: Response) -> ProviderError | None:
    if reply.status == 403:
        return ProviderRefused(f"searxng: {_NO_JSON}", provider=NAME, help=_JSON_ON)
    if reply.status == 429:
        return ProviderUnavailable(f"searxng: {_LIMITED}", provider=NAME, help=_LIMITER_OFF)
    return None


def _probe(endpoint: Endpoint) -> Probe:
    """Asks for JSON without a query, which no engine gets to see: SearXNG answers 400 where it gives JSON, else 403."""
    return Probe(
        endpoint=endpoint,
        path="/search",
        params={"format": "json"},
        refusals={
            403: f"{_NO_JSON}; {_JSON_ON}",
            404: "no SearXNG is at this address; check searxng_url",
            429: f"{_LIMITED}; {_LIMITER_OFF}",
        },
    )


SPEC = SearchSpec(
    adapter=SearxngSearch,
    summary="the web, papers and news, by your own SearXNG server",
    content="snippets",
    required_settings=("searxng_url",),
    endpoint=lambda clients: searxng_endpoint(clients.settings.searxng_url or ""),
    probe=lambda _, endpoint: _probe(endpoint),
)
