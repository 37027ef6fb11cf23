"""Limitations: what a reader has to know before relying on a report, gathered from what the run recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.search.base import provider_name
from graph_research.research.evidence.citations import Cited
from graph_research.research.report.model import (
    GatheringStatistics,
    ReportDecision,
    ReportGap,
    ReportSource,
    SubQueryOutcome,
)
from graph_research.research.report.statistics import FETCH

__all__ = ["limitations_of"]

_STANDING = "A proved citation shows that the source says so, word for word. It does not show that the source is right."


def limitations_of(
    *,
    cited: Cited,
    sources: Sequence[ReportSource],
    gaps: Sequence[ReportGap],
    sub_queries: Sequence[SubQueryOutcome],
    decisions: Sequence[ReportDecision],
    search: Sequence[str],
    skipped_searches: Sequence[str],
    search_failures: Sequence[Mapping[str, Any]],
    degraded: Sequence[Mapping[str, Any]],
    quotes_dropped: int,
    fabricated_dropped: int,
    origins: int,
    gathered: GatheringStatistics,
) -> list[str]:
    """One sentence each, the standing one first, then what happened; no error's own words, which may hold paths."""
    return [
        _STANDING,
        *_about_sources(sources, origins),
        *_about_the_search(sub_queries, search, search_failures),
        *_about_the_skipped(skipped_searches),
        *_about_the_gathering(gathered),
        *_about_the_writing(cited, degraded),
        *_about_the_windows(degraded),
        *_about_the_models(degraded),
        *_about_the_dropped(quotes_dropped, fabricated_dropped),
        *_about_the_gates(decisions, gaps),
    ]


def _about_sources(sources: Sequence[ReportSource], origins: int) -> list[str]:
    cited = [source for source in sources if source.citations]
    said = []
    if cited and origins == 1:
        said.append("Everything cited comes from one origin; nothing independent confirms it.")
    undated = sum(source.published_at is None for source in cited)
    if undated:
        said.append(
            f"{_of(undated, len(cited), 'cited source')} {_carry(undated)} no date, so recency is unknown there."
        )
    weak = sum(source.tier in ("UNVERIFIED", "FLAGGED") for source in cited)
    if weak:
        said.append(f"{_of(weak, len(cited), 'cited source')} {_is(weak)} unverified or flagged.")
    shortened = sum(source.fidelity != "full" for source in sources)
    if shortened:
        said.append(f"{_of(shortened, len(sources), 'source')} {_is(shortened)} known in part only.")
    return said


def _about_the_search(
    sub_queries: Sequence[SubQueryOutcome], search: Sequence[str], failures: Sequence[Mapping[str, Any]]
) -> list[str]:
    said = [
        f"A question asked on the way failed and was left out: {one.query}."
        for one in sub_queries
        if one.status == "failed"
    ]
    failures = [one for one in failures if one["provider"] != FETCH]
    if failures:
        everyone = " and ".join(map(provider_name, search)) or "all"
        who = {one["provider"]: one["provider"] for one in failures} | {"all": everyone}
        named = dict.fromkeys(f"{who[one['provider']]} on “{one['query']}” ({one['error']})" for one in failures)
        said.append(f"Searches that failed: {'; '.join(named)}.")
    return said


def _about_the_skipped(searches: Sequence[str]) -> list[str]:
    return [f"Searches that could not be asked: {'; '.join(searches)}."] if searches else []


def _about_the_gathering(gathered: GatheringStatistics) -> list[str]:
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


def _about_the_writing(cited: Cited, degraded: Sequence[Mapping[str, Any]]) -> list[str]:
    said = []
    invalid = sum(not citation.valid for citation in cited.citations)
    if invalid:
        said.append(
            f"{_of(invalid, len(cited.citations), 'citation')} could not be proved; what rests on it is marked."
        )
    fallen = dict.fromkeys(row["agent"] for row in degraded if row.get("kind") == "fallback")
    if fallen:
        said.append(f"No answer of a model could be used, and a fallback answered instead, for: {', '.join(fallen)}.")
    steps = dict.fromkeys(row["agent"] for row in degraded if "kind" not in row)
    steps.pop("gate", None)  # what a gate objected to has a sentence of its own
    if steps:
        said.append(f"Steps that went on at less than full quality: {', '.join(steps)}.")
    return said


def _about_the_windows(degraded: Sequence[Mapping[str, Any]]) -> list[str]:
    """What prompts lacked because a model's window was too small."""
    refused: dict[str, int] = {}
    for row in degraded:
        if row.get("kind") == "window":
            refused[row["model"]] = refused.get(row["model"], 0) + row["retries"]
    cuts = dict.fromkeys(f"{row['agent']}: {row['reason']}" for row in degraded if row.get("kind") == "cut")
    said = [f"The window of {model} was too small; {_prompts_cut(count)}." for model, count in refused.items()]
    return [*said, *(f"What was cut, in the {cut}." for cut in cuts)]


def _prompts_cut(count: int) -> str:
    if count == 0:
        return "what was asked could not be cut any further"
    return f"{_number(count, 'prompt')} {_was(count)} cut and sent again"


def _about_the_models(degraded: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which models were passed over, for which steps."""
    passed: dict[str, dict[str, None]] = {}
    for row in degraded:
        if row.get("kind") == "failover":
            passed.setdefault(row["reason"], {})[row["agent"]] = None
    return [f"A model was passed over for {', '.join(agents)}: {reason}." for reason, agents in passed.items()]


def _about_the_dropped(quotes: int, fabricated: int) -> list[str]:
    said = []
    if quotes:
        said.append(f"{_number(quotes, 'quote')} of the analysis stood in no archived text and {_was(quotes)} dropped.")
    if fabricated:
        said.append(f"{_number(fabricated, 'citation')} the writer had made up {_was(fabricated)} dropped.")
    return said


def _about_the_gates(decisions: Sequence[ReportDecision], gaps: Sequence[ReportGap]) -> list[str]:
    last = {decision.phase: decision.issues for decision in decisions if decision.action == "evaluate_phase"}
    issues = dict.fromkeys(issue for issues in last.values() for issue in issues)
    said = [f"Quality checks that were not met: {'; '.join(issues)}."] if issues else []
    if any(not gap.addressed for gap in gaps):
        said.append("The research ended with open questions; they are listed under “What is missing”.")
    return said


def _of(number: int, whole: int, noun: str) -> str:
    return f"{number} of {whole} {noun}" + ("" if whole == 1 else "s")


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _carry(number: int) -> str:
    return "carries" if number == 1 else "carry"
