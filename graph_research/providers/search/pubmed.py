"""PubMed: the literature of medicine and the life sciences. NCBI's E-utilities, esearch for ids and efetch for XML.

Format: ncbi.nlm.nih.gov/books/NBK25499 (E-utilities) and the PubMed DTD.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.http_search import HttpSearch, message_in
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits
from graph_research.providers.search.support.json_fields import line, lines, mapping
from graph_research.providers.search.support.query_text import keywords
from graph_research.providers.search.support.xml import text_at
from graph_research.text.language.dates import iso_from_parts

NAME = "pubmed"
QUERY_WORDS = 12
QUERY_CHARS = 600
"""An address should stay below 2,000 characters or so (NBK25499); all words have to match."""
MOST_RESULTS = 100
PER_SECOND = 3.0
PER_SECOND_WITH_KEY = 10.0
"""NBK25497, Usage Guidelines."""
_PLACE = "/entrez/eutils"
_FIRST_DAY, _LAST_DAY = "1000-01-01", "3000-12-31"  # the API takes both bounds or none
_TIERS = {"Retracted Publication": "FLAGGED", "Preprint": "AUTHORITATIVE", "News": "SECONDARY"}


def pubmed_endpoint(
    key: str | None = None,
    *,
    contact: str | None = None,
    base_url: str = "https://eutils.ncbi.nlm.nih.gov",
) -> Endpoint:
    """NCBI's host; a key is optional. NCBI asks for `tool` and `email` to write to before it blocks anyone."""
    params = {"db": "pubmed", "tool": "graph-research", "email": contact or "", "api_key": key or ""}
    return Endpoint(
        name=NAME,
        base_url=base_url,
        params={name: value for name, value in params.items() if value},
        secrets=(key,) if key else (),
        per_second=PER_SECOND_WITH_KEY if key else PER_SECOND,
        remedy="check NCBI_API_KEY" if key else "",
    )


class PubmedSearch(HttpSearch):
    """Articles, by abstract."""

    name = NAME
    serves = frozenset({"academic"})

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """Articles with all words of the query, or if there is none, with any of them. Two or three requests."""
        words = keywords(request.query, most_words=QUERY_WORDS, most_chars=QUERY_CHARS)
        if not words:
            return []
        ids = await self._ids(" AND ".join(words), request)
        if not ids and len(words) > 1:
            ids = await self._ids(" OR ".join(words), request)
        if not ids:
            return []
        params = {"id": ",".join(ids), "retmode": "xml"}
        place = f"{_PLACE}/efetch.fcgi"
        articles = await self.ask_xml(place, root="PubmedArticleSet", params=params)
        return pubmed_hits(articles, ids, request)

    async def _ids(self, term: str, request: SearchRequest) -> list[str]:
        most = min(request.max_results, MOST_RESULTS)
        params = {"term": term, "retmode": "json", "sort": "relevance", "retmax": str(most)}
        if request.first_day or request.last_day:
            first, last = request.first_day or _FIRST_DAY, request.last_day or _LAST_DAY
            params |= {"datetype": "pdat", "mindate": first.replace("-", "/"), "maxdate": last.replace("-", "/")}
        holds = ("esearchresult", "error")
        answer = await self.ask_json(f"{_PLACE}/esearch.fcgi", holds=holds, params=params)
        return pubmed_ids(answer)[:most]


def pubmed_ids(answer: Any) -> list[str]:
    """The ids of an esearch response, best first. Raises `ProviderUnavailable` for an error with status 200."""
    failure = message_in(answer, "esearchresult", "ERROR") or message_in(answer, "error")
    if failure:
        raise ProviderUnavailable(f"pubmed: {failure}", provider=NAME)
    return [
        number for number in lines(mapping(mapping(answer).get("esearchresult")).get("idlist")) if number.isdecimal()
    ]


def pubmed_hits(articles: Element, ids: Sequence[str], request: SearchRequest) -> list[SearchHit]:
    """The articles of an efetch response, reordered by `ids`."""
    by_id: dict[str, Element] = {}
    for article in articles:
        body = _first(article, "MedlineCitation", "BookDocument")
        if body is not None:
            by_id.setdefault(text_at(body, "PMID").strip(), article)
    return make_hits(NAME, request, (_raw_hit(by_id[number], number) for number in ids if number in by_id))


def _raw_hit(entry: Element, pubmed_id: str) -> RawHit:
    article = _first(entry, "MedlineCitation/Article", "BookDocument")
    article = entry if article is None else article
    ids = {element.get("IdType", ""): text_at(element) for element in _identifiers(entry)}
    types = lines([text_at(element) for element in article.iter("PublicationType")])
    return RawHit(
        title=text_at(article, "ArticleTitle") or text_at(article, "Book/BookTitle"),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pubmed_id}/",
        body=_abstract(article),
        extent=Extent.ABSTRACT,
        authors=[_name(author) for author in article.iter("Author")],
        publisher=text_at(article, "Journal/Title") or text_at(article, "Book/Publisher/PublisherName"),
        published_at=_date(article),
        doi=normal_doi(ids.get("doi")),
        tier=next((_TIERS[name] for name in types if name in _TIERS), "PRIMARY_SOURCE"),
        metadata={"pubmed_id": pubmed_id, "pmc_id": line(ids.get("pmc")), "types": types},
    )


def _first(element: Element, *paths: str) -> Element | None:
    """The first element that one of the paths leads to."""
    return next((match for path in paths if (match := element.find(path)) is not None), None)


def _identifiers(entry: Element) -> list[Element]:
    """The article's own ids, not those of what it cites."""
    return [
        *entry.findall("PubmedData/ArticleIdList/ArticleId"),
        *entry.findall("BookDocument/ArticleIdList/ArticleId"),
    ]


def _abstract(article: Element) -> str:
    """The parts of the abstract as paragraphs, each after its label, if it has one."""
    return "\n\n".join(filter(None, map(_paragraph, article.iterfind("Abstract/AbstractText"))))


def _paragraph(part: Element) -> str:
    words = " ".join(text_at(part).split())
    label = line(part.get("Label"))
    return f"{label.capitalize()}: {words}" if label and words else words


def _name(author: Element) -> str:
    person = " ".join(
        filter(None, (text_at(author, "ForeName") or text_at(author, "Initials"), text_at(author, "LastName")))
    )
    return person or text_at(author, "CollectiveName")


def _date(article: Element) -> str | None:
    """The day of the issue, else the electronic one's; `MedlineDate` is text that begins with a year."""
    for path in ("Journal/JournalIssue/PubDate", "ArticleDate", "Book/PubDate"):
        date = article.find(path)
        if date is not None:
            year = text_at(date, "Year") or text_at(date, "MedlineDate")[:4]
            if iso := iso_from_parts(year, text_at(date, "Month"), text_at(date, "Day")):
                return iso
    return None


SPEC = SearchSpec(
    adapter=PubmedSearch,
    summary="medicine and the life sciences",
    content="abstracts",
    optional_keys={"NCBI_API_KEY": "a higher rate limit"},
    endpoint=lambda clients: pubmed_endpoint(clients.key("NCBI_API_KEY"), contact=clients.settings.contact_email),
)
