"""What of a run's state is that of a research. A graph of one's own may have a channel `sources` or `draft` that holds
something else, and every run has a status, an archive and perhaps a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from graph_research.research.models.decision import Decision
from graph_research.research.models.draft import StatementVerdict, stored_draft
from graph_research.research.models.evidence import Comparison, Contradiction, Evidence
from graph_research.research.models.fidelity import FidelityRecord
from graph_research.research.models.finding import Claim, Finding, Gap
from graph_research.research.models.plan import SubQuery
from graph_research.research.models.record import Record
from graph_research.research.models.source import Source

_RECORDS: Mapping[str, type[Record]] = {
    "claims": Claim,
    "comparisons": Comparison,
    "content_fidelity": FidelityRecord,
    "contradictions": Contradiction,
    "decisions": Decision,
    "evidence": Evidence,
    "findings": Finding,
    "gaps": Gap,
    "sources": Source,
    "statement_verdicts": StatementVerdict,
    "sub_queries": SubQuery,
}
_ROWS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("background", "checklist", "checks", "condensed", "searches", "topics"), frozenset()),
    "degraded": frozenset({"agent", "node", "reason"}),
    "search_failures": frozenset({"error", "message", "provider", "query"}),
}
"""Lists of objects, with the keys that each object has."""
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(_ROWS, list),
    **dict.fromkeys(("confidence", "metadata", "report_metadata", "report_options"), dict),
    **dict.fromkeys(("guidance", "phase", "question", "research_brief"), str),
    "answered_limits": list,
    "iteration": int,
}
MISSHAPEN = (AttributeError, LookupError, TypeError, ValueError)
"""What reading a value raises that is called like one of a research and is none."""


def research_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state without channels that are called like those of a research and hold something else."""
    return {name: value for name, value in state.items() if value is None or _fits(name, value)}


def _fits(name: str, value: Any) -> bool:
    if name == "draft":
        return _is_read_by(stored_draft, value)
    if name in _RECORDS:
        return isinstance(value, list) and all(_is_read_by(_RECORDS[name].model_validate, row) for row in value)
    is_kind = isinstance(value, _KINDS.get(name, object))
    return is_kind and (name not in _ROWS or all(isinstance(row, Mapping) and _ROWS[name] <= {*row} for row in value))


def _is_read_by(read: Callable[[Any], object], value: Any) -> bool:
    try:
        read(value)
    except (ValidationError, *MISSHAPEN):
        return False
    return True
