"""What a prompt shows of a text that is too long: the passages found, their headings and what stands around them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.digest.payload import make_payload, serialize_payload
from graph_research.research.llm.prompt_fitting import MARK
from graph_research.research.models.source import Source
from graph_research.research.retrieval.excerpts import excerpt, fair_share, reading_of
from graph_research.text.document import Document
from graph_research.text.readers.html import html_document

PAGE = html_document(
    "<h1>Manual</h1><p>It begins here.</p>"
    + "".join(
        f"<h2>Setting {n}</h2><p>Setting {n} is described in this paragraph, at some length.</p>"
        f"<p>Its default is {n}.</p>"
        for n in range(40)
    )
)


def place(text: str) -> list[float]:
    start = PAGE.text.index(text)
    return [start, start + len(text), 1.0]


DIGEST = serialize_payload(
    make_payload(
        "Of settings.", ["Forty of them."], [], question="Which?", original_chars=9_000, source_text_hash=PAGE.hash
    )
)
SUMMARY = {"content": "A summary of the settings.", "metadata": {"excerpts": [{"text": "Its default is 20."}]}}


@pytest.mark.requirement("B32")
@pytest.mark.parametrize(
    ("made", "most_chars", "shown"),
    [
        ({"content": DIGEST, "content_type": "digest/v1"}, 100_000, "Summary, not to be quoted: Of settings."),
        ({"content": DIGEST, "content_type": "digest/v1", "metadata": SUMMARY["metadata"]}, 400, "Forty of them."),
        (SUMMARY, 400, "A summary of the settings."),
        (SUMMARY, 100_000, PAGE.text),
        ({}, 100_000, PAGE.text),
        ({}, 400, "It begins here."),
    ],
)
def test_a_source_is_shown_as_its_digest_else_whole_else_as_its_summary_else_in_part(
    made: dict[str, Any], most_chars: int, shown: str
) -> None:
    source = Source(id="src-0000000000", archive_hash=PAGE.hash, characters=len(PAGE.text), **made)
    read = reading_of(source, {source.id: PAGE}, most_chars)
    assert shown in read
    assert len(read) <= most_chars


@pytest.mark.requirement("B32")
def test_a_text_that_is_no_longer_than_its_digest_is_shown_itself() -> None:
    short = Document(text="Its default is 20.")
    source = Source(id="src-0000000000", archive_hash=PAGE.hash, content=DIGEST, content_type="digest/v1")
    assert reading_of(source, {source.id: short}, 100_000) == short.text


def test_a_passage_comes_with_its_heading_and_its_neighbours() -> None:
    shown = excerpt(PAGE, [place("Setting 20 is described in this paragraph, at some length.")], 400)
    assert "Setting 20 Setting 20 is described in this paragraph, at some length. Its default is 20." in shown
    assert len(shown) <= 400


def test_of_many_passages_each_has_its_heading_in_a_room_that_they_fill() -> None:
    passages = [[*place(f"Setting {n} is described in this paragraph, at some length.")[:2], 40 - n] for n in range(40)]
    shown = excerpt(PAGE, passages, 900)
    described = [n for n in range(40) if f"Setting {n} is described" in shown]
    assert len(described) > 8
    assert [n for n in described if f"Setting {n} Setting {n} is described" not in shown] == []


def test_passages_far_apart_stand_in_their_order_with_marks_between() -> None:
    shown = excerpt(PAGE, [place("Its default is 30."), place("Its default is 3.")], 200)
    assert shown.index("Its default is 3.") < shown.index(MARK.strip()) < shown.index("Its default is 30.")


def test_a_text_that_fits_is_shown_as_it_is() -> None:
    assert excerpt(PAGE, [place("Its default is 3.")], len(PAGE.text)) == PAGE.text


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 400)), max_size=8), st.integers(60, 3_000))
def test_what_is_shown_stands_in_the_text_and_is_never_longer_than_allowed(
    spans: list[tuple[int, int]], most: int
) -> None:
    passages = [[start, min(start + length, len(PAGE.text)), 1.0] for start, length in spans]
    shown = excerpt(PAGE, passages, most)
    assert len(shown) <= max(most, 0)
    for part in shown.split(MARK):
        assert part.strip() in PAGE.text


@given(st.lists(st.integers(0, 500), min_size=1), st.integers(0, 5_000))
def test_fair_shares_fill_the_room_and_leave_short_texts_whole(lengths: list[int], room: int) -> None:
    each = fair_share(lengths, room)
    total = sum(min(length, each) for length in lengths)
    assert total <= room
    assert total == sum(lengths) or total > room - len(lengths)


def test_a_text_without_blocks_is_cut_around_its_passage() -> None:
    document = Document(text="word " * 1_000 + "The answer is here. " + "word " * 1_000)
    start = document.text.index("The answer")
    assert "The answer is here." in excerpt(document, [[start, start + 19, 1.0]], 300)


def test_a_passage_that_is_longer_than_the_room_is_shown_in_part_rather_than_the_beginning_of_the_text() -> None:
    document = Document(text="Home Menu About " * 100 + "The answer is here. " * 30 + "word " * 1_000)
    start = document.text.index("The answer")
    shown = excerpt(document, [[start, start + 599, 1.0], [5_000, 5_040, 0.5]], 300)
    assert shown.startswith("The answer is here.")
    assert len(shown) <= 300


def test_a_text_of_which_no_passage_is_shown_begins_behind_its_menus() -> None:
    menu = "".join(f"<a href='#{n}'>{n}. Setting</a> " for n in range(40))
    page = html_document(f"<nav>{menu}</nav><h1>Manual</h1><p>It begins here.</p>{'<p>It goes on.</p>' * 90}")
    assert "39. Setting" in page.text
    assert excerpt(page, [], 200).startswith("Manual")
    late = page.text.rindex("It goes on.")
    assert excerpt(page, [(late, late + 11, 1.0)], 1_000).startswith("Manual")
