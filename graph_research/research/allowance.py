"""What the limits of a run leave room for, asked where the flow of the research depends on it."""

from __future__ import annotations

from typing import Protocol


class Allowance(Protocol):
    """The limits of a run beside what it has spent."""

    def refuses_round(self) -> str | None:
        """Why no further round begins, such as `no further round, to keep within 60,000 tokens`; None where one may."""
        ...

    def refuses_repetition(self, phase: str) -> str | None:
        """Why a phase is not carried out once more; None where it may be."""
        ...

    def time_to_search_is_over(self) -> str | None:
        """Why no search is made any more, as the time for gathering is over; None where there is some left."""
        ...
