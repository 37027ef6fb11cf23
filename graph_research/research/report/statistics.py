"""Statistics of a run: seconds, calls, tokens, cost, searches and pages, and how much of the sources was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any, Literal

from graph_research.providers.search.base import provider_name
from graph_research.research.evidence.cited import Cited
from graph_research.research.evidence.claim_support import Status
from graph_research.research.llm.usage import Spending, total
from graph_research.research.models.fidelity import FidelityLevel, FidelityRecord, ItemFidelity
from graph_research.research.models.source import Source
from graph_research.research.report.model import (
    ContentFidelity,
    GatheringStatistics,
    ReportSource,
    ReportStatistics,
    SearchUse,
    UsageTotals,
)
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.retrieval.fidelity import fullest_records, known_share
from graph_research.text.tokens import CHARS_PER_TOKEN

FETCH = "fetch"
"""Stands for a provider among the failures where a page could not be read."""

ALL = "all"
"""Stands for all providers where none answered."""

_FREE = frozenset({"extractive", "local"})


def statistics_of(
    run: RunFacts,
    sources: Sequence[ReportSource],
    cited: Cited,
    origins: int,
    *,
    token_limit_retries: int = 0,
    gathering: GatheringStatistics | None = None,
    fidelity: ContentFidelity,
) -> ReportStatistics:
    """The run's numbers; `origins` counts who stands behind the cited sources. Where nothing that the run calls costs
    money, no call can have been paid twice."""
    spent = total(Spending.of_row(row.to_json()) for row in run.usage)
    is_free = _FREE.issuperset({*run.models.values(), *run.search})
    return ReportStatistics(
        wall_seconds=round(run.wall_seconds, 3),
        model_seconds=round(sum(row.seconds for row in run.usage), 3),
        calls=spent.calls,
        searches=run.searches,
        retries=list(run.retries),
        possibly_paid_twice=0 if is_free else run.possibly_paid_twice,
        usage=list(run.usage),
        totals=UsageTotals(**spent.rounded()),
        model_roles=dict(run.model_roles),
        token_limit_retries=token_limit_retries,
        content_fidelity=fidelity,
        gathering=gathering or GatheringStatistics(),
        sources_found=len(sources),
        sources_cited=sum(bool(source.citations) for source in sources),
        origins_cited=origins,
        statements=_statements(cited),
    )


def _statements(cited: Cited) -> dict[str, int]:
    counts = Counter(statement.status for statement in cited.statements())
    return {status.value: counts[status] for status in Status}


def content_fidelity_of(state: Mapping[str, Any], lengths: Mapping[str, int] | None = None) -> ContentFidelity:
    """The records of a state's `content_fidelity`, and what they say together; absent channels count as empty. A phase
    that is repeated replaces its records; a source counts as far as any of its prompts showed it.

    Earlier versions stored no records and no lengths of sources: then what the sources themselves say of what was shown
    counts, and `lengths` are the characters of the archived texts by archive hash.
    """
    records = [FidelityRecord.model_validate(row) for row in state.get("content_fidelity") or []]
    fullest = fullest_records(records)
    sources = [Source.model_validate(row) for row in state.get("sources") or []]
    known = lengths or {}
    items = {
        source.id: _item_fidelity(
            source, fullest.get(source.id), source.characters or known.get(source.archive_hash, 0)
        )
        for source in sources
    }
    score = mean(item.compression_ratio for item in items.values()) if items else 1.0
    return ContentFidelity(
        items=items,
        records=records,
        levels=dict(sorted(Counter(item.current_level.value for item in items.values()).items())),
        score=round(score, 4),
        band=_band(score),
    )


def _item_fidelity(source: Source, fullest: FidelityRecord | None, characters: int) -> ItemFidelity:
    before = source.metadata.get("shown_share", 0.0 if fullest else 1.0)
    share = known_share(source.fidelity, max(before, fullest.compression_ratio) if fullest else before)
    original = characters // CHARS_PER_TOKEN
    return ItemFidelity(
        original_tokens=original,
        current_tokens=round(original * share),
        current_level=fullest.level if fullest and source.is_digest else FidelityLevel(source.fidelity),
        compression_ratio=share,
    )


def _band(score: float) -> Literal["full", "condensed", "compressed", "minimal"]:
    """A word for a mean share of kept text."""
    if score >= 0.9:
        return "full"
    if score >= 0.6:
        return "condensed"
    return "compressed" if score >= 0.3 else "minimal"


def gathering_of(state: Mapping[str, Any], search: Sequence[str] = ()) -> GatheringStatistics:
    """The sums over a state's `searches`, `search_failures`, `condensed` and `topics`; absent channels count as empty.

    `search` names the providers of the run. A search that failed at all of them has no account.
    """
    accounts = state.get("searches") or []
    failures = [row["provider"] for row in state.get("search_failures") or []]
    failed_at_all = failures.count(ALL)
    condensed = state.get("condensed") or []
    summarized = _summarized(condensed)
    compressed = [row["done"] for row in condensed if row["kind"] == "compression"]
    read = {address for row in accounts for address in row["pages_read"]}
    unread = {address for row in accounts for address in row["pages_failed"]} - read
    configured = map(provider_name, search)
    names = dict.fromkeys([*configured, *(name for row in accounts for name in (*row["asked"], *row["skipped"]))])
    return GatheringStatistics(
        searches=[
            SearchUse(
                provider=name,
                asked=failed_at_all + sum(name in row["asked"] for row in accounts),
                failed=failed_at_all + failures.count(name),
                skipped=sum(name in row["skipped"] for row in accounts),
            )
            for name in names
        ],
        duplicates_skipped=_duplicates(state.get("topics") or []),
        excluded=_excluded(accounts),
        queries_limited=sum(bool(row["withheld"]) for row in accounts),
        pages_read=len(read),
        pages_failed=len(unread),
        sources_summarized=sum(text["done"] for text in summarized),
        summaries_failed=sum(not text["done"] for text in summarized),
        excerpts_dropped=sum(text["excerpts_dropped"] for text in summarized),
        topics_compressed=sum(compressed),
        compressions_failed=len(compressed) - sum(compressed),
    )


def _duplicates(topics: Sequence[Mapping[str, Any]]) -> int:
    """Results that a topic had already, and sources that several topics found, each but once."""
    ids = [source_id for topic in topics for source_id in topic.get("source_ids") or []]
    return sum(topic.get("duplicates_skipped") or 0 for topic in topics) + len(ids) - len(set(ids))


def _excluded(accounts: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many different search results were excluded for each reason."""
    reasons = {row["address"]: row["reason"] for account in accounts for row in account.get("excluded") or []}
    return dict(sorted(Counter(reasons.values()).items()))


def _summarized(condensed: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The texts that were to be summarized, each once, however many topics found it."""
    texts = {text["hash"]: text for row in condensed if row["kind"] == "summary" for text in row["texts"]}
    return list(texts.values())
