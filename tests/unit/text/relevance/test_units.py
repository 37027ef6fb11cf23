"""What of a document can be quoted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.document import Document
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document
from graph_research.text.readers.separated import separated_document
from graph_research.text.relevance.units import MOST_CHARS, units


def test_rows_carry_the_header_of_their_table() -> None:
    document = markdown_document("# Prices\n\n| bread | euro |\n| --- | --- |\n| rye | 4.20 |\n| white | 3.10 |\n")
    rows = [(unit.text, unit.header, unit.heading) for unit in units(document) if unit.kind == "row"]
    assert ("rye 4.20", "bread euro", "Prices") in rows


def test_rows_carry_the_caption_and_both_rows_of_a_header() -> None:
    document = separated_document("Fees,,\nCare,Private,\n,Adult,Child\nCrown,845,620\nFilling,152,104\n")
    [header] = {unit.header for unit in units(document) if unit.text == "Crown 845 620"}
    assert set(header.split()) == {"Fees", "Care", "Private", "Adult", "Child"}


def test_a_date_at_the_head_of_a_text_is_no_term_that_its_first_paragraph_explains() -> None:
    document = plain_document(
        "Survey of households\nDate: 6 November 2023\n\nWe asked 412 households. Most were warm.\n"
    )
    assert "We asked 412 households." in [unit.text for unit in units(document)]


def test_a_term_and_its_meaning_are_one_unit_and_the_last_item_of_a_list_is_its_own() -> None:
    document = html_document("<dl><dt>Ebb</dt><dd>The outgoing tide. It lasts six hours.</dd></dl>")
    assert [(unit.kind, unit.text, unit.header) for unit in units(document)] == [
        ("definition", "Ebb The outgoing tide.", "Ebb"),
        ("sentence", "It lasts six hours.", "Ebb"),
    ]
    listed = markdown_document("- rice\n- peas\n\nBoil both.\n")
    assert [unit.text for unit in units(listed)] == ["rice", "peas", "Boil both."]


@pytest.mark.parametrize(
    "document",
    [
        markdown_document("- Boil 200 g of rice.\n- Drain it.\n\n```\ntimeout: 30\n\n  retries: 2\n```\n"),
        html_document("<ul><li>Boil 200 g of rice.<li>Drain it.</ul><pre>timeout: 30<br>\n  <b>retries</b>: 2\n</pre>"),
    ],
    ids=["markdown", "html"],
)
def test_lines_of_code_and_list_items_are_units(document: Document) -> None:
    lines = ["timeout: 30", "retries: 2"]
    assert [unit.text for unit in units(document)] == ["Boil 200 g of rice.", "Drain it.", *lines]
    assert Document.from_layout(document.text, document.layout()) == document


@pytest.mark.parametrize(
    "odd",
    [
        "These results were not seen in mice.",
        "It was repealed in 2019.",
        "RESULTS The risk fell (P<0.001; 95% CI 1.2–3.4).",
        "lol dont put the valve in backwards",
        "Posted on 3 May by saltandsteel",
    ],
)
def test_nothing_is_left_out_for_how_it_looks(odd: str) -> None:
    assert odd in [unit.text for unit in units(plain_document(f"A title\n\nOne sentence before it. {odd}"))]


def test_headings_and_the_title_are_context_and_no_units() -> None:
    assert [unit.text for unit in units(markdown_document("# Alder Dam\n\nIt is old.\n"))] == ["It is old."]


def test_a_heading_that_asks_is_a_unit_before_what_answers_it() -> None:
    document = markdown_document("# Members\n\n## May I swim?\n\nOnly at noon.\n\n## Boats\n\nThere are two.\n")
    assert [unit.text for unit in units(document)] == ["May I swim?", "Only at noon.", "There are two."]


@given(st.text(max_size=2_000))
def test_a_unit_is_a_piece_of_the_text(text: str) -> None:
    document = plain_document(text)
    for unit in units(document):
        assert document.text[unit.start : unit.end] == unit.text
        assert 0 < len(unit.text) <= MOST_CHARS + 1 or unit.kind == "definition"


def test_the_marks_of_notes_behind_a_sentence_are_no_part_of_it() -> None:
    document = markdown_document("It turns.[1][2] It hums [3] at night. It has the index [4]\n")
    assert [unit.text for unit in units(document)] == ["It turns.", "It hums [3] at night.", "It has the index [4]"]


def test_running_text_that_is_set_as_code_is_read_sentence_by_sentence() -> None:
    letter = [
        "$ git checkout v2.6",
        "You can look around, make experimental",
        "changes and commit them, and discard any of these",
        "commits. The branch stays as it",
        "was.",
        "git branch spare   # keeps them",
    ]
    document = markdown_document("\n".join(["```", *letter, "```"]))
    assert [(unit.kind, unit.text) for unit in units(document)] == [
        ("line", "$ git checkout v2.6"),
        (
            "sentence",
            "You can look around, make experimental changes and commit them, and discard any of these commits.",
        ),
        ("sentence", "The branch stays as it was."),
        ("line", "git branch spare # keeps them"),
    ]


@pytest.mark.parametrize("read", [markdown_document, plain_document])
@pytest.mark.parametrize(
    "lines",
    [
        ["Payroll: Ines Okafor, room 4", "First aid: room B12", "Directrice : Solange Perrault"],
        ["馆长：陈立波", "咨询电话：027-8866-1234", "体育馆建于2009年，可容纳四千二百名观众。"],
    ],
)
def test_values_behind_labels_on_lines_of_their_own_are_quoted_alone(
    read: Callable[[str], Document], lines: list[str]
) -> None:
    document = read("\n".join(["Title", "=====", "", *lines, ""]))
    assert [unit.text for unit in units(document)][-3:] == lines


def test_a_sentence_that_goes_on_behind_a_line_with_a_colon_stays_whole() -> None:
    sentence = "The valve is worn\nif one thing is seen: steam at the seal of\nthe wand, as in: old machines."
    assert [unit.text for unit in units(markdown_document(sentence))] == [" ".join(sentence.split())]
