"""The sentences of a draft after a revision: without evidence that is gone, in the user's words, with more sections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from graph_research.research.evidence.citations import without_markers
from graph_research.research.models.draft import (
    EMPTY_CELL,
    Block,
    Draft,
    DraftSection,
    Statement,
    StatementKind,
    paragraphs_of,
    rewritten,
    statements_of,
)

_VERBATIM = (StatementKind.QUOTE, StatementKind.USER)
_ASSERTING = (StatementKind.QUOTE, StatementKind.FACT)
_SUMMARY_SENTENCES = 3


def shown_text(statement: Statement) -> str:
    """The text of a sentence as the report prints it, without the markers that its writer put in."""
    return statement.text if statement.kind in _VERBATIM else without_markers(statement.text)[0]


def sentence_name(text: str, place: str) -> str:
    """What a revision calls a sentence: its text, with its place where it has one."""
    return f"{place}: {text}" if place else text


def cited_evidence(statement: Statement) -> list[str]:
    """The evidence that a sentence names, in its text too."""
    return list(dict.fromkeys([*statement.evidence_ids, *without_markers(statement.text)[1]]))


def without_evidence(
    draft: Draft, quotes: Mapping[str, str], gone: Collection[str], left_out: Collection[str]
) -> Draft:
    """The draft without the sentences that rest only on evidence that is `gone`, and those that are named in
    `left_out`. `quotes` has the words of the evidence that stays.

    A quote whose words are gone quotes the next passage that says the same. Of a summary that loses all its sentences
    the first ones of the sections take the place.
    """

    def change(statement: Statement) -> Statement | None:
        text = shown_text(statement)
        if text in left_out or sentence_name(text, statement.place) in left_out:
            return None
        return _kept(statement, quotes, gone)

    def blocks_of(blocks: Sequence[Block]) -> list[Block]:
        return [kept for old in blocks for new in rewritten([old], change) if (kept := _trimmed(old, new)) is not None]

    sections = _nonempty(
        draft.sections, [row.model_copy(update={"blocks": blocks_of(row.blocks)}) for row in draft.sections]
    )
    more = [row for statement in draft.more if (row := change(statement)) is not None]
    summary = blocks_of(draft.summary) or (_first_sentences(sections) if draft.summary else [])
    left = bool(summary or sections or more)
    return draft.model_copy(
        update={
            "summary": summary,
            "sections": sections,
            "conclusions": blocks_of(draft.conclusions),
            "more": more,
            "found": draft.found and left,
        }
    )


def edited_draft(draft: Draft, sentence: str, text: str | None, *, drop: bool, place: str = "") -> Draft:
    """The draft with `text` as the user's own in place of every sentence that reads `sentence`, or without them; where
    a `place` is given, only of the one there."""

    def change(statement: Statement) -> Statement | None:
        if not sentence or shown_text(statement) != sentence or (place and statement.place != place):
            return statement
        if drop:
            return None
        return statement if text is None else Statement(text=text, kind=StatementKind.USER, place=statement.place)

    return _changed(draft, change)


def row_evidence(row: Sequence[Statement]) -> str:
    """The evidence that a row of a table quotes, empty where its cells are no quotations of one passage."""
    named = {name for cell in row if cell != EMPTY_CELL for name in cell.evidence_ids or [""]}
    quoted = all(cell.kind is StatementKind.QUOTE for cell in row if cell != EMPTY_CELL)
    return named.pop() if len(named) == 1 and quoted else ""


def mended_draft(draft: Draft, sentences: Mapping[str, Statement], rows: Mapping[str, Sequence[Statement]]) -> Draft:
    """The draft with `sentences` in the place of those whose texts, or text and place, they go by, and `rows` in that
    of the rows that quote the evidence whose ids they go by."""

    def blocks_of(blocks: Sequence[Block]) -> list[Block]:
        return [
            block.model_copy(update={"rows": [list(rows.get(row_evidence(row), row)) for row in block.rows]})
            for block in blocks
        ]

    sections = [row.model_copy(update={"blocks": blocks_of(row.blocks)}) for row in draft.sections]
    parts = {"summary": blocks_of(draft.summary), "sections": sections, "conclusions": blocks_of(draft.conclusions)}

    def change(statement: Statement) -> Statement:
        text = shown_text(statement)
        return sentences.get(sentence_name(text, statement.place)) or sentences.get(text, statement)

    return _changed(draft.model_copy(update=parts), change)


def _changed(draft: Draft, change: Callable[[Statement], Statement | None]) -> Draft:
    return draft.model_copy(
        update={
            "summary": rewritten(draft.summary, change),
            "sections": _nonempty(
                draft.sections,
                [row.model_copy(update={"blocks": rewritten(row.blocks, change)}) for row in draft.sections],
            ),
            "conclusions": rewritten(draft.conclusions, change),
            "more": [row for statement in draft.more if (row := change(statement)) is not None],
        }
    )


def with_sections(draft: Draft, sections: Sequence[DraftSection]) -> Draft:
    """The draft with further sections at the end."""
    return draft.model_copy(update={"sections": [*draft.sections, *sections]})


def _kept(statement: Statement, quotes: Mapping[str, str], gone: Collection[str]) -> Statement | None:
    text, marked = statement.text, list[str]()
    if statement.kind not in _VERBATIM:
        text, marked, _ = without_markers(statement.text)
    cited = list(dict.fromkeys([*statement.evidence_ids, *marked]))
    kept = [name for name in cited if name not in gone]
    if len(kept) == len(cited):
        return statement
    if not kept:
        return None
    changed: dict[str, Any] = {"evidence_ids": kept, "text": text}
    if statement.kind is StatementKind.QUOTE and cited[0] in gone:
        if kept[0] not in quotes:
            return None
        changed["text"] = quotes[kept[0]]
    return statement.model_copy(update=changed)


def _trimmed(old: Block, new: Block) -> Block | None:
    """The block; None where nothing that asserts something is left."""
    asserted = any(row.kind is not StatementKind.TRANSITION for row in old.statements())
    left = any(row.kind is not StatementKind.TRANSITION for row in new.statements())
    return new if left or not asserted else None


def _nonempty(old: Sequence[DraftSection], new: Sequence[DraftSection]) -> list[DraftSection]:
    """The sections without those that lost their last sentence, unless a section below them keeps some."""
    kept: list[DraftSection] = []
    deepest = 0
    for before, section in zip(reversed(old), reversed(new), strict=True):
        has_part = deepest > section.level
        if section.blocks or has_part or (not before.blocks and not _had_parts(before, old)):
            kept.append(section)
            deepest = section.level
    return kept[::-1]


def _had_parts(section: DraftSection, sections: Sequence[DraftSection]) -> bool:
    place = next(place for place, row in enumerate(sections) if row is section)
    return place + 1 < len(sections) and sections[place + 1].level > section.level


def _first_sentences(sections: Sequence[DraftSection]) -> list[Block]:
    """The first sentence of each section that asserts something; a cell of a table is none."""
    texts = [[block for block in section.blocks if not block.rows] for section in sections]
    firsts = [next((row for row in statements_of(blocks) if row.kind in _ASSERTING), None) for blocks in texts]
    return paragraphs_of([row for row in firsts if row is not None][:_SUMMARY_SENTENCES])
