"""Evidence: a stretch of an archived text, quoted exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from graph_research.research.models.record import Record, schema_field
from graph_research.text.relevance.statements import Nature

AGREE = "agree"
"""The verdict on statements that say the same."""

MOST_PAIRS = 24
"""So many pairs are judged in a round at most, conflicts that are named already before others."""


class Evidence(Record):
    """A quote and where it stands: `archive[locator] == quote`, to the character.

    `id` is `ev-` and 10 hex digits derived from archive hash and locator. `score` is the evidence formula's value, at
    most 0.631; `rank_score` is what the selection was ordered by, where that differs.
    """

    id: str = schema_field(pattern="^ev-[0-9a-f]{10}$")
    source_id: str
    quote: str = schema_field(minLength=1)
    locator: str = schema_field(pattern="^(page:[1-9][0-9]*:)?char:[0-9]+-[0-9]+$")
    archive_hash: str = schema_field(pattern="^sha256:[0-9a-f]{64}$")
    sub_query_id: str = ""
    score: float = schema_field(0.0, minimum=0)
    rank_score: float = 0.0


class Side(Record):
    """One side of a contradiction: the value as it is written, and the evidence that says so."""

    value: str
    evidence_ids: list[str] = Field(min_length=1)


class Contradiction(Record):
    """Sources that disagree on one thing: they give another number or date, or deny each other.

    `kind` is `number`, `date` or `statement` (what differs is neither). Every side is kept; none is chosen. `nature`
    is `conflict`, or what the sides mean apart: another `date`, `unit`, `scope` or `definition`, or `none` where a
    model found that they do not differ. `settled` says that a section of the report says which side holds. `id` is
    `con-` and 10 hex digits derived from its content.
    """

    id: str = schema_field(pattern="^con-[0-9a-f]{10}$")
    kind: str = schema_field(enum=["number", "date", "statement"])
    topic: str
    description: str = ""
    nature: str = schema_field(Nature.CONFLICT.value, enum=[nature.value for nature in Nature])
    sides: list[Side] = Field(min_length=2)
    settled: bool = False


def is_open(contradiction: Mapping[str, Any]) -> bool:
    """Whether a contradiction, as JSON, is a conflict of which no section of the report says which side holds."""
    return contradiction.get("nature", Nature.CONFLICT) == Nature.CONFLICT and not contradiction.get("settled")


class Comparison(Record):
    """A model's judgement of two statements of different sources. `about` holds the ids of two findings, or that of a
    contradiction. `verdict` is a contradiction's nature, or `agree`. `id` is `cmp-` and 10 hex digits derived from
    `about`."""

    id: str = schema_field(pattern="^cmp-[0-9a-f]{10}$")
    about: list[str] = Field(min_length=1, max_length=2)
    verdict: str = schema_field(enum=[AGREE, *(nature.value for nature in Nature)])
    model: str = ""
