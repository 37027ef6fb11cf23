"""Semantic Scholar: papers with abstracts, citations and open PDFs. Academic Graph API, `GET /graph/v1/paper/search`.

Format: api.semanticscholar.org/api-docs/graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.user_agent import user_agent
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits, web_address
from graph_research.providers.search.support.json_fields import count, line, lines, mapping, rows
from graph_research.providers.search.support.query_text import shortened
from graph_research.text.language.dates import iso_date, iso_from_parts

NAME = "semantic_scholar"
QUERY_CHARS = 300
"""No limit is documented; longer queries find nothing, since all words have to match."""
MOST_RESULTS = 100
PER_SECOND = 1.0
"""What a key is given at first; without one all anonymous users share a pool (semanticscholar.org/product/api)."""
FIELDS = (
    "title,abstract,year,publicationDate,authors,venue,journal,externalIds,url,openAccessPdf,publicationTypes,"
    "citationCount"
)
_REVIEWED = frozenset({"JournalArticle", "Conference", "Review", "MetaAnalysis", "ClinicalTrial"})
_PREPRINTS = ("arxiv", "biorxiv", "medrxiv", "ssrn", "preprint", "research square")


def semantic_scholar_endpoint(
    key: str | None = None,
    *,
    base_url: str = "https://api.semanticscholar.org",
    contact: str | None = None,
) -> Endpoint:
    """The official host; a key is optional."""
    return Endpoint(
        name=NAME,
        base_url=base_url,
        headers={"User-Agent": user_agent(contact), **({"x-api-key": key} if key else {})},
        secrets=(key,) if key else (),
        classify=None if key else _classify,
        per_second=PER_SECOND,
        remedy="check SEMANTIC_SCHOLAR_API_KEY" if key else "set SEMANTIC_SCHOLAR_API_KEY, which is free",
    )


class SemanticScholarSearch(HttpSearch):
    """Papers, by abstract."""

    name = NAME
    serves = frozenset({"academic"})

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """One request; hyphens become spaces, since the API matches no hyphenated word."""
        params = {
            "query": shortened(request.query.replace("-", " "), QUERY_CHARS),
            "limit": str(min(request.max_results, MOST_RESULTS)),
            "fields": FIELDS,
        }
        if request.first_day or request.last_day:
            params["publicationDateOrYear"] = f"{request.first_day or ''}:{request.last_day or ''}"
        answer = await self.ask_json("/graph/v1/paper/search", holds=("data", "total"), params=params)
        return semantic_scholar_hits(answer, request)


def semantic_scholar_hits(answer: Mapping[str, Any], request: SearchRequest) -> list[SearchHit]:
    """The papers of a response in order of relevance."""
    return make_hits(NAME, request, map(_raw_hit, rows(answer.get("data"))))


def _raw_hit(paper: Mapping[str, Any]) -> RawHit:
    ids = mapping(paper.get("externalIds"))
    venue = line(mapping(paper.get("journal")).get("name")) or line(paper.get("venue"))
    return RawHit(
        title=paper.get("title"),
        url=paper.get("url"),
        body=paper.get("abstract"),
        extent=Extent.ABSTRACT,
        authors=[author.get("name") for author in rows(paper.get("authors"))],
        publisher=venue,
        published_at=iso_date(paper.get("publicationDate")) or iso_from_parts(paper.get("year")),
        doi=normal_doi(ids.get("DOI")),
        tier=_tier(venue, lines(paper.get("publicationTypes"))),
        metadata={
            "pdf_url": web_address(mapping(paper.get("openAccessPdf")).get("url")),
            "licence": line(mapping(paper.get("openAccessPdf")).get("license")),
            "cited_by": count(paper.get("citationCount")),
            "arxiv_id": line(ids.get("ArXiv")),
            "pubmed_id": line(ids.get("PubMed")),
        },
    )


def _tier(venue: str, types: Sequence[str]) -> str:
    """`PRIMARY_SOURCE` for a peer-reviewed article, else `AUTHORITATIVE`, as for preprints."""
    if not venue or any(name in venue.lower() for name in _PREPRINTS):
        return "AUTHORITATIVE"
    return "PRIMARY_SOURCE" if _REVIEWED.intersection(types) else "AUTHORITATIVE"


def _classify(reply: Response) -> ProviderError | None:
    if reply.status != 429:
        return None
    return ProviderUnavailable(
        "semantic_scholar: the pool of users without a key is full",
        provider=NAME,
        help="set SEMANTIC_SCHOLAR_API_KEY, which is free",
    )


SPEC = SearchSpec(
    adapter=SemanticScholarSearch,
    summary="papers of all fields",
    content="abstracts",
    optional_keys={"SEMANTIC_SCHOLAR_API_KEY": "a rate limit of your own"},
    in_web=True,
    endpoint=lambda clients: semantic_scholar_endpoint(
        clients.key("SEMANTIC_SCHOLAR_API_KEY"), contact=clients.settings.contact_email
    ),
)
