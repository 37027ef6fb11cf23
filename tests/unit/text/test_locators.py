"""Locators: written, read, resolved, and refused."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_research.text.document import Document
from graph_research.text.errors import LocatorInvalid
from graph_research.text.locators import format_locator, make_locator, parse_locator, resolve
from graph_research.text.pages import join_pages, page_end, page_starts

WORDS = st.lists(st.sampled_from(["ebb", "tide", "turbine", "---PAGE", "2---", "x"]), max_size=6).map(" ".join)
PAGES = st.lists(WORDS, min_size=1, max_size=5)


@pytest.mark.requirement("11.17", "23.1")
@given(st.integers(0, 10**9), st.integers(1, 10**6), st.one_of(st.none(), st.integers(1, 99_999)))
def test_a_locator_reads_back_as_written(start: int, length: int, page: int | None) -> None:
    assert parse_locator(format_locator(start, start + length, page)) == (page, start, start + length)


@pytest.mark.requirement("11.17")
@pytest.mark.parametrize(
    "locator",
    ["", "char:5-5", "char:7-3", "char:-1-4", "char:01-4", "char:1-٤", "page:0:char:1-2", "page:1:1-2", "char:1-2 ",
     "Char:1-2", "char:" + "9" * 5000 + "-1"],
)  # fmt: skip
def test_what_is_no_locator_is_refused(locator: str) -> None:
    with pytest.raises(LocatorInvalid):
        parse_locator(locator)


@pytest.mark.requirement("11.17")
@pytest.mark.parametrize("locator", ["char:0-12", "page:3:char:0-1", "page:1:char:0-4", "page:2:char:1-99"])
def test_a_locator_that_leads_out_of_the_text_or_its_page_is_refused(locator: str) -> None:
    text, pages = join_pages(["one", "two"])
    with pytest.raises(LocatorInvalid):
        resolve(text[:11] if locator.startswith("char") else text, locator, pages)


@pytest.mark.requirement("11.11", "B13")
def test_the_separator_names_the_page_that_follows() -> None:
    assert join_pages(["one", "two"]) == ("one\n\n---PAGE 2---\n\ntwo", (0, 19))


@pytest.mark.requirement("11.17", "B13")
@given(PAGES)
@example(["---PAGE 2---"])
def test_every_place_on_a_page_resolves_to_itself(pages: list[str]) -> None:
    text, starts = join_pages(pages)
    document = Document(text=text, pages=starts)
    for number, page in enumerate(pages, start=1):
        start = starts[number - 1]
        assert text[start : page_end(text, starts, number)] == page
        if page:
            locator = make_locator(document, start, start + len(page))
            assert locator == format_locator(0, len(page), number)
            assert resolve(text, locator, starts) == (start, start + len(page))


@pytest.mark.requirement("11.11")
@given(PAGES.filter(lambda pages: pages[0] != "---PAGE 2---"))
def test_pages_are_found_again_from_the_separators_alone(pages: list[str]) -> None:
    text, starts = join_pages(pages)
    assert page_starts(text) == (starts if len(pages) > 1 and text else ())


@pytest.mark.requirement("B13")
def test_without_a_page_table_a_place_is_found_by_the_separators() -> None:
    text, starts = join_pages(["first", "second"])
    assert resolve(text, "page:2:char:0-6") == (starts[1], starts[1] + 6) == (len(text) - 6, len(text))
    assert resolve("a single page", "page:1:char:2-8") == (2, 8)


@pytest.mark.requirement("B13")
def test_the_page_table_wins_over_words_that_look_like_a_separator() -> None:
    text, starts = join_pages(["---PAGE 2---", "end"])
    assert resolve(text, "page:1:char:0-12", starts) == (0, 12)


def test_a_quote_across_pages_is_located_in_the_whole_text() -> None:
    text, starts = join_pages(["one", "two"])
    assert make_locator(Document(text=text, pages=starts), 0, len(text)) == f"char:0-{len(text)}"
