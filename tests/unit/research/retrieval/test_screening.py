"""Which hits take the place of better sources: near-copies in one library, and pages that only list names."""

from __future__ import annotations

from typing import Any

from graph_research.providers.search.base import Passage, SearchHit
from graph_research.research.retrieval.rank_fusion import FusedHit, fuse
from graph_research.research.retrieval.screening import screened
from graph_research.text.readers.html import html_document

WORDS = ["commit", "checkpoint", "journal", "writer", "reader", "lock", "snapshot", "recovery", "isolation", "vacuum"]
CHAPTER = "".join(
    f"<p>The {word} of the store is explained in this chapter, together with what it costs.</p>" for word in WORDS
)
INDEX = (
    "<ul>"
    + "".join(f"<li>{one} {other}, {one} configuration settings</li>" for one in WORDS for other in WORDS)
    + "</ul>"
)


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
    assert kept(index, found("chapter.html", CHAPTER, 0.4)) == ["chapter.html", "bookindex.html"]
    assert kept(index) == ["bookindex.html"]


def test_the_same_text_in_another_format_or_version_of_one_library_is_left_out() -> None:
    newer = CHAPTER + "<p>Fixed a crash of the reader.</p>"
    assert kept(found("3_11_0.html", CHAPTER), found("3_11_1.html", newer, 0.7)) == ["3_11_0.html"]
    assert kept(found("3_11_1.html", newer), known=(("docs", html_document(CHAPTER).text),)) == []
    both = kept(found("a.html", CHAPTER), found("b.html", newer, 0.7, library="others"))
    assert both == ["a.html", "b.html"]


def test_what_was_found_of_a_copy_is_looked_for_in_the_whole_of_a_long_document() -> None:
    before = "".join(
        f"<p>Chapter {n} says of the {WORDS[n % 10]} what chapter {n - 1} left out.</p>" for n in range(600)
    )
    manual = found("manual.html", before + CHAPTER)
    assert kept(manual, found("chapter.html", CHAPTER, 0.7)) == ["manual.html"]


def test_a_copy_with_another_number_between_the_same_words_is_no_copy() -> None:
    days = CHAPTER + "<p>A snapshot of the store is kept for {} days before it is deleted.</p>"
    seven, four = found("seven.html", days.format(7)), found("four.html", days.format(4), 0.7)
    assert kept(seven, four) == ["seven.html", "four.html"]
    assert kept(four, known=(("docs", html_document(days.format(7)).text),)) == ["four.html"]
    assert kept(seven, found("again.html", days.format(7) + "<p>Page 4 of 9.</p>", 0.7)) == ["seven.html"]
