"""The plan: sub-queries, what their researchers found, and how far each came."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from graph_research.research.models.record import Record, schema_field


class SubQueryStatus(StrEnum):
    """How far the research of a sub-query is."""

    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class ChecklistKind(StrEnum):
    """What a point of the reader's checklist asks for."""

    PART = "part"
    COMPARISON = "comparison"
    DECISION = "decision"
    NUMBER = "number"
    RISK = "risk"


class ChecklistItem(Record):
    """A thing that a demanding reader of the question will look for in the report. `id` is `chk-` and its place."""

    id: str = schema_field(pattern="^chk-[1-9][0-9]?$")
    text: str = schema_field(minLength=1)
    kind: ChecklistKind = ChecklistKind.PART


class SubQuery(Record):
    """One question of the plan, for one researcher. `id` is `sq-ITERATION-NUMBER`; `further_queries` are searched for
    with `query` where a refinement asks for a gap in several ways; `look_for` names the single things that its sources
    should say: the library is searched for each, and long texts are read around the passages that fit them;
    `source_types` says where to look for it (`web`, `academic`, `news`), empty: wherever the run looks."""

    id: str = schema_field(pattern="^sq-[0-9]+-[0-9]+$")
    query: str = schema_field(minLength=1)
    further_queries: list[str] = Field(default_factory=list)
    look_for: list[str] = Field(default_factory=list)
    rationale: str = ""
    priority: int = schema_field(1, minimum=1)
    status: SubQueryStatus = SubQueryStatus.PENDING
    iteration: int = schema_field(1, minimum=1)
    gap_id: str | None = None
    error: str | None = None
    source_types: list[str] = Field(
        default_factory=list, json_schema_extra={"default": [], "items": {"enum": ["web", "academic", "news"]}}
    )


class Reflection(Record):
    """A researcher's verdict after a search, made without search tools at hand."""

    continue_searching: bool
    refined_query: str | None = None
    research_complete: bool = False
    rationale: str = ""


class TopicResult(Record):
    """What one topic researcher did. `source_ids` are what it found, `read_ids` those of them that were read for it:
    each source is read for one topic. `compressed_findings` are the notes on these, `limits` what was not found or
    could not be read; `tokens_used` counts the reflections."""

    sub_query_id: str
    queries: list[str] = Field(default_factory=list)
    searches_performed: int = 0
    source_ids: list[str] = Field(default_factory=list)
    read_ids: list[str] = Field(default_factory=list)
    duplicates_skipped: int = 0
    reflections: list[Reflection] = Field(default_factory=list)
    research_complete: bool = False
    compressed_findings: str | None = None
    limits: list[str] = Field(default_factory=list)
    tokens_used: int = 0
    error: str | None = None
