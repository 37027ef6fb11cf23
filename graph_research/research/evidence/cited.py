"""The records of a cited draft: its sentences, passages and contradictions with citations in place of evidence ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import (
    BlockOf,
    JudgedValues,
    StatementKind,
    StatementVerdict,
    Writer,
    statements_of,
)
from graph_research.research.models.record import Record
from graph_research.text.document import PlaceKind
from graph_research.text.relevance.statements import Nature


class QuoteSelector(Record):
    """A W3C Web Annotation `TextQuoteSelector`: the words, with up to 32 characters before and after them."""

    type: Literal["TextQuoteSelector"] = "TextQuoteSelector"
    exact: str
    prefix: str = ""
    suffix: str = ""


class PositionSelector(Record):
    """A W3C Web Annotation `TextPositionSelector`: offsets in the archived text, `end` exclusive."""

    type: Literal["TextPositionSelector"] = "TextPositionSelector"
    start: int
    end: int


class CitedPlace(Record):
    """Where a passage stands in its file: `first` to `last` of a kind such as lines or cells, counted in the part
    `within`, such as a sheet or an attachment."""

    kind: PlaceKind
    within: str
    first: str
    last: str


class Citation(Record):
    """One passage of one source. `n` is the source's number, printed as `[n]`; `id` is the passage's own.

    `problem` says why it is not valid: what is missing, or what stands there. `selectors` lead to the passage without
    this program; a citation that is not valid has none. `place` is null where the file has pages or no places.
    `heading` is the nearest one above the passage, `term` what it explains in a list of definitions, each empty where
    there is none.
    """

    id: str
    n: int
    evidence_id: str
    source_id: str
    quote: str
    locator: str
    archive_hash: str
    valid: bool = True
    problem: str = ""
    selectors: list[QuoteSelector | PositionSelector] = Field(default_factory=list)
    place: CitedPlace | None = None
    heading: str = ""
    term: str = ""


class CitedStatement(Record):
    """A sentence with the ids of its citations. Those after a quote's first say the same.

    `status` is how far it is proved, `problem` why it is unsupported. `support` is the score of its words, 0 to 1;
    `verdict` and `reason` are what a verifier model said of it, null and empty where none did. `fabricated` are the
    ids and numbers that its writer made up. `place` tells a cell or sentence from others that read the same. `code` and
    `strong` are the stretches of the text that are set as code and in bold.
    """

    id: str
    text: str
    kind: StatementKind
    status: Status
    citations: list[str]
    computed: list[str] = Field(default_factory=list)
    judged: JudgedValues = Field(default_factory=list)
    support: float = 1.0
    problem: str = ""
    verdict: StatementVerdict | None = None
    fabricated: list[str] = Field(default_factory=list)
    place: str = ""
    code: list[str] = Field(default_factory=list)
    strong: list[str] = Field(default_factory=list)


class CitedBlock(BlockOf[CitedStatement]):
    """A block of the draft, its sentences cited."""


class CitedSection(Record):
    """A heading of level 1 to 3 and its blocks in order, and who wrote it."""

    heading: str
    level: int
    blocks: list[CitedBlock]
    writer: Writer = Writer.MODEL

    def statements(self) -> Iterator[CitedStatement]:
        """Every sentence and cell, in reading order."""
        return statements_of(self.blocks)


class CitedSide(Record):
    """One side of a contradiction: the value as it is written, and who says so."""

    value: str
    citations: list[str]
    evidence_ids: list[str]


class CitedContradiction(Record):
    """A disagreement with every side; none is chosen. `settled` says that a section says which holds."""

    id: str
    kind: str
    topic: str
    description: str
    nature: str = "conflict"
    settled: bool = False
    sides: list[CitedSide]

    @property
    def is_open(self) -> bool:
        """Whether both sides cannot be right, and no section says which is."""
        return self.nature == Nature.CONFLICT and not self.settled


class Cited(Record):
    """A draft and the contradictions with citations in place of evidence ids."""

    short_answer: list[CitedBlock]
    sections: list[CitedSection]
    contradictions: list[CitedContradiction]
    conclusions: list[CitedBlock]
    more_evidence: list[CitedStatement]
    citations: list[Citation]

    def statements(self) -> Iterator[CitedStatement]:
        """Every sentence and cell, in reading order."""
        sections = (block for section in self.sections for block in section.blocks)
        yield from statements_of((*self.short_answer, *sections, *self.conclusions))
        yield from self.more_evidence
