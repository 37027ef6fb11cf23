"""Entries of the decision log: who was dispatched, what was evaluated, paused for and decided, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from graph_research.graph.context import Context
from graph_research.research.models.decision import Decision
from graph_research.research.models.phase import PHASES

_FIELDS = set(Decision.model_fields)

EVALUATE_PHASE = "evaluate_phase"
"""The action of an entry that holds the issues of a gate."""


def dispatch(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    """A phase is handed to its agent; `outputs` is null until the agent has run."""
    phase = handoff["current_phase"]
    agent = PHASES[phase].agent
    return _entry(
        ctx,
        agent=agent,
        action=_execution_of(phase),
        rationale=f"The phase {phase} belongs to the {agent}.",
        inputs={**handoff, "research_id": handoff.get("research_id") or ctx.run_id},
        outputs=None,
    )


def run_metadata(state: Mapping[str, Any]) -> dict[str, Any]:
    """What goes with a run for readers of its bundle: its decision log as `agent_decisions`, as in `report.json`.
    Nothing of a graph whose channel `decisions` holds something else."""
    decisions = state.get("decisions")
    if not isinstance(decisions, list) or not all(isinstance(row, dict) and row.keys() == _FIELDS for row in decisions):
        return {}
    return {"agent_decisions": decisions} if decisions else {}


def _execution_of(phase: str) -> str:
    """The action of the entry that hands a phase to its agent."""
    return f"execute_{phase}"


def completed_dispatch(
    decisions: Sequence[Mapping[str, Any]], phase: str, outputs: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The last dispatch of a phase, with what came of it; empty where `decisions` has none."""
    dispatched = [row for row in decisions if row["action"] == _execution_of(phase)]
    return [{**row, "outputs": dict(outputs)} for row in dispatched[-1:]]


def evaluation(
    phase: str, iteration: int, metrics: Mapping[str, Any], gate: Mapping[str, Any], ctx: Context
) -> dict[str, Any]:
    """The supervisor's evaluation of a phase: `quality_ok`, the phase's numbers, and the gate's issues and score."""
    issues = "; ".join(gate["issues"]) or "nothing to object"
    return _of_supervisor(
        ctx,
        action=EVALUATE_PHASE,
        rationale=f"Gate of {phase}: {issues} (score {gate['quality_score']:.1f} of 10).",
        inputs={"phase": phase, "iteration": iteration},
        outputs={
            "quality_ok": gate["valid"],
            **metrics,
            "issues": list(gate["issues"]),
            "quality_score": gate["quality_score"],
        },
    )


def pause(phase: str, iteration: int, prompt: str, guidance: str | None, ctx: Context) -> dict[str, Any]:
    """A think pause and the guidance that came of it."""
    return _of_supervisor(
        ctx,
        action="think_pause",
        rationale="Guidance was given." if guidance else "No guidance was given; going on.",
        inputs={"phase": phase, "iteration": iteration, "prompt": prompt},
        outputs={"guidance": guidance},
    )


def verdict(
    answer: Mapping[str, Any], inputs: Mapping[str, Any], ctx: Context, *, agent: str = "supervisor"
) -> dict[str, Any]:
    """The verdict on a phase, by the supervisor or by the hook; `inputs.wanted` is what the model or the hook asked
    for before the retries ran out."""
    return _entry(
        ctx,
        agent=agent,
        action="judge_phase",
        rationale=answer["rationale"],
        inputs=dict(inputs),
        outputs=dict(answer),
    )


def iteration_decision(
    gap_count: int, iteration: int, max_iterations: int, ctx: Context, *, refused: str | None = None
) -> dict[str, Any]:
    """Iterate while gaps or conflicts are open (`gap_count`), iterations are left and nothing has `refused` it."""
    again = gap_count > 0 and iteration < max_iterations and not refused
    limited = f" Refused: {refused}." if refused else ""
    return _of_supervisor(
        ctx,
        action="decide_iteration",
        rationale=f"Open gaps and conflicts: {gap_count}; iterations left: {max_iterations - iteration}.{limited}",
        inputs={"gap_count": gap_count, "iteration": iteration, "max_iterations": max_iterations},
        outputs={"should_iterate": again, "next_phase": "refinement" if again else "COMPLETED"},
    )


def _of_supervisor(ctx: Context, **fields: Any) -> dict[str, Any]:
    return _entry(ctx, agent="supervisor", **fields)


def _entry(ctx: Context, **fields: Any) -> dict[str, Any]:
    timestamp = ctx.now().astimezone(UTC).isoformat()
    return Decision(id=ctx.new_id("dec"), timestamp=timestamp, **fields).to_json()
