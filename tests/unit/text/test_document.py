"""A document: what stands above a place of its text."""

from __future__ import annotations

import pytest

from graph_research.text.document import MAX_HEADING_CHARS
from graph_research.text.readers.markdown import markdown_document

DOCUMENT = markdown_document(
    "Before.\n\n# Store\n\nOne.\n\n## Shared mode\n\n### Since 3.40\n\nTwo.\n\n## Plain mode\n\nThree.\n\n# "
    + "long " * 100
    + "\n\nFour."
)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("Before.", ()),
        ("Store", ()),
        ("One.", ("Store",)),
        ("Two.", ("Store", "Shared mode", "Since 3.40")),
        ("Plain mode", ("Store", "Shared mode", "Since 3.40")),
        ("Three.", ("Store", "Plain mode")),
    ],
)
def test_the_path_of_a_place_has_the_headings_above_it_the_outermost_first(said: str, path: tuple[str, ...]) -> None:
    assert DOCUMENT.path_at(DOCUMENT.text.index(said)) == path


def test_a_long_heading_is_cut_in_a_path() -> None:
    [heading] = DOCUMENT.path_at(DOCUMENT.text.index("Four."))
    assert len(heading) == MAX_HEADING_CHARS


def test_what_is_read_with_a_stretch_has_all_headings_above_it() -> None:
    start = DOCUMENT.text.index("Two.")
    assert DOCUMENT.around(start, start + 4).split("\n") == ["Store", "Shared mode", "Since 3.40", "Two."]
