"""What a program around the research may hook into: the think pause between phases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["Hooks"]


class Hooks(Protocol):
    """Called by the supervisor after each phase, between evaluating it and recording the pause."""

    def on_think_pause(self, state: Mapping[str, Any], prompt: str) -> str | None:
        """Guidance for the next phase, or None to go on without.

        `state` is what the supervisor knows of the phase (question, phase, iteration, metrics, gate), read-only;
        `prompt` the reflection prompt. The answer is journalled: a resumed run does not ask again.
        """
        ...
