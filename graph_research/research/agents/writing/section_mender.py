"""The section mender: rewrites or drops the sentences of a section that its passages do not support."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.passages import nearer
from graph_research.research.agents.writing.section_text import answered_statement, section_text
from graph_research.research.agents.writing.verifier import read_passages
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.draft import DraftSection, Statement, rewritten
from graph_research.research.report.draft import cited_only

_ALL = 10_000
_SECTIONS = (
    Section(name="passages", noun="passage", text="text", least_chars=0, keep=_ALL, shorten=nearer),
    Section(name="text", noun="section"),
    Section(name="failing", noun="sentence", keep=1),
)


def section_mender(services: Services) -> Handler:
    """The section with each failing sentence rewritten, dropped, or as it was where no model gives a usable answer."""
    agent = Agent(name="section_mender", role="report", phase="synthesis", sections=_SECTIONS)

    async def mend(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        section = DraftSection.model_validate(handoff["section"])
        reasons = {row["id"]: {"reason": row["reason"], "where": row["where"]} for row in handoff["failing"]}
        failing = list({row.id: row for row in section.statements() if row.id in reasons}.values())
        cited = [name for row in section.statements() for name in row.evidence_ids]
        passages = await read_passages(handoff, cited, ctx)
        near = list(dict.fromkeys(name for row in failing for name in row.evidence_ids))
        result = await agent.call(
            services,
            {
                **prompt_context(handoff.get("report_options"), ctx),
                "question": handoff["question"],
                "heading": section.heading,
                "text": section_text(section),
                "failing": [{"n": n, **reasons[row.id], **row.to_json()} for n, row in enumerate(failing, 1)],
                "passages": [*passages.rows(near), *passages.rows((name for name in cited if name not in near), 0)],
            },
            ctx,
            fallback=lambda: {"sentences": []},
            windows=handoff.get("model_windows"),
        )
        changed = {failing[row["n"] - 1].id: row for row in result.output["sentences"] if 1 <= row["n"] <= len(failing)}

        labels = {cells[0].id for block in section.blocks for cells in block.rows if cells}

        def mended(statement: Statement) -> Statement | None:
            row = changed.get(statement.id)
            if row is None:
                return statement
            if row["action"] == "drop" or not (row.get("text") or "").strip():
                return statement if statement.id in labels else None
            return answered_statement({"kind": statement.kind, "evidence_ids": statement.evidence_ids, **row})

        known = {row["id"] for row in handoff["evidence"]}
        blocks, fabricated = cited_only(rewritten(section.blocks, mended), known)
        return {
            "section": section.model_copy(update={"blocks": blocks}).to_json(),
            "fabricated": fabricated,
            "degraded": result.degradations(agent.name, ctx),
        }

    return mend
