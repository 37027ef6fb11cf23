"""What a run has learned of its models' windows from refused prompts, kept in its state for later calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from graph_research.providers.llm.base import Model
from graph_research.research.models.degradation import DegradationKind
from graph_research.text.tokens import count_tokens

if TYPE_CHECKING:
    from graph_research.research.research_settings import ResearchSettings

SHORTER = 0.9
"""The share of a refused user prompt that is sent next."""

_LARGE_WINDOW_TOKENS = 128_000
"""The assumed window of a hosted model that is not in the table: it is newer than the table."""

_LEAST_TOKENS = 2_000
"""No model in use has a smaller window (2,048 tokens): a server that refuses a shorter prompt has failed otherwise."""


@dataclass(frozen=True, kw_only=True)
class LearnedWindow:
    """`tokens` is the window that the model's server reported, `prompt_chars` the longest prompt worth sending; None
    where not known."""

    tokens: int | None = None
    prompt_chars: int | None = None

    def to_json(self) -> dict[str, int | None]:
        return asdict(self)

    def refused(self, system: str, user: str, limit_tokens: int | None) -> LearnedWindow:
        """After the refusal of a prompt. Where the server reports no limit, or the one known before, only shorter
        prompts are worth sending."""
        if limit_tokens is not None and limit_tokens != self.tokens:
            return replace(self, tokens=limit_tokens)
        tokens, chars = count_tokens(system) + count_tokens(user), len(system) + len(user)
        if tokens <= _LEAST_TOKENS:
            return self
        shorter = max(len(system) + int(len(user) * SHORTER), chars * _LEAST_TOKENS // tokens)
        return replace(self, prompt_chars=min(shorter, self.prompt_chars or shorter))


def window_tokens(settings: ResearchSettings, model: Model, learned: LearnedWindow) -> int | None:
    """A model's window in tokens: as its server reported it, as it is configured, else an assumption; None where
    prompts are not fitted."""
    if model.in_process:
        return None
    if learned.tokens is not None or not settings.token_management_enabled:
        return learned.tokens
    assumed = settings.default_context_tokens if "@" in model.spec else _LARGE_WINDOW_TOKENS
    return model.window_tokens or assumed


def learned_windows(given: Mapping[str, Any] | None) -> defaultdict[str, LearnedWindow]:
    """From `model_windows` in a handoff, by the model's name in the state."""
    rows = (given or {}).items()
    windows = {
        name: LearnedWindow(tokens=row.get("tokens"), prompt_chars=row.get("prompt_chars")) for name, row in rows
    }
    return defaultdict(LearnedWindow, windows)


def model_windows(
    degraded: Iterable[Mapping[str, Any]], before: Mapping[str, Any] | None = None
) -> dict[str, dict[str, int | None]]:
    """The windows learned `before`, updated by the entries of a state's `degraded` channel, the last of a model."""
    learned = {str(row["model"]): dict(row["window"]) for row in _refusals(degraded)}
    return {**(before or {}), **learned}


def token_limit_retries(degraded: Iterable[Mapping[str, Any]]) -> int:
    """How often a prompt was sent again because it had been too long."""
    return sum(int(row.get("retries") or 0) for row in _refusals(degraded))


def _refusals(degraded: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    return (row for row in degraded if row.get("kind") == DegradationKind.WINDOW)
