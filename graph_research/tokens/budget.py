"""How many tokens of a model's window the material of a prompt may take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["OUTPUT_SHARE", "RUNTIME_OVERHEADS", "SCAFFOLD_SHARE", "WindowBudget", "runtime_overhead", "usable_tokens"]

RUNTIME_OVERHEADS: Mapping[str, int] = {
    "claude": 60_000,
    "cursor": 40_000,
    "codex": 30_000,
    "opencode": 30_000,
    "gemini": 20_000,
}
"""Tokens that a command-line agent fills with words of its own before ours (requirements 13.1)."""

MOST_OVERHEAD = 60_000
SCAFFOLD_SHARE = 0.25
"""A prompt's own words count as overhead up to this share of the window (decision B34)."""

OUTPUT_SHARE = 0.25
"""No answer is given more of a window than this."""


def usable_tokens(
    window_tokens: int, *, overhead_tokens: int = 0, reserved_tokens: int = 0, safety_margin: float = 0.15
) -> int:
    """floor((window - overhead - reserved output) x (1 - margin)), never below 0 (decision B22)."""
    return max(0, math.floor((window_tokens - overhead_tokens - reserved_tokens) * (1 - safety_margin)))


def runtime_overhead(spec: str, configured: int | None = None) -> int:
    """Tokens that the program behind a model spec adds: none unless it is a `[cli]` one (decision B34)."""
    if not spec.startswith("[cli]"):
        return 0
    program = spec.removeprefix("[cli]").partition(":")[0]
    return RUNTIME_OVERHEADS.get(program, MOST_OVERHEAD) if configured is None else configured


@dataclass(frozen=True, kw_only=True)
class WindowBudget:
    """A window shared out: `scaffold_tokens` for a prompt's own words, `output_tokens` for the answer, the rest for
    what it quotes, less a margin for what the count gets wrong."""

    window_tokens: int
    output_tokens: int
    overhead_tokens: int
    safety_margin: float = 0.15

    @classmethod
    def of(
        cls, window_tokens: int, *, wanted_output_tokens: int, overhead_tokens: int = 0, safety_margin: float = 0.15
    ) -> WindowBudget:
        """With the output cut to its share of a window that is small for it."""
        free = max(window_tokens - overhead_tokens, 0)
        return cls(
            window_tokens=window_tokens,
            output_tokens=max(1, min(wanted_output_tokens, math.floor(free * OUTPUT_SHARE))),
            overhead_tokens=overhead_tokens,
            safety_margin=safety_margin,
        )

    def prompt_tokens(self) -> int:
        """What a whole prompt may take where its own words are not told from what it quotes."""
        return usable_tokens(
            self.window_tokens,
            overhead_tokens=self.overhead_tokens,
            reserved_tokens=self.output_tokens,
            safety_margin=self.safety_margin,
        )

    def material_tokens(self, scaffold_tokens: int) -> int:
        """What a prompt may quote beside its own words."""
        counted = min(scaffold_tokens, math.floor(self.window_tokens * SCAFFOLD_SHARE))
        usable = usable_tokens(
            self.window_tokens,
            overhead_tokens=self.overhead_tokens + counted,
            reserved_tokens=self.output_tokens,
            safety_margin=self.safety_margin,
        )
        left = self.window_tokens - self.overhead_tokens - self.output_tokens - scaffold_tokens
        return max(0, min(usable, left))
