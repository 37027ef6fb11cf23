"""Citations: evidence numbered by its first appearance, each proved against the archived text it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from graph_research.errors import GraphResearchError
from graph_research.research.evidence.claim_support import Judgement, judge
from graph_research.research.models.draft import Draft, Statement, StatementKind
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.record import Record
from graph_research.research.models.source import Source
from graph_research.text.document import text_hash
from graph_research.text.locators import resolve
from graph_research.text.wording import shortened

_SHOWN_CHARS = 120
_EVIDENCE_MARKER = re.compile(r"\s*\[(ev-[0-9a-z_-]{1,64}(?:\s*[,;]\s*ev-[0-9a-z_-]{1,64})*)\]")
_NUMBER_MARKER = re.compile(r"\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\](?!\()")


class Citation(Record):
    """`[n]`: one quote of one source. `problem` says why it is not valid: what is missing, or what stands there."""

    n: int
    evidence_id: str
    source_id: str
    quote: str
    locator: str
    archive_hash: str
    valid: bool = True
    problem: str = ""


class CitedStatement(Record):
    """A statement with its numbers. The first number is the quote; further ones say the same.

    `supported` is true where a valid citation carries it, and for a connective, which asserts nothing; else `problem`
    says why. `support` is the score behind it, 0 to 1. `fabricated` are the ids and numbers that its writer made up.
    """

    id: str
    text: str
    kind: StatementKind
    citations: list[int]
    supported: bool
    support: float = 1.0
    problem: str = ""
    fabricated: list[str] = Field(default_factory=list)


class CitedSection(Record):
    """A heading and its statements in order."""

    heading: str
    statements: list[CitedStatement]


class CitedSide(Record):
    """One side of a contradiction: the value as it is written, and who says so."""

    value: str
    citations: list[int]
    evidence_ids: list[str]


class CitedContradiction(Record):
    """A disagreement with every side; none is chosen."""

    id: str
    kind: str
    topic: str
    description: str
    sides: list[CitedSide]


class Cited(Record):
    """A draft and the contradictions with numbers in place of evidence ids, and the citations they stand for."""

    short_answer: list[CitedStatement]
    sections: list[CitedSection]
    contradictions: list[CitedContradiction]
    conclusions: list[CitedStatement]
    more_evidence: list[CitedStatement]
    citations: list[Citation]


class Proof(Record):
    """Where a quote stands in its archived text, as offsets of the whole text, or why it does not."""

    start: int = 0
    end: int = 0
    problem: str = ""


class Archive:
    """The archived texts by hash, with each text's page table; the judge of every quote.

    `texts` maps `sha256:HEX` to canonical text; a text whose own hash differs from its name is never trusted.
    `layouts` maps the same hashes to `Document.layout()`.
    """

    def __init__(self, texts: Mapping[str, str], layouts: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._texts = texts
        self._layouts = layouts or {}
        self._sound: dict[str, bool] = {}

    def prove(self, quote: str, locator: str, archive_hash: str) -> Proof:
        """Check `archive[locator] == quote`, to the character."""
        problem = self.problem_of(archive_hash)
        if problem:
            return Proof(problem=problem)
        text = self._texts[archive_hash]
        try:
            start, end = resolve(text, locator, self.pages(archive_hash))
        except (GraphResearchError, ValueError) as error:
            return Proof(problem=f"the locator {locator!r} leads nowhere: {error}")
        if not quote:
            return Proof(problem="the quote is empty")
        if text[start:end] != quote:
            return Proof(problem=f"the archived text has there: {shortened(text[start:end], _SHOWN_CHARS)!r}")
        return Proof(start=start, end=end)

    def problem_of(self, archive_hash: str) -> str:
        """Why the text of this hash cannot be trusted, or an empty string."""
        if archive_hash not in self._texts:
            return f"the archived text {archive_hash} is missing"
        if archive_hash not in self._sound:
            self._sound[archive_hash] = text_hash(self._texts[archive_hash]) == archive_hash
        return "" if self._sound[archive_hash] else f"the archived text {archive_hash} was changed: its hash differs"

    def text(self, archive_hash: str) -> str:
        """The archived text; `KeyError` where there is none."""
        return self._texts[archive_hash]

    def layout(self, archive_hash: str) -> Mapping[str, Any]:
        """The blocks and pages of a text; an empty mapping where none are known."""
        return self._layouts.get(archive_hash, {})

    def pages(self, archive_hash: str) -> Sequence[int] | None:
        """The offset of each page, page 1 first, or None where the text has no page table."""
        return self.layout(archive_hash).get("pages") or None


def cite(
    draft: Draft,
    *,
    evidence: Iterable[Evidence],
    sources: Iterable[Source],
    contradictions: Iterable[Contradiction],
    archive: Archive,
    trust_connectives: bool,
) -> Cited:
    """Number a draft's evidence in reading order and judge every statement.

    One number is one piece of evidence. An id that no evidence has is dropped and listed as fabricated.
    `trust_connectives` is true where connectives come from code's own templates; a model's are judged as facts.
    """
    numbering = _Numbering(evidence, sources, archive, trust_connectives)
    return Cited(
        short_answer=numbering.statements(draft.summary),
        sections=[
            CitedSection(heading=section.heading, statements=numbering.statements(section.statements))
            for section in draft.sections
        ],
        contradictions=[numbering.contradiction(one) for one in contradictions],
        conclusions=numbering.statements(draft.conclusions),
        more_evidence=numbering.statements(draft.more),
        citations=numbering.citations,
    )


def writes_from_templates(models: Mapping[str, str]) -> bool:
    """Whether the report's writer takes its connecting words from code: only the built-in `extractive` model does.

    `models` maps role to model spec; the role `report` writes.
    """
    return models.get("report") == "extractive"


class _Numbering:
    """Gives out numbers in the order it is asked."""

    def __init__(
        self, evidence: Iterable[Evidence], sources: Iterable[Source], archive: Archive, trust_connectives: bool
    ) -> None:
        self.citations: list[Citation] = []
        self._evidence = {one.id: one for one in evidence}
        self._source_ids = {source.id for source in sources}
        self._archive = archive
        self._trust_connectives = trust_connectives
        self._numbers: dict[str, int] = {}
        self._statements = 0

    def statements(self, statements: Iterable[Statement]) -> list[CitedStatement]:
        return [self._statement(one) for one in statements if one.text.strip()]

    def contradiction(self, contradiction: Contradiction) -> CitedContradiction:
        return CitedContradiction(
            id=contradiction.id,
            kind=contradiction.kind,
            topic=contradiction.topic,
            description=contradiction.description,
            sides=[
                CitedSide(
                    value=side.value,
                    citations=self._number_all(side.evidence_ids)[0],
                    evidence_ids=[one for one in side.evidence_ids if one in self._evidence],
                )
                for side in contradiction.sides
            ],
        )

    def _statement(self, statement: Statement) -> CitedStatement:
        self._statements += 1
        text, marked, fabricated = _without_markers(statement)
        numbers, unknown = self._number_all([*statement.evidence_ids, *marked])
        kind = self._kind(statement)
        cited = [self.citations[n - 1] for n in numbers]
        judgement = Judgement(1.0) if kind is StatementKind.CONNECTIVE else judge(text, kind, cited)
        return CitedStatement(
            id=f"s{self._statements}",
            text=text,
            kind=kind,
            citations=numbers,
            supported=not judgement.problem,
            support=judgement.score,
            problem=judgement.problem,
            fabricated=[*unknown, *fabricated],
        )

    def _kind(self, statement: Statement) -> StatementKind:
        asserts = any(character.isdigit() for character in statement.text) or not self._trust_connectives
        return StatementKind.FACT if statement.kind is StatementKind.CONNECTIVE and asserts else statement.kind

    def _number_all(self, evidence_ids: Iterable[str]) -> tuple[list[int], list[str]]:
        known, unknown = [], []
        for evidence_id in dict.fromkeys(evidence_ids):
            if evidence_id in self._evidence:
                known.append(self._number(self._evidence[evidence_id]))
            else:
                unknown.append(evidence_id)
        return known, unknown

    def _number(self, evidence: Evidence) -> int:
        if evidence.id not in self._numbers:
            self._numbers[evidence.id] = len(self.citations) + 1
            self.citations.append(self._citation(evidence, len(self.citations) + 1))
        return self._numbers[evidence.id]

    def _citation(self, evidence: Evidence, n: int) -> Citation:
        problem = self._archive.prove(evidence.quote, evidence.locator, evidence.archive_hash).problem
        if evidence.source_id not in self._source_ids:
            problem = f"the run has no source {evidence.source_id}"
        return Citation(
            n=n,
            evidence_id=evidence.id,
            source_id=evidence.source_id,
            quote=evidence.quote,
            locator=evidence.locator,
            archive_hash=evidence.archive_hash,
            valid=not problem,
            problem=problem,
        )


def _without_markers(statement: Statement) -> tuple[str, list[str], list[str]]:
    """The text without markers its writer put in, the evidence ids they held, and numbers that no citation has.

    A verbatim quote is left as it is: a bracketed number in it belongs to the source.
    """
    if statement.kind is StatementKind.QUOTE:
        return statement.text, [], []
    marked = [part.strip() for hit in _EVIDENCE_MARKER.findall(statement.text) for part in re.split("[,;]", hit)]
    text = _EVIDENCE_MARKER.sub("", statement.text)
    made_up = [hit.strip() for hit in _NUMBER_MARKER.findall(text)]
    return _NUMBER_MARKER.sub("", text).strip(), marked, made_up
