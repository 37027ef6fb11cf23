"""Sections as text for prompts, and which rows of a writer's tables are printed."""

from __future__ import annotations

from graph_research.research.agents.writing.section_text import with_answers
from graph_research.research.models.draft import EMPTY_CELL, Block, BlockType, Statement, StatementKind, rewritten


def row(label: str, *cells: str) -> list[Statement]:
    kinds = {"not found": StatementKind.LIMIT, EMPTY_CELL.text: EMPTY_CELL.kind}
    named = Statement(text=label, kind=StatementKind.TRANSITION)
    return [named, *(Statement(text=cell, kind=kinds.get(cell, StatementKind.FACT)) for cell in cells)]


def test_a_row_goes_where_no_cell_tells_anything_and_stays_with_a_single_one_that_does() -> None:
    table = Block(
        type=BlockType.TABLE,
        header=["Crossing", "By day", "By night", "In winter", "Price"],
        rows=[
            row("North", "12", "not found", "not found", "9"),
            row("South", "not found", "not found", "not found", "9"),
            row("West", "not found", "not found", "–", "not found"),
        ],
    )
    (kept,) = with_answers([table])
    assert [cells[0].text for cells in kept.rows] == ["North", "South"]


def test_a_row_goes_that_loses_all_its_cells_and_one_that_had_none_stays() -> None:
    rows = [row("North", "12", "9"), row("South", "4", "7"), row("West", "–", "–")]
    dropped = {cell.id for cell in rows[0][1:]} | {rows[1][1].id}
    table = Block(type=BlockType.TABLE, header=["Crossing", "By day", "By night"], rows=rows)
    (kept,) = rewritten([table], lambda cell: None if cell.id in dropped else cell)
    assert [[cell.text for cell in cells] for cells in kept.rows] == [["South", "–", "7"], ["West", "–", "–"]]


def test_a_table_in_which_nothing_was_found_goes_with_its_rows() -> None:
    table = Block(type=BlockType.TABLE, header=["", "By day", "By night"], rows=[row("N", "not found", "not found")])
    assert with_answers([table]) == []
