"""The quality gates after each phase: exact rules and scores, as pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graph_research.research.models.finding import Confidence
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.models.source import Quality

LEAST_SUB_QUERIES = 2
NO_SURE_FINDING = "No high-confidence findings"
"""What the gate of the analysis objects to where no finding is held with high confidence."""
HIGH_CONFIDENCE = frozenset({Confidence.HIGH, Confidence.CONFIRMED})
"""A confirmed finding was high before its claim was scored, so the gate counts both."""

Rows = Sequence[Mapping[str, Any]]
"""Objects of a state channel, as JSON."""


@dataclass(frozen=True, kw_only=True)
class ValidationResult:
    """The result of a gate; `quality_score` is 0 to 10."""

    valid: bool
    issues: tuple[str, ...]
    quality_score: float

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, for the state and the supervisor's handoff."""
        return asdict(self) | {"issues": list(self.issues)}


def plan_gate(sub_queries: Rows, research_brief: str | None, max_sub_queries: int) -> ValidationResult:
    """2 to `max_sub_queries` sub-queries of at least 10 characters, and a brief; score min(10, 2.5 n)."""
    issues = []
    if len(sub_queries) < LEAST_SUB_QUERIES:
        issues.append(f"Insufficient sub-queries (minimum: {LEAST_SUB_QUERIES})")
    if len(sub_queries) > max_sub_queries:
        issues.append(f"Too many sub-queries (max: {max_sub_queries})")
    if not research_brief:
        issues.append("Missing research brief")
    issues += [f"Sub-query too short: {row['query'][:20]}" for row in sub_queries if len(row["query"]) < 10]
    return _result(issues, len(sub_queries) * 2.5)


def source_gate(sources: Rows, sub_queries: Rows) -> ValidationResult:
    """At least 3 sources, one of high quality, half of the sub-queries completed; score min(10, 1.5 n)."""
    issues = []
    if len(sources) < 3:
        issues.append("Insufficient sources (minimum: 3)")
    if sources and not any(row["quality"] == Quality.HIGH for row in sources):
        issues.append("No high-quality sources found")
    completed = sum(1 for row in sub_queries if row["status"] == SubQueryStatus.COMPLETED)
    if completed < len(sub_queries) * 0.5:
        issues.append(f"Low sub-query completion rate: {completed}/{len(sub_queries)}")
    return _result(issues, len(sources) * 1.5)


def findings_gate(findings: Rows, sources: Rows) -> ValidationResult:
    """At least 2 findings, one of high confidence, 30 % of the sources cited; score min(10, 2 n + high)."""
    issues = []
    if len(findings) < 2:
        issues.append("Insufficient findings (minimum: 2)")
    high = sum(1 for row in findings if row["confidence"] in HIGH_CONFIDENCE)
    if findings and high == 0:
        issues.append(NO_SURE_FINDING)
    cited = {source_id for row in findings for source_id in row["source_ids"]}
    coverage = len(cited) / max(1, len(sources))
    if coverage < 0.3:
        issues.append(f"Low source citation coverage: {coverage:.0%}")
    return _result(issues, len(findings) * 2 + high)


def report_gate(report: str | None) -> ValidationResult:
    """A report of at least 100 characters with `##` in it; score min(10, chars/500), 0 without a report."""
    if not report:
        return ValidationResult(valid=False, issues=("Missing report",), quality_score=0.0)
    issues = []
    if len(report) < 100:
        issues.append("Report too short (minimum: 100 chars)")
    if "##" not in report:
        issues.append("Report missing section structure")
    return _result(issues, len(report) / 500)


def refinement_gate(gaps: Rows, iteration: int, max_iterations: int) -> ValidationResult:
    """Always valid; an issue where gaps remain at the last iteration; score 10 - min(10, 2 x unaddressed)."""
    open_gaps = sum(1 for row in gaps if not row["addressed"])
    spent = open_gaps > 0 and iteration >= max_iterations
    issues = ("Unaddressed gaps remain but iteration limit reached",) if spent else ()
    return ValidationResult(valid=True, issues=issues, quality_score=10.0 - min(10.0, open_gaps * 2.0))


def _result(issues: Sequence[str], score: float) -> ValidationResult:
    return ValidationResult(valid=not issues, issues=tuple(issues), quality_score=float(min(10.0, score)))
