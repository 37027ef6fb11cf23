"""Links of a report as citation marks."""

from __future__ import annotations

import time

from graph_research.research.audit.links import with_marks, with_targets


def test_a_link_gets_a_mark_and_its_target_is_known() -> None:
    html, targets = with_marks(
        '<p><a title="x" href="a&amp;b.md">by <b>he</b></a>, <a href=\'c.md\'>[3]</a>, <a href="a&amp;b.md">again</a>.'
    )
    assert html == "<p>by <b>he</b> [link.1], [3] [link.2], again [link.1]."
    assert targets == {"link.1": "a&b.md", "link.2": "c.md"}
    assert with_targets("Report [link.2], [link.9]", targets) == "Report c.md, [link.9]"


def test_links_within_the_page_and_broken_ones_stay_as_they_are() -> None:
    page = '<a href="#top">up</a> <a name="x">here</a> <a href="open.md">never closed'
    assert with_marks(page) == (page, {})


def test_thousands_of_open_links_take_no_longer_than_their_number() -> None:
    began = time.process_time()
    with_marks('<a href="x">' * 20_000)
    assert time.process_time() - began < 5.0
