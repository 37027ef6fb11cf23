"""The section mender: rewrites or drops the sentences of a section that its passages do not support."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.further_passages import NearPassages
from graph_research.research.agents.writing.passages import Passages, nearer
from graph_research.research.agents.writing.section_text import answered_statement, section_text, with_answers
from graph_research.research.agents.writing.verifier import read_passages
from graph_research.research.evidence.citations import in_context
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement, rewritten, statements_of
from graph_research.research.report.draft import cited_only

_ALL = 10_000
_SECTIONS = (
    Section(name="passages", noun="passage", text="text", least_chars=0, keep=_ALL, shorten=nearer),
    Section(name="text", noun="section"),
    Section(name="failing", noun="sentence", keep=1),
)


def section_mender(services: Services) -> Handler:
    """The section with each failing sentence rewritten, dropped, or as it was where no model gives a usable answer.
    `kept` are those that the model stands by, with its answer to the objection, for the verifier to read again;
    `evidence` is what the section cites newly: passages that code found near the failing sentences."""
    agent = Agent(name="section_mender", role="report", phase="synthesis", sections=_SECTIONS)

    async def mend(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        section = DraftSection.model_validate(handoff["section"])
        reasons = {row["id"]: {"reason": row["reason"], "where": row["where"]} for row in handoff["failing"]}
        failing = list({row.id: row for row in section.statements() if row.id in reasons}.values())
        around = [block for block in section.blocks if any(row.id in reasons for row in block.statements())]
        cited = [name for row in statements_of(around) for name in row.evidence_ids]
        passages = await read_passages(handoff, cited, ctx)
        own = list(dict.fromkeys(name for row in failing for name in row.evidence_ids))
        near, cells = await NearPassages.of(handoff, ctx), _cells(section)
        await asyncio.to_thread(_look_up, failing, cells, passages, near)
        result = await agent.call(
            services,
            {
                **prompt_context(handoff.get("report_options"), ctx),
                "question": handoff["question"],
                "heading": section.heading,
                "text": section_text(section),
                "failing": [{"n": n, **reasons[row.id], **row.to_json()} for n, row in enumerate(failing, 1)],
                "passages": [
                    *passages.rows(own),
                    *near.rows(own),
                    *passages.rows((name for name in cited if name not in {*own, *near.evidence}), 0),
                ],
            },
            ctx,
            fallback=lambda: {"sentences": []},
            windows=handoff.get("model_windows"),
        )
        changed = {failing[row["n"] - 1].id: row for row in result.output["sentences"] if 1 <= row["n"] <= len(failing)}
        kept = {name: row for name, row in changed.items() if row["action"] == "keep"}
        known = {*(row["id"] for row in handoff["evidence"]), *near.evidence}
        blocks, fabricated = cited_only(with_answers(_mended(section, changed)), known)
        used = {name for statement in statements_of(blocks) for name in statement.evidence_ids}
        return {
            "section": section.model_copy(update={"blocks": blocks}).to_json(),
            "kept": [{"id": name, "answer": row.get("reason") or ""} for name, row in kept.items()],
            "evidence": [row.to_json() for name, row in near.evidence.items() if name in used],
            "fabricated": fabricated,
            "degraded": result.degradations(agent.name, ctx),
        }

    return mend


def _mended(section: DraftSection, changed: Mapping[str, Mapping[str, Any]]) -> list[Block]:
    """The section's blocks with what the answer changes, by the statement's id. The label of a row is never dropped."""
    labels = {cells[0].id for block in section.blocks for cells in block.rows if cells}
    code = {row.id for block in section.blocks if block.type is BlockType.CODE for row in block.sentences}

    def change(statement: Statement) -> Statement | None:
        row = changed.get(statement.id)
        if row is None or row["action"] == "keep":
            return statement
        if row["action"] == "drop" or not (row.get("text") or "").strip():
            return statement if statement.id in labels else None
        answer = {"kind": statement.kind, "evidence_ids": statement.evidence_ids, **row}
        return answered_statement(answer, is_code=statement.id in code)

    return rewritten(section.blocks, change)


def _look_up(failing: Sequence[Statement], cells: Mapping[str, str], passages: Passages, near: NearPassages) -> None:
    """Find what else the sources say about each of the sentences, about a cell with its row and column."""
    for row in failing:
        near.near(f"{cells.get(row.id, '')} {row.text}", passages.rows(row.evidence_ids))


def _cells(section: DraftSection) -> dict[str, str]:
    """The context of each cell, by the statement's id."""
    return {
        cell.id: context
        for block in section.blocks
        for number, row in enumerate(block.rows, 1)
        for cell, context in in_context(row, block.header, number)
    }
