"""What each search answers on the wire, in the shape that it documents, and how to ask it on loopback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.search.arxiv import ArxivSearch, arxiv_endpoint
from graph_research.providers.search.base import SearchProvider
from graph_research.providers.search.crossref import CrossrefSearch, crossref_endpoint
from graph_research.providers.search.google import GoogleSearch, google_endpoint
from graph_research.providers.search.openalex import OpenAlexSearch, openalex_endpoint
from graph_research.providers.search.pubmed import PubmedSearch, pubmed_endpoint
from graph_research.providers.search.searxng import SearxngSearch, searxng_endpoint
from graph_research.providers.search.semantic_scholar import SemanticScholarSearch, semantic_scholar_endpoint
from graph_research.providers.search.tavily import TavilySearch, tavily_endpoint
from graph_research.providers.search.wikipedia import WikipediaSearch, wikipedia_endpoint
from tests.support.network.http_server import Answer, WireServer

KEY = "key-that-nobody-may-see"
ENGINE = "engine-17"
QUESTION = "How do salmon smolts pass tidal turbines?"

TAVILY = {
    "query": QUESTION,
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Smolts at the lagoon",
            "url": "https://river.example/smolts",
            "content": "Most smolts passed the turbines unharmed.",
            "score": 0.91,
            "raw_content": "# Smolts at the lagoon\n\nOf 200 tagged smolts, 183 passed the turbines unharmed.",
            "published_date": "Tue, 11 Nov 2025 10:00:00 GMT",
        },
        {
            "title": "Turbine noise",
            "url": "https://sea.example/noise",
            "content": "Smolts avoid turbines at night.",
            "score": 0.55,
            "raw_content": None,
        },
    ],
    "response_time": 1.2,
}
GOOGLE = {
    "kind": "customsearch#search",
    "queries": {"request": [{"count": 2, "startIndex": 1}]},
    "searchInformation": {"totalResults": "2"},
    "items": [
        {
            "kind": "customsearch#result",
            "title": "Smolts at the lagoon - River ...",
            "htmlTitle": "<b>Smolts</b> at the lagoon",
            "link": "https://river.example/smolts",
            "displayLink": "river.example",
            "snippet": "Of 200 tagged smolts, 183 passed the tidal turbines unharmed.",
            "pagemap": {
                "metatags": [
                    {
                        "og:title": "Smolts at the lagoon",
                        "og:site_name": "River Trust",
                        "author": "Ada Moor",
                        "article:published_time": "2024-05-07T08:00:00Z",
                    }
                ]
            },
        },
        {
            "title": "Survey",
            "link": "https://sea.example/survey.pdf",
            "snippet": "Salmon smolts and turbines.",
            "mime": "application/pdf",
        },
    ],
}
SEMANTIC_SCHOLAR = {
    "total": 2,
    "offset": 0,
    "data": [
        {
            "paperId": "a1",
            "externalIds": {"DOI": "10.1000/FISH.17", "PubMed": "3001", "CorpusId": 1},
            "url": "https://www.semanticscholar.org/paper/a1",
            "title": "Passage of salmon smolts through tidal turbines",
            "abstract": "We tagged 200 smolts. Of these, 183 passed the turbines unharmed.",
            "venue": "Journal of Fish Studies",
            "year": 2024,
            "publicationDate": "2024-05-07",
            "journal": {"name": "Journal of Fish Studies", "volume": "12"},
            "publicationTypes": ["JournalArticle"],
            "citationCount": 14,
            "openAccessPdf": {"url": "https://papers.example/fish17.pdf", "status": "GOLD", "license": "CCBYNC"},
            "authors": [{"authorId": "1", "name": "Ada Moor"}, {"authorId": "2", "name": "Ben Firth"}],
        },
        {
            "paperId": "b2",
            "externalIds": {"ArXiv": "2401.00017"},
            "url": "https://www.semanticscholar.org/paper/b2",
            "title": "A model of smolt behaviour",
            "abstract": None,
            "venue": "arXiv.org",
            "year": 2023,
            "publicationDate": None,
            "journal": None,
            "publicationTypes": None,
            "citationCount": 0,
            "openAccessPdf": None,
            "authors": [],
        },
    ],
}
OPENALEX = {
    "meta": {"count": 2, "page": 1, "per_page": 25},
    "results": [
        {
            "id": "https://openalex.org/W17",
            "doi": "https://doi.org/10.1000/fish.17",
            "title": "Passage of salmon smolts through tidal turbines",
            "publication_date": "2024-05-07",
            "publication_year": 2024,
            "type": "article",
            "is_retracted": False,
            "authorships": [{"author": {"id": "https://openalex.org/A1", "display_name": "Ada Moor"}}],
            "primary_location": {
                "landing_page_url": "https://doi.org/10.1000/fish.17",
                "pdf_url": None,
                "source": {"display_name": "Journal of Fish Studies", "type": "journal"},
            },
            "best_oa_location": {"pdf_url": "https://papers.example/fish17.pdf"},
            "abstract_inverted_index": {
                "We": [0],
                "tagged": [1],
                "200": [2],
                "smolts.": [3],
                "183": [4],
                "passed": [5],
            },
            "cited_by_count": 14,
            "relevance_score": 512.7,
        },
        {
            "id": "https://openalex.org/W18",
            "doi": None,
            "title": "A withdrawn study of smolts",
            "publication_year": 2020,
            "type": "article",
            "is_retracted": True,
            "authorships": [],
            "primary_location": None,
            "best_oa_location": None,
            "abstract_inverted_index": None,
            "cited_by_count": 3,
            "relevance_score": 80.1,
        },
    ],
}
CROSSREF = {
    "status": "ok",
    "message-type": "work-list",
    "message": {
        "total-results": 2,
        "items": [
            {
                "DOI": "10.1000/FISH.17",
                "URL": "https://doi.org/10.1000/fish.17",
                "title": ["Passage of <i>Salmo salar</i> smolts through tidal turbines"],
                "abstract": "<jats:title>Abstract</jats:title><jats:p>We tagged 200 smolts &amp; counted.</jats:p>"
                "<jats:p>Of these, <jats:italic>183</jats:italic> passed the turbines.</jats:p>",
                "author": [
                    {"given": "Ada", "family": "Moor", "sequence": "first"},
                    {"name": "The Lagoon Consortium", "sequence": "additional"},
                ],
                "container-title": ["Journal of Fish Studies"],
                "publisher": "Firth Press",
                "type": "journal-article",
                "published": {"date-parts": [[2024, 5]]},
                "issued": {"date-parts": [[2024, 5, 7]]},
                "link": [{"URL": "https://press.example/fish17.pdf", "content-type": "application/pdf"}],
                "license": [
                    {"URL": "https://press.example/mining", "content-version": "tdm", "delay-in-days": 0},
                    {"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"},
                ],
                "is-referenced-by-count": 14,
                "score": 33.1,
            },
            {
                "DOI": "10.1000/posted.3",
                "title": ["A preprint on smolts"],
                "type": "posted-content",
                "issued": {"date-parts": [[None]]},
                "score": 20.0,
            },
        ],
    },
}
WIKIPEDIA_LIST = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {
                "pageid": 22,
                "ns": 0,
                "title": "Tidal power",
                "index": 2,
                "extract": "Tidal power is made from tides.",
                "fullurl": "https://en.wikipedia.org/wiki/Tidal_power",
                "canonicalurl": "https://en.wikipedia.org/wiki/Tidal_power",
                "revisions": [{"revid": 1234567, "parentid": 1, "timestamp": "2026-01-05T10:00:00Z"}],
            },
            {
                "pageid": 11,
                "ns": 0,
                "title": "Smolt",
                "index": 1,
                "extract": "A smolt is a young salmon.",
                "fullurl": "https://en.wikipedia.org/wiki/Smolt",
                "canonicalurl": "https://en.wikipedia.org/wiki/Smolt",
                "revisions": [{"revid": 777, "timestamp": "2025-12-01T00:00:00Z"}],
            },
            {
                "pageid": 33,
                "ns": 0,
                "title": "Turbine (disambiguation)",
                "index": 3,
                "pageprops": {"disambiguation": ""},
            },
        ]
    },
}
WIKIPEDIA_TEXTS = {
    "11": "A smolt is a young salmon.\n\n\n== Migration ==\nSmolts pass tidal turbines on their way to the sea.\n\n\n"
    "== See also ==\n\n\n== References ==",
    "22": "Tidal power is made from tides.\n\n\n== Effects ==\nTurbines may hurt fish.",
}
PUBMED_IDS = {"header": {"type": "esearch"}, "esearchresult": {"count": "2", "retmax": "2", "idlist": ["3001", "3002"]}}
PUBMED_ARTICLES = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
 "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">3002</PMID><Article PubModel="Print">
<Journal><Title>Old Journal of Fish</Title><JournalIssue><PubDate><MedlineDate>1998 Nov-Dec</MedlineDate></PubDate>
</JournalIssue></Journal><ArticleTitle>An old study of smolts.</ArticleTitle>
<PublicationTypeList><PublicationType UI="D016441">Retracted Publication</PublicationType></PublicationTypeList>
</Article></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">3002</ArticleId></ArticleIdList>
</PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">3001</PMID><Article PubModel="Print">
<Journal><ISSN>1</ISSN><JournalIssue CitedMedium="Print"><PubDate><Year>2024</Year><Month>May</Month><Day>7</Day>
</PubDate></JournalIssue><Title>Journal of Fish Studies</Title></Journal>
<ArticleTitle>Passage of <i>Salmo salar</i> smolts through tidal turbines.</ArticleTitle>
<Abstract><AbstractText Label="BACKGROUND">Smolts meet turbines.</AbstractText>
<AbstractText Label="RESULTS">Of 200 smolts, 183 passed the turbines (P&lt;0.01).</AbstractText>
<CopyrightInformation>Nobody</CopyrightInformation></Abstract>
<AuthorList CompleteYN="Y"><Author><LastName>Moor</LastName><ForeName>Ada</ForeName><Initials>A</Initials></Author>
<Author><CollectiveName>The Lagoon Consortium</CollectiveName></Author></AuthorList>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
</Article></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">3001</ArticleId>
<ArticleId IdType="doi">10.1000/FISH.17</ArticleId><ArticleId IdType="pmc">PMC99</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1/other</ArticleId></ArticleIdList></Reference>
</ReferenceList></PubmedData></PubmedArticle>
</PubmedArticleSet>
"""
ARXIV_EMPTY = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<title>arXiv Query</title><id>https://arxiv.org/api/x</id><opensearch:totalResults>0</opensearch:totalResults></feed>
"""
ARXIV = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns="http://www.w3.org/2005/Atom">
<id>https://arxiv.org/api/x</id><title>arXiv Query: search_query=all:smolts</title>
<opensearch:totalResults>2</opensearch:totalResults>
<entry><id>http://arxiv.org/abs/2401.00017v2</id><title>A model of
  smolt behaviour</title><updated>2024-03-01T17:00:00Z</updated><published>2024-01-02T17:00:00Z</published>
<summary>  We model how smolts pass tidal turbines &amp; weirs.
  Nine in ten pass.</summary>
<author><name>Ada Moor</name></author>
<author><name>Ben Firth</name><arxiv:affiliation>Sea U</arxiv:affiliation></author>
<arxiv:doi>10.1000/FISH.18</arxiv:doi><arxiv:journal_ref>J. Fish 3 (2024) 1</arxiv:journal_ref>
<link href="https://arxiv.org/abs/2401.00017v2" rel="alternate" type="text/html"/>
<link href="http://arxiv.org/pdf/2401.00017v2" rel="related" type="application/pdf" title="pdf"/>
<arxiv:primary_category term="q-bio.PE"/></entry>
<entry><id>http://arxiv.org/abs/hep-ex/0307015</id><title>Older</title><published>2003-07-07T00:00:00Z</published>
<summary>Turbines of another kind.</summary></entry>
</feed>
"""
ARXIV_ERROR = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#start_must_be_an_integer</id>
<title>Error</title><summary>start must be an integer</summary></entry></feed>
"""
SEARXNG = {
    "query": QUESTION,
    "number_of_results": 0,
    "results": [
        {
            "url": "https://river.example/smolts",
            "title": "Smolts at the lagoon",
            "content": "Of 200 tagged smolts, 183 passed the tidal turbines unharmed.",
            "publishedDate": "2024-05-07T00:00:00",
            "engine": "brave",
            "engines": ["qwant", "brave"],
            "positions": [1, 2],
            "score": 4.0,
            "category": "general",
        },
        {
            "url": "https://doi.org/10.1000/fish.17",
            "title": "Passage of smolts",
            "content": "We tagged 200 smolts.",
            "publishedDate": None,
            "authors": ["Ada Moor"],
            "journal": "Journal of Fish Studies",
            "doi": "10.1000/FISH.17",
            "pdf_url": "https://papers.example/fish17.pdf",
            "engines": ["crossref"],
            "score": 1.0,
            "category": "science",
        },
    ],
    "answers": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [],
}


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A provider as it speaks: `path` is asked first, `replies` and `empty` are what is answered by path."""

    build: Callable[[HttpClient, Endpoint], SearchProvider]
    endpoint: Callable[[str], Endpoint]
    path: str
    replies: Mapping[str, Any]
    empty: Mapping[str, Any]
    first_url: str
    keyed: bool = False
    more_errors: Mapping[int, type[Exception]] = field(default_factory=dict)

    def at(self, server: WireServer, http: HttpClient, **changes: Any) -> SearchProvider:
        """The provider, asking this server without a pace."""
        return self.build(http, replace(self.endpoint(server.url), per_second=None, **changes))

    def answer(self, server: WireServer, replies: Mapping[str, Any] | None = None) -> None:
        for path, body in (self.replies if replies is None else replies).items():
            server.on(path, body if callable(body) else Answer(body=body))


def _wikipedia(received: Any) -> Answer:
    if "gsrsearch" in received.query:
        return Answer(body=WIKIPEDIA_LIST)
    key = received.query["pageids"]
    return Answer(body={"query": {"pages": [{"pageid": int(key), "extract": WIKIPEDIA_TEXTS[key]}]}})


SPOKEN: Mapping[str, Spoken] = {
    "tavily": Spoken(
        build=lambda http, endpoint: TavilySearch(http=http, endpoint=endpoint),
        endpoint=lambda url: tavily_endpoint(KEY, base_url=url),
        path="/search",
        replies={"/search": TAVILY},
        empty={"/search": {"results": []}},
        first_url="https://river.example/smolts",
        keyed=True,
    ),
    "google": Spoken(
        build=lambda http, endpoint: GoogleSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: google_endpoint(KEY, ENGINE, base_url=url),
        path="/customsearch/v1",
        replies={"/customsearch/v1": GOOGLE},
        empty={"/customsearch/v1": {"searchInformation": {"totalResults": "0"}}},
        first_url="https://river.example/smolts",
        keyed=True,
    ),
    "semantic_scholar": Spoken(
        build=lambda http, endpoint: SemanticScholarSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: semantic_scholar_endpoint(KEY, base_url=url),
        path="/graph/v1/paper/search",
        replies={"/graph/v1/paper/search": SEMANTIC_SCHOLAR},
        empty={"/graph/v1/paper/search": {"total": 0, "offset": 0, "data": []}},
        first_url="https://www.semanticscholar.org/paper/a1",
        keyed=True,
    ),
    "openalex": Spoken(
        build=lambda http, endpoint: OpenAlexSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: openalex_endpoint(KEY, base_url=url),
        path="/works",
        replies={"/works": OPENALEX},
        empty={"/works": {"meta": {"count": 0}, "results": []}},
        first_url="https://doi.org/10.1000/fish.17",
        keyed=True,
    ),
    "crossref": Spoken(
        build=lambda http, endpoint: CrossrefSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: crossref_endpoint(contact="me@example.org", base_url=url),
        path="/works",
        replies={"/works": CROSSREF},
        empty={"/works": {"status": "ok", "message": {"total-results": 0, "items": []}}},
        first_url="https://doi.org/10.1000/fish.17",
    ),
    "arxiv": Spoken(
        build=lambda http, endpoint: ArxivSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: arxiv_endpoint(base_url=url),
        path="/api/query",
        replies={"/api/query": ARXIV},
        empty={"/api/query": ARXIV_EMPTY},
        first_url="https://arxiv.org/abs/2401.00017v2",
    ),
    "pubmed": Spoken(
        build=lambda http, endpoint: PubmedSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: pubmed_endpoint(KEY, contact="me@example.org", base_url=url),
        path="/entrez/eutils/esearch.fcgi",
        replies={"/entrez/eutils/esearch.fcgi": PUBMED_IDS, "/entrez/eutils/efetch.fcgi": PUBMED_ARTICLES},
        empty={"/entrez/eutils/esearch.fcgi": {"esearchresult": {"count": "0", "idlist": []}}},
        first_url="https://pubmed.ncbi.nlm.nih.gov/3001/",
        keyed=True,
    ),
    "wikipedia": Spoken(
        build=lambda http, endpoint: WikipediaSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: wikipedia_endpoint(contact="me@example.org", base_url=url),
        path="/w/api.php",
        replies={"/w/api.php": _wikipedia},
        empty={"/w/api.php": {"batchcomplete": True}},
        first_url="https://en.wikipedia.org/wiki/Smolt",
    ),
    "searxng": Spoken(
        build=lambda http, endpoint: SearxngSearch(http=http, endpoint=endpoint),
        endpoint=lambda url: searxng_endpoint(url),
        path="/search",
        replies={"/search": SEARXNG},
        empty={"/search": {**SEARXNG, "results": []}},
        first_url="https://river.example/smolts",
    ),
}
