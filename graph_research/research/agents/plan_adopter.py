"""The plan adopter: a run that waited with its plan goes on with it as its user left it. It asks no model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.instructions import InstructionKind, instructions_of
from graph_research.research.llm.services import Services

PLAN_FIELDS = ("research_brief", "sub_queries", "checklist")
"""What a plan consists of: channels of the run."""


def plan_adopter(services: Services) -> Handler:
    """Give the plan of the handoff, or the one that the user put in its place."""

    async def adopt(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        edits = await instructions_of(services.instructions, InstructionKind.PLAN, ctx)
        plan = json.loads(edits[-1]) if edits else handoff
        return {name: plan[name] for name in PLAN_FIELDS}

    return adopt
