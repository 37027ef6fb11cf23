"""Tables as text."""

from __future__ import annotations

import pytest

from graph_research.text.canonical import MAX_BLOCKS
from graph_research.text.places import in_words, places_of
from graph_research.text.readers.code import code_document
from graph_research.text.readers.separated import separated_document


def test_of_a_table_with_too_many_rows_the_first_ones_are_read() -> None:
    document = separated_document("Name,Size\n" + "Heron,42\n" * MAX_BLOCKS)
    assert len(document.blocks) == MAX_BLOCKS
    assert document.warnings == ("read the first 250,000 rows; those from line 250,001 on are not read",)
    assert separated_document("Name,Size\nHeron,42\n").warnings == ()


RACES = """{"season": 2024, "places": ["Eel Weir", "Oarsford"],
 "races": [
  {"name": "Sprint", "entry_fee": 18, "open": true},
  {"name": "Autumn Head", "entry_fee": 27.5, "open": null, "classes": ["8+", "4x-"]}
 ]}
"""


def test_lists_of_objects_in_json_are_tables_below_their_keys() -> None:
    document = code_document(RACES)
    assert [(block.kind, document.text[block.start : block.end]) for block in document.blocks[:3]] == [
        ("item", "season: 2024"),
        ("item", "places: Eel Weir, Oarsford"),
        ("heading", "races"),
    ]
    assert list(document.rows.values()) == [
        ("name", "entry_fee", "open", "classes"),
        ("Sprint", "18", "true", ""),
        ("Autumn Head", "27.5", "", "8+, 4x-"),
    ]
    start = document.text.index("Autumn Head")
    assert [in_words(place) for place in places_of(document.places, start, start + 5)] == ["line 4"]


@pytest.mark.parametrize("source", ['[{"a": 1, "b": 2}, {"a": 3, "b": 4}]', '{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n'])
def test_a_list_and_lines_of_objects_are_one_table(source: str) -> None:
    assert list(code_document(source).rows.values()) == [("a", "b"), ("1", "2"), ("3", "4")]


@pytest.mark.parametrize(
    "source",
    [
        '{"name": "gates", "scripts": {"test": "x"}}',
        '[{"a": {"b": 1}}, {"a": {"b": 2}}]',
        '[{"a": 1}]',
        "[1, 2, 3]",
        '[{"a": 1}, {"a": 2}] and more',
        '{"a": [{"b": 1}, {"b": 2}]',
        "{",
        '{"a": 1} and more',
        '[{"a": "%s"}, {"a": "x"}]' % ("A long text. " * 30),
        "[section]\nkey = 1",
    ],
)
def test_other_data_stays_text(source: str) -> None:
    document = code_document(source)
    assert not document.rows
    assert {block.kind for block in document.blocks} == {"code"}
