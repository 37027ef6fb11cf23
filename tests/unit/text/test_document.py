"""A document: what stands above a place of its text."""

from __future__ import annotations

import pytest

from graph_research.text.document import MAX_HEADING_CHARS
from graph_research.text.readers.html import html_document
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


def test_a_block_is_read_with_the_one_that_announces_it() -> None:
    document = html_document("<h1>Log</h1><p>Old.</p><p>Below three million:</p><pre>ERROR: stopped</pre><p>Go on.</p>")
    start = document.text.index("ERROR")
    assert document.around(start, start + 5).split("\n") == ["Log", "Below three million:", "ERROR: stopped"]
    start = document.text.index("Go on")
    assert document.around(start, start + 5).split("\n") == ["Log", "Go on."]


SETTINGS = html_document(
    "<h1>Log</h1><p>What the writer does.</p><dl>"
    "<dt>flush_delay (integer)</dt><dd><p>How long it sleeps. By default 200 ms.</p><p>Set it on start.</p></dd>"
    "<dt>flush_after</dt><dd>How much it waits for.</dd><dd>Off by default.</dd></dl>"
    "<p>Both are read once.</p><ul><li>Linux</li><li>Windows</li></ul><p>Other systems are not tried.</p>"
)


@pytest.mark.parametrize(
    ("said", "term"),
    [
        ("By default 200 ms.", "flush_delay (integer)"),
        ("Set it on start.", "flush_delay (integer)"),
        ("How much it waits for.", "flush_after"),
        ("Both are read once.", ""),
        ("Other systems", ""),
        ("flush_after", ""),
        ("What the writer does.", ""),
    ],
)
def test_a_place_in_a_list_of_definitions_has_its_term(said: str, term: str) -> None:
    assert SETTINGS.term_at(SETTINGS.text.index(said)) == term


def test_what_is_read_with_a_definition_has_its_term() -> None:
    start = SETTINGS.text.index("Set it")
    assert SETTINGS.around(start, start + 6) == "Log\nflush_delay (integer)\nSet it on start."
    assert SETTINGS.term_at(len(SETTINGS.text)) == ""
