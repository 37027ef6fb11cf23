"""What a run has learned of its models' windows by having prompts refused.

It is kept in the run's state, so that later calls fit at once, and are the same after a resume or in a replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["LearnedWindow", "WindowMemory", "Windows", "model_windows", "token_limit_retries"]

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

    def joined(self, spec: str, other: LearnedWindow) -> Windows:
        """With what is known from elsewhere, of two lengths the shorter."""
        known = self.get(spec)
        lengths = [chars for chars in (known.prompt_chars, other.prompt_chars) if chars is not None]
        tokens = other.tokens if other.tokens is not None else known.tokens
        return self._with(spec, LearnedWindow(tokens=tokens, prompt_chars=min(lengths, default=None)))

    def _with(self, spec: str, window: LearnedWindow) -> Windows:
        return Windows(learned={**self.learned, spec: window})


@dataclass
class WindowMemory:
    """What this process has learned of windows so far. Whoever reads it records what was read, since another process
    would remember something else."""

    windows: Windows = field(default_factory=Windows)

    def learn(self, spec: str, window: LearnedWindow) -> None:
        """Keep what is known of a model after a prompt was refused."""
        self.windows = self.windows.joined(spec, window)

    def read(self, spec: str) -> dict[str, int | None]:
        """What is known of a model, as JSON."""
        return self.windows.get(spec).to_json()


def model_windows(degraded: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int | None]]:
    """What the entries of a state's `degraded` channel tell of windows, the last of a model counting."""
    return {str(row["model"]): dict(row["window"]) for row in degraded if row.get("kind") == "window"}


def token_limit_retries(degraded: Iterable[Mapping[str, Any]]) -> int:
    """How often a prompt was sent again because it had been too long (requirements 14.2)."""
    return sum(int(row.get("retries") or 0) for row in degraded if row.get("kind") == "window")


def _number(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
