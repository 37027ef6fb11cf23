"""What a run has learned of its models' windows from refused prompts, kept in its state for later calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

_SMALLER = 0.9
_LEAST_TOKENS = 2_000
"""No model in use has a smaller window (2,048 tokens): a server that refuses a shorter prompt has failed otherwise."""


@dataclass(frozen=True, kw_only=True)
class LearnedWindow:
    """`tokens` is the window that the model's server reported, `prompt_chars` the longest prompt worth sending; None
    where not known."""

    tokens: int | None = None
    prompt_chars: int | None = None

    def to_json(self) -> dict[str, int | None]:
        return {"tokens": self.tokens, "prompt_chars": self.prompt_chars}

    def refused(self, prompt_chars: int, prompt_tokens: int, limit_tokens: int | None) -> LearnedWindow:
        """After the refusal of a prompt of so many characters and about so many tokens. Where the server reports no
        limit, or the one known before, only shorter prompts are worth sending."""
        if limit_tokens is not None and limit_tokens != self.tokens:
            return replace(self, tokens=limit_tokens)
        if prompt_tokens <= _LEAST_TOKENS:
            return self
        shorter = max(int(prompt_chars * _SMALLER), prompt_chars * _LEAST_TOKENS // prompt_tokens)
        return replace(self, prompt_chars=min(shorter, self.prompt_chars or shorter))


def learned_windows(given: Mapping[str, Any] | None) -> defaultdict[str, LearnedWindow]:
    """From `model_windows` in a handoff, by model spec; anything but a positive integer counts as not known."""
    windows = defaultdict(LearnedWindow)
    for spec, row in given.items() if isinstance(given, Mapping) else ():
        if isinstance(row, Mapping):
            windows[str(spec)] = LearnedWindow(tokens=_number(row, "tokens"), prompt_chars=_number(row, "prompt_chars"))
    return windows


def model_windows(
    degraded: Iterable[Mapping[str, Any]], before: Mapping[str, Any] | None = None
) -> dict[str, dict[str, int | None]]:
    """The windows learned `before`, updated by the entries of a state's `degraded` channel, the last of a model."""
    learned = {str(row["model"]): dict(row["window"]) for row in degraded if row.get("kind") == "window"}
    return {**(before or {}), **learned}


def token_limit_retries(degraded: Iterable[Mapping[str, Any]]) -> int:
    """How often a prompt was sent again because it had been too long."""
    return sum(int(row.get("retries") or 0) for row in degraded if row.get("kind") == "window")


def _number(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
