"""What a run may take in all, whatever its graph allows."""

from __future__ import annotations

from dataclasses import dataclass

from graph_research.graph.errors import RunTooLarge


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The most that a run may take, its subgraphs and the items of its fan-outs included: steps, entries of the journal
    (a call has one, and so have notes and readings of the clock), and characters of updates and texts."""

    steps: int
    calls: int
    characters: int

    def check(self, *, steps: int, calls: int, characters: int) -> None:
        """Raise `RunTooLarge` where a run has taken more."""
        taken = (("steps", steps, self.steps), ("calls", calls, self.calls))
        for what, number, most in (*taken, ("stored characters", characters, self.characters)):
            if number > most:
                raise RunTooLarge(
                    f"the run takes more than {most:,} {what}, the most that it may take",
                    help="loop less, or fan out over fewer items",
                )
