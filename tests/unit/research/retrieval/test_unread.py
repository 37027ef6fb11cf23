"""What was read of a text, and the rest of it."""

from __future__ import annotations

from graph_research.research.retrieval.excerpts import excerpt
from graph_research.research.retrieval.unread import merged, spans_of, unread_part
from graph_research.text.document import Document
from graph_research.text.readers.markdown import markdown_document

YEARS = [f"In {year} the plant cost {year + 7} euros a day." for year in range(1900, 1960)]
PAGE = markdown_document(
    "# Plant\n\n## First years\n\n" + "\n\n".join(YEARS[:30]) + "\n\n## Later years\n\n" + "\n\n".join(YEARS[30:])
)


def test_what_an_excerpt_shows_is_found_in_the_text_and_the_rest_is_the_rest() -> None:
    place = PAGE.text.index(YEARS[10])
    shown = excerpt(PAGE, [(place, place + 200, 1.0)], 600)
    spans = spans_of(PAGE, shown)
    assert sum(end - start for start, end in spans) > 400
    rest = unread_part(PAGE, spans)
    assert YEARS[10] in shown
    assert [line for line in YEARS if (line in shown) == (line in rest.text)] == []
    assert [rest.text[block.start : block.end] for block in rest.blocks if block.kind == "heading"] == [
        "Plant",
        "First years",
        "Later years",
    ]
    again = spans_of(PAGE, rest.text)
    whole = merged([*spans, *again])
    assert len(PAGE.text) - sum(end - start for start, end in whole) < 30


def test_a_text_without_blocks_is_read_on_by_its_sentences() -> None:
    document = Document(" ".join(YEARS))
    rest = unread_part(document, spans_of(document, " ".join(YEARS[:20])))
    assert rest.text == " ".join(YEARS[20:])


def test_what_stands_nowhere_in_the_text_is_nothing_that_was_read() -> None:
    assert spans_of(PAGE, "A summary in other words. […] And more.") == []
    assert unread_part(PAGE, []).text == PAGE.text
