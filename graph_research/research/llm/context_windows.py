"""What a run has learned of its models' windows from refused prompts, kept in its state for later calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_SMALLER = 0.9
_LEAST_TOKENS = 2_000
"""No model in use has a smaller window (2,048 tokens): a shorter prompt that is refused tells of a server that erred,
and nothing of the prompts of other agents."""


@dataclass(frozen=True, kw_only=True)
class LearnedWindow:
    """`tokens` is the window as the model's server told it; `prompt_chars` the longest prompt that is worth sending,
    None where nothing shorter than the window was refused."""

    tokens: int | None = None
    prompt_chars: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> LearnedWindow:
        """From its JSON; what is no number counts as not known."""
        return cls(tokens=_number(row, "tokens"), prompt_chars=_number(row, "prompt_chars"))

    def to_json(self) -> dict[str, int | None]:
        return {"tokens": self.tokens, "prompt_chars": self.prompt_chars}


@dataclass(frozen=True, kw_only=True)
class Windows:
    """The learned windows by model spec. Never changed in place."""

    learned: Mapping[str, LearnedWindow] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> Windows:
        """From `model_windows` in a handoff; what is no number counts as not known."""
        rows = given.items() if isinstance(given, Mapping) else ()
        return cls(learned={str(spec): LearnedWindow.of(row) for spec, row in rows if isinstance(row, Mapping)})

    def get(self, spec: str) -> LearnedWindow:
        """What is known of a model; nothing for one that refused nothing."""
        return self.learned.get(spec) or LearnedWindow()

    def refused(self, spec: str, prompt_chars: int, prompt_tokens: int, told_tokens: int | None) -> Windows:
        """A prompt of so many characters, about so many tokens, was too long. Without a limit from the server, or once
        a prompt that should fit it is refused, only shorter ones are worth sending."""
        known = self.get(spec)
        if told_tokens is not None and told_tokens != known.tokens:
            return self._with(spec, replace(known, tokens=told_tokens))
        if prompt_tokens <= _LEAST_TOKENS:
            return self
        shorter = max(int(prompt_chars * _SMALLER), prompt_chars * _LEAST_TOKENS // prompt_tokens)
        return self._with(spec, replace(known, prompt_chars=min(shorter, known.prompt_chars or shorter)))

    def _with(self, spec: str, window: LearnedWindow) -> Windows:
        return Windows(learned={**self.learned, spec: window})


def model_windows(
    degraded: Iterable[Mapping[str, Any]], known: Mapping[str, Any] | None = None
) -> dict[str, dict[str, int | None]]:
    """What the entries of a state's `degraded` channel say of windows, the last entry of a model counting; `known` is
    what was learned before."""
    learned = {str(row["model"]): dict(row["window"]) for row in degraded if row.get("kind") == "window"}
    return {**(known or {}), **learned}


def token_limit_retries(degraded: Iterable[Mapping[str, Any]]) -> int:
    """How often a prompt was sent again because it had been too long."""
    return sum(int(row.get("retries") or 0) for row in degraded if row.get("kind") == "window")


def _number(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
