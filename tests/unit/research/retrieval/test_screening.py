"""Which hits take the place of better sources: near-copies in one library, and pages that only list names."""

from __future__ import annotations

from typing import Any

from graph_research.providers.search.base import Passage, SearchHit
from graph_research.research.retrieval.rank_fusion import FusedHit, fuse
from graph_research.research.retrieval.screening import lists_names, screened
from graph_research.text.readers.html import html_document

WORDS = ["commit", "checkpoint", "journal", "writer", "reader", "lock", "snapshot", "recovery", "isolation", "vacuum"]
CHAPTER = "".join(
    f"<p>The {word} of the store is explained in this chapter, together with what it costs.</p>" for word in WORDS
)
INDEX = "<ul>" + "".join(f"<li>{one} {other}, Settings of the {one}</li>" for one in WORDS for other in WORDS) + "</ul>"


def found(url: str, html: str, relevance: float = 0.8, library: str = "docs", **more: Any) -> SearchHit:
    document = html_document(html)
    return SearchHit(
        provider="local",
        title=document.title,
        url=url,
        snippet="",
        relevance=relevance,
        document=document,
        passages=(Passage(start=0, end=len(document.text), score=relevance),),
        metadata={"library": library},
        **more,
    )


def kept(*hits: SearchHit, known: tuple[tuple[str, str], ...] = ()) -> list[str | None]:
    fused: list[FusedHit] = fuse([hits])
    return [document.hit.url for document, _ in screened(fused, known)]


def test_an_index_of_a_book_comes_after_pages_with_sentences() -> None:
    index = found("bookindex.html", f"<h1>Index</h1>{INDEX}", 0.9)
    assert lists_names(index)
    assert kept(index, found("chapter.html", CHAPTER, 0.4)) == ["chapter.html", "bookindex.html"]
    assert kept(index) == ["bookindex.html"]


def test_an_index_with_its_letters_in_a_table_is_a_list_of_names_and_a_page_of_tables_is_none() -> None:
    letters = "<table><tr><td>A</td><td>B</td><td>C</td></tr></table>"
    rows = "".join(f"<tr><td>{word} of the store</td><td>on, and never off</td></tr>" for word in WORDS * 4)
    assert lists_names(found("genindex.html", f"<h1>Index</h1>{letters}{INDEX}"))
    assert not lists_names(found("settings.html", f"<h1>Settings</h1><table>{rows}</table>{INDEX}"))


def test_tables_lists_of_values_and_lists_of_sentences_are_no_lists_of_names() -> None:
    rows = "".join(f"<tr><td>{word}</td><td>on</td></tr>" for word in WORDS * 8)
    values = "".join(f"<li>{word} limit {n} MB in the standard build</li>" for n, word in enumerate(WORDS * 3))
    sentences = "".join(f"<li>The {word} waits until the other one is done.</li>" for word in WORDS * 2)
    for html in (f"<table>{rows}</table>", f"<ul>{values}</ul>", f"<ul>{sentences}</ul>", CHAPTER):
        assert not lists_names(found("page.html", html))


def test_the_same_text_in_another_format_or_version_of_one_library_is_left_out() -> None:
    newer = CHAPTER + "<p>Fixed a crash of the reader.</p>"
    assert kept(found("3_11_0.html", CHAPTER), found("3_11_1.html", newer, 0.7)) == ["3_11_0.html"]
    assert kept(found("3_11_1.html", newer), known=(("docs", html_document(CHAPTER).text),)) == []
    both = kept(found("a.html", CHAPTER), found("b.html", newer, 0.7, library="others"))
    assert both == ["a.html", "b.html"]
