"""What a run did with less than full quality: the vocabulary of the state's `degraded` channel."""

from __future__ import annotations

from enum import StrEnum


class DegradationKind(StrEnum):
    """Kinds of entries that code tells apart (`schemas/degradation.json`); other entries have none."""

    FALLBACK = "fallback"
    WINDOW = "window"
    CUT = "cut"
    FAILOVER = "failover"
    BUDGET = "budget"
    LENGTH = "length"
    MISFIT = "misfit"
