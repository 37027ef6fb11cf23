"""Limitations: what a reader must know before relying on a report, from what the run recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.search.base import provider_name
from graph_research.research.decision_log import EVALUATE_PHASE
from graph_research.research.evidence.citations import Cited
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.models.finding import Gap
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.report.labels import ENGLISH
from graph_research.research.report.model import GatheringStatistics, ReportDecision, ReportSource, SubQueryOutcome
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.report.statistics import ALL, FETCH
from graph_research.text.wording import counted

_STANDING = "A proved citation shows that the source says so, word for word. It does not show that the source is right."


def limitations_of(
    state: Mapping[str, Any],
    run: RunFacts,
    *,
    cited: Cited,
    sources: Sequence[ReportSource],
    gaps: Sequence[Gap],
    sub_queries: Sequence[SubQueryOutcome],
    decisions: Sequence[ReportDecision],
    fabricated_dropped: int,
    origins: int,
    gathered: GatheringStatistics,
) -> list[str]:
    """One sentence each, the standing one first, then what happened; no error's own words, which may hold paths."""
    degraded = state.get("degraded") or []
    quotes_dropped = int(state.get("quotes_dropped") or 0)
    return [
        _STANDING,
        *_about_sources(sources, origins),
        *_about_the_search(sub_queries, run.search, state.get("search_failures") or []),
        *([f"Search providers not used: {'; '.join(run.skipped_searches)}."] if run.skipped_searches else []),
        *about_the_gathering(gathered),
        *_about_the_writing(cited, degraded),
        *_about_the_windows(degraded),
        *_about_the_models(degraded),
        *_those_that_apply(
            (quotes_dropped, f"Quotes discarded because no archived text holds them: {quotes_dropped}."),
            (fabricated_dropped, f"Citations discarded because they name no evidence: {fabricated_dropped}."),
        ),
        *_about_the_gates(decisions, gaps),
    ]


def _about_sources(sources: Sequence[ReportSource], origins: int) -> list[str]:
    cited = [source for source in sources if source.citations]
    undated = sum(source.published_at is None for source in cited)
    weak = sum(source.tier in ("UNVERIFIED", "FLAGGED") for source in cited)
    shortened = sum(source.fidelity != "full" for source in sources)
    return _those_that_apply(
        (cited and origins == 1, "All cited sources have one origin; there is no independent confirmation."),
        (undated, f"Cited sources without a date (recency unknown): {undated} of {len(cited)}."),
        (weak, f"Cited sources that are unverified or flagged: {weak} of {len(cited)}."),
        (shortened, f"Sources that are only partly available: {shortened} of {len(sources)}."),
    )


def _those_that_apply(*sentences: tuple[object, str]) -> list[str]:
    return [sentence for applies, sentence in sentences if applies]


def _about_the_search(
    sub_queries: Sequence[SubQueryOutcome], search: Sequence[str], failures: Sequence[Mapping[str, Any]]
) -> list[str]:
    failed = [outcome.query for outcome in sub_queries if outcome.status == SubQueryStatus.FAILED]
    said = [f"A sub-question failed and was left out: {query}." for query in failed]
    failures = [failure for failure in failures if failure["provider"] != FETCH]
    if failures:
        everyone = " and ".join(map(provider_name, search)) or "all"
        who = {failure["provider"]: failure["provider"] for failure in failures} | {ALL: everyone}
        named = dict.fromkeys(f"{who[row['provider']]} on “{row['query']}” ({row['error']})" for row in failures)
        said.append(f"Failed searches: {'; '.join(named)}.")
    return said


def about_the_gathering(gathered: GatheringStatistics) -> list[str]:
    """A sentence each for failed pages, summaries and topics, and for limited queries."""
    pages, unread = gathered.pages_read + gathered.pages_failed, gathered.pages_failed
    limited = counted(gathered.queries_limited, "web search")
    summaries, failed = gathered.sources_summarized + gathered.summaries_failed, gathered.summaries_failed
    topics, uncompressed = gathered.topics_compressed + gathered.compressions_failed, gathered.compressions_failed
    return _those_that_apply(
        (unread, f"{counted(unread, 'page', of=pages)} could not be read; search results were used instead."),
        (gathered.queries_limited, f"Words that occur only in local documents were removed from {limited}."),
        (failed, f"{counted(failed, 'source summary', of=summaries)} could not be made."),
        (uncompressed, f"Topic compression failed for {counted(uncompressed, 'topic', of=topics)}."),
    )


def _about_the_writing(cited: Cited, degraded: Sequence[Mapping[str, Any]]) -> list[str]:
    said = []
    invalid = sum(not citation.valid for citation in cited.citations)
    if invalid:
        said.append(
            f"{counted(invalid, 'citation', of=len(cited.citations))} could not be proved; statements that rest on "
            "them are marked."
        )
    fallen = dict.fromkeys(row["agent"] for row in degraded if row.get("kind") == DegradationKind.FALLBACK)
    if fallen:
        said.append(f"No model gave a usable answer, so a fallback was used, for: {', '.join(fallen)}.")
    steps = dict.fromkeys(row["agent"] for row in degraded if "kind" not in row)
    steps.pop("gate", None)  # what a gate objected to has a sentence of its own
    if steps:
        said.append(f"Steps completed with reduced quality: {', '.join(steps)}.")
    return said


def _about_the_windows(degraded: Sequence[Mapping[str, Any]]) -> list[str]:
    """What prompts lacked because a context window was too small."""
    refused: dict[str, int] = {}
    for row in degraded:
        if row.get("kind") == DegradationKind.WINDOW:
            refused[row["model"]] = refused.get(row["model"], 0) + row["retries"]
    cuts = dict.fromkeys(
        f"{row['agent']}: {row['reason']}" for row in degraded if row.get("kind") == DegradationKind.CUT
    )
    outcomes = {
        model: f"{counted(count, 'prompt')} shortened and sent again"
        if count
        else "the prompt could not be shortened any further"
        for model, count in refused.items()
    }
    said = [f"The context window of {model} was too small; {outcome}." for model, outcome in outcomes.items()]
    return [*said, *(f"Prompt shortened for the {cut}." for cut in cuts)]


def _about_the_models(degraded: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which steps were served by another model, and why."""
    passed: dict[str, dict[str, None]] = {}
    for row in degraded:
        if row.get("kind") == DegradationKind.FAILOVER:
            passed.setdefault(row["reason"], {})[row["agent"]] = None
    return [f"Model failover for {', '.join(agents)}: {reason}." for reason, agents in passed.items()]


def _about_the_gates(decisions: Sequence[ReportDecision], gaps: Sequence[Gap]) -> list[str]:
    last = {decision.phase: decision.issues for decision in decisions if decision.action == EVALUATE_PHASE}
    issues = dict.fromkeys(issue for issues in last.values() for issue in issues)
    said = [f"Quality checks not met: {'; '.join(issues)}."] if issues else []
    if any(not gap.addressed for gap in gaps):
        said.append(f"Questions remain open; see “{ENGLISH.open_questions}”.")
    return said
