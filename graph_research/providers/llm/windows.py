"""How many tokens a model takes in at once, by the beginning of its name.

The numbers are those of the providers' model pages in November 2026, where a page gave several the smallest. They grow
old: `model_context_overrides` in the settings replaces any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from graph_research.providers.llm.model_spec import CLI, ModelSpec

__all__ = ["TOKEN_LIMITS", "window_of"]

TOKEN_LIMITS: Mapping[str, int] = {
    "claude": 200_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    "claude-fable-5": 1_000_000,
    "opus": 200_000,
    "sonnet": 200_000,
    "haiku": 200_000,
    "gemini": 1_048_576,
    "flash": 1_048_576,
    "pro": 1_048_576,
    "gpt-3.5": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 272_000,
    "gpt-6": 272_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
"""Tokens by the beginning of a model's name; the longest beginning counts."""


def window_of(spec: ModelSpec, overrides: Mapping[str, int], *, overhead_tokens: int) -> int | None:
    """The window of a model in tokens, None where nobody knows it.

    `overrides` go by the beginning of the whole spec or of the model's name. A server at the user's own address serves
    a window of its own whatever its model could take, so that only an override tells it. `overhead_tokens` are what a
    command line itself puts into the window (requirement 13.1, B34).
    """
    told = _longest(spec.text, overrides) or _longest(spec.model, overrides)
    if told is None and not spec.local:
        told = _longest(spec.model.rpartition("/")[2], TOKEN_LIMITS) or _longest(spec.command, TOKEN_LIMITS)
    if told is None or spec.kind != CLI:
        return told
    return max(told - overhead_tokens, 1)


def _longest(name: str, limits: Mapping[str, int]) -> int | None:
    beginnings = [one for one in limits if name.startswith(one)]
    return limits[max(beginnings, key=len)] if beginnings else None
