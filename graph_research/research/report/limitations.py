"""Limitations: what a reader must know before relying on a report, from what the run recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.errors import TO_KEEP_WITHIN, BudgetReached
from graph_research.research.decision_log import EVALUATE_PHASE
from graph_research.research.evidence.cited import Cited
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.models.draft import Writer, stored_draft, words_of
from graph_research.research.models.fidelity import LOW_FIDELITY, ContentFidelity
from graph_research.research.models.finding import Gap
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.models.report_options import ReportOptions, ReportType
from graph_research.research.quality_gates import NO_SURE_FINDING, source_gate
from graph_research.research.report.formatting import model_name, one_line, search_name
from graph_research.research.report.labels.languages import has_labels, labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import (
    GatheringStatistics,
    ReportClaim,
    ReportDecision,
    ReportSource,
    SubQueryOutcome,
)
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.report.statistics import ALL, FETCH
from graph_research.text.language.tags import UNDETERMINED, primary
from graph_research.text.language.words import has_stems

_GATHERING = "gathering"


def limitations_of(
    state: Mapping[str, Any],
    run: RunFacts,
    labels: Labels,
    *,
    cited: Cited,
    sources: Sequence[ReportSource],
    claims: Sequence[ReportClaim],
    gaps: Sequence[Gap],
    sub_queries: Sequence[SubQueryOutcome],
    decisions: Sequence[ReportDecision],
    fabricated_dropped: int,
    origins: int,
    gathered: GatheringStatistics,
    fidelity: ContentFidelity,
    language: str,
) -> list[str]:
    """One sentence each, the standing one first, then what happened; no error's own words, which may hold paths, and no
    address of a model."""
    degraded = [row for row in state.get("degraded") or [] if not any(words in row["reason"] for words in run.saved)]
    quotes_dropped = int(state.get("quotes_dropped") or 0)
    left_out = stored_draft(state.get("draft") or {}).left_out
    skipped = [reason.partition(" (")[0] for reason in run.skipped_searches]
    is_quoted = all(row.status is Status.PROVED for row in cited.statements() if row.citations)
    return [
        labels.limit_standing_quoted if is_quoted else labels.limit_standing,
        *_about_sources(sources, origins, fidelity, labels),
        *_about_the_search(sub_queries, run.search, state.get("search_failures") or [], labels),
        *_about_the_limits(run.saved, labels),
        *_those_that_apply((skipped, labels.limit_skipped.format(names=", ".join(skipped)))),
        *about_the_gathering(gathered, labels),
        *_about_the_writing(cited, degraded, labels),
        *_about_the_wishes(state, labels),
        *_those_that_apply((run.archive_error, labels.limit_archive.format(reason=run.archive_error))),
        *_about_the_windows(degraded, labels),
        *_about_the_models(degraded, labels),
        *_those_that_apply(
            (quotes_dropped, labels.limit_quotes.format(n=quotes_dropped)),
            (fabricated_dropped, labels.limit_fabricated.format(n=fabricated_dropped)),
            (left_out, labels.limit_left_out.format(n=left_out)),
        ),
        *_about_the_checks(sources, claims, sub_queries, decisions, gaps, labels),
        *_about_the_language(language, labels),
    ]


def _about_the_language(language: str, labels: Labels) -> list[str]:
    if has_labels(language):
        return []
    if language == UNDETERMINED:
        return [labels.limit_language_unknown]
    lacking = labels.limit_headings if has_stems(primary(language)) else labels.limit_language
    return [lacking.format(language=language)]


def _about_sources(
    sources: Sequence[ReportSource], origins: int, fidelity: ContentFidelity, labels: Labels
) -> list[str]:
    cited = [source for source in sources if source.citations]
    undated = sum(source.published_at is None for source in cited)
    weak = sum(source.tier in ("UNVERIFIED", "FLAGGED") for source in cited)
    flagged = [source for source in sources if source.tier == "FLAGGED"]
    unused = [] if any(source.citations for source in flagged) else [source.title for source in flagged]
    read = [source for source in sources if source.is_read]
    shortened = sum(source.fidelity != "full" for source in read)
    partly = labels.limit_fidelity if fidelity.score < LOW_FIDELITY else labels.limit_partly
    return _those_that_apply(
        (cited and origins == 1, labels.limit_one_origin),
        (undated, labels.limit_undated.format(n=undated, all=len(cited))),
        (weak, labels.limit_weak.format(n=weak, all=len(cited))),
        (unused, labels.limit_flagged.format(titles=labels.semicolon.join(unused))),
        (shortened, partly.format(n=shortened, all=len(read))),
    )


def _those_that_apply(*sentences: tuple[object, str]) -> list[str]:
    return [sentence for applies, sentence in sentences if applies]


def _about_the_search(
    sub_queries: Sequence[SubQueryOutcome],
    search: Sequence[str],
    failures: Sequence[Mapping[str, Any]],
    labels: Labels,
) -> list[str]:
    failed = [outcome.query for outcome in sub_queries if outcome.status == SubQueryStatus.FAILED]
    said = [labels.limit_failed_query.format(query=query) for query in failed]
    told_elsewhere = {FETCH, BudgetReached.__name__}
    failures = [failure for failure in failures if not {failure["provider"], failure["error"]} & told_elsewhere]
    if failures:
        everyone = labels.comma.join(search_name(name, labels) for name in search) or labels.all_searches
        who = {failure["provider"]: search_name(failure["provider"], labels) for failure in failures} | {ALL: everyone}
        named = dict.fromkeys(
            labels.failed_search.format(provider=who[row["provider"]], query=row["query"], error=row["error"])
            for row in failures
        )
        said.append(labels.limit_failed_searches.format(searches=labels.semicolon.join(named)))
    return said


def _about_the_limits(saved: Sequence[str], labels: Labels) -> list[str]:
    """A sentence for each limit of the run: what was left out to keep within it."""
    codes = {words: code for code, words in labels_for("en").left_out.items()}
    by_limit: dict[str, list[str]] = {}
    for message in saved:
        words, _, limit = message.rpartition(TO_KEEP_WITHIN)
        by_limit.setdefault(limit, []).append(labels.left_out.get(codes.get(words, ""), words))
    return [
        labels.limit_saved.format(limit=_limit_in_words(limit, labels), what=labels.semicolon.join(words))
        for limit, words in by_limit.items()
    ]


def _limit_in_words(limit: str, labels: Labels) -> str:
    """A limit such as `24,000 tokens and 0.07 USD` as the language writes it."""
    parts = limit.translate({ord(","): labels.thousands, ord("."): labels.decimal}).split(" and ")
    numbers = (part.partition(" tokens") for part in parts)
    return labels.comma.join(labels.limit_tokens.format(n=number) if unit else number for number, unit, _ in numbers)


def about_the_gathering(gathered: GatheringStatistics, labels: Labels) -> list[str]:
    """A sentence each for excluded results, failed pages, summaries and topics, and limited queries."""
    unread, failed, uncompressed = gathered.pages_failed, gathered.summaries_failed, gathered.compressions_failed
    pages, summaries = gathered.pages_read + unread, gathered.sources_summarized + failed
    counts = gathered.excluded
    why = [template.format(n=counts[key]) for key, template in labels.flow_excluded_why.items() if counts.get(key)]
    return _those_that_apply(
        (counts, labels.limit_excluded.format(n=sum(counts.values()), why=labels.comma.join(why))),
        (unread, labels.limit_pages.format(n=unread, all=pages)),
        (gathered.queries_limited, labels.limit_withheld.format(n=gathered.queries_limited)),
        (failed, labels.limit_summaries.format(n=failed, all=summaries)),
        (uncompressed, labels.limit_topics.format(n=uncompressed, all=gathered.topics_compressed + uncompressed)),
    )


def _about_the_writing(cited: Cited, degraded: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    invalid = sum(not citation.valid for citation in cited.citations)
    fallen = [row["agent"] for row in degraded if row.get("kind") == DegradationKind.FALLBACK]
    # what a check objected to has a sentence of its own
    reduced = [row["agent"] for row in degraded if "kind" not in row and row["agent"] != "gate"]
    return _those_that_apply(
        (invalid, labels.limit_citations.format(n=invalid, all=len(cited.citations))),
        (fallen, labels.limit_fallback.format(steps=_steps(fallen, labels))),
        (reduced, labels.limit_reduced.format(steps=_steps(reduced, labels))),
    )


def _about_the_wishes(state: Mapping[str, Any], labels: Labels) -> list[str]:
    """Where a model wrote more words than were asked for, or code wrote, which knows nothing of readers and types."""
    draft = stored_draft(state.get("draft") or {})
    options = ReportOptions.model_validate(state.get("report_options") or {})
    most, audience = options.words[1], one_line(options.audience or "")
    blocks = [*draft.summary, *(block for section in draft.sections for block in section.blocks), *draft.conclusions]
    words = words_of(blocks)
    is_written = any(section.writer is Writer.MODEL and section.id for section in draft.sections)
    by_code = bool(draft.sections) and not is_written
    return _those_that_apply(
        (is_written and words > most, labels.limit_length.format(n=words, most=most)),
        (by_code and audience, labels.limit_audience.format(audience=audience)),
        (
            by_code and options.type is not ReportType.REPORT,
            labels.limit_type.format(type=labels.report_types.get(options.type, options.type)),
        ),
    )


def _steps(agents: Sequence[str], labels: Labels) -> str:
    """What the agents do, in words."""
    return labels.comma.join(dict.fromkeys(labels.steps.get(agent, agent) for agent in agents))


def _about_the_windows(degraded: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    """What prompts lacked because a context window was too small."""
    refused: dict[str, int] = {}
    for row in degraded:
        if row.get("kind") == DegradationKind.WINDOW:
            model = model_name(row["model"])
            refused[model] = refused.get(model, 0) + row["retries"]
    cut = [row["agent"] for row in degraded if row.get("kind") == DegradationKind.CUT]
    return [
        *(
            (labels.limit_window if count else labels.limit_window_full).format(model=model, n=count)
            for model, count in refused.items()
        ),
        *_those_that_apply((cut, labels.limit_cut.format(steps=_steps(cut, labels)))),
    ]


def _about_the_models(degraded: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    """Which steps were served by another model, and why."""
    passed: dict[str, list[str]] = {}
    for row in degraded:
        if row.get("kind") == DegradationKind.FAILOVER:
            passed.setdefault(row["reason"], []).append(row["agent"])
    return [
        labels.limit_failover.format(steps=_steps(agents, labels), reason=reason) for reason, agents in passed.items()
    ]


def _about_the_checks(
    sources: Sequence[ReportSource],
    claims: Sequence[ReportClaim],
    sub_queries: Sequence[SubQueryOutcome],
    decisions: Sequence[ReportDecision],
    gaps: Sequence[Gap],
    labels: Labels,
) -> list[str]:
    """What the gates objected to last; of sources and findings, which are scored after that, as far as it holds now."""
    last = {decision.phase: decision.issues for decision in decisions if decision.action == EVALUATE_PHASE}
    if last.get(_GATHERING):
        rated = [{"quality": row.quality} for row in sources]
        last[_GATHERING] = list(source_gate(rated, [{"status": row.status} for row in sub_queries]).issues)
    is_sure = any(claim.level == "high" for claim in claims)
    objections = dict.fromkeys(issue for objected in last.values() for issue in objected)
    issues = [issue for issue in objections if issue != NO_SURE_FINDING or not is_sure]
    return _those_that_apply(
        (issues, labels.limit_checks.format(issues=labels.semicolon.join(_check(issue, labels) for issue in issues))),
        (any(not gap.addressed for gap in gaps), labels.limit_open.format(heading=labels.open_questions)),
    )


def _check(issue: str, labels: Labels) -> str:
    """What a check objected to; what it objects to stands behind a colon."""
    name, _, value = issue.rpartition(": ")
    if issue in labels.checks or name not in labels.checks:
        return labels.checks.get(issue, issue)
    return labels.pair.format(name=labels.checks[name], value=value)
