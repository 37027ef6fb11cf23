"""Functions of the graph that writes the report: what is written, checked and mended. Pure, over plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph_research.research.evidence.citations import in_context
from graph_research.research.evidence.contradictions import new_or_settled
from graph_research.research.models.draft import BlockType, DraftSection, Statement, VerdictWord
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.outline import SectionAction

STATEMENTS_OF_A_BATCH = 40  # at most; a smaller window shows fewer passages of a batch

Row = Mapping[str, Any]
Rows = Sequence[Row]


def sections_to_write(outline: Rows) -> list[Row]:
    """The sections that are new or revised; what is kept costs no call."""
    return [row for row in outline if row["action"] != SectionAction.KEEP]


def written_sections(outline: Rows, draft: Row | None, outputs: Rows) -> list[Row]:
    """The sections that there are, in the outline's order: as they were just written, else as the last draft has
    them."""
    before = {row["id"]: row for row in (draft or {}).get("sections") or [] if row["id"]}
    now = {row["id"]: row["section"] for row in outputs if row["section"]}
    return [section for row in outline if (section := now.get(row["id"]) or before.get(row["id"]))]


def newly_told(contradictions: Rows, outputs: Rows) -> list[Row]:
    """The contradictions that writers of sections named beside the known ones, and the known ones that they settle."""
    told = [Contradiction.model_validate(row) for output in outputs for row in output["contradictions"]]
    known = map(Contradiction.model_validate, contradictions)
    return [row.to_json() for row in new_or_settled(told, known)]


def statement_batches(sections: Rows, checks: Rows, verdicts: Rows, kept: Rows = ()) -> list[list[Row]]:
    """The statements of the sections that have no check, a cell for each row and column it stands in, in batches of one
    size: first those that no model has judged and those that were objected to and are `kept`, with the `answer`, then
    those of an earlier round with their `verdict`, which code checks again."""
    answers = {row["id"]: row["answer"] for row in kept}
    checked = {row["id"] for row in checks} - answers.keys()
    said = {row["id"]: row for row in verdicts if row["id"] not in answers}
    fresh: dict[str, dict[str, Row]] = {}
    judged: dict[str, dict[str, Row]] = {}
    for row in sections:
        section = DraftSection.model_validate(row)
        for statement, place in _with_places(section):
            name = statement.id
            if name not in checked and statement.text.strip():
                given = {**statement.to_json(), **place, "verdict": said.get(name), "answer": answers.get(name, "")}
                (judged if name in said else fresh).setdefault(name, {}).setdefault(place.get("context", ""), given)
    return [*_batches(fresh), *_batches(judged)]


def _batches(statements: Mapping[str, Mapping[str, Row]]) -> list[list[Row]]:
    """The rows of each statement side by side."""
    rows = [row for places in statements.values() for row in places.values()]
    count = -(-len(rows) // STATEMENTS_OF_A_BATCH)
    size = -(-len(rows) // count) if count else 1
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _with_places(section: DraftSection) -> Iterator[tuple[Statement, Row]]:
    """Each statement with what it needs to be understood, `where`: a cell its table, row and column, a sentence its
    section; with the `context` that code reads a cell with, and `is_code`."""
    for block in section.blocks:
        for row in (block.sentences, *block.items):
            for statement in row:
                yield statement, {"where": section.heading, "is_code": block.type is BlockType.CODE}
        for number, row in enumerate(block.rows, 1):
            for cell, context in in_context(row, block.header, number):
                where = " / ".join(filter(None, (section.heading, block.caption, context)))
                yield cell, {"where": where, "context": context}


def sections_to_mend(outline: Rows, sections: Rows, checks: Rows, verdicts: Rows) -> list[Row]:
    """`parts_to_mend` of the sections of this round."""
    written = {row["id"] for row in sections_to_write(outline)}
    return parts_to_mend([row for row in sections if row["id"] in written], checks, verdicts)


def edited_parts(summary: Rows, conclusions: Rows) -> list[Row]:
    """What the editor wrote as sections, so that it is verified and mended like them."""
    parts = {"summary": summary, "conclusions": conclusions}
    return [{"id": name, "heading": name.capitalize(), "blocks": blocks} for name, blocks in parts.items() if blocks]


def edited_blocks(name: str, blocks: Rows, mended: Rows) -> Rows:
    """The blocks of the part `name`, as they were mended where they were."""
    return next((row["section"]["blocks"] for row in mended if row["section"]["id"] == name), blocks)


def parts_to_mend(sections: Rows, checks: Rows, verdicts: Rows) -> list[Row]:
    """`{section, failing: [{id, reason, where}]}` for each section with statements that code or the verifier objects
    to."""
    reasons = {row["id"]: row["problem"] for row in checks if row["problem"]}
    reasons |= {
        row["id"]: f"{row['verdict']} supported: {row['reason']}"
        for row in verdicts
        if row["verdict"] != VerdictWord.SUPPORTED
    }
    mending: list[Row] = []
    for row in sections:
        places = {statement.id: place for statement, place in _with_places(DraftSection.model_validate(row))}
        failing = [
            {"id": name, "reason": reasons[name], "where": place["where"]}
            for name, place in places.items()
            if name in reasons
        ]
        if failing:
            mending.append({"section": row, "failing": failing})
    return mending
