"""What a mender adds to a written section: sentences, or a row of a table, behind the statement that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from graph_research.research.agents.writing.section_text import answered_row, answered_statement
from graph_research.research.models.draft import EMPTY_CELL, Block, BlockType, DraftSection, Statement


class Addition(NamedTuple):
    """The `sentences` of an answer, or the cells of a `row` with its label; `after` is the id of the statement that
    they stand behind, empty at the end of the section."""

    after: str
    sentences: list[Statement]
    row: list[Statement]


def answered_addition(after: str, answer: Mapping[str, Any], place: str) -> Addition:
    """The addition of a mender's answer, `place` being what tells its statements from others that read the same."""

    def placed(rows: Iterable[Statement]) -> list[Statement]:
        return [row.model_copy(update={"place": f"{place}.{n}"}) for n, row in enumerate(rows, 1) if row.text.strip()]

    row = answered_row(answer["row"]) if answer.get("row") else []
    return Addition(after, placed(map(answered_statement, answer.get("sentences") or [])), placed(row))


def with_additions(section: DraftSection, additions: Iterable[Addition]) -> DraftSection:
    """The section with each addition: a row behind the row of a table that it belongs to, as wide as the table; a
    sentence as an item of its own behind that of a list, else at the end of the paragraph, or of its own behind any
    other block. Where the statement is not there, or a row does not fit, nothing is added."""
    blocks = list(section.blocks)
    for addition in additions:
        number = _block_of(blocks, addition.after)
        if number is not None:
            blocks[number : number + 1] = _added(blocks[number], addition)
    return section.model_copy(update={"blocks": blocks})


def _block_of(blocks: Sequence[Block], after: str) -> int | None:
    """The number of the block that has the statement, that of the last block for none."""
    if not after:
        return len(blocks) - 1 if blocks else None
    return next((n for n, block in enumerate(blocks) if _holds(block.statements(), after)), None)


def _added(block: Block, addition: Addition) -> list[Block]:
    if block.type is BlockType.TABLE and 1 < len(addition.row) <= len(block.header):
        row = [*addition.row, *[EMPTY_CELL] * (len(block.header) - len(addition.row))]
        place = next((n for n, cells in enumerate(block.rows, 1) if _holds(cells, addition.after)), len(block.rows))
        return [block.model_copy(update={"rows": [*block.rows[:place], row, *block.rows[place:]]})]
    if not addition.sentences:
        return [block]
    if block.type is BlockType.LIST:
        place = next((n for n, item in enumerate(block.items, 1) if _holds(item, addition.after)), len(block.items))
        items = [*block.items[:place], addition.sentences, *block.items[place:]]
        return [block.model_copy(update={"items": items})]
    if block.type is BlockType.PARAGRAPH:
        return [block.model_copy(update={"sentences": [*block.sentences, *addition.sentences]})]
    return [block, Block(sentences=addition.sentences)]


def _holds(statements: Iterable[Statement], name: str) -> bool:
    return any(row.id == name for row in statements)
