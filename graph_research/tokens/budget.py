"""How many tokens of a model's window the material of a prompt may take."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["OUTPUT_SHARE", "SCAFFOLD_SHARE", "WindowBudget", "usable_tokens"]

SCAFFOLD_SHARE = 0.25
"""A prompt's own words count as overhead up to this share of the window (decision B34)."""

OUTPUT_SHARE = 0.25
"""No answer is given more of a window than this."""


def usable_tokens(
    window_tokens: int, *, overhead_tokens: int = 0, reserved_tokens: int = 0, safety_margin: float = 0.15
) -> int:
    """floor((window - overhead - reserved output) x (1 - margin)), never below 0 (decision B22)."""
    return max(0, math.floor((window_tokens - overhead_tokens - reserved_tokens) * (1 - safety_margin)))


@dataclass(frozen=True, kw_only=True)
class WindowBudget:
    """A window shared out: `scaffold_tokens` for a prompt's own words, `output_tokens` for the answer, the rest for
    what it quotes, less a margin for what the count gets wrong."""

    window_tokens: int
    output_tokens: int
    safety_margin: float = 0.15

    @classmethod
    def of(cls, window_tokens: int, *, wanted_output_tokens: int, safety_margin: float = 0.15) -> WindowBudget:
        """With the output cut to its share of a window that is small for it."""
        return cls(
            window_tokens=window_tokens,
            output_tokens=max(1, min(wanted_output_tokens, math.floor(window_tokens * OUTPUT_SHARE))),
            safety_margin=safety_margin,
        )

    def prompt_tokens(self) -> int:
        """What a whole prompt may take where its own words are not told from what it quotes."""
        return usable_tokens(self.window_tokens, reserved_tokens=self.output_tokens, safety_margin=self.safety_margin)

    def material_tokens(self, scaffold_tokens: int) -> int:
        """What a prompt may quote beside its own words."""
        counted = min(scaffold_tokens, math.floor(self.window_tokens * SCAFFOLD_SHARE))
        usable = usable_tokens(
            self.window_tokens,
            overhead_tokens=counted,
            reserved_tokens=self.output_tokens,
            safety_margin=self.safety_margin,
        )
        left = self.window_tokens - self.output_tokens - scaffold_tokens
        return max(0, min(usable, left))
