"""Tables as text."""

from __future__ import annotations

from graph_research.text.canonical import MAX_BLOCKS
from graph_research.text.readers.separated import separated_document


def test_of_a_table_with_too_many_rows_the_first_ones_are_read() -> None:
    document = separated_document("Name,Size\n" + "Heron,42\n" * MAX_BLOCKS)
    assert len(document.blocks) == MAX_BLOCKS
    assert document.warnings == ("read the first 250,000 rows; those from line 250,001 on are not read",)
    assert separated_document("Name,Size\nHeron,42\n").warnings == ()
