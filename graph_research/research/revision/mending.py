"""Sentences whose quotations no longer stand, quoted anew from their sources as they are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from graph_research.research.evidence.citations import in_context
from graph_research.research.evidence.contradictions import by_place, disagreements
from graph_research.research.models.draft import (
    EMPTY_CELL,
    Block,
    BlockType,
    Draft,
    DraftSection,
    Statement,
    StatementKind,
    rewritten,
    statements_of,
)
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.ids import evidence_id
from graph_research.research.models.source import Source
from graph_research.research.revision.refreshed import Freshness, QuoteNow, Reread, SourceStatus
from graph_research.research.revision.sentences import cited_evidence, row_evidence, sentence_name, shown_text
from graph_research.text.document import Document
from graph_research.text.locators import make_locator

_KEPT_AS_THEY_ARE = (BlockType.TABLE, BlockType.CODE)


class Mending(NamedTuple):
    """`evidence` stands in the sources as they are now, `sentences` are the new ones by the text of the old ones, cells
    by text and place, `texts` the new texts by their hash, and `passages` what takes the place of evidence, by its id.
    `rows` are the cells of quoted rows as they are now, by the evidence that the old ones cite."""

    evidence: list[Evidence]
    sentences: dict[str, Statement]
    texts: dict[str, str]
    passages: dict[str, Evidence]
    rows: dict[str, list[Statement]]

    @property
    def cited(self) -> set[str]:
        """The ids of the evidence that the new sentences and rows cite."""
        statements = [*self.sentences.values(), *(cell for cells in self.rows.values() for cell in cells)]
        return {name for statement in statements for name in statement.evidence_ids}


def quoted_anew(draft: Draft, now: Freshness, found: Mapping[str, Reread], *, for_a_model: bool = False) -> Mending:
    """For each sentence that rests only on quotations that changed, the passage of the changed source that is about the
    same, and for a quoted row of a table the row that has its label under the same header. Other cells, which a whole
    sentence does not fit, have theirs only `for_a_model` to write them anew, and code has none."""
    gone = set(now.touched_evidence())
    passages: dict[str, Evidence] = {}
    texts: dict[str, str] = {}
    for source in now.sources:
        document = found[source.source_id].document
        if document is None or source.status not in (SourceStatus.CHANGED, SourceStatus.MOVED):
            continue
        for quote in source.quotes:
            if not quote.stands and (evidence := _passage(source.source_id, quote, document)):
                passages[quote.evidence_id] = evidence
                texts[document.hash] = document.text
    blocks = [*draft.summary, *(block for row in draft.sections for block in row.blocks), *draft.conclusions]
    prose = [*statements_of(row for row in blocks if row.type not in _KEPT_AS_THEY_ARE), *draft.more]
    named = [(shown_text(statement), statement) for statement in prose]
    if for_a_model:
        named += [(_cell_name(cell), cell) for block in blocks for cell in _written_cells(block)]
    sentences: dict[str, Statement] = {}
    for text, statement in named:
        cited = cited_evidence(statement)
        evidence = next((passages[name] for name in cited if name in passages), None)
        if evidence is not None and gone.issuperset(cited):
            new = Statement(text=evidence.quote, kind=StatementKind.QUOTE, evidence_ids=[evidence.id])
            sentences[text] = new
    documents = {name: row.document for name, row in found.items() if row.document is not None}
    rows = {
        name: cells
        for block in blocks
        for row in block.rows
        if (name := row_evidence(row)) in passages and (cells := _row_now(block, passages[name], documents))
    }
    mending = Mending([], sentences, texts, passages, rows)
    return mending._replace(evidence=[row for row in passages.values() if row.id in mending.cited])


def _row_now(block: Block, passage: Evidence, documents: Mapping[str, Document]) -> list[Statement]:
    """The cells of a row as it is now; nothing where the passage is no row under the header of the block."""
    document = documents[passage.source_id]
    columns = document.columns_at(document.text.find(passage.quote))
    if [name for name, _ in columns] != block.header:
        return []
    return [
        Statement(text=text, kind=StatementKind.QUOTE, evidence_ids=[passage.id]) if text else EMPTY_CELL
        for _, text in columns
    ]


def disagreements_now(
    contradictions: Sequence[Contradiction],
    mending: Mending,
    evidence: Mapping[str, Evidence],
    sources: Mapping[str, Source],
    documents: Mapping[str, Document],
) -> list[Contradiction]:
    """Where the sources of contradictions with a changed side still disagree; `documents` are the sources as they are
    now, by id."""
    changed = {row.source_id for row in mending.passages.values()}
    sides: dict[str, Evidence] = {}
    for contradiction in contradictions:
        named = [name for side in contradiction.sides for name in side.evidence_ids]
        if any(name in mending.passages for name in named):
            now = [mending.passages.get(name) or evidence.get(name) for name in named]
            sides |= {row.id: row for row in now if row and (row.source_id not in changed or row.id not in evidence)}
    return disagreements([], by_place(sides.values(), documents), sources=sources, documents=documents)


def _passage(source_id: str, quote: QuoteNow, document: Document) -> Evidence | None:
    """The passage that takes the place of a quotation, if there is one."""
    start = document.text.find(quote.nearest) if quote.nearest else -1
    if start < 0:
        return None
    locator = make_locator(replace(document, pages=()), start, start + len(quote.nearest))
    return Evidence(
        id=evidence_id(document.hash, locator),
        source_id=source_id,
        quote=quote.nearest,
        locator=locator,
        archive_hash=document.hash,
    )


def _written_cells(block: Block) -> list[Statement]:
    """The cells of a table that a model wrote, which know their place."""
    return [cell for row in block.rows if not row_evidence(row) for cell in row if cell.place and cell != EMPTY_CELL]


def _cell_name(cell: Statement) -> str:
    """What a mending calls a cell."""
    return sentence_name(shown_text(cell), cell.place)


class TouchedSection(NamedTuple):
    """A section whose touched sentences cite the new passages; `touched` are their old texts by their id, `before` the
    quotations that they rested on, and `cells` the row and column of those that are cells."""

    section: DraftSection
    touched: dict[str, str]
    before: dict[str, str]
    cells: dict[str, str]


def touched_sections(draft: Draft, mending: Mending, quotes: Mapping[str, str]) -> list[TouchedSection]:
    """The parts of a draft that have touched sentences, for a model to mend; `quotes` has the words of the evidence."""
    parts = [DraftSection(heading="", blocks=draft.summary), *draft.sections]
    parts.append(DraftSection(heading="", blocks=draft.conclusions))
    rows = []
    for number, part in enumerate(parts):
        touched: dict[str, str] = {}
        before: dict[str, str] = {}

        def anew(statement: Statement, touched: dict[str, str] = touched, before: dict[str, str] = before) -> Statement:
            text, name = shown_text(statement), _cell_name(statement)
            name = name if name in mending.sentences else text
            if (new := mending.sentences.get(name)) is None:
                return statement
            kind = StatementKind.FACT if statement.kind is StatementKind.QUOTE else statement.kind
            changed = Statement(text=text, kind=kind, evidence_ids=new.evidence_ids, place=statement.place)
            touched[changed.id] = name
            before[changed.id] = " … ".join(quotes[name] for name in cited_evidence(statement) if name in quotes)
            return changed

        section = part.model_copy(update={"blocks": rewritten(part.blocks, anew), "id": f"section-{number}"})
        if touched:
            cells = {
                cell.id: where
                for block in section.blocks
                for number, row in enumerate(block.rows, start=1)
                for cell, where in in_context(row, block.header, number)
                if cell.id in touched
            }
            rows.append(TouchedSection(section, touched, before, cells))
    return rows


def _names_of_cells(row: TouchedSection) -> set[str]:
    """What the touched cells of a section are called."""
    return {row.touched[name] for name in row.cells}


def with_answers_of(
    sentences: Mapping[str, Statement], row: TouchedSection, mended: DraftSection
) -> dict[str, Statement]:
    """`sentences` with what a model wrote in a section. What it left as it was stays quoted, a cell goes then, and what
    it dropped goes."""
    result = {name: new for name, new in sentences.items() if name not in _names_of_cells(row)}
    written_now = {cell.place: cell for block in mended.blocks for cell in _written_cells(block)}
    for cell in (cell for block in row.section.blocks for cell in _written_cells(block) if cell.id in row.cells):
        now = written_now.get(cell.place)
        if now is not None and shown_text(now) != shown_text(cell):
            result[row.touched[cell.id]] = now
    answers = [answer for block in mended.blocks for answer in block.prose()]
    place, waiting = 0, list[str]()
    for statement in [*(one for block in row.section.blocks for one in block.prose()), None]:
        if statement is not None and statement.id in row.touched:
            waiting.append(row.touched[statement.id])
            continue
        end = place
        while end < len(answers) and (statement is None or shown_text(answers[end]) != shown_text(statement)):
            end += 1
        between = {shown_text(answer): answer for answer in answers[place:end]}
        changed = [old for old in waiting if old not in between]
        written = [answer for text, answer in between.items() if text not in waiting]
        for old in changed:
            result.pop(old, None)
        result |= dict(zip(changed, written, strict=False))
        place, waiting = end + 1, []
    return result
