"""Canonical text: the properties that hashes and locators rest on."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_research.text.canonical import DocumentBuilder, canonical_text
from graph_research.text.document import Document, source_id

TEXT = st.text(st.characters(), max_size=300)


@pytest.mark.requirement("11.12", "B3")
@given(TEXT)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    assert canonical_text(canonical_text(text)) == canonical_text(text)


@pytest.mark.requirement("11.10", "11.12")
@given(TEXT)
@example("caf\N{LATIN SMALL LETTER E}\N{COMBINING ACUTE ACCENT} noir")
def test_canonical_text_is_nfc_with_single_spaces_and_can_be_hashed(text: str) -> None:
    canonical = canonical_text(text)
    assert unicodedata.is_normalized("NFC", canonical)
    assert canonical.split() == [word for word in canonical.split(" ") if word]
    assert Document(text=canonical).hash.startswith("sha256:")


@pytest.mark.requirement("B3")
def test_entities_and_tags_in_plain_text_are_text() -> None:
    assert canonical_text("a &lt; b and <c>\n\n d") == "a &lt; b and <c> d"


def test_control_characters_and_half_surrogates_do_no_harm() -> None:
    assert canonical_text("a\x00b\x1b[0m \ud800") == "a b [0m \ufffd"


def test_soft_hyphens_are_no_part_of_a_word() -> None:
    assert canonical_text("Donau\xaddampf\xad schiff") == "Donaudampf schiff"


def test_a_row_that_ends_with_an_empty_cell_ends_with_its_text() -> None:
    builder = DocumentBuilder()
    builder.add_row(["a", "", "bc", ""])
    document = builder.document()
    assert document.cells == ((0, 2, 2, 4, 4),)
    assert list(document.rows.values()) == [("a", "", "bc", "")]


@pytest.mark.requirement("B4")
@given(st.lists(st.tuples(st.sampled_from(["paragraph", "item", "heading"]), TEXT), max_size=8))
def test_each_block_is_an_exact_slice(parts: list[tuple[str, str]]) -> None:
    builder = DocumentBuilder()
    for kind, text in parts:
        builder.add(kind, text)  # type: ignore[arg-type] -- hypothesis gives plain strings
    document = builder.document()
    texts = [canonical_text(text) for _, text in parts if canonical_text(text)]
    assert [document.text[block.start : block.end] for block in document.blocks] == texts
    assert document.text == " ".join(texts)


@pytest.mark.requirement("B4")
@given(st.lists(st.tuples(st.sampled_from(["paragraph", "item"]), TEXT), max_size=5))
def test_a_document_survives_its_layout(parts: list[tuple[str, str]]) -> None:
    builder = DocumentBuilder()
    for kind, text in parts:
        builder.add(kind, text)  # type: ignore[arg-type] -- hypothesis gives plain strings
    document = builder.document("A title")
    assert Document.from_layout(document.text, document.layout()) == document


def test_a_web_page_keeps_its_id_when_its_text_changes_and_a_relative_path_does_not() -> None:
    assert source_id("https://example.org/a", "one") == source_id("https://example.org/a", "two")
    assert source_id("README.md", "one") != source_id("README.md", "two")
    assert source_id(None, "one") == source_id(None, "one")
    assert source_id("README.md", "one").startswith("src-")
    assert len(source_id("README.md", "one")) == 14
