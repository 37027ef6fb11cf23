"""The phases of a research: which agent carries out each one, and which nodes of the main graph belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Phase:
    """`agent` carries the phase out; `nodes` are the names that the built-in graphs give to its steps."""

    agent: str
    nodes: tuple[str, ...]


PHASES: Mapping[str, Phase] = {
    "clarification": Phase(agent="clarifier", nodes=("clarify", "clarified", "ask_user", "add_answer")),
    "planning": Phase(agent="planner", nodes=("plan", "scout", "scout_again", "adopt_plan")),
    "gathering": Phase(
        agent="gatherer",
        nodes=("gather", "read", "search_ahead", "search_gaps", "read_gaps", "reopen", "next_iteration"),
    ),
    "analysis": Phase(agent="analyzer", nodes=("analyze", "digest", "digest_failed", "no_findings")),
    "synthesis": Phase(agent="synthesizer", nodes=("synthesize", "decide")),
    "refinement": Phase(agent="refiner", nodes=("refine", "reviewed")),
}
"""In the order in which they run."""


def phase_of_node(node: str) -> str | None:
    """The phase to which a node of a built-in graph, its dispatch or its review belongs; None for other nodes."""
    name = node.removeprefix("dispatch_").removeprefix("review_")
    return next((phase for phase, spec in PHASES.items() if name in spec.nodes), None)
