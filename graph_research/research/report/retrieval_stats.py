"""What gathering came to: who was asked how often, which pages were read, what was condensed, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.search.base import provider_name
from graph_research.research.report.model import GatheringStatistics, SearchUse

__all__ = ["FETCH", "gathering_of", "what_was_lost"]

FETCH = "fetch"
"""Stands for a provider among the failures where a page could not be read."""

_ALL = "all"
"""Stands for all providers where none answered."""


def gathering_of(state: Mapping[str, Any], search: Sequence[str] = ()) -> GatheringStatistics:
    """The sums over a state's `searches`, `search_failures`, `condensed` and `topics`; absent channels count as empty.

    `search` names the providers of the run. A search that failed at all of them has no account.
    """
    accounts = state.get("searches") or []
    failures = [row["provider"] for row in state.get("search_failures") or []]
    nobody = failures.count(_ALL)
    condensed = state.get("condensed") or []
    read = {address for row in accounts for address in row["pages_read"]}
    unread = {address for row in accounts for address in row["pages_failed"]} - read
    configured = map(provider_name, search)
    names = dict.fromkeys([*configured, *(name for row in accounts for name in (*row["asked"], *row["skipped"]))])
    return GatheringStatistics(
        searches=[
            SearchUse(
                provider=name,
                asked=nobody + sum(name in row["asked"] for row in accounts),
                failed=nobody + failures.count(name),
                skipped=sum(name in row["skipped"] for row in accounts),
            )
            for name in names
        ],
        duplicates_skipped=_duplicates(state.get("topics") or []),
        queries_limited=sum(bool(row["withheld"]) for row in accounts),
        pages_read=len(read),
        pages_failed=len(unread),
        sources_summarized=_sum(condensed, "summary", "done"),
        summaries_failed=_sum(condensed, "summary", "failed"),
        excerpts_dropped=_sum(condensed, "summary", "excerpts_dropped"),
        topics_compressed=_sum(condensed, "compression", "done"),
        compressions_failed=_sum(condensed, "compression", "failed"),
    )


def what_was_lost(gathered: GatheringStatistics) -> list[str]:
    """A sentence each for pages, queries, summaries and topics that came out less than they were meant to be."""
    said = []
    pages = gathered.pages_read + gathered.pages_failed
    if gathered.pages_failed:
        said.append(
            f"{gathered.pages_failed} of {_number(pages, 'page')} could not be read; what the search told of them was "
            "used instead."
        )
    if gathered.queries_limited:
        said.append(
            f"Words that stand only in local documents were kept out of {_number(gathered.queries_limited, 'search')} "
            "over the web."
        )
    condensed = gathered.sources_summarized + gathered.summaries_failed
    if gathered.summaries_failed:
        said.append(f"{gathered.summaries_failed} of {condensed} summaries of sources could not be made.")
    topics = gathered.topics_compressed + gathered.compressions_failed
    if gathered.compressions_failed:
        of = f"{gathered.compressions_failed} of {_number(topics, 'topic')}"
        said.append(f"What was found could not be put in order for {of}.")
    return said


def _duplicates(topics: Sequence[Mapping[str, Any]]) -> int:
    """Results that a topic had already, and sources that several topics found, each but once."""
    found = [source_id for topic in topics for source_id in topic.get("source_ids") or []]
    return sum(topic.get("duplicates_skipped") or 0 for topic in topics) + len(found) - len(set(found))


def _sum(rows: list[Mapping[str, Any]], kind: str, key: str) -> int:
    return sum(int(row[key]) for row in rows if row["kind"] == kind)


def _number(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}" + ("" if number == 1 else plural)
