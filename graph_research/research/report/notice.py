"""What stands above a report: how it was revised, how its run ended and searched, and who wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.statuses import Cause, RunStatus
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.evidence.cited import Cited
from graph_research.research.models.draft import StatementKind
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.report.formatting import one_line, side_by_side
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import ReportRevision, SubQueryOutcome
from graph_research.research.report.run_metadata import RunFacts

_ADDED = frozenset({StatementKind.FACT, StatementKind.ANALYSIS, StatementKind.USER})
"""Kinds of sentences that code does not select."""


def notice_of(
    state: Mapping[str, Any],
    run: RunFacts,
    labels: Labels,
    *,
    draft_notice: str,
    cited: Cited,
    sub_queries: Sequence[SubQueryOutcome],
    version: int,
    revisions: Sequence[ReportRevision],
) -> str:
    """One line; empty for a report of a model whose run ended well and that nobody changed."""
    notices = (
        _how_it_was_revised(version, revisions, labels),
        _how_it_ended(state, run, labels),
        _how_it_searched(state, sub_queries, labels),
        _who_wrote(draft_notice, run, cited, labels),
    )
    return side_by_side(filter(None, notices))


def _who_wrote(draft_notice: str, run: RunFacts, cited: Cited, labels: Labels) -> str:
    """The draft's own notice; of one that code selected, what still holds where the user or a model added sentences, or
    where a model did other work."""
    by_code = draft_notice in (labels.selected_by_code, labels.written_by_no_model)
    if by_code and _ADDED & {row.kind for row in cited.statements()}:
        return labels.quotes_by_code
    is_helped = any(use.models.keys() - {EXTRACTIVE} for use in run.model_roles.values())
    return labels.written_by_no_model if by_code and is_helped else draft_notice


def _how_it_searched(state: Mapping[str, Any], sub_queries: Sequence[SubQueryOutcome], labels: Labels) -> str:
    failed = bool(sub_queries) and all(outcome.status == SubQueryStatus.FAILED for outcome in sub_queries)
    if state.get("sources") or not failed or not state.get("search_failures"):
        return ""
    return labels.no_search_answered


def _how_it_was_revised(version: int, revisions: Sequence[ReportRevision], labels: Labels) -> str:
    changes = [labels.revisions[row.change or row.kind].format(what=one_line(row.what)) for row in revisions]
    return labels.revised.format(n=version, changes=labels.semicolon.join(changes)) if changes else ""


def _how_it_ended(state: Mapping[str, Any], run: RunFacts, labels: Labels) -> str:
    if not run.is_partial:
        return ""
    phase = (state.get("metadata") or {}).get("abort_phase") or state.get("phase")
    cause = Cause.ERROR if run.status == RunStatus.COMPLETED else run.cause
    how = labels.ended_how.get(cause or "", labels.ended_how[""])
    how += f" ({run.error})" if run.error and run.cause in (Cause.CANCELLED, Cause.TIMEOUT) else ""
    rest = labels.ended_with_report if state.get("draft") is not None else labels.ended_without_report
    template = labels.ended_in_phase if phase else labels.ended
    return template.format(how=how, phase=labels.phases.get(phase, phase) if phase else "", rest=rest)
