"""How much of a source's text reached the models: one record a source and phase, and their sum."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from graph_research.research.models.record import Record
from graph_research.text.tokens import CHARS_PER_TOKEN


class FidelityLevel(StrEnum):
    """From the whole text to nothing; a digest has the length of key points, with evidence."""

    FULL = "full"
    CONDENSED = "condensed"
    COMPRESSED = "compressed"
    KEY_POINTS = "key_points"
    DIGEST = "digest"
    HEADLINE = "headline"
    DROPPED = "dropped"


LEVEL_SHARES: Mapping[FidelityLevel, float] = {
    FidelityLevel.FULL: 1.0,
    FidelityLevel.CONDENSED: 0.7,
    FidelityLevel.COMPRESSED: 0.4,
    FidelityLevel.KEY_POINTS: 0.2,
    FidelityLevel.HEADLINE: 0.1,
    FidelityLevel.DROPPED: 0.0,
}
"""The share of a text that a level keeps, from the whole text to nothing."""

LOW_FIDELITY = 0.5
"""A mean share below this is worth a warning."""

_LEAST_SHARES = (
    (0.9, FidelityLevel.FULL),
    (0.6, FidelityLevel.CONDENSED),
    (0.3, FidelityLevel.COMPRESSED),
    (0.15, FidelityLevel.KEY_POINTS),
)


def level_of(share: float) -> FidelityLevel:
    """The level of a text of which this share is shown: full from 0.9 on, condensed from 0.6, compressed from 0.3, key
    points from 0.15, else a headline; dropped at 0."""
    if share <= 0:
        return FidelityLevel.DROPPED
    return next((level for least, level in _LEAST_SHARES if share >= least), FidelityLevel.HEADLINE)


class FidelityRecord(Record):
    """What one phase showed of a source; `id` is `PHASE:SOURCE`.

    Tokens are estimated as a quarter of the characters; `compression_ratio` is final over original characters, at
    most 1; `truncated` marks key points and headlines that are parts cut out of the text; `warnings` say what did not
    work.
    """

    id: str
    source_id: str
    phase: str
    original_tokens: int
    final_tokens: int
    level: FidelityLevel
    compression_ratio: float
    truncated: bool = False
    reason: str = ""
    warnings: list[str] = Field(default_factory=list)


class ItemFidelity(Record):
    """How much of a source the run has shown: the largest share that a phase showed of it."""

    original_tokens: int
    current_tokens: int
    current_level: FidelityLevel
    compression_ratio: float


class ContentFidelity(Record):
    """How much of the sources' archived texts the models were shown: `items` by source, the `records` by source and
    phase that they come from, sources by level, the mean of the items' shares 0 to 1, and its band."""

    items: dict[str, ItemFidelity] = Field(default_factory=dict)
    records: list[FidelityRecord] = Field(default_factory=list)
    levels: dict[str, int]
    score: float
    band: Literal["full", "condensed", "compressed", "minimal"]


def fidelity_record(
    source_id: str,
    phase: str,
    original_chars: int,
    final_chars: int,
    level: FidelityLevel,
    *,
    truncated: bool = False,
    reason: str = "",
    warning: str = "",
) -> FidelityRecord:
    """The record of a text of `original_chars` of which `final_chars` are shown."""
    return FidelityRecord(
        id=f"{phase}:{source_id}",
        source_id=source_id,
        phase=phase,
        original_tokens=original_chars // CHARS_PER_TOKEN,
        final_tokens=final_chars // CHARS_PER_TOKEN,
        level=level,
        compression_ratio=round(min(final_chars / max(original_chars, 1), 1.0), 4),
        truncated=truncated and level in (FidelityLevel.KEY_POINTS, FidelityLevel.HEADLINE),
        reason=reason,
        warnings=[warning] if warning else [],
    )
