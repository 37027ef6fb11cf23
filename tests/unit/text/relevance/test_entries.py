"""What explains a thing that a text names: found by how it is written, in several kinds of manuals."""

from __future__ import annotations

import pytest

from graph_research.text.readers.html import html_document
from graph_research.text.relevance.entries import Entries, names_in

TERMS = html_document(
    "<h1>Settings</h1><dl><dt><code>max_slots</code> (integer)</dt><dd><p>The most slots.</p><p>The default is ten.</p>"
    "</dd><dt>FOR UPDATE</dt><dd><p>Locks the rows that are read.</p></dd><dt>fsync (boolean)</dt><dd><p>Whether "
    "writes are flushed.</p></dd></dl><h2>Notes</h2><p>See max_slots for more.</p>"
)
DIRECTIVES = html_document(
    "<h1>Core</h1><h2>KeepOpen Directive</h2><table><tr><td>Default:</td><td>KeepOpen 5</td></tr></table><p>How long a "
    "connection waits.</p><h2>Timeout Directive</h2><p>How long a request may take.</p>"
)
OPTIONS = html_document(
    "<h1>tool-merge</h1><dl><dt>--ff</dt><dt>--no-ff</dt><dd><p>What to do where the merge is plain.</p></dd>"
    "<dt>merge.tool</dt><dd><p>Which tool is asked. None by default.</p></dd></dl>"
)
FUNCTIONS = html_document(
    "<h1>Tasks</h1><pre>coroutine tasks.wait_for(task, timeout)</pre><p>Waits for the task.</p><pre>tasks.gather(*all)"
    "</pre><p>Waits for all of them.</p>"
)
DOCUMENTS = {"a": TERMS, "b": DIRECTIVES, "c": OPTIONS, "d": FUNCTIONS}


@pytest.mark.parametrize(
    ("text", "explained"),
    [
        ("max_slots default", "max_slots (integer) The most slots. The default is ten."),
        ("rows that FOR UPDATE locks", "FOR UPDATE Locks the rows that are read."),
        ("What does fsync cost?", "fsync (boolean) Whether writes are flushed."),
        ("KeepOpen of a busy server", "KeepOpen Directive Default: KeepOpen 5 How long a connection waits."),
        ("merge with --no-ff", "--ff --no-ff What to do where the merge is plain."),
        ("set merge.tool", "merge.tool Which tool is asked. None by default."),
        ("use tasks.wait_for(task)", "coroutine tasks.wait_for(task, timeout) Waits for the task."),
    ],
)
def test_what_a_text_names_is_found_whole_where_it_is_explained(text: str, explained: str) -> None:
    [entry] = Entries(DOCUMENTS).named(text)
    assert " ".join(DOCUMENTS[entry.source].text[entry.start : entry.end].split()) == explained


def test_common_words_and_names_that_nothing_explains_find_nothing() -> None:
    assert not list(Entries(DOCUMENTS).named("The Timeout of a request, its notes, and the setting min_slots"))


def test_a_name_that_is_left_out_is_not_looked_for() -> None:
    assert not list(Entries(DOCUMENTS).named("max_slots", {"max_slots"}))


def test_of_several_documents_the_one_that_explains_most_things_is_taken() -> None:
    note = html_document("<h1>Note</h1><dl><dt>max_slots</dt><dd><p>Mentioned here, too.</p></dd></dl>")
    [entry] = Entries({"note": note, **DOCUMENTS}).named("max_slots")
    assert entry.source == "a"


def test_a_page_and_a_list_of_names_explain_nothing() -> None:
    page = html_document(
        "<h1>tool_merge</h1><p>The page of the tool.</p><ul>" + "<li>log_one</li>" * 5 + "</ul><p>These are all.</p>"
    )
    assert not list(Entries({"a": page}).named("tool_merge and log_one"))


def test_names_are_told_in_the_order_of_the_text() -> None:
    assert names_in("Set fsync and max_slots, then --no-ff; max_slots again") == ["fsync", "max_slots", "--no-ff"]
