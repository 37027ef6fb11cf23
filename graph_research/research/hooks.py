"""What a program around the research may hook into: the think pause between phases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from graph_research.research.models.decision import HookDecision

StateReader = Callable[[str], Awaitable[Mapping[str, Any]]]
"""Gives the committed channels of a run, by its id."""


class Hooks(Protocol):
    """Called by the supervisor after each phase, between evaluating it and recording the pause."""

    def on_think_pause(
        self, state: Mapping[str, Any], prompt: str
    ) -> str | HookDecision | Awaitable[str | HookDecision | None] | None:
        """Guidance for the next phase, a decision on how the run continues, or None to leave both to the supervisor; it
        may be an `async def`.

        A decision takes the place of the supervisor's verdict, also where the phase's gate failed, and is logged as
        the hook's: `retry` repeats the phase as long as it may still be repeated, `complete` after the synthesis or
        the refinement ends the rounds, and everything else continues with the next phase.

        `state` holds every channel of the run as JSON, and of the phase that ended its name (`phase`, and again
        `current_phase`), its `metrics` and the result of its `gate`; it is a copy. `prompt` is the reflection prompt.
        The answer is recorded in the journal: a resumed run does not ask again.
        """
        ...
