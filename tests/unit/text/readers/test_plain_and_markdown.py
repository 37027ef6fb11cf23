"""Plain text and Markdown to documents, and bytes to text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.canonical import canonical_text
from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document

MINUTES = """LIAISON COMMITTEE
Minutes of the 31st meeting, 5 December 2019
Town hall

1. Minutes of the 30th meeting
   Agreed without change.

2. Failure of turbine 7
   The operator reported that the shaft seal of turbine 7 failed on 9 November 2019
   at 04:10, during a spring ebb.
   ACTION: operator to send the failure report.

Measures
========
- replace the seals
- repeat the
  measurements

-----
Year   GWh   Percent
2018   410   87
"""


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(one.kind, document.text[one.start : one.end]) for one in document.blocks]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_plain_text_is_its_own_canonical_form(source: str) -> None:
    assert plain_document(source).text == canonical_text(source)


@given(st.text(st.sampled_from("aA1.\n -=*>|\t:"), max_size=200))
def test_blocks_of_plain_text_are_sorted_and_do_not_overlap(source: str) -> None:
    end = 0
    for block in plain_document(source).blocks:
        assert end <= block.start < block.end
        end = block.end


def test_plain_text_shows_its_headings_items_and_tables() -> None:
    document = plain_document(MINUTES)
    assert document.title == "LIAISON COMMITTEE"
    assert kinds(document) == [
        ("heading", "LIAISON COMMITTEE"),
        ("item", "Minutes of the 31st meeting, 5 December 2019"),
        ("item", "Town hall"),
        ("heading", "1. Minutes of the 30th meeting"),
        ("paragraph", "Agreed without change."),
        ("heading", "2. Failure of turbine 7"),
        (
            "paragraph",
            "The operator reported that the shaft seal of turbine 7 failed on 9 November 2019 at 04:10, during a "
            "spring ebb. ACTION: operator to send the failure report.",
        ),
        ("heading", "Measures"),
        ("boilerplate", "========"),
        ("item", "replace the seals"),
        ("item", "repeat the measurements"),
        ("boilerplate", "-----"),
        ("table", "Year GWh Percent"),
        ("table", "2018 410 87"),
    ]


def test_a_numbered_list_of_wrapped_sentences_has_no_headings() -> None:
    source = (
        "1. The ministry should publish one definition of the cost\n   Of everything else it may keep silent.\n2. End."
    )
    assert [kind for kind, _ in kinds(plain_document(source))] == ["item", "item"]


def test_markdown_reads_as_prose() -> None:
    source = (
        '---\ntitle: "A review"\ndate: 2018\n---\n\n# Review of *costs*\n\nThe **cost** is in [the report](http://x.y)\n'
        "and `asyncio.TaskGroup`.\n\n- one\n- two\n\n> said\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n"
        "```python\nx = 1\n```\n"
    )
    document = markdown_document(source)
    assert document.title == "A review"
    assert kinds(document) == [
        ("heading", "Review of costs"),
        ("paragraph", "The cost is in the report and asyncio.TaskGroup."),
        ("item", "one"),
        ("item", "two"),
        ("quote", "said"),
        ("table", "a b"),
        ("table", "1 2"),
        ("code", "x = 1"),
    ]


@given(st.text(st.sampled_from("ab[]()*_`#>-|!<&;:~+\\\n \t1."), max_size=120))
def test_any_markdown_gives_a_canonical_document(source: str) -> None:
    document = markdown_document(source)
    assert canonical_text(document.text) == document.text
    assert markdown_document(source) == document


def test_scripts_in_markdown_give_no_text() -> None:
    assert markdown_document("Yes.\n\n<script>alert('no')</script>\n").text == "Yes."


def test_thousands_of_signs_in_one_paragraph_are_read_as_plain_text() -> None:
    assert markdown_document("[" * 20_000).text == "[" * 20_000


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        (b"\xef\xbb\xbf" + "ü".encode(), "ü"),
        ("über".encode("utf-16"), "über"),
        ('<meta charset="koi8-r">да'.encode("koi8-r"), '<meta charset="koi8-r">да'),
        ('<meta charset="latin-1">é'.encode(), '<meta charset="latin-1">é'),
        (b"caf\xe9 \x93quoted\x94", "café “quoted”"),
        (b"\x81\x8d \xe9", "\x81\x8d é"),
        (b'<meta charset="rot13"> caf\xe9', '<meta charset="rot13"> café'),
    ],
)
def test_bytes_become_the_characters_that_were_meant(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_binary_data_is_no_text() -> None:
    with pytest.raises(DocumentUnreadable, match="binary"):
        decode(b"GIF89a\x00\x01")
