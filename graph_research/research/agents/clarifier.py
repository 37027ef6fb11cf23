"""The clarifier: does the question need a word from the user first, and how is it understood if not?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent


def clarifier(services: Services) -> Handler:
    """A binary verdict. Where no retry gives a readable one, clarification counts as not needed."""
    agent = Agent(name="clarifier", phase="clarification", repairs=services.settings.clarification_retries)

    async def clarify(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        material = {
            **prompt_context(handoff.get("report_options"), ctx),
            "question": handoff["original_query"],
            "system_prompt": handoff.get("system_prompt"),
        }
        result = await agent.call(services, material, ctx, fallback=_not_needed, windows=handoff.get("model_windows"))
        verdict = result.output
        asks = bool(verdict["need_clarification"] and verdict["question"].strip())
        if not asks:
            ctx.emit("clarification", verification=verdict["verification"])
        return {
            "need_clarification": asks,
            "question": verdict["question"].strip() if asks else "",
            "verification": verdict["verification"],
            "degraded": result.degradations(agent.name, ctx),
        }

    return clarify


def _not_needed() -> dict[str, Any]:
    return {"need_clarification": False, "question": "", "verification": ""}
