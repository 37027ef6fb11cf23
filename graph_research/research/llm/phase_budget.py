"""How much of a model's window each phase may fill with material."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.research.llm.context_windows import learned_windows, window_tokens
from graph_research.research.llm.services import Services
from graph_research.text.tokens import CHARS_PER_TOKEN, WindowBudget

PHASE_SHARES: Mapping[str, float] = {"planning": 0.10, "analysis": 0.40, "synthesis": 0.35, "refinement": 0.15}
"""The share of the usable window by phase; gathering shows no material."""


TOPIC_CHARS = 64_000
"""So much material of a topic is read whatever the window is: what does not fit is shortened."""


def topic_chars(services: Services, topics: int, windows: Mapping[str, Any] | None) -> int:
    """How many characters of material are read of one of so many topics: its part of what an analysis may show, at
    least `TOPIC_CHARS`, and at most what the settings allow."""
    room = material_chars(services, "compression", "analysis", windows) or 0
    return min(services.settings.topic_chars, max(TOPIC_CHARS, room // max(1, topics)))


def phase_share(role: str, phase: str) -> float:
    """The share of the usable window that a prompt's material may take: what is judged is written already, and has the
    whole."""
    return 1.0 if role == "verification" else PHASE_SHARES.get(phase, 1.0)


def material_chars(services: Services, role: str, phase: str, windows: Mapping[str, Any] | None) -> int | None:
    """How many characters of material the role's first model is shown in a phase; None where prompts are not fitted.
    `windows` is what the run has learned of its models' windows."""
    models = services.models.models(role, phase)
    if not models:
        return None
    window = window_tokens(services.settings, models[0], learned_windows(windows)[services.models.name_of(models[0])])
    if window is None:
        return None
    budget = WindowBudget.of(
        window,
        wanted_output_tokens=services.settings.report_output_tokens,
        safety_margin=services.settings.token_safety_margin,
    )
    return int(budget.prompt_tokens() * PHASE_SHARES[phase]) * CHARS_PER_TOKEN
