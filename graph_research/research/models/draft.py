"""The draft of a report: statements with evidence ids, before code numbers and proves the citations."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from graph_research.research.models.record import Record


class StatementKind(StrEnum):
    """`quote` is verbatim from its evidence, `fact` a model's own sentence, `connective` asserts nothing."""

    QUOTE = "quote"
    FACT = "fact"
    CONNECTIVE = "connective"


class Statement(Record):
    """One sentence, or a few that stand together, with the evidence it rests on.

    The first id is the one quoted; further ids are other sources that say the same ("also in").
    """

    text: str
    evidence_ids: list[str] = Field(default_factory=list)
    kind: StatementKind = StatementKind.FACT


class DraftSection(Record):
    """A heading and its statements in order."""

    heading: str
    statements: list[Statement] = Field(default_factory=list)


class Draft(Record):
    """What the synthesizer writes.

    `notice` is shown as a banner above everything (how the text was made). `found` is false where the best evidence
    misses most of the question; then `summary` holds the nearest passages and `searched` says what was looked for.
    `more` is evidence that did not fit on the page; `conclusions` end the report.
    """

    notice: str = ""
    found: bool = True
    searched: list[str] = Field(default_factory=list)
    summary: list[Statement] = Field(default_factory=list)
    sections: list[DraftSection] = Field(default_factory=list)
    conclusions: list[Statement] = Field(default_factory=list)
    more: list[Statement] = Field(default_factory=list)

    def statements(self) -> list[Statement]:
        """Every statement, in reading order."""
        in_sections = [statement for section in self.sections for statement in section.statements]
        return [*self.summary, *in_sections, *self.conclusions, *self.more]
