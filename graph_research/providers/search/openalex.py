"""OpenAlex: 250 million scholarly works with abstracts, citations and open copies. `GET /works?search=`.

Format: developers.openalex.org.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.user_agent import user_agent
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits, web_address
from graph_research.providers.search.support.json_fields import count, line, mapping, number, rows
from graph_research.providers.search.support.query_text import keywords
from graph_research.text.language.dates import iso_date, iso_from_parts

NAME = "openalex"
QUERY_CHARS = 1_000
QUERY_WORDS = 12
"""All words have to match, so that a long question would find nothing; an address may have 4 kB."""
MOST_RESULTS = 100
PER_SECOND = 10.0
"""100 a second are allowed; what ends first is the day's allowance: 100 searches without a key, 1,000 with a free one
(developers.openalex.org, Authentication & Pricing)."""
FIELDS = (
    "id,doi,title,publication_date,publication_year,type,is_retracted,authorships,primary_location,best_oa_location,"
    "abstract_inverted_index,cited_by_count,relevance_score"
)
_MOST_ABSTRACT_WORDS = 20_000


def openalex_endpoint(
    key: str | None = None,
    *,
    contact: str | None = None,
    base_url: str = "https://api.openalex.org",
) -> Endpoint:
    """The official host; a key is optional and goes as a parameter, as the API has it."""
    params = {"api_key": key or "", "mailto": contact or ""}
    return Endpoint(
        name=NAME,
        base_url=base_url,
        headers={"User-Agent": user_agent(contact)},
        params={name: value for name, value in params.items() if value},
        secrets=(key,) if key else (),
        classify=_classify,
        per_second=PER_SECOND,
        remedy="check OPENALEX_API_KEY" if key else "set OPENALEX_API_KEY, which is free",
    )


class OpenAlexSearch(HttpSearch):
    """Scholarly works, by abstract."""

    name = NAME
    serves = frozenset({"academic"})

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """One request for the words of the query in lower case, so that none is an operator."""
        words = keywords(request.query, most_words=QUERY_WORDS, most_chars=QUERY_CHARS)
        if not words:
            return []
        params = {
            "search": " ".join(words),
            "per_page": str(min(request.max_results, MOST_RESULTS)),
            "select": FIELDS,
            **_days(request),
        }
        answer = await self.ask_json("/works", holds=("results",), params=params)
        return openalex_hits(answer, request)


def openalex_hits(answer: Mapping[str, Any], request: SearchRequest) -> list[SearchHit]:
    """The works of a response in order of relevance."""
    return make_hits(NAME, request, map(_raw_hit, rows(answer.get("results"))))


def _days(request: SearchRequest) -> dict[str, str]:
    """The parameter `filter` for the days of publication that a request asks for."""
    names = {"from_publication_date": request.first_day, "to_publication_date": request.last_day}
    filters = [f"{name}:{day}" for name, day in names.items() if day]
    return {"filter": ",".join(filters)} if filters else {}


def abstract_of(index: Any) -> str:
    """The text of an inverted index `{word: [positions]}`: the words in the order of their places."""
    places: dict[int, str] = {}
    for word, positions in mapping(index).items():
        for place in positions if isinstance(positions, list) else ():
            if isinstance(place, int) and not isinstance(place, bool) and 0 <= place < _MOST_ABSTRACT_WORDS:
                places[place] = str(word)
    return " ".join(places[place] for place in sorted(places))


def _raw_hit(work: Mapping[str, Any]) -> RawHit:
    primary = mapping(work.get("primary_location"))
    journal = mapping(primary.get("source"))
    doi = normal_doi(work.get("doi"))
    return RawHit(
        title=work.get("title"),
        url=(f"https://doi.org/{doi}" if doi else None) or primary.get("landing_page_url") or work.get("id"),
        body=abstract_of(work.get("abstract_inverted_index")),
        extent=Extent.ABSTRACT,
        authors=[mapping(entry.get("author")).get("display_name") for entry in rows(work.get("authorships"))],
        publisher=journal.get("display_name"),
        published_at=iso_date(work.get("publication_date")) or iso_from_parts(work.get("publication_year")),
        doi=doi,
        tier=_tier(work, journal),
        metadata={
            "pdf_url": web_address(mapping(work.get("best_oa_location")).get("pdf_url"))
            or web_address(primary.get("pdf_url")),
            "licence": line(mapping(work.get("best_oa_location")).get("license")),
            "cited_by": count(work.get("cited_by_count")),
            "type": line(work.get("type")),
            "openalex_id": line(work.get("id")),
        },
    )


def _tier(work: Mapping[str, Any], journal: Mapping[str, Any]) -> str:
    """`FLAGGED` if retracted, `PRIMARY_SOURCE` for an article of a journal or conference."""
    if work.get("is_retracted") is True:
        return "FLAGGED"
    reviewed = line(journal.get("type")) in ("journal", "conference")
    return "PRIMARY_SOURCE" if reviewed and line(work.get("type")) in ("article", "review") else "AUTHORITATIVE"


def _classify(reply: Response) -> ProviderError | None:
    """429 means the daily limit if the headers say that nothing remains, else the rate limit, as does 403."""
    if reply.status == 429 and number(reply.headers.get("x-ratelimit-remaining")) == 0:
        return ProviderRefused(
            "openalex: the searches of the day are used up",
            provider=NAME,
            help="set OPENALEX_API_KEY, which is free and allows ten times as many, or wait for tomorrow",
        )
    if reply.status in (403, 429):
        return ProviderUnavailable("openalex: too many requests", provider=NAME, help="set OPENALEX_API_KEY")
    return None


SPEC = SearchSpec(
    adapter=OpenAlexSearch,
    summary="scholarly works of all fields",
    content="abstracts",
    optional_keys={"OPENALEX_API_KEY": "ten times as many searches a day"},
    endpoint=lambda clients: openalex_endpoint(clients.key("OPENALEX_API_KEY"), contact=clients.settings.contact_email),
)
