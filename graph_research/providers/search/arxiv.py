"""arXiv: preprints of physics, mathematics, computer science and more. Its Atom API, `GET /api/query`.

Format: info.arxiv.org/help/api/user-manual.html.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from graph_research.providers.errors import ProviderRefused
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.user_agent import user_agent
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits, web_address
from graph_research.providers.search.support.json_fields import line
from graph_research.providers.search.support.query_text import keywords
from graph_research.providers.search.support.xml import text_at
from graph_research.text.language.dates import iso_date

NAME = "arxiv"
QUERY_WORDS = 10
QUERY_CHARS = 300
"""No limit is documented; a paper that has all of more than ten words is not found."""
MOST_RESULTS = 100
PER_SECOND = 1 / 3
"""One request in three seconds (terms of use of the arXiv APIs)."""
_ID = re.compile(r"https?://(?:export\.)?arxiv\.org/abs/(?P<id>[\w.\-/]+?)(?P<version>v\d+)?$")

_PART = re.compile(r"[^\W_]+")


def arxiv_endpoint(*, contact: str | None = None, base_url: str = "https://export.arxiv.org") -> Endpoint:
    """The host for programs."""
    return Endpoint(name=NAME, base_url=base_url, headers={"User-Agent": user_agent(contact)}, per_second=PER_SECOND)


class ArxivSearch(HttpSearch):
    """Preprints, by abstract."""

    name = NAME
    serves = frozenset({"academic"})

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Papers with all words of the query, or if there is none, with any of them."""
        words = keywords(request.query, most_words=QUERY_WORDS, most_chars=QUERY_CHARS)
        if not words:
            return []
        hits = await self._ask(words, " AND ", request)
        return hits if hits or len(words) == 1 else await self._ask(words, " OR ", request)

    async def _ask(self, words: Sequence[str], operator: str, request: SearchRequest) -> list[SearchHit]:
        params = {
            "search_query": operator.join(_term(word) for word in words),
            "start": "0",
            "max_results": str(min(request.max_results, MOST_RESULTS)),
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        return arxiv_hits(await self.ask_xml("/api/query", root="feed", params=params), request)


def arxiv_hits(feed: Element, request: SearchRequest) -> list[SearchHit]:
    """The entries of a feed in order. Raises `ProviderRefused` for an entry that reports an error."""
    entries = feed.findall("entry")
    for entry in entries:
        if "/api/errors" in text_at(entry, "id"):
            raise ProviderRefused(f"arxiv: {line(text_at(entry, 'summary'))[:200]}", provider=NAME)
    return make_hits(NAME, request, map(_raw_hit, entries))


def _raw_hit(entry: Element) -> RawHit | None:
    address = _ID.fullmatch(text_at(entry, "id").strip())
    if address is None:
        return None
    number = address["id"]
    version = address["version"] or ""
    category = entry.find("primary_category")
    return RawHit(
        title=text_at(entry, "title"),
        url=f"https://arxiv.org/abs/{number}{version}",
        body=text_at(entry, "summary"),
        extent=Extent.ABSTRACT,
        authors=[text_at(author, "name") for author in entry.iterfind("author")],
        publisher="arXiv",
        published_at=iso_date(text_at(entry, "updated")) or iso_date(text_at(entry, "published")),
        doi=normal_doi(text_at(entry, "doi")) or normal_doi(f"10.48550/arxiv.{number}"),
        tier="AUTHORITATIVE",
        metadata={
            "pdf_url": _pdf(entry) or f"https://arxiv.org/pdf/{number}{version}",
            "arxiv_id": number,
            "journal": line(text_at(entry, "journal_ref")),
            "category": line(category.get("term")) if category is not None else None,
        },
    )


def _term(word: str) -> str:
    """The query for one word in all fields; a word with punctuation becomes a phrase."""
    if word.isalnum():
        return f"all:{word}"
    phrase = " ".join(_PART.findall(word))
    return f'all:"{phrase}"'


def _pdf(entry: Element) -> str | None:
    links = entry.iterfind("link[@title='pdf']")
    address = next((web_address(link.get("href")) for link in links), None)
    return re.sub(r"^http:", "https:", address) if address else None


SPEC = SearchSpec(
    adapter=ArxivSearch,
    summary="preprints",
    content="abstracts",
    endpoint=lambda clients: arxiv_endpoint(contact=clients.settings.contact_email),
)
