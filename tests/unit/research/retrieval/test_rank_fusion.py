"""Fusion of search results: what counts as one document, whose text is kept, and in which order they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.providers.search.base import SearchHit
from graph_research.research.retrieval.deduplication import Identity, Seen, canonical_url
from graph_research.research.retrieval.rank_fusion import FusedHit, fuse, ranked_again
from tests.support.research.harness import hit

SAME_PAGE = [
    "https://www.Example.com/a/b/?b=2&a=1",
    "http://example.com/a/b?a=1&b=2#top",
    "https://example.com:443/a/b?utm_source=x&b=2&a=1&gclid=9",
    "HTTPS://EXAMPLE.com./a/%62?fbclid=1&b=2&a=1",
]
NO_PAGE_OF_IT = [
    "https://m.example.com/a/b?a=1&b=2",
    "https://example.com:8443/a/b?a=1&b=2",
    "https://example.com/a/b?a=1&b=3",
    "https://example.com/a/b?a=1&b=2#/inbox",
    "https://example.com/A/b?a=1&b=2",
]


def found(provider: str, text: str, **more: Any) -> SearchHit:
    return replace(hit(text, **more), provider=provider)


@pytest.mark.requirement("18.2")
@pytest.mark.parametrize("url", SAME_PAGE)
def test_spellings_of_one_address_are_one(url: str) -> None:
    assert canonical_url(url) == "https://example.com/a/b?a=1&b=2"


@pytest.mark.parametrize("url", NO_PAGE_OF_IT)
def test_another_host_port_path_parameter_or_route_is_another_page(url: str) -> None:
    assert canonical_url(url) not in {canonical_url(one) for one in SAME_PAGE}


@pytest.mark.parametrize(
    "url", ["notes/tarn.md", "file:///a", "mailto:a@b.c", "https://", "https://[::1", "http://a:b/"]
)
def test_what_is_no_web_address_stays_as_it_is(url: str) -> None:
    assert canonical_url(url) == url


@given(st.text(alphabet="abw.:/?&=#%20AZ~é@-_", max_size=40))
def test_a_canonical_address_stays_what_it_is(rest: str) -> None:
    once = canonical_url("https://www.example.org/" + rest)
    assert canonical_url(once) == once


def test_the_address_of_a_doi_stands_for_it_however_it_is_spelt() -> None:
    spellings = ["https://doi.org/10.1000/ABC.1", "http://dx.doi.org/10.1000%2Fabc.1"]
    assert {Identity.of_hit(found("a", "Text.", url=url)).doi for url in spellings} == {"10.1000/abc.1"}


def test_arxiv_addresses_stand_for_their_doi() -> None:
    hits = [found("arxiv", "Abstract.", url="https://arxiv.org/abs/2101.00001v2", metadata={"extent": "abstract"})]
    other = found("crossref", "A longer text of it.", doi="10.48550/arXiv.2101.00001", url="https://x.org/p")
    [only] = fuse([hits, [other]])
    assert (only.hit.document.text, only.hit.doi) == ("A longer text of it.", "10.48550/arxiv.2101.00001")


def test_a_document_that_two_providers_found_comes_first_and_once() -> None:
    one = [found("a", "Alone at the top.", url="https://a.org/1"), found("a", "Both.", url="https://x.org/p?utm_id=3")]
    two = [found("b", "Both, and at length.", url="http://www.x.org/p/"), found("b", "Last.", url="https://b.org/2")]
    fused = fuse([one, two])
    assert [one.hit.url for one in fused] == ["http://www.x.org/p/", "https://a.org/1", "https://b.org/2"]
    assert fused[0].score == 1 / 61 + 1 / 62
    assert fused[0].hit.metadata["found_by"] == [
        {"provider": "b", "rank": 1, "url": "http://www.x.org/p/"},
        {"provider": "a", "rank": 2, "url": "https://x.org/p?utm_id=3"},
    ]


def test_the_richest_text_is_kept_and_what_it_lacks_comes_from_the_others() -> None:
    snippet = found(
        "web",
        "A long snippet of what the page says, longer than the page itself.",
        url="https://x.org/p",
        title="The paper",
        authors=("Ann Lee", "Bo Tan"),
        published_at="2021-05-03",
        doi="10.1000/1",
        relevance=0.9,
        metadata={"extent": "snippet", "cited_by": 4},
    )
    page = found("full", "The page.", url="https://x.org/p", title="", published_at="2021", relevance=0.2)
    [merged] = fuse([[snippet], [page]])
    assert merged.hit.provider == "full"
    assert merged.hit.document.text == "The page."
    assert (merged.hit.title, merged.hit.authors) == ("The paper", ("Ann Lee", "Bo Tan"))
    assert (merged.hit.published_at, merged.hit.doi, merged.hit.relevance) == ("2021-05-03", "10.1000/1", 0.9)
    assert merged.hit.metadata["cited_by"] == 4
    assert "extent" not in merged.hit.metadata


def test_equal_snippets_do_not_make_two_pages_one() -> None:
    says = "Please enable JavaScript."
    hits = [found("web", says, url=f"https://x.org/{n}", metadata={"extent": "snippet"}) for n in range(2)]
    assert len(fuse([hits])) == 2


TITLE = "Tidal lagoons and the fish that pass their turbines"


def titled(provider: str, title: str = TITLE, **more: Any) -> SearchHit:
    return found(
        provider, f"{provider} {title} {more}", url=f"https://{provider}.org/{len(title)}", title=title, **more
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (titled("a", published_at="2020-01"), titled("b", TITLE.upper() + ".", published_at="2020")),
        (titled("a", authors=("Jane Smith",)), titled("b", authors=("Smith, J.",))),
        (titled("a", published_at="2020", doi="10.1000/1"), titled("b", TITLE + "s", published_at="2020")),
    ],
)
def test_nearly_the_same_title_of_the_same_year_or_author_is_one_work(one: SearchHit, two: SearchHit) -> None:
    assert len(fuse([[one], [two]])) == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (titled("a"), titled("b")),
        (titled("a", published_at="2020"), titled("b", published_at="2021")),
        (titled("a", published_at="2020", authors=("Ann Lee",)), titled("b", published_at="2020", authors=("Bo Tan",))),
        (titled("a", published_at="2020", doi="10.1000/1"), titled("b", published_at="2020", doi="10.1000/2")),
        (titled("a", TITLE + ", part 1", published_at="2020"), titled("b", TITLE + ", part 2", published_at="2020")),
        (titled("a", "Annual report", published_at="2020"), titled("b", "Annual report", published_at="2020")),
        (titled("a", published_at="2020"), titled("b", "Tidal lagoons and their owners", published_at="2020")),
    ],
)
def test_a_title_alone_or_with_something_that_differs_is_not_enough(one: SearchHit, two: SearchHit) -> None:
    assert len(fuse([[one], [two]])) == 2


def test_a_provider_knows_its_own_documents_apart() -> None:
    twins = [titled("a", published_at="2020"), replace(titled("a", published_at="2020"), url="https://a.org/other")]
    twins = [replace(one, document=hit(f"text {n}").document) for n, one in enumerate(twins)]
    assert len(fuse([twins])) == 2
    assert len(fuse([twins, [titled("b", published_at="2020")]])) == 2


def test_documents_rank_again_by_place_and_by_what_their_text_is_worth() -> None:
    fused = fuse([[found("a", f"Text {n}.", url=f"https://a.org/{n}", relevance=1 - n / 10) for n in range(4)]])
    again = ranked_again(fused, [0.0, 0.2, 0.9, 0.2])
    assert [one.hit.url for one in again] == [f"https://a.org/{n}" for n in (2, 1, 0, 3)]
    assert ranked_again(fused, [1.0, 1.0, 1.0, 1.0]) == fused


def test_seen_documents_are_found_again_by_their_rows() -> None:
    seen = Seen()
    row = {"url": "https://x.org/p", "doi": "10.1000/1", "archive_hash": "sha256:1", "title": TITLE, "provider": "a"}
    seen.add(Identity.of_source({**row, "published_at": "2020"}), "src-1")
    assert seen.find(Identity.of_hit(found("b", "Another.", url="http://www.x.org/p#part"))) == "src-1"
    assert seen.find(Identity.of_hit(titled("b", published_at="2020-03-01"))) == "src-1"
    assert seen.find(Identity.of_hit(titled("a", published_at="2020-03-01"))) is None
    assert seen.find(Identity.of_hit(found("b", "Another.", url="https://y.org"))) is None


PAGES = st.integers(0, 5)
HITS = st.builds(
    lambda page, doi, text, relevance, www: found(
        "",
        f"Text {text}.",
        url=f"http{'s' * (page % 2)}://{'www.' * www}x.org/{page}",
        doi=f"10.1000/{doi}" if doi else None,
        relevance=relevance / 10,
    ),
    PAGES,
    PAGES,
    st.integers(0, 30),
    st.integers(0, 10),
    st.integers(0, 1),
)
LISTS = st.lists(st.lists(HITS, max_size=6), max_size=4).map(
    lambda lists: [[replace(one, provider=f"p{n}") for one in hits] for n, hits in enumerate(lists)]
)


@given(LISTS)
def test_no_hit_is_lost_and_none_is_in_two_documents(lists: Sequence[Sequence[SearchHit]]) -> None:
    fused = fuse(lists)
    assert Counter(id(one) for group in fused for one in group.hits) == Counter(
        id(one) for hits in lists for one in hits
    )
    assert sum(len(group.hit.metadata["found_by"]) for group in fused) == sum(map(len, lists))


@given(LISTS)
def test_no_two_documents_share_an_address_a_doi_or_a_text(lists: Sequence[Sequence[SearchHit]]) -> None:
    marks = [mark for group in fuse(lists) for mark in {m for one in group.hits for m in Identity.of_hit(one).marks}]
    assert len(marks) == len(set(marks))


@given(LISTS)
def test_the_same_lists_give_the_same_documents_in_the_same_order(lists: Sequence[Sequence[SearchHit]]) -> None:
    assert fuse(lists) == fuse(lists)
    scores = [group.score for group in fuse(lists)]
    assert scores == sorted(scores, reverse=True)


@given(LISTS)
def test_the_order_of_the_providers_changes_no_document(lists: Sequence[Sequence[SearchHit]]) -> None:
    def members(fused: Sequence[FusedHit]) -> set[frozenset[int]]:
        return {frozenset(id(one) for one in group.hits) for group in fused}

    assert members(fuse(lists)) == members(fuse(list(reversed(lists))))


@given(st.lists(HITS, max_size=8, unique_by=lambda one: (one.url or "").rpartition("/")[2]))
def test_one_provider_without_repetitions_keeps_its_order(hits: Sequence[SearchHit]) -> None:
    hits = [replace(one, doi=None, document=hit(f"Own text {n}.").document) for n, one in enumerate(hits)]
    ranked = sorted(hits, key=lambda one: -one.relevance)
    assert [group.hits for group in fuse([hits])] == [(one,) for one in ranked]
