"""What is looked up once more in the sources for a sentence or cell that fails or in which nothing was found."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest

from graph_research.research.agents.writing.further_passages import FurtherPassages, NearPassages
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.source import Source
from graph_research.text.readers.html import html_document
from graph_research.text.relevance.entries import Entries
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank

DISABLED = "A value of zero (the default) disables it."
LIMITS = html_document(
    "<h1>Limits</h1><dl>"
    "<dt>lock_limit (integer)</dt><dd><p>Ends a statement that waits longer for a lock. It counts each attempt.</p>"
    f"<p>{DISABLED} It is rather pointless beside others.</p></dd>"
    "<dt>run_limit (integer)</dt><dd><p>Ends a statement that runs longer. What was logged of it before stays in the "
    f"log, with its text. It is counted from the arrival of its first byte. {DISABLED} "
    "Set it for one role, since it would end all that runs.</p></dd>"
    "<dt>page_limit (integer)</dt><dd><p>How far it grows.</p></dd></dl>"
)
SOURCE = Source(id="src-0000000001", title="Limits", archive_hash=LIMITS.hash)
SOURCES, DOCUMENTS = {SOURCE.id: SOURCE}, {SOURCE.id: LIMITS}


def shown_at(start: int, text: str) -> dict[str, Any]:
    return {"source_id": SOURCE.id, "start": start, "end": start + len(text)}


def test_a_default_is_not_taken_for_shown_because_another_setting_has_it_in_the_same_words() -> None:
    near = NearPassages(SOURCES, DOCUMENTS, "Which limits are there?")
    named = near.definitions("run_limit", [shown_at(LIMITS.text.rindex(DISABLED), DISABLED)])
    assert not any(DISABLED in near.evidence[name].quote for name in named)
    named = near.definitions("lock_limit", [shown_at(LIMITS.text.rindex(DISABLED), DISABLED)])
    assert any(DISABLED in near.evidence[name].quote for name in named)


def test_each_of_two_settings_that_an_objection_names_has_its_default_shown() -> None:
    near = NearPassages(SOURCES, DOCUMENTS, "Which limits are there?")
    shown = [shown_at(LIMITS.text.index("It counts"), f"It counts each attempt. {DISABLED}")]
    named = near.definitions("the passages give the default of lock_limit, not of run_limit", shown)
    found = [near.evidence[name].quote for name in named]
    assert any(quote.startswith("run_limit (integer)") and DISABLED in quote for quote in found)
    assert any(quote.startswith("lock_limit (integer)") for quote in found)


def test_what_a_reader_wants_to_know_is_not_shown_twice() -> None:
    near = NearPassages(SOURCES, DOCUMENTS, "Which limits are there?")
    quotes = [near.evidence[name].quote for name in near.telling("lock_limit: what ends a wait for a lock")]
    assert sum("waits longer for a lock" in quote for quote in quotes) == 1


def test_of_a_long_definition_the_default_is_shown_before_what_nobody_asks_for() -> None:
    further = FurtherPassages([], QuoteFinder("", SOURCES, DOCUMENTS))
    [entry] = Entries(DOCUMENTS).named("run_limit")
    further.add_entry(entry, parse("When is a statement logged, and with what text?"), 150)
    assert DISABLED in [row.quote for row in further.chosen.values()]


def test_of_a_long_definition_no_single_line_of_its_example_is_shown() -> None:
    example = "\n".join(f"async def step_{number}(queue):\n    await queue.get()" for number in range(30))
    text = "<dl><dt>run_all (function)</dt><dd><p>Runs all that it is given.</p>"
    pool = html_document(f"<h1>Pool</h1>{text}<pre>{example}</pre><p>A failure ends the queue.</p></dd></dl>")
    source = Source(id="src-0000000009", title="Pool", archive_hash=pool.hash)
    further = FurtherPassages([], QuoteFinder("", {source.id: source}, {source.id: pool}))
    [entry] = Entries({source.id: pool}).named("run_all")
    further.add_entry(entry, parse("run_all step_7 guard"), 300)
    quotes = [row.quote for row in further.chosen.values()]
    assert not any(quote.startswith("async def") for quote in quotes)


def test_a_long_default_is_shown_with_its_setting_however_little_room_there_is_for_each() -> None:
    default = "The default of -1 makes it as large as a thirtieth of the cache, but no smaller than a page of the log."
    page = html_document(
        "<h1>Cache</h1><dl><dt>log_cache (integer)</dt><dd><p>How much of the log is held in the memory of all. If no "
        f"unit is given, it is in pages. {default} It is set when the server starts, so that a restart is needed for "
        "another value. Each commit writes the log, so that much more is seldom of any use for it.</p></dd>"
        "<dt>other_cache (integer)</dt><dd><p>How much else is held.</p></dd></dl>"
    )
    source = Source(id="src-0000000008", title="Cache", archive_hash=page.hash)
    further = FurtherPassages([], QuoteFinder("", {source.id: source}, {source.id: page}))
    [entry] = Entries({source.id: page}).named("log_cache")
    further.add_entry(entry, parse("log_cache and its restart"), 120)
    [quote] = [row.quote for row in further.chosen.values()]
    assert quote.startswith("log_cache (integer)") and quote.endswith(default)


def announced(page: str, text: str, *told: str) -> list[str]:
    """What is found on a page for a text, where some of it is told."""
    document = html_document(f"<h1>Copies</h1>{page}")
    source = Source(id="src-0000000007", title="Copies", archive_hash=document.hash)
    places = [(source.id, document.text.index(part), document.text.index(part) + len(part)) for part in told]
    further = FurtherPassages(places, QuoteFinder("", {source.id: source}, {source.id: document}))
    further.add_first(rank(Pool({source.id: document}), parse(text)), 1)
    return [row.quote for row in further.chosen.values()]


COMMAND = "copy --all --links old new remote"


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        (f"<p>A replica is made from the primary. Run this for each replica:</p><pre>{COMMAND}</pre>", COMMAND),
        (
            "<p>The replica has one of these states:</p><ul><li>retained</li><li>removed later</li></ul>",
            "removed later",
        ),
        (
            "<p>The replica has these options:</p><dl><dt>links (boolean)</dt><dd><p>Links the files.</p></dd>"
            "<dt>jobs (integer)</dt><dd><p>How many run.</p></dd></dl>",
            "How many run.",
        ),
        (f"<p>Es gibt eine replica:</p><table><tr><td>links</td><td>{COMMAND}</td></tr></table>", COMMAND),
    ],
)
def test_what_a_sentence_announces_is_shown_with_it(page: str, shown: str) -> None:
    [quote] = announced(page, "replica")
    assert quote.endswith(shown)


def test_what_a_sentence_announces_is_shown_as_far_as_there_is_room() -> None:
    page = "<p>The replica has these states:</p><ul>" + "".join(f"<li>state {n}: {'x' * 150}.</li>" for n in range(9))
    [quote] = announced(f"{page}</ul>", "replica")
    assert "state 2" in quote and "state 3" not in quote


def test_a_sentence_that_announces_what_is_told_or_does_not_follow_is_not_shown() -> None:
    before, after = "A replica is made from the old primary.", "Run this for each replica:"
    page = f"<p>{before} {after}</p><pre>{COMMAND}</pre>"
    assert announced(page, "replica", COMMAND) == [before]
    assert announced(f"<p>{before} {after}</p><h2>Others</h2><p>Nothing else is said of it.</p>", "replica") == [before]
    assert announced(f"<p>{after}</p><pre>{COMMAND}</pre>", "replica", COMMAND) == []


def test_an_example_is_shown_whole_with_the_sentence_above_it() -> None:
    host = "<VirtualHost *:443>\n  SSLEngine on\n  SSLCertificateFile /path/to/www.cert\n</VirtualHost>"
    block = f"<p>Two lines are needed. They stand in a host.</p><pre>{escape(host)}</pre>"
    shown = "They stand in a host.\n" + host
    assert [" ".join(quote.split()) for quote in announced(block, "SSLCertificateFile")] == [" ".join(shown.split())]
    assert announced(f"<pre>{escape(host)}</pre>", "SSLCertificateFile") == [], "a listing"
    long = escape(host * 20)
    assert announced(f"<p>They stand in a host.</p><pre>{long}</pre>", "SSLCertificateFile") == []


def test_what_is_too_short_to_be_understood_by_itself_is_not_shown() -> None:
    assert announced("<p>See Replica 28.4.</p>", "replica") == []
    assert announced("<p>The replica is off by default.</p>", "replica") == ["The replica is off by default."]


LOGS = {
    "src-0000000002": html_document(
        "<h1>Logs</h1><p>A checkpoint is run when the log has grown to more than 1000 pages since the one before.</p>"
        "<p>Larch writes a log of its own. Readers go on while it is copied.</p>"
    ),
    "src-0000000003": html_document("<h1>Alder</h1><p>Since its last checkpoint Alder keeps 70 pages of rows.</p>"),
}


@pytest.mark.parametrize(
    ("column", "context", "found"),
    [
        (["src-0000000002"], "journal of one transaction. pages since the last checkpoint: 5 minutes. Recovery", True),
        (["src-0000000003"], "journal of one transaction. pages since the last checkpoint: 5 minutes. Recovery", False),
        (["src-0000000002"], "prices of licences. A year in Bolivia. Costs", False),
        ([], "journal of one transaction. pages since the last checkpoint: 5 minutes. Recovery", False),
    ],
)
def test_for_a_cell_in_which_nothing_was_found_the_sources_of_its_column_are_read_for_what_its_row_is_about(
    column: list[str], context: str, found: bool
) -> None:
    sources = {name: Source(id=name, title="", archive_hash=document.hash) for name, document in LOGS.items()}
    near = NearPassages(sources, LOGS, "How do Larch and Alder recover?")
    names = near.lacking("What bounds it, Larch with a log not found", context, [], column)
    assert any("1000 pages" in near.evidence[name].quote for name in names) is found
