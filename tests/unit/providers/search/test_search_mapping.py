"""Each field of a provider response becomes a field of a hit, and no response, however odd, breaks that."""

from typing import Any
from xml.etree.ElementTree import Element

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.search.arxiv import arxiv_hits
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.providers.search.crossref import crossref_hits
from graph_research.providers.search.google import google_hits
from graph_research.providers.search.openalex import abstract_of, openalex_hits
from graph_research.providers.search.pubmed import pubmed_hits, pubmed_ids
from graph_research.providers.search.searxng import searxng_hits
from graph_research.providers.search.semantic_scholar import semantic_scholar_hits
from graph_research.providers.search.support.xml import read_xml
from graph_research.providers.search.tavily import tavily_hits
from graph_research.providers.search.wikipedia import wikipedia_hits, wikipedia_pages
from tests.support.providers import search_responses as wire_replies

REQUEST = SearchRequest(query=wire_replies.QUESTION, max_results=5)
DOI = "10.1000/fish.17"
PDF = "https://papers.example/fish17.pdf"


def fields(hit: SearchHit, **expected: Any) -> None:
    told = {name: list(hit.authors) if name == "authors" else getattr(hit, name) for name in expected}
    assert told == expected


def test_tavily_gives_whole_pages_and_else_snippets() -> None:
    first, second = tavily_hits(wire_replies.TAVILY, REQUEST)
    fields(first, relevance=0.91, published_at="2025-11-11T10:00:00+00:00", content_type="text/markdown", tier=None)
    assert first.document.text == "Smolts at the lagoon Of 200 tagged smolts, 183 passed the turbines unharmed."
    assert first.snippet == "Most smolts passed the turbines unharmed."
    assert first.metadata["extent"] == "full"
    fields(second, relevance=0.55, published_at=None, content_type="text/plain")
    assert second.document.text == "Smolts avoid turbines at night."
    assert second.metadata["extent"] == "snippet"


def test_google_gives_snippets_and_what_the_page_says_of_itself() -> None:
    first, second = google_hits(wire_replies.GOOGLE, REQUEST)
    fields(
        first,
        title="Smolts at the lagoon",
        publisher="River Trust",
        authors=["Ada Moor"],
        published_at="2024-05-07T08:00:00+00:00",
    )
    assert first.metadata == {"extent": "snippet"}
    assert second.metadata["pdf_url"] == "https://sea.example/survey.pdf"


def test_semantic_scholar_gives_abstracts_and_knows_what_was_reviewed() -> None:
    first, second = semantic_scholar_hits(wire_replies.SEMANTIC_SCHOLAR, REQUEST)
    others = {"licence": "CCBYNC", "cited_by": 14, "pubmed_id": "3001"}
    fields(
        first,
        doi=DOI,
        tier="PRIMARY_SOURCE",
        publisher="Journal of Fish Studies",
        authors=["Ada Moor", "Ben Firth"],
        published_at="2024-05-07",
    )
    assert first.metadata == {"extent": "abstract", "pdf_url": PDF, **others}
    fields(second, doi=None, tier="AUTHORITATIVE", published_at="2023")
    assert second.metadata == {"extent": "nothing", "cited_by": 0, "arxiv_id": "2401.00017"}


def test_openalex_abstracts_are_put_in_order_and_retractions_flagged() -> None:
    first, second = openalex_hits(wire_replies.OPENALEX, REQUEST)
    fields(first, doi=DOI, tier="PRIMARY_SOURCE", authors=["Ada Moor"], published_at="2024-05-07")
    assert first.document.text == "We tagged 200 smolts. 183 passed"
    assert first.metadata["pdf_url"] == PDF
    fields(second, url="https://openalex.org/W18", tier="FLAGGED", published_at="2020")


def test_an_inverted_index_is_read_in_the_order_of_its_places() -> None:
    assert abstract_of({"b": [1, 3], "a": [0], "c": [2]}) == "a b c b"
    assert abstract_of({"far": [10**9], "odd": ["1", True, -1], "none": None}) == ""


def test_crossref_abstracts_lose_their_markup() -> None:
    first, second = crossref_hits(wire_replies.CROSSREF, REQUEST)
    fields(
        first,
        doi=DOI,
        url=f"https://doi.org/{DOI}",
        title="Passage of Salmo salar smolts through tidal turbines",
        authors=["Ada Moor", "The Lagoon Consortium"],
        publisher="Journal of Fish Studies",
        published_at="2024-05",
        tier="PRIMARY_SOURCE",
    )
    assert first.document.text == "Abstract We tagged 200 smolts & counted. Of these, 183 passed the turbines."
    assert [block.kind for block in first.document.blocks] == ["heading", "paragraph", "paragraph"]
    assert first.metadata["pdf_url"] == "https://press.example/fish17.pdf"
    assert first.metadata["licence"] == "https://creativecommons.org/licenses/by/4.0/"
    fields(second, tier="AUTHORITATIVE", published_at=None)
    assert second.metadata["extent"] == "nothing"


def test_arxiv_entries_have_their_version_their_doi_and_their_pdf() -> None:
    first, second = arxiv_hits(read_xml(wire_replies.ARXIV.encode()), REQUEST)
    fields(
        first,
        title="A model of smolt behaviour",
        url="https://arxiv.org/abs/2401.00017v2",
        doi="10.1000/fish.18",
        authors=["Ada Moor", "Ben Firth"],
        published_at="2024-03-01T17:00:00+00:00",
        tier="AUTHORITATIVE",
    )
    assert first.document.text == "We model how smolts pass tidal turbines & weirs. Nine in ten pass."
    assert first.metadata["pdf_url"] == "https://arxiv.org/pdf/2401.00017v2"
    assert first.metadata["journal"] == "J. Fish 3 (2024) 1"
    fields(second, url="https://arxiv.org/abs/hep-ex/0307015", doi="10.48550/arxiv.hep-ex/0307015")
    assert second.metadata["pdf_url"] == "https://arxiv.org/pdf/hep-ex/0307015"


def test_an_error_of_arxiv_is_no_paper() -> None:
    with pytest.raises(ProviderRefused, match="start must be an integer"):
        arxiv_hits(read_xml(wire_replies.ARXIV_ERROR.encode()), REQUEST)


def test_pubmed_articles_come_in_the_order_of_the_search() -> None:
    articles = read_xml(wire_replies.PUBMED_ARTICLES.encode())
    first, second = pubmed_hits(articles, ["3001", "3002", "9999"], REQUEST)
    fields(
        first,
        title="Passage of Salmo salar smolts through tidal turbines.",
        doi=DOI,
        authors=["Ada Moor", "The Lagoon Consortium"],
        publisher="Journal of Fish Studies",
        published_at="2024-05-07",
        tier="PRIMARY_SOURCE",
    )
    assert first.document.text == (
        "Background: Smolts meet turbines. Results: Of 200 smolts, 183 passed the turbines (P<0.01)."
    )
    assert first.metadata["pmc_id"] == "PMC99"
    fields(second, published_at="1998", tier="FLAGGED", doi=None)


@pytest.mark.parametrize(
    "answer", [{"error": "API rate limit exceeded"}, {"esearchresult": {"ERROR": "Search Backend failed"}}]
)
def test_a_failure_that_pubmed_tells_with_status_200_is_one(answer: dict[str, Any]) -> None:
    with pytest.raises(ProviderUnavailable, match="pubmed"):
        pubmed_ids(answer)


def test_wikipedia_articles_are_whole_and_lose_their_empty_end() -> None:
    pages = wikipedia_pages(wire_replies.WIKIPEDIA_LIST)
    first, second = wikipedia_hits(pages, {"11": wire_replies.WIKIPEDIA_TEXTS["11"]}, REQUEST)
    fields(first, title="Smolt", tier="SECONDARY", publisher="Wikipedia", published_at="2025-12-01T00:00:00+00:00")
    assert first.document.text == (
        "A smolt is a young salmon. Migration Smolts pass tidal turbines on their way to the sea."
    )
    licence = {"licence": "CC BY-SA 4.0"}
    assert first.metadata == {"extent": "full", "page_id": "11", "revision": "777", **licence}
    assert second.metadata == {"extent": "snippet", "page_id": "22", "revision": "1234567", **licence}
    assert second.document.text == "Tidal power is made from tides."


def test_searxng_results_keep_who_found_them() -> None:
    first, second = searxng_hits(wire_replies.SEARXNG, REQUEST)
    fields(first, published_at="2024-05-07T00:00:00", relevance=1.0)
    assert first.metadata == {"extent": "snippet", "engines": ["brave", "qwant"], "category": "general"}
    fields(second, doi=DOI, authors=["Ada Moor"], publisher="Journal of Fish Studies")
    assert second.metadata["pdf_url"] == PDF


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["10.1/x", "2024"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def changed(value: Any) -> st.SearchStrategy[Any]:
    """Values of about the shape of `value`: at any place anything may stand instead, or nothing at all."""
    if isinstance(value, dict):
        own = st.fixed_dictionaries({}, optional={name: changed(inner) for name, inner in value.items()})
        return st.one_of(own, own, own, JSON)
    if isinstance(value, list) and value:
        return st.one_of(st.lists(st.one_of(*map(changed, value)), max_size=3), JSON)
    return st.one_of(st.just(value), JSON)


MAPPINGS = {
    "tavily": (wire_replies.TAVILY, tavily_hits),
    "google": (wire_replies.GOOGLE, google_hits),
    "semantic_scholar": (wire_replies.SEMANTIC_SCHOLAR, semantic_scholar_hits),
    "openalex": (wire_replies.OPENALEX, openalex_hits),
    "crossref": (wire_replies.CROSSREF, crossref_hits),
    "wikipedia": (
        wire_replies.WIKIPEDIA_LIST,
        lambda answer, request: wikipedia_hits(wikipedia_pages(answer), {"11": "== a =="}, request),
    ),
    "searxng": (wire_replies.SEARXNG, searxng_hits),
}


@pytest.mark.parametrize("name", MAPPINGS)
@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_json_of_about_the_shape_breaks_the_mapping(name: str, data: st.DataObject) -> None:
    reply, mapped = MAPPINGS[name]
    answer = data.draw(changed(reply))
    hits = mapped(answer if isinstance(answer, dict) else {}, REQUEST)
    check(hits)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_no_json_of_about_the_shape_breaks_the_list_of_pubmed(data: st.DataObject) -> None:
    answer = data.draw(changed(wire_replies.PUBMED_IDS))
    try:
        assert all(one.isdecimal() for one in pubmed_ids(answer))
    except ProviderError as error:
        assert str(error).startswith("pubmed: ")


def element(name: str, attributes: dict[str, str], content: list[str | Element]) -> Element:
    made = Element(name, attributes)
    for one in content:
        if isinstance(one, Element):
            made.append(one)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + one
        else:
            made.text = (made.text or "") + one
    return made


NAMES = sorted(
    {one.tag for reply in (wire_replies.PUBMED_ARTICLES, wire_replies.ARXIV) for one in read_xml(reply.encode()).iter()}
)
TREES = st.recursive(
    st.text(max_size=20) | st.sampled_from(["3001", "http://arxiv.org/abs/2401.1", "10.1000/x", "2024"]),
    lambda inner: st.builds(
        element,
        name=st.sampled_from(NAMES),
        attributes=st.dictionaries(st.sampled_from(["Label", "IdType", "href", "title", "term"]), st.text(max_size=8)),
        content=st.lists(inner, max_size=4),
    ),
    max_leaves=30,
)


@given(content=st.lists(TREES, max_size=4))
@settings(max_examples=100, deadline=None)
def test_no_xml_breaks_the_mapping(content: list[str | Element]) -> None:
    tree = element("feed", {}, content)
    check(pubmed_hits(tree, ["3001"], REQUEST))
    try:
        check(arxiv_hits(tree, REQUEST))
    except ProviderRefused as error:
        assert str(error).startswith("arxiv: ")


def check(hits: list[SearchHit]) -> None:
    for hit in hits:
        assert 0 <= hit.relevance <= 1
        assert hit.url is None or hit.url.startswith(("http://", "https://", "HTTP", "Http"))
        assert hit.url or hit.document.text
        assert hit.title == hit.document.title or not hit.document.title
        assert all(0 <= one.start < one.end <= len(hit.document.text) for one in hit.passages)
        orjson.dumps([hit.title, hit.url, hit.snippet, list(hit.authors), hit.published_at, hit.metadata])
