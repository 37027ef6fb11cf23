"""How much of an item's text reached the models: one record an item and phase."""

from __future__ import annotations

from enum import StrEnum

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


class FidelityRecord(Record):
    """What one phase showed of an item, such as a source; `id` is `PHASE:ITEM`.

    Tokens are estimated as a quarter of the characters; `compression_ratio` is current over original tokens, at most
    1; `warnings` say what did not work.
    """

    id: str
    item_id: str
    phase: str
    original_tokens: int
    current_tokens: int
    current_level: FidelityLevel
    compression_ratio: float
    reason: str = ""
    warnings: list[str] = Field(default_factory=list)


def fidelity_record(
    item_id: str,
    phase: str,
    original_chars: int,
    current_chars: int,
    level: FidelityLevel,
    *,
    reason: str = "",
    warning: str = "",
) -> FidelityRecord:
    """The record of a text of `original_chars` of which `current_chars` are shown."""
    return FidelityRecord(
        id=f"{phase}:{item_id}",
        item_id=item_id,
        phase=phase,
        original_tokens=original_chars // CHARS_PER_TOKEN,
        current_tokens=current_chars // CHARS_PER_TOKEN,
        current_level=level,
        compression_ratio=round(min(current_chars / max(original_chars, 1), 1.0), 4),
        reason=reason,
        warnings=[warning] if warning else [],
    )
