"""Evidence: a stretch of an archived text, quoted exactly."""

from __future__ import annotations

from pydantic import Field

from graph_research.research.models.record import Record

__all__ = ["Contradiction", "Evidence", "Side"]


class Evidence(Record):
    """A quote and where it stands: `archive[locator] == quote`, to the character.

    `id` is `ev-` and 10 hex digits derived from archive hash and locator. `score` is the evidence formula's value
    (requirements 11.15), at most 0.631; `rank_score` is what the selection was ordered by, where that differs.
    """

    id: str
    source_id: str
    quote: str
    locator: str
    archive_hash: str
    sub_query_id: str = ""
    score: float = 0.0
    rank_score: float = 0.0


class Side(Record):
    """One side of a contradiction: the value as it is written, and the evidence that says so."""

    value: str
    evidence_ids: list[str] = Field(min_length=1)


class Contradiction(Record):
    """Sources that disagree on one thing: same subject, attribute, unit and scope, other number or date.

    `kind` is `number`, `date` or `statement` (the last only from a language model). Every side is kept; none is
    chosen. `id` is `con-` and 10 hex digits derived from its content.
    """

    id: str
    kind: str
    topic: str
    description: str = ""
    sides: list[Side] = Field(min_length=2)
