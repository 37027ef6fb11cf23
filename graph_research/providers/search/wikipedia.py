"""Wikipedia in any of its languages: a search, then the whole text of each article. MediaWiki's Action API.

Format: mediawiki.org, API:Search and Extension:TextExtracts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.user_agent import user_agent
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch, message_in
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.hit import RawHit, make_hits
from graph_research.providers.search.support.json_fields import mapping, number, rows, text
from graph_research.providers.search.support.query_text import keywords, shortened
from graph_research.text.language.dates import iso_date

NAME = "wikipedia"
QUERY_CHARS = 300
"""Longer ones are refused (CirrusSearch)."""
QUERY_WORDS = 12
MOST_RESULTS = 20
"""As many introductions come with one reply (Extension:TextExtracts)."""
PER_SECOND = 5.0
"""No number is documented; requests go one after the other, as API:Etiquette asks."""
LICENCE = "CC BY-SA 4.0"
"""Of the text of all articles (Wikimedia's terms of use, section 7)."""
_PATH = "/w/api.php"
_HEADING = re.compile(r"^(={2,6})[ \t]*(.+?)[ \t]*\1[ \t]*$", re.MULTILINE)
_BARE_END = re.compile(r"(?:^={2,6}.*={2,6}[ \t]*\s*)+\Z", re.MULTILINE)
_HOLDS = ("query", "batchcomplete", "continue", "error")
"""Without results there is no `query`."""
_TRY_AGAIN = ("ratelimited", "maxlag", "readonly", "internal_api_error", "cirrussearch-too-busy")


def wikipedia_endpoint(language: str = "en", *, contact: str | None = None, base_url: str | None = None) -> Endpoint:
    """The Wikipedia of a language. Wikimedia blocks programs that do not say who they are."""
    return Endpoint(
        name=NAME,
        base_url=base_url or f"https://{language}.wikipedia.org",
        headers={"User-Agent": user_agent(contact)},
        per_second=PER_SECOND,
        remedy="" if contact else "set contact_email, which Wikimedia asks programs for",
    )


@dataclass(frozen=True, kw_only=True)
class WikipediaSearch(HttpSearch):
    """Articles, whole. `language` is the peer's."""

    name = NAME
    serves = frozenset({"web"})
    language: str = "en"

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Articles with all words of the query, or if there is none, with any of them. One request for the list and
        one for each text; if a text is unavailable, the introduction is used."""
        queries = self._queries(request.query)
        pages: list[Mapping[str, Any]] = []
        for query in queries:
            pages = pages or await self._pages(query, min(request.max_results, MOST_RESULTS))
        whole = {key: await self._text(key) for page in pages if (key := _key(page))}
        return wikipedia_hits(pages, whole, request)

    def _queries(self, query: str) -> list[str]:
        if self.language != "en":
            return [shortened(query, QUERY_CHARS)]
        words = keywords(query, most_words=QUERY_WORDS, most_chars=QUERY_CHARS)
        joined = " OR ".join(words)
        return [" ".join(words), *([joined] if len(words) > 1 and len(joined) <= QUERY_CHARS else [])] if words else []

    async def _pages(self, query: str, limit: int) -> list[Mapping[str, Any]]:
        params = {
            "generator": "search",
            "gsrsearch": query,
            "gsrlimit": str(limit),
            "gsrnamespace": "0",
            "prop": "extracts|info|revisions|pageprops",
            "exintro": "1",
            "explaintext": "1",
            "exlimit": str(MOST_RESULTS),
            "inprop": "url",
            "rvprop": "ids|timestamp",
            "ppprop": "disambiguation",
        }
        return wikipedia_pages(await self._ask(params))

    async def _text(self, key: str) -> str:
        params = {"prop": "extracts", "pageids": key, "explaintext": "1", "exsectionformat": "wiki"}
        try:
            pages = rows(mapping((await self._ask(params)).get("query")).get("pages"))
        except ProviderError:
            return ""
        return text(pages[0].get("extract")) if pages else ""

    async def _ask(self, params: Mapping[str, str]) -> Mapping[str, Any]:
        query = {"action": "query", "format": "json", "formatversion": "2", **params}
        answer = await self.ask_json(_PATH, holds=_HOLDS, params=query)
        code = message_in(answer, "error", "code")
        if code:
            kind = ProviderUnavailable if code.startswith(_TRY_AGAIN) else ProviderRefused
            raise kind(f"wikipedia: {message_in(answer, 'error', 'info') or code}", provider=NAME)
        return answer


def wikipedia_pages(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The articles of a response, best first, without disambiguation pages."""
    pages = rows(mapping(answer.get("query")).get("pages"))
    articles = [page for page in pages if "disambiguation" not in mapping(page.get("pageprops"))]
    return sorted(articles, key=lambda page: number(page.get("index")) or 0.0)


def wikipedia_hits(
    pages: Sequence[Mapping[str, Any]], whole: Mapping[str, str], request: SearchRequest
) -> list[SearchHit]:
    """Hits of articles; `whole` holds texts by page id, else the introduction is used."""
    return make_hits(NAME, request, (_raw_hit(page, whole.get(_key(page), "")) for page in pages))


def _raw_hit(page: Mapping[str, Any], whole: str) -> RawHit:
    revision = next(iter(rows(page.get("revisions"))), {})
    body = _plain(whole)
    return RawHit(
        title=page.get("title"),
        url=page.get("canonicalurl") or page.get("fullurl"),
        body=body or text(page.get("extract")),
        extent=Extent.FULL if body else Extent.SNIPPET,
        publisher="Wikipedia",
        published_at=iso_date(revision.get("timestamp")),
        tier="SECONDARY",
        metadata={
            "licence": LICENCE,
            "page_id": _key(page),
            "revision": str(number(revision.get("revid")) or "").removesuffix(".0"),
        },
    )


def _key(page: Mapping[str, Any]) -> str:
    """The page's id as text, empty where it has none."""
    number = page.get("pageid")
    return str(number) if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**12 else ""


def _plain(extract: str) -> str:
    """The article's text with its headings as paragraphs of their own; those at its end with nothing below (the
    lists of references, which an extract leaves out) are dropped."""
    return _HEADING.sub(r"\n\n\2\n\n", _BARE_END.sub("", extract)).strip()


SPEC = SearchSpec(
    adapter=WikipediaSearch,
    summary="the encyclopedia, in the language of wikipedia_language",
    content="whole articles",
    endpoint=lambda clients: wikipedia_endpoint(
        clients.settings.wikipedia_language, contact=clients.settings.contact_email
    ),
    options=lambda settings: {"language": settings.wikipedia_language},
)
