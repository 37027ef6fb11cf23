"""Quotations as blocks: rows of one table of a source as a table with its header, everything else as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from graph_research.research.extractive.analysis import Group
from graph_research.research.models.draft import EMPTY_CELL, Block, BlockType, Statement, StatementKind, paragraphs_of
from graph_research.text.document import Document


class TableRow(NamedTuple):
    """A row of a table of a source; `table` is where the table starts, `heading` the one above it."""

    source_id: str
    table: int
    start: int
    heading: str
    header: tuple[str, ...]
    cells: tuple[str, ...]


def quotations(
    groups: Sequence[Group], ids: Mapping[Group, Sequence[str]], documents: Mapping[str, Document]
) -> list[Block]:
    """The groups as blocks: lists in the order given, then each table with those of its rows that are quoted; the
    table of the first group before all."""
    rows = {group: row for group in groups if (row := table_row(group, documents))}
    ordered = sorted(rows.items(), key=lambda entry: entry[1][:3])
    tables = {
        table: Block(
            type=BlockType.TABLE,
            caption=entries[0][1].heading,
            header=list(entries[0][1].header),
            rows=[[_cell(text, ids[group]) for text in row.cells] for group, row in entries],
        )
        for table, of_table in groupby(ordered, key=lambda entry: entry[1][:2])
        if (entries := list(of_table))
    }
    leading = [tables.pop(rows[group][:2]) for group in groups[:1] if group in rows]
    return [*leading, *paragraphs_of([quote(group, ids) for group in groups if group not in rows]), *tables.values()]


def quote(group: Group, ids: Mapping[Group, Sequence[str]]) -> Statement:
    """The group's best quotation, with whatever says the same."""
    return Statement(text=group.lead.text, evidence_ids=list(ids[group]), kind=StatementKind.QUOTE)


def table_row(group: Group, documents: Mapping[str, Document]) -> TableRow | None:
    """The row that a group quotes, None where it is none, as a note in one cell across the table, or where the cells of
    it or of its header are not known."""
    document, start = documents.get(group.lead.source_id), group.lead.start
    columns = document.columns_at(start) if document else ()
    if document is None or " ".join(cell for _, cell in columns if cell) != group.lead.text:
        return None
    header, cells = tuple(name for name, _ in columns), tuple(cell for _, cell in columns)
    if len(list(filter(None, cells))) < 2:
        return None
    return TableRow(group.lead.source_id, document.table_at(start)[0], start, group.lead.heading, header, cells)


def _cell(text: str, evidence_ids: Sequence[str]) -> Statement:
    if not text:
        return EMPTY_CELL
    return Statement(text=text, evidence_ids=list(evidence_ids), kind=StatementKind.QUOTE)
