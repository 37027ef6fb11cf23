"""The outline of a report: which sections it has, what each must answer, and from which findings."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from graph_research.research.models.record import Record, schema_field


class SectionAction(StrEnum):
    """What is done with a section: written, revised from its previous version, kept as it is, or left out."""

    NEW = "new"
    REVISE = "revise"
    KEEP = "keep"
    DROP = "drop"


class OutlineSection(Record):
    """One section to come. `answers` says what a reader must know after it, `form` how that is laid out, in words;
    `parts` are what it consists of, in order: rows of its table, areas of a set-up, steps of a line of reasoning;
    `terms`, where the sources have another language than the report, are what their pages would say of these;
    `searches` are queries for what they need and was not found yet;
    `words` is how many of those it should have, `layout_words` how many of these in tables and blocks to copy, and
    `has_block` whether it has such a block, both null where the outline does not say; `gap_ids` are open questions that
    belong to it, `contradiction_ids` what it tells of that sources contradict each other on. `id` is `sec-` and a
    number and stays the same in later rounds."""

    id: str = schema_field(pattern="^sec-[1-9][0-9]*$")
    heading: str = schema_field(minLength=1)
    level: int = schema_field(1, minimum=1, maximum=3)
    answers: str = ""
    form: str = ""
    parts: list[str] = Field(default_factory=list)
    terms: list[str] = Field(default_factory=list)
    searches: list[str] = Field(default_factory=list)
    words: int = schema_field(0, minimum=0)
    layout_words: int | None = schema_field(None, minimum=0)
    has_block: bool | None = None
    finding_ids: list[str] = Field(default_factory=list)
    gap_ids: list[str] = Field(default_factory=list)
    contradiction_ids: list[str] = Field(default_factory=list)
    action: SectionAction = SectionAction.NEW
