"""Crossref: what publishers register with their DOIs, papers and books. REST API, `GET /works`.

Format: api.crossref.org (Swagger), crossref.org/documentation/retrieve-metadata/rest-api.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.user_agent import user_agent
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits, web_address
from graph_research.providers.search.support.json_fields import count, line, lines, mapping, rows, text
from graph_research.providers.search.support.query_text import shortened
from graph_research.text.language.dates import iso_from_parts

NAME = "crossref"
QUERY_CHARS = 1_000
"""No limit is documented beyond that of an address, 4 kB."""
MOST_RESULTS = 100
PER_SECOND = 1.0
PER_SECOND_WITH_CONTACT = 3.0
"""List queries of the public and of the polite pool since 1 December 2025 (Crossref's blog, 5 November 2025)."""
FIELDS = (
    "DOI,title,abstract,author,container-title,publisher,type,issued,published,URL,link,license,"
    "is-referenced-by-count,score"
)
_TIERS = {
    "journal-article": "PRIMARY_SOURCE",
    "proceedings-article": "PRIMARY_SOURCE",
    "posted-content": "AUTHORITATIVE",
    "book": "AUTHORITATIVE",
    "book-chapter": "AUTHORITATIVE",
    "monograph": "AUTHORITATIVE",
    "report": "AUTHORITATIVE",
    "standard": "AUTHORITATIVE",
    "dissertation": "AUTHORITATIVE",
}
_OTHER_TIER = "SECONDARY"
_JATS_TAG = re.compile(r"<(/?)(?:jats:)?(\w+)")
_HTML_OF_JATS = {"title": "h3", "sec": "section", "italic": "i", "bold": "b", "list": "ul", "list-item": "li"}


def crossref_endpoint(*, contact: str | None = None, base_url: str = "https://api.crossref.org") -> Endpoint:
    """The public pool, or with a mail address the polite one."""
    return Endpoint(
        name=NAME,
        base_url=base_url,
        headers={"User-Agent": user_agent(contact)},
        params={"mailto": contact} if contact else {},
        per_second=PER_SECOND_WITH_CONTACT if contact else PER_SECOND,
        remedy="" if contact else "set contact_email for the pool with higher limits",
    )


class CrossrefSearch(HttpSearch):
    """Registered works, by abstract where the publisher gave one."""

    name = NAME
    serves = frozenset({"academic"})

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """One request; the API sorts by relevance."""
        params = {
            "query.bibliographic": shortened(request.query, QUERY_CHARS),
            "rows": str(min(request.max_results, MOST_RESULTS)),
            "select": FIELDS,
            **_days(request),
        }
        answer = await self.ask_json("/works", holds=("message",), params=params)
        return crossref_hits(answer, request)


def crossref_hits(answer: Mapping[str, Any], request: SearchRequest) -> list[SearchHit]:
    """The works of a response in order."""
    works = rows(mapping(answer.get("message")).get("items"))
    return make_hits(NAME, request, map(_raw_hit, works))


def _days(request: SearchRequest) -> dict[str, str]:
    """The parameter `filter` for the days of publication that a request asks for."""
    names = {"from-pub-date": request.first_day, "until-pub-date": request.last_day}
    filters = [f"{name}:{day}" for name, day in names.items() if day]
    return {"filter": ",".join(filters)} if filters else {}


def _raw_hit(work: Mapping[str, Any]) -> RawHit:
    doi = normal_doi(work.get("DOI"))
    return RawHit(
        title=next(iter(lines(work.get("title"))), ""),
        url=f"https://doi.org/{doi}" if doi else work.get("URL"),
        body=_html(text(work.get("abstract"))),
        form="text/html",
        extent=Extent.ABSTRACT,
        authors=[_name(author) for author in rows(work.get("author"))],
        publisher=next(iter(lines(work.get("container-title"))), "") or work.get("publisher"),
        published_at=_date(work.get("published")) or _date(work.get("issued")),
        doi=doi,
        tier=_TIERS.get(line(work.get("type")), _OTHER_TIER),
        metadata={
            "pdf_url": _pdf(work),
            "licence": _licence(work),
            "cited_by": count(work.get("is-referenced-by-count")),
            "type": line(work.get("type")),
        },
    )


def _html(jats: str) -> str:
    """The JATS markup of an abstract as HTML."""
    return _JATS_TAG.sub(lambda tag: f"<{tag[1]}{_HTML_OF_JATS.get(tag[2], tag[2])}", jats)


def _name(author: Mapping[str, Any]) -> str:
    """The name of a person or an organisation."""
    return " ".join(filter(None, (line(author.get("given")), line(author.get("family"))))) or line(author.get("name"))


def _date(value: Any) -> str | None:
    """`{"date-parts": [[2024, 5, 7]]}`, whose month and day may be missing."""
    parts = mapping(value).get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    return iso_from_parts(*first[:3]) if first else None


def _licence(work: Mapping[str, Any]) -> str:
    """The address of the licence of the text, or of mining it where no other is given."""
    licences = sorted(rows(work.get("license")), key=lambda each: each.get("content-version") == "tdm")
    return next((address for each in licences if (address := line(each.get("URL")))), "")


def _pdf(work: Mapping[str, Any]) -> str | None:
    links = (link for link in rows(work.get("link")) if line(link.get("content-type")) == "application/pdf")
    return next((address for link in links if (address := web_address(link.get("URL")))), None)


SPEC = SearchSpec(
    adapter=CrossrefSearch,
    summary="works with a DOI",
    content="abstracts, often none",
    endpoint=lambda clients: crossref_endpoint(contact=clients.settings.contact_email),
)
