"""Citations: sources numbered by their first appearance, each passage proved against the archived text it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from graph_research.research.evidence.archive import Archive, Proof
from graph_research.research.evidence.cited import (
    Citation,
    Cited,
    CitedBlock,
    CitedContradiction,
    CitedPlace,
    CitedSection,
    CitedSide,
    CitedStatement,
    PositionSelector,
    QuoteSelector,
)
from graph_research.research.evidence.claim_support import CitedPassage, Judgement, Status, judge
from graph_research.research.models.draft import (
    Block,
    BlockOf,
    BlockType,
    Draft,
    Statement,
    StatementKind,
    StatementVerdict,
)
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.places import place_of

_SELECTOR_CHARS = 32
AROUND_CHARS = 600
"""Of the text on either side of a quote, in which a sentence's names may stand."""
_EVIDENCE_MARKER = re.compile(r"\s*\[(ev-[0-9a-z_-]{1,64}(?:\s*[,;]\s*ev-[0-9a-z_-]{1,64})*)\]")
_NUMBER_MARKER = re.compile(r"\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\](?!\()")


_Cell = TypeVar("_Cell", Statement, CitedStatement)


def cite(
    draft: Draft,
    *,
    question: str,
    evidence: Iterable[Evidence],
    sources: Iterable[Source],
    contradictions: Iterable[Contradiction],
    verdicts: Iterable[StatementVerdict] = (),
    archive: Archive,
    language: str = "",
) -> Cited:
    """Number a draft's sources in reading order, prove every passage, and judge every sentence, in `language`.

    An id that no evidence has is dropped and listed as fabricated.
    """
    numbering = _Numbering(question, evidence, sources, verdicts, archive, language)
    return Cited(
        short_answer=numbering.blocks(draft.summary),
        sections=[
            CitedSection(
                heading=section.heading,
                level=section.level,
                blocks=numbering.blocks(section.blocks),
                writer=section.writer,
            )
            for section in draft.sections
        ],
        contradictions=[numbering.contradiction(row) for row in contradictions],
        conclusions=numbering.blocks(draft.conclusions),
        more_evidence=numbering.held(draft.more),
        citations=numbering.citations,
    )


class _Numbering:
    """Numbers sources in the order in which they are first cited, and proves each passage once."""

    def __init__(
        self,
        question: str,
        evidence: Iterable[Evidence],
        sources: Iterable[Source],
        verdicts: Iterable[StatementVerdict],
        archive: Archive,
        language: str,
    ) -> None:
        self.citations: list[Citation] = []
        self._question = question
        self._evidence = {row.id: row for row in evidence}
        self._sources = {source.id: source for source in sources}
        self._verdicts = {verdict.id: verdict for verdict in verdicts}
        self._archive = archive
        self._language = language
        self._numbers: dict[str, int] = {}
        self._cited: dict[str, Citation] = {}
        self._passages: dict[str, CitedPassage] = {}
        self._statements = 0

    def blocks(self, blocks: Sequence[Block]) -> list[CitedBlock]:
        cited = [
            CitedBlock(
                type=block.type,
                sentences=self.statements(block.sentences, assumed, is_code=block.type is BlockType.CODE),
                items=[item for group in block.items if (item := self.statements(group, assumed))],
                ordered=block.ordered,
                header=list(block.header),
                rows=[
                    [self._statement(cell, context) for cell, context in in_context(row, block.header, place)]
                    for place, row in enumerate(block.rows, 1)
                ],
                caption=block.caption,
                language=block.language,
            )
            for block, assumed in zip(blocks, assumed_beside(blocks), strict=True)
        ]
        return [block for block in cited if block.sentences or block.items or block.rows]

    def statements(
        self, statements: Iterable[Statement], assumed: str = "", *, is_code: bool = False
    ) -> list[CitedStatement]:
        written = (row for row in statements if row.text.strip())
        return [self._statement(row, is_code=is_code, limit=limit) for row, limit in with_limits(written, assumed)]

    def held(self, statements: Iterable[Statement]) -> list[CitedStatement]:
        """The statements that pass their checks. One that fails is replaced by the first of its quotes that
        passes; where none does it is left out, and its sources get no number."""
        given = (next(filter(self._holds, self._with_quotes(row)), None) for row in statements if row.text.strip())
        return [self._statement(row) for row in given if row]

    def _with_quotes(self, statement: Statement) -> list[Statement]:
        known = [self._evidence[name] for name in statement.evidence_ids if name in self._evidence]
        return [
            statement,
            *(Statement(text=row.quote, kind=StatementKind.QUOTE, evidence_ids=[row.id]) for row in known),
        ]

    def _holds(self, statement: Statement) -> bool:
        known = [self._evidence[name] for name in statement.evidence_ids if name in self._evidence]
        passages = [passage_of(self._citation(row, "", 0), self._archive, self._sources) for row in known]
        is_quote = statement.kind is StatementKind.QUOTE
        text = statement.text if is_quote else without_markers(statement.text)[0]
        return self._judge(statement, text, passages).status is not Status.UNSUPPORTED

    def _judge(
        self,
        statement: Statement,
        text: str,
        passages: Sequence[CitedPassage],
        context: str = "",
        *,
        code: bool = False,
        limit: str = "",
    ) -> Judgement:
        return judge(
            text,
            statement.kind,
            passages,
            question=self._question,
            computed=statement.computed,
            judged=statement.judged,
            verdict=self._verdicts.get(statement.id),
            context=context,
            is_code=code,
            language=self._language,
            limit=limit,
        )

    def contradiction(self, contradiction: Contradiction) -> CitedContradiction:
        return CitedContradiction(
            id=contradiction.id,
            kind=contradiction.kind,
            topic=contradiction.topic,
            description=contradiction.description,
            nature=contradiction.nature,
            settled=contradiction.settled,
            sides=[
                CitedSide(
                    value=side.value,
                    citations=[citation.id for citation in self._cite_all(side.evidence_ids)[0]],
                    evidence_ids=[key for key in side.evidence_ids if key in self._evidence],
                )
                for side in contradiction.sides
            ],
        )

    def _statement(
        self, statement: Statement, context: str = "", *, is_code: bool = False, limit: str = ""
    ) -> CitedStatement:
        self._statements += 1
        is_verbatim = is_code or statement.kind is StatementKind.QUOTE
        text, marked, fabricated = (statement.text, [], []) if is_verbatim else without_markers(statement.text)
        cited, unknown = self._cite_all([*statement.evidence_ids, *marked])
        shown = statement.model_copy(update={"text": text, "evidence_ids": [row.evidence_id for row in cited]})
        passages = [self._passages[citation.id] for citation in cited]
        judgement = self._judge(shown, text, passages, context, code=is_code, limit=limit)
        return CitedStatement(
            id=f"s{self._statements}",
            text=text,
            kind=statement.kind,
            status=judgement.status,
            citations=[citation.id for citation in cited],
            computed=list(statement.computed),
            judged=list(statement.judged),
            support=judgement.score,
            problem=judgement.problem,
            verdict=self._verdicts.get(shown.id),
            fabricated=[*unknown, *fabricated],
            place=statement.place,
            code=list(statement.code),
            strong=list(statement.strong),
        )

    def _cite_all(self, evidence_ids: Iterable[str]) -> tuple[list[Citation], list[str]]:
        known, unknown = [], []
        for evidence_id in dict.fromkeys(evidence_ids):
            if evidence_id in self._evidence:
                known.append(self._cite(self._evidence[evidence_id]))
            else:
                unknown.append(evidence_id)
        return known, unknown

    def _cite(self, evidence: Evidence) -> Citation:
        if evidence.id not in self._cited:
            number = self._numbers.setdefault(evidence.source_id, len(self._numbers) + 1)
            citation = self._citation(evidence, f"c{len(self.citations) + 1}", number)
            self._cited[evidence.id] = citation
            self._passages[citation.id] = passage_of(citation, self._archive, self._sources)
            self.citations.append(citation)
        return self._cited[evidence.id]

    def _citation(self, evidence: Evidence, name: str, number: int) -> Citation:
        proof = self._archive.prove(evidence.quote, evidence.locator, evidence.archive_hash)
        known = evidence.source_id in self._sources
        problem = proof.problem if known else f"the run has no source {evidence.source_id}"
        return Citation(
            id=name,
            n=number,
            evidence_id=evidence.id,
            source_id=evidence.source_id,
            quote=evidence.quote,
            locator=evidence.locator,
            archive_hash=evidence.archive_hash,
            valid=not problem,
            problem=problem,
            selectors=[] if problem else _selectors(self._archive.text(evidence.archive_hash), proof),
            place=None if problem else self._place(evidence.archive_hash, proof),
            heading="" if problem else _heading(self._archive.document(evidence.archive_hash), proof),
            term="" if problem else self._archive.document(evidence.archive_hash).term_at(proof.start),
        )

    def _place(self, archive_hash: str, proof: Proof) -> CitedPlace | None:
        place = place_of(self._archive.places(archive_hash), proof.start, proof.end)
        return CitedPlace(**place._asdict()) if place else None


class Described(Protocol):
    """What a reader is told of a source beside its quotes: its title, its folder in a library, and its date."""

    @property
    def title(self) -> str: ...

    @property
    def folder(self) -> str | None: ...

    @property
    def published_at(self) -> str | None: ...


def passage_of(citation: Citation, archive: Archive, sources: Mapping[str, Described]) -> CitedPassage:
    """What a citation shows of its source: the quote with the text around it, under the source's title, with its
    folder, which may name the version ("postgresql-doc-15"), and date."""
    document, span = None, None
    if citation.valid:
        proof = archive.prove(citation.quote, citation.locator, citation.archive_hash)
        document, span = archive.document(citation.archive_hash), (proof.start, proof.end)
    passage = CitedPassage(citation.n, citation.quote, citation.valid)
    return passage_in(passage, document, span, sources.get(citation.source_id))


def passage_in(
    passage: CitedPassage, document: Document | None, span: tuple[int, int] | None, source: Described | None
) -> CitedPassage:
    """The passage with what its source says of itself and, where its place in the text is known, what it is read with:
    the headings above and `AROUND_CHARS` on either side, and its own paragraph or row."""
    around = beside = ""
    headings: Sequence[str] = ()
    if document is not None and span is not None:
        start, end = span
        near, headings = document.text[max(0, start - AROUND_CHARS) : end + AROUND_CHARS], document.path_at(start)
        around, beside = "\n".join([*headings, near]), document.around(start, end)
    return passage._replace(
        surroundings=around,
        title=title_with_folder(source) if source else "",
        headings=headings,
        beside=beside,
        published_at=source.published_at if source else None,
        text=document.text if document is not None else "",
    )


def title_with_folder(source: Described) -> str:
    return f"{source.title} ({source.folder})" if source.folder else source.title


def _heading(document: Document, proof: Proof) -> str:
    """The nearest heading above a passage, empty where there is none or one stands in the passage."""
    above = document.path_at(proof.start)[-1:]
    return "".join(above) if above == document.path_at(proof.end)[-1:] else ""


def _selectors(text: str, proof: Proof) -> list[QuoteSelector | PositionSelector]:
    start, end = proof.start, proof.end
    return [
        QuoteSelector(
            exact=text[start:end],
            prefix=text[max(0, start - _SELECTOR_CHARS) : start],
            suffix=text[end : end + _SELECTOR_CHARS],
        ),
        PositionSelector(start=start, end=end),
    ]


def in_context(row: Sequence[_Cell], header: Sequence[str], place: int) -> Iterator[tuple[_Cell, str]]:
    """The cells of a table's row, each with the row's label and the column's header, which it is read with. The label
    itself is read with the row's place, from 1, since it may count the rows."""
    for column, cell in enumerate(row):
        label = row[0].text if column > 0 else str(place)
        title = header[column] if column < len(header) else ""
        yield cell, ", ".join(filter(None, (label, title)))


def in_place(block: Block, change: Callable[[Statement, str | None], Statement]) -> Block:
    """The block with each statement as `change` makes it of the statement and, for a cell, what it is read with."""
    return block.model_copy(
        update={
            "sentences": [change(row, None) for row in block.sentences],
            "items": [[change(row, None) for row in item] for item in block.items],
            "rows": [
                [change(cell, context) for cell, context in in_context(row, block.header, place)]
                for place, row in enumerate(block.rows, 1)
            ],
        }
    )


def with_limits(sentences: Iterable[_Cell], assumed: str = "") -> Iterator[tuple[_Cell, str]]:
    """The sentences of a paragraph or of an item of a list, each with the limit right before it, else an analysis that
    names nothing that it rests on with what is `assumed` beside it, else an empty text."""
    limit = ""
    for sentence in sentences:
        rests_on_it = sentence.kind is StatementKind.ANALYSIS and not (sentence.judged or _cites(sentence))
        yield sentence, limit or (assumed if rests_on_it else "")
        limit = sentence.text if sentence.kind is StatementKind.LIMIT else ""


def assumed_beside(blocks: Sequence[BlockOf[_Cell]]) -> list[str]:
    """For each block what it and the tables right before and behind it say, where statements of these rest on numbers
    alone that their writer sets by judgement, such as a table that a textbook's model computes."""
    return [
        "\n".join(
            filter(
                None,
                (
                    _assumed_in(other)
                    for place, other in enumerate(blocks)
                    if place == n or (abs(place - n) == 1 and other.rows)
                ),
            )
        )
        for n in range(len(blocks))
    ]


def _assumed_in(block: BlockOf[_Cell]) -> str:
    """What a block says with its caption and header, but for statements that themselves rest on what is assumed beside
    them, whose numbers would else prove themselves; empty where none of it rests on judgement alone."""
    if block.type is BlockType.CODE or not any(row.judged and not _cites(row) for row in block.statements()):
        return ""
    return "\n".join(filter(None, [block.caption, *block.header, *map(_known_text, block.statements())]))


def _known_text(statement: Statement | CitedStatement) -> str:
    """The text of a statement that rests on something of its own or asserts nothing, else an empty one."""
    asserts = statement.kind in (StatementKind.FACT, StatementKind.ANALYSIS)
    return statement.text if statement.judged or _cites(statement) or not asserts else ""


def _cites(statement: Statement | CitedStatement) -> bool:
    return bool(statement.evidence_ids if isinstance(statement, Statement) else statement.citations)


def without_markers(text: str) -> tuple[str, list[str], list[str]]:
    """The text without markers its writer put in, the evidence ids they held, and numbers that no citation has."""
    marked = [part.strip() for hit in _EVIDENCE_MARKER.findall(text) for part in re.split("[,;]", hit)]
    text = _EVIDENCE_MARKER.sub("", text)
    made_up = [hit.strip() for hit in _NUMBER_MARKER.findall(text)]
    return _NUMBER_MARKER.sub("", text).strip(), marked, made_up
