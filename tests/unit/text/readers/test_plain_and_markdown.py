"""Plain text and Markdown to documents, and bytes to text."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.canonical import canonical_text
from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.places import in_words, place_of
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document, markdown_html
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


@pytest.mark.parametrize(
    ("first", "title"),
    [("= User Manual", "User Manual"), ("Table of contents:", ""), ("--all::", ""), ("SECURITY\n--------", "SECURITY")],
)
def test_the_first_line_of_plain_text_is_its_title_unless_it_announces_something(first: str, title: str) -> None:
    assert plain_document(f"{first}\n\nthe fetch protocol is not designed to prevent this.\n").title == title


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


def test_short_lines_that_head_nothing_are_no_headings_and_a_numbered_line_above_a_text_is_one() -> None:
    lockers = plain_document("Locker list\n\nAnna 17\n\nBert 23\n\nCarl 31")
    assert [block.kind for block in lockers.blocks] == ["heading", "paragraph", "paragraph", "paragraph"]
    manual = plain_document("SITE MANUAL\n\n1. Gate times\n\nThe gate opens at six.\n\n2. Cranes\n\nTwo riggers.")
    assert [block.kind for block in manual.blocks] == ["heading", "heading", "paragraph", "heading", "paragraph"]
    listed = plain_document("Fruit of the garden\n\n1. Apples\n\n2. Pears\n\nAll of it is sold.")
    assert [block.kind for block in listed.blocks] == ["heading", "item", "item", "paragraph"]


def test_lines_of_japanese_and_chinese_that_end_like_a_sentence_are_no_headings() -> None:
    lines = (
        "夏祭りの報告",
        "2023年8月19日に夏祭りを第二公園で開いた。",
        "2023年的票价是多少？",
        "「9時に集まる」と決めた！",
    )
    assert [kind for kind, _ in kinds(plain_document("\n\n".join(lines)))] == ["paragraph"] * 4


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


MARKED_UP = """---
title: Costs
---
# The cost

| year | cost |
| --- | --- |
| 2019 | 410 |
| 2020 | 87 |

A paragraph
of *several
lines*, with `code`\\
in it.

> quoted

```python
x = 1

y = 2
```

<div>
in a box
<b>and bold</b>
</div>

- an item
  that goes on
- the next
"""


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("The cost", "line 4"),
        ("2020 87", "line 9"),
        ("A paragraph", "line 11"),
        ("lines, with code", "line 13"),
        ("of several lines, with code in it.", "line 12–14"),
        ("quoted", "line 16"),
        ("y = 2", "line 21"),
        ("and bold", "line 26"),
        ("that goes on", "line 30"),
        ("the next", "line 31"),
    ],
)
def test_a_passage_of_markdown_names_the_lines_of_the_file(words: str, place: str) -> None:
    document = markdown_document(MARKED_UP)
    start = document.text.index(words)
    found = place_of(document.places, start, start + len(words))
    assert found is not None
    assert in_words(found) == place


_SIGNS_OF_MARKDOWN = (
    "\n", "\n\n", "\n# ", "\n- ", "\n> ", "\n    ", "*", "`", "\\\n", "  \n", " | ", "\n| --- | --- |\n", "<b>", "</b>",
    "<!-- ", " -->", "\n```\n", "[", "](u)", "\n<div>\n", "\n</div>\n", "&amp;", "<p title='a\n b'>", "<", " word ",
)  # fmt: skip


@given(st.lists(st.sampled_from(_SIGNS_OF_MARKDOWN), max_size=30).map("".join))
def test_the_lines_of_markdown_change_nothing_of_its_text(source: str) -> None:
    document, rendered = markdown_document(source), html_document(markdown_html(source))
    assert replace(document, places=()) == rendered
    for table in document.places:
        assert list(table.starts) == sorted(set(table.starts))
        assert list(table.at) == sorted(table.at, key=int)


def test_scripts_in_markdown_give_no_text() -> None:
    assert markdown_document("Yes.\n\n<script>alert('no')</script>\n").text == "Yes."


def test_thousands_of_signs_in_one_paragraph_are_read_as_plain_text() -> None:
    assert markdown_document("[" * 20_000).text == "[" * 20_000


DAM = "Плотина даёт 412 гигаватт-часов в год. Она построена в 1987 году. Рыба проходит через турбины без вреда."


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        (b"\xef\xbb\xbf" + "ü".encode(), "ü"),
        ("über".encode("utf-16"), "über"),
        ('<meta charset="koi8-r">да'.encode("koi8-r"), '<meta charset="koi8-r">да'),
        ('<meta charset="latin-1">é'.encode(), '<meta charset="latin-1">é'),
        (b"caf\xe9 \x93quoted\x94", "café “quoted”"),
        (b"caf\xe9 \x81", "café \x81"),
        (DAM.encode("koi8-r"), DAM),
        (DAM.encode("cp1251"), DAM),
        (DAM.encode("cp866"), DAM),
        ("Канал имеет восемь шлюзов.".encode("koi8-r"), "Канал имеет восемь шлюзов."),
        ("该水坝每年发电。鱼类可以安全通过。\n".encode("gbk") * 900, "该水坝每年发电。鱼类可以安全通过。\n" * 900),
        (b'<meta charset="rot13"> caf\xe9', '<meta charset="rot13"> café'),
    ],
)
def test_bytes_become_the_characters_that_were_meant(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_binary_data_is_no_text() -> None:
    with pytest.raises(DocumentUnreadable, match="binary"):
        decode(b"GIF89a\x00\x01")


@pytest.mark.parametrize(
    ("front", "date"),
    [
        ("---\ntitle: Tides\ndate: 2020-01-05\n---", "2020-01-05"),
        ("---\ndate: 2020-01-05\nupdated: 2024-05-06\n---", "2024-05-06"),
        ("---\ndate: '2020-01-05'\nlastMod: 2024-05-06T10:00:00Z\n---", "2024-05-06T10:00:00+00:00"),
        ('+++\ndate = "2020-01-05"\n+++', "2020-01-05"),
        ("---\ndate: soon\n---", ""),
        ("---\ntitle: Tides\n---\n\nStand: März 2025", "2025-03"),
        ("Last updated: 3 May 2021", "2021-05-03"),
    ],
)
def test_a_markdown_file_is_dated_by_its_front_matter_else_by_its_text(front: str, date: str) -> None:
    assert markdown_document(f"{front}\n\nThe lagoon has sixteen turbines.\n").date == date


def test_front_matter_gives_authors_licence_and_language_as_people_write_them() -> None:
    front = """---
title: Tides: a guide
authors:
  - name: Ann Lee
    email: ann@example.org
  - "Bo Yi"
license: CC-BY-4.0
Publisher: Tide Society
lang: en-GB
tags: [sea, tides]
---
"""
    document = markdown_document(f"{front}# Tides\n\nThe lagoon has sixteen turbines.\n")
    assert (document.title, document.authors, document.licence) == ("Tides: a guide", ("Ann Lee", "Bo Yi"), "CC-BY-4.0")
    assert (document.language, document.publisher) == ("en", "Tide Society")
    assert document.text.startswith("Tides")
    assert markdown_document("---\nauthor: [Ann Lee, Bo Yi]\n---\nText.").authors == ("Ann Lee", "Bo Yi")


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (
            "\\documentclass{article}\n"
            "\\title[Short]{The \\emph{Heron} survey\\\\ of~2023\\thanks{Paid by {us}}}\n\\begin{document}",
            "The Heron survey of 2023",
        ),
        ("% A comment\n\\title {Two\n lines}\nText.", "Two lines"),
        ("#+AUTHOR: Ann Lee\n#+title: Notes on herons\n\n* Counts\nThere were 42.", "Notes on herons"),
        ("\\input texinfo\n@settitle The @emph{Heron} Manual\n@node Top", "The Heron Manual"),
        (
            "This is herons.info, produced by makeinfo version 6.8 from\nherons.texi.\n\n"
            "GNU Herons\n**********\n\nText.",
            "GNU Herons",
        ),
        ("% Options\n\\documentclass{book}\n\\section{First \\texttt{steps}}\n\\section{Next}", "First steps"),
        ("\\input texinfo\n@node Top\n@top Herons\n@chapter Counts", "Herons"),
        ("\\input texinfo\n@node Top\n@top Top\n@chapter Counts", "Counts"),
        ("* Counts of herons\nThere were 42.", "Counts of herons"),
        ("\\title{Never closed\nText", "\\title{Never closed"),
        ("How LaTeX names a text\n\n\\title{Herons}", "How LaTeX names a text"),
    ],
)
def test_a_title_that_markup_declares_is_the_title(source: str, title: str) -> None:
    assert plain_document(source).title == title


def test_text_in_deep_quotes_and_lists_is_read() -> None:
    outline = "".join(f"{'  ' * depth}- item {depth}\n" for depth in range(30))
    assert "item 29" in markdown_document(outline).text
    for depth in (25, 5_000):
        text = markdown_document(f"# Letters\n\n{'> ' * depth}deep words\n\nAfter.\n").text
        assert "deep words" in text and "After." in text


@pytest.mark.parametrize(
    "filling", ["\n   " * 12_000, " " * 49_000, "\n\\title[{" * 5_000, "\\title{\\thanks{" * 3_000]
)
def test_the_search_for_a_declared_title_takes_linear_time(filling: str) -> None:
    started = time.process_time()
    plain_document(f"% A comment\n{filling}x")
    assert time.process_time() - started < 1.0
