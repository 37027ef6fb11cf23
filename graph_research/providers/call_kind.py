"""The kinds of outside calls that the journal of a run records."""

from __future__ import annotations

from enum import StrEnum


class CallKind(StrEnum):
    """What a recorded call asks."""

    MODEL = "model"
    SEARCH = "search"
    FETCH = "fetch"
    """A page."""
    ALLOWANCE = "allowance"
    """Whether the limits of the run leave room for what comes next."""
    INSTRUCTIONS = "instructions"
    """What the user told the run while it was under way."""
    QUOTATIONS = "quotations"
    """What code selected from the sources as the report's foundation."""
    THINK_PAUSE = "think_pause"
    """A hook of the program around the research."""
