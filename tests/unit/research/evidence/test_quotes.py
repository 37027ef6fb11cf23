"""Finding quotes in archived texts, and turning them into evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.evidence.quotes import QuoteFinder, find_quote
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.locators import resolve
from graph_research.text.readers.html import html_document

TEXT = "The plant opened in 2016. It cost 4.1 million. The plant opened in 2016. “It’s done”, he said – twice."


def finder(text: str = TEXT, pages: tuple[int, ...] = ()) -> QuoteFinder:
    document = Document(text=text, pages=pages)
    source = Source(id="src-0000000001", archive_hash=document.hash)
    return QuoteFinder("When did the plant open?", {source.id: source}, {source.id: document})


def quote(text: str, **more: object) -> dict[str, Any]:
    return {"source_id": "src-0000000001", "quote": text, **more}


def test_the_first_place_is_taken_where_nothing_says_which() -> None:
    assert find_quote(TEXT, "The plant opened in 2016.") == (0, 25)


def test_start_tells_two_equal_places_apart() -> None:
    assert find_quote(TEXT, "The plant opened in 2016.", 47) == (47, 72)
    assert find_quote(TEXT, "The plant opened in 2016.", 60) == (47, 72)


def test_what_a_quote_is_about_tells_equal_places_apart() -> None:
    zero = "A value of zero (the default) disables the timeout."
    pages = "\n\n".join(
        f"{name} (integer) Abort any session that waits longer. {zero}" for name in ("a_time", "b_time")
    )
    assert find_quote(pages, zero, about="b_time: disabled by default") == (len(pages) - len(zero), len(pages))
    assert find_quote(pages, zero, about="Sessions wait.") == find_quote(pages, zero)
    [evidence] = finder(pages).evidence([quote(zero)], "b_time is off.")
    assert evidence.locator.endswith(str(len(pages)))


@pytest.mark.parametrize("changed", ['"It\'s done", he said - twice.', "“It’s  done”,\nhe said — twice."])
def test_marks_and_spaces_may_differ_but_the_archives_own_text_counts(changed: str) -> None:
    place = find_quote(TEXT, changed)
    assert place is not None
    assert TEXT[slice(*place)] == "“It’s done”, he said – twice."


@pytest.mark.parametrize("wrong", ["The plant opened in 2017.", "the plant opened", "", "   ", "x" * 3_000])
def test_another_word_is_another_quote(wrong: str) -> None:
    assert find_quote(TEXT, wrong) is None


@given(st.text(min_size=1, max_size=200), st.data())
def test_every_slice_without_outer_spaces_is_found_as_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    wanted = text[start:end].strip()
    if not wanted:
        return
    place = find_quote(text, wanted)
    assert place is not None
    assert text[slice(*place)] == wanted


def test_evidence_is_the_slice_that_its_locator_names() -> None:
    found = finder()
    [evidence] = found.evidence([quote("It cost 4.1 million.")])
    assert evidence.quote == TEXT[slice(*resolve(TEXT, evidence.locator))] == "It cost 4.1 million."
    assert evidence.archive_hash == Document(text=TEXT).hash
    assert found.dropped == 0


def test_a_quote_on_a_page_is_located_within_it() -> None:
    text = "First page.\n\n---PAGE 2---\n\nSecond page says so."
    [evidence] = finder(text, pages=(0, text.index("Second"))).evidence([quote("Second page says so.")])
    assert evidence.locator == "page:2:char:0-20"


def test_quotes_that_stand_nowhere_are_dropped_and_counted() -> None:
    found = finder()
    rows = [quote("It cost 5 million."), {"source_id": "src-ffffffffff", "quote": "It cost 4.1 million."}]
    assert found.evidence(rows) == []
    assert found.dropped == 2


def test_the_same_place_is_evidence_once() -> None:
    assert len(finder().evidence([quote("It cost 4.1 million."), quote("It cost 4.1 million.", start=26)])) == 1


def test_evidence_that_shares_terms_with_the_question_scores_higher() -> None:
    opened, cost = finder().evidence([quote("The plant opened in 2016."), quote("It cost 4.1 million.")])
    assert opened.score > cost.score == 0.0


def adding(page: Document, question: str, quoted: str) -> Callable[[str], list[str]]:
    """What is quoted of the page for a text beside its one quote."""
    source = Source(id="src-0000000001", title="Page", archive_hash=page.hash)
    found = QuoteFinder(question, {source.id: source}, {source.id: page})
    evidence = found.evidence([quote(quoted)])
    return lambda text: [one.quote for one in found.completing(evidence, text)]


def test_figures_of_a_finding_are_quoted_from_the_same_section() -> None:
    page = html_document(
        "<h1>Settings</h1><h2>a_time, since 3.8</h2><p>Aborts a statement that waits for a lock.</p>"
        "<p>It may be any number up to 4,000. The default is 0, which disables it.</p>"
        "<h2>b_time</h2><p>Aborts a session. The default is 7, which disables nothing.</p>"
    )
    added = adding(page, "What ends a wait?", "Aborts a statement that waits for a lock.")
    assert added("a_time aborts a statement; its default is 0.") == ["The default is 0, which disables it."]
    assert added("Since 3.8 a_time aborts a statement.") == [], "the heading says so"
    assert added("a_time aborts a statement; its default is 7.") == [], "another section's"
    assert added("In LarchStore 0 a statement aborts.") == added("In Larch 0 a statement aborts.") == [], "a version"
    assert added("a_time has two uses.") == [], "a count of the reader's own"
    both = added("The default of a_time is 0, the largest number 4000.")
    assert both == ["It may be any number up to 4,000.", "The default is 0, which disables it."]


def test_another_row_is_not_quoted_for_a_finding_that_does_not_name_it() -> None:
    page = html_document(
        "<h1>Proxy</h1><table><tr><th>Parameter</th><th>Default</th><th>Description</th></tr>"
        "<tr><td>retry</td><td>60</td><td>How long a proxy waits after a failure.</td></tr>"
        "<tr><td>receivebuffersize</td><td>0</td><td>Size of the buffer for proxied connections, or 0 for the system "
        "default.</td></tr></table>"
    )
    added = adding(page, "How long?", "How long a proxy waits after a failure.")
    row = "receivebuffersize 0 Size of the buffer for proxied connections, or 0 for the system default."
    assert added("After a failure a proxy waits by its default; a retry of 0 takes connections of the system.") == []
    assert added("A proxy waits after a failure; receivebuffersize takes the default of the system for 0.") == [row]


def test_what_only_shares_a_figure_with_a_finding_is_not_quoted_for_it() -> None:
    page = html_document(
        "<h1>Copying a store</h1><p>A copy links the files, which is fast.</p>"
        "<p>Set the path to C:\\Store\\15\\bin before that.</p>"
        "<p>Norland's clocks are one hour ahead beginning in November 2026.</p>"
        "<p>The old files may stay where they are: 15 keeps its own.</p>"
        "<dl><dt>copy_jobs (integer)</dt><dd><p>How many copies run at once. The default is 4.</p></dd>"
        "<dt>copy_wait (integer)</dt><dd><p>How long a copy waits, in seconds. The default is 9.</p></dd></dl>"
    )
    question = "How is a store copied?"
    to_links = adding(page, question, "A copy links the files, which is fast.")
    clocks = ["Norland's clocks are one hour ahead beginning in November 2026."]
    assert (
        to_links("A copy links the store's files and leaves the old one usable, but works, as of 15, only here.") == []
    )
    assert to_links("Copies of files could be damaged until that was mended in 15 (12 November 2026).") == []
    assert to_links("A copy links the files; the clocks of Norland change in November 2026.") == clocks
    assert to_links("Norlands Uhren gehen ab November 2026 anders.") == clocks, "a name, in another language"
    to_jobs = adding(page, question, "How many copies run at once.")
    assert to_jobs("Several copies run at once, by default 4.") == ["The default is 4."]
    assert to_jobs("Several copies run at once, by default 9.") == [], "another setting's"
    assert to_jobs("Several copies run at once; copy_wait is 9 by default.") == ["The default is 9."]


def test_what_a_finding_says_beyond_its_quotes_is_quoted_from_beside_them() -> None:
    page = html_document(
        "<h1>Moving a store</h1><h2>By copying</h2><p>The replica can be on the same machine or on another one. Once "
        "it has caught up, the roles are exchanged. The exchange takes several seconds. Harbours are closed at night."
        "</p><p>Plug-ins of the old store have to be built anew and put into place before.</p>"
        "<h2>By dumping</h2><p>The replica of a dump can be on a machine in another harbour.</p>"
    )
    added = adding(page, "How is a store moved?", "The exchange takes several seconds.")
    same = "The replica can be on the same machine or on another one."
    assert added("A replica on the same machine or another makes an exchange within several seconds possible.") == [
        same
    ]
    assert added("The exchange takes several seconds.") == []
    assert added("An exchange that takes several seconds leads to a store without losses of any kind.") == []
    built = "Plug-ins of the old store have to be built anew and put into place before."
    assert added("The exchange takes several seconds; plug-ins are built anew and put into place.") == [built]
    assert added("The exchange takes several seconds, unless the plug-ins and licences are checked by hand.") == []


def test_of_several_places_the_entry_counts_that_explains_what_is_said() -> None:
    items = [
        ("vacuum_threshold (integer)", "The least number of changed rows for a vacuum of one table."),
        ("analyze_threshold (integer)", "The least number of changed rows for an analyze of one table."),
    ]
    page = "".join(f"<dt>{term}</dt><dd><p>{said} The default is 50 rows.</p></dd>" for term, said in items)
    document = html_document(f"<html><body><h1>Settings</h1><dl>{page}</dl></body></html>")
    place = find_quote(
        document.text, "The default is 50 rows.", None, "A vacuum runs after 50 changed rows.", document.term_start
    )
    assert place is not None
    assert document.term_at(place[0]) == "vacuum_threshold (integer)"
