"""What is looked up once more in the sources for a sentence or cell that fails or in which nothing was found."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.agents.writing.further_passages import FurtherPassages, NearPassages
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.source import Source
from graph_research.text.readers.html import html_document
from graph_research.text.relevance.entries import Entries
from graph_research.text.relevance.query import parse

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
    return {"source_id": SOURCE.id, "start": start, "text": f"⟦{text}⟧"}


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


def test_of_a_long_definition_the_default_is_shown_before_what_nobody_asks_for() -> None:
    further = FurtherPassages([], QuoteFinder("", SOURCES, DOCUMENTS))
    [entry] = Entries(DOCUMENTS).named("run_limit")
    further.add_entry(entry, parse("When is a statement logged, and with what text?"), 170)
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
