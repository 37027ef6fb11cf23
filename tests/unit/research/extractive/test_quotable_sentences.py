"""Which sentences are fit to be quoted on their own."""

from __future__ import annotations

import pytest

from graph_research.research.extractive.sentences import clean_heading, quotable_sentences
from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Block, BlockKind, Document
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document

SOUND = "The bridge over the Alder was opened by the mayor."


def of_block(kind: BlockKind, text: str) -> Document:
    builder = DocumentBuilder()
    builder.add(kind, text)
    return Document(text=builder.text(), blocks=(Block(kind, 0, len(builder.text())),))


def quotable(text: str) -> list[str]:
    return [passage.text for passage in quotable_sentences("s", markdown_document(text))]


@pytest.mark.parametrize("kind", ["paragraph", "item", "quote"])
def test_prose_is_quoted(kind: BlockKind) -> None:
    assert [passage.text for passage in quotable_sentences("s", of_block(kind, SOUND))] == [SOUND]


@pytest.mark.parametrize("kind", ["heading", "table", "code", "boilerplate"])
def test_headings_tables_code_and_boilerplate_are_not(kind: BlockKind) -> None:
    assert quotable_sentences("s", of_block(kind, SOUND)) == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The bridge is old.", id="five words"),
        pytest.param(" ".join(["The bridge was"] + ["very"] * 45 + ["old."]), id="over 45 words"),
        pytest.param("The bridge over the Alder was opened by the", id="unfinished"),
        pytest.param("The bridge over the Alder was opened for:", id="leads on"),
        pytest.param("Who opened the bridge over the Alder in spring?", id="question"),
        pytest.param("Subscribe now and never miss a bridge again.", id="call"),
        pytest.param("Return the number of bridges over the river.", id="command"),
        pytest.param("Returns the bridges that cross the given river.", id="no subject"),
        pytest.param("The number of bridges with arches of grey stone.", id="no verb"),
        pytest.param("It was opened by the mayor of the town.", id="pronoun without antecedent"),
        pytest.param("However, this was denied by the mayor later.", id="aside and pronoun"),
        pytest.param("On the whole, see above for the bridge (and its arches.", id="unbalanced"),
        pytest.param("The bridge is shown in this section of the guide.", id="points elsewhere"),
        pytest.param("The second was opened by the mayor of the town.", id="ordinal without a noun"),
        pytest.param("The second argument specified the bridge to be opened.", id="ordinal and noun"),
        pytest.param("Changed in version 3.8: the bridge can now be opened.", id="metadata"),
    ],
)
def test_what_cannot_stand_alone_is_left_out(text: str) -> None:
    assert quotable(text) == []


def test_a_sentence_that_opens_with_a_pronoun_brings_the_one_before_it() -> None:
    assert quotable(f"{SOUND} It closed again in the winter of that year.") == [
        SOUND,
        f"{SOUND} It closed again in the winter of that year.",
    ]


def test_a_predecessor_in_another_paragraph_is_not_brought() -> None:
    assert quotable(f"{SOUND}\n\nIt closed again in the winter of that year.") == [SOUND]


def test_a_dot_inside_a_name_ends_no_sentence() -> None:
    text = "When a task is cancelled, asyncio.CancelledError will be raised in the task."
    assert quotable(text) == [text]


def test_reference_marks_at_the_end_are_cut_off_the_quote() -> None:
    document = of_block("paragraph", f"{SOUND}[1][2] Its arches were built by hand from grey stone.")
    assert quotable_sentences("s", document)[0].text == SOUND


def test_a_document_that_mostly_speaks_of_cookies_gives_nothing() -> None:
    page = (
        "The cookies of this site are stored for a year. The newsletter about the bridge is sent by email every week."
    )
    assert quotable(f"{page} {SOUND}") == []


def test_every_passage_is_an_exact_slice_under_its_heading() -> None:
    document = html_document(
        f"<main><h2>1.2 History ¶</h2><p>{SOUND}</p><h2>Use</h2><p>Carts and cars cross it daily now.</p></main>"
    )
    found = quotable_sentences("s", document)
    assert all(document.text[passage.start : passage.end] == passage.text for passage in found)
    assert (found[0].heading, found[0].text) == ("History", SOUND)


@pytest.mark.parametrize(
    ("written", "clean"),
    [("2.1 Task Groups¶", "Task Groups"), ("MUDFLATS AND SEDIMENT", "Mudflats and sediment"), ("3. Price:", "Price")],
)
def test_a_heading_loses_its_number_and_mark(written: str, clean: str) -> None:
    assert clean_heading(written) == clean


def test_an_ordinal_with_a_full_name_of_its_own_stands_alone() -> None:
    sentence = "The first parallel cycle produced 412 duplicate invoices."
    assert quotable(sentence) == [sentence]
