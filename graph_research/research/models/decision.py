"""Decision records: what the supervisor dispatched, evaluated and decided, for the log in the state."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field

from graph_research.research.models.record import Record, schema_field


class PhaseAction(StrEnum):
    """How a run continues after a phase."""

    PROCEED = "proceed"
    RETRY = "retry"
    ITERATE = "iterate"
    COMPLETE = "complete"


class QualityAssessment(Record):
    """The supervisor's marks for a phase; `score` is 1 to 10."""

    score: float = schema_field(minimum=1, maximum=10)
    strengths: list[str] = Field(default_factory=list)
    weaknesses: list[str] = Field(default_factory=list)


class Verdict(Record):
    """The supervisor's verdict on a phase."""

    action: PhaseAction
    rationale: str
    quality_assessment: QualityAssessment
    guidance: str | None = None


class HookDecision(Record):
    """What a hook decides on a phase in place of the supervisor; `guidance` is for the next phase."""

    action: PhaseAction
    rationale: str = "The hook decided."
    guidance: str | None = None


class Decision(Record):
    """One entry of the decision log; `outputs` is null until the action has run. `timestamp` is ISO 8601."""

    id: str
    agent: str
    action: str
    rationale: str
    inputs: dict[str, Any] = Field(default_factory=dict)
    outputs: dict[str, Any] | None = None
    timestamp: str
