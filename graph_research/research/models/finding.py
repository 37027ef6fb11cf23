"""Findings, gaps and claims: what the analysis says, what it lacks, and how sure it may be."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from graph_research.research.models.record import Record, schema_field


class Confidence(StrEnum):
    """Five levels; a model's prompt offers the middle three, the outer two come from the claim score."""

    SPECULATION = "speculation"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CONFIRMED = "confirmed"


class Finding(Record):
    """A statement with its evidence. `id` is `find-` and 10 hex digits derived from its content.

    `stated` is the confidence that a model gave it, `confidence` what its claim and its origins leave of that.
    `sub_query_id` names the topic in which it was found; it is empty for one that the analyzer drew across topics.
    """

    id: str = schema_field(pattern="^find-[0-9a-f]{10}$")
    content: str = schema_field(minLength=1)
    confidence: Confidence
    source_ids: list[str] = Field(default_factory=list)
    evidence_ids: list[str] = Field(default_factory=list)
    category: str | None = None
    iteration: int = schema_field(1, minimum=1)
    stated: Confidence | None = None
    sub_query_id: str = ""


class Gap(Record):
    """What the sources do not answer, or what would settle a conflict, whose id it then has. `priority` 1 is the most
    important; `iteration` is the round that named it, `addressed_in` the one that closed it. `addressable` is false
    once the refiner judged that no search closes it: no further round is spent on it."""

    id: str = schema_field(pattern="^(gap|con)-[0-9a-f]{10}$")
    description: str = schema_field(minLength=1)
    suggested_queries: list[str] = Field(default_factory=list)
    priority: int = schema_field(1, minimum=1)
    addressed: bool = False
    addressable: bool = True
    severity: str | None = schema_field(None, enum=["critical", "moderate", "minor", None])
    iteration: int = schema_field(1, minimum=1)
    addressed_in: int | None = schema_field(None, minimum=1)


class Claim(Record):
    """A finding scored against its sources; `confidence` is 0 to 1, `level` the word for it. `edited` where the user
    changed its text or its confidence in the finished report."""

    id: str
    text: str
    confidence: float = schema_field(minimum=0, maximum=1)
    support_strength: float = schema_field(minimum=0, maximum=1)
    support: list[str] = Field(default_factory=list)
    against: list[str] = Field(default_factory=list)
    contradiction: bool = False
    finding_id: str = ""
    edited: bool = False
    level: Literal["high", "medium", "low"] = "low"
