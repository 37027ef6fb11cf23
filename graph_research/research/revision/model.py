"""The kinds of revisions of a report, and which of them hold in a version of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from graph_research.research.models.draft import DraftSection, Statement, StatementVerdict
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Finding
from graph_research.research.models.record import Record
from graph_research.research.models.source import Source
from graph_research.research.report.model import ReportRevision

Change = Literal["", "text", "confidence", "drop", "rewritten"]


class RevisionKind(StrEnum):
    """Kinds of revisions."""

    EXCLUDE = "exclude"
    EDIT = "edit"
    REFRESH = "refresh"
    FOLLOW_UP = "follow_up"
    UNDO = "undo"


class _Revision(Record):
    """`what` names what was changed, for people; `at` is when, ISO 8601 in UTC."""

    what: str
    at: str

    @property
    def change(self) -> Change:
        """What it does to the report, where its kind does not say that."""
        return ""


class Exclusion(_Revision):
    """A source is left out, with every sentence that rests only on it. `left_out` names the sentences that
    have other evidence too, which does not support them alone."""

    kind: Literal[RevisionKind.EXCLUDE] = RevisionKind.EXCLUDE
    source_id: str
    left_out: list[str] = Field(default_factory=list)


class Edit(_Revision):
    """A sentence, a claim or both are changed: every sentence that reads `sentence`, with a `place` only the one there,
    and the claim `claim_id`.

    They read `text` from then on, or are dropped, or the claim gets another `confidence` (0 to 1).
    """

    kind: Literal[RevisionKind.EDIT] = RevisionKind.EDIT
    sentence: str = ""
    place: str = ""
    claim_id: str = ""
    text: str | None = None
    drop: bool = False
    confidence: float | None = None

    @property
    def change(self) -> Change:
        """A new text counts before a new confidence."""
        if self.drop:
            return "drop"
        return "confidence" if self.text is None else "text"


class Refresh(_Revision):
    """Evidence whose source changed since is left out, with every sentence that rests only on it; `left_out` as of an
    exclusion. `sentences` take the place of sentences by their text, `rows` that of the cells of a table's row by the
    evidence that it quotes, and `evidence` is what they and `contradictions` cite: passages of the sources as they are
    now. `source_ids` are the sources of which the archive has another text than there is now, or that are gone."""

    kind: Literal[RevisionKind.REFRESH] = RevisionKind.REFRESH
    evidence_ids: list[str]
    source_ids: list[str] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)
    sentences: dict[str, Statement] = Field(default_factory=dict)
    rows: dict[str, list[Statement]] = Field(default_factory=dict)
    contradictions: list[Contradiction] = Field(default_factory=list)

    @property
    def change(self) -> Change:
        """Whether a sentence or a row takes the place of one."""
        return "rewritten" if self.sentences or self.rows else ""


class FollowUp(_Revision):
    """The answer to a further question, which the run `run_id` found, joins the report as sections, with its sources,
    evidence, findings and contradictions, and what a verifier model said of its sentences."""

    kind: Literal[RevisionKind.FOLLOW_UP] = RevisionKind.FOLLOW_UP
    run_id: str
    sections: list[DraftSection]
    sources: list[Source] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    contradictions: list[Contradiction] = Field(default_factory=list)
    verdicts: list[StatementVerdict] = Field(default_factory=list)


class Undo(_Revision):
    """The latest revision that still holds is taken back."""

    kind: Literal[RevisionKind.UNDO] = RevisionKind.UNDO


Revision = Annotated[Exclusion | Edit | Refresh | FollowUp | Undo, Field(discriminator="kind")]


def shown(revision: Revision) -> ReportRevision:
    """The revision as a report names it."""
    return ReportRevision(kind=revision.kind.value, change=revision.change, what=revision.what, at=revision.at)


def revision_of(row: str | bytes) -> Revision:
    """A revision from its JSON. `ValueError` where it is none."""
    return _adapter().validate_json(row)


@cache
def _adapter() -> TypeAdapter[Exclusion | Edit | Refresh | FollowUp | Undo]:
    return TypeAdapter(Revision)


def revision_json(revision: Revision) -> dict[str, Any]:
    """The revision as plain JSON."""
    return revision.model_dump(mode="json")


def holding(revisions: Sequence[Revision]) -> list[Revision]:
    """The revisions that are not taken back, in order. Version 1 of a report has no revision, and each revision, an
    undo too, makes the next version."""
    left: list[Revision] = []
    for revision in revisions:
        if not isinstance(revision, Undo):
            left.append(revision)
        elif left:
            left.pop()
    return left
