"""Statistics of a run: seconds, calls, tokens, cost, searches and pages, and how much of the sources was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.providers.search.base import LOCAL, provider_name
from graph_research.research.evidence.cited import Cited
from graph_research.research.evidence.claim_support import Status
from graph_research.research.llm.usage import Spending, UsageTotals, total
from graph_research.research.models.fidelity import ContentFidelity
from graph_research.research.report.model import (
    GatheringStatistics,
    ReportSource,
    ReportStatistics,
    SearchUse,
)
from graph_research.research.report.run_metadata import RunFacts

FETCH = "fetch"
"""Stands for a provider among the failures where a page could not be read."""

ALL = "all"
"""Stands for all providers where none answered."""

_FREE = frozenset({EXTRACTIVE, LOCAL})


def statistics_of(
    run: RunFacts,
    sources: Sequence[ReportSource],
    cited: Cited,
    origins: int,
    *,
    token_limit_retries: int,
    gathering: GatheringStatistics,
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
        gathering=gathering,
        sources_found=len(sources),
        sources_cited=sum(bool(source.citations) for source in sources),
        origins_cited=origins,
        statements=_statements(cited),
    )


def _statements(cited: Cited) -> dict[str, int]:
    counts = Counter(statement.status for statement in cited.statements())
    return {status.value: counts[status] for status in Status}


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
