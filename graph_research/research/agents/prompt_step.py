"""A graph's `prompt:` node: a template and a model role make a whole step, with no Python of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Prompter
from graph_research.providers.llm.base import ModelRequest
from graph_research.research.agents.agent import Agent, ask_model
from graph_research.research.services import Services

__all__ = ["prompt_step"]

_GENERAL_SYSTEM = "_partials/step"


def prompt_step(services: Services) -> Prompter:
    """Render `NAME/system` (or a general one) and `NAME/user` (or `NAME`) with the handoff, and ask the role's model.

    With an output schema the answer is read, checked and repaired like an agent's, and an answer that never fits is
    the node's error. Without one the output is `{"text": …}`.
    """

    async def step(
        prompt: str, role: str, handoff: Mapping[str, Any], schema: Mapping[str, Any] | None, ctx: Context
    ) -> Mapping[str, Any]:
        system = _first_there(services, f"{prompt}/system", _GENERAL_SYSTEM)
        user = _first_there(services, f"{prompt}/user", prompt)
        role = role or "research"
        if schema is not None:
            agent = Agent(name=prompt, role=role, system_prompt=system, user_prompt=user)
            contract = services.schemas.contract(schema, f"output of {ctx.node}")
            return (await agent.call(services, handoff, ctx, contract=contract)).output
        values = {**handoff, "schema": None}
        request = ModelRequest(
            agent=prompt,
            role=role,
            system=services.prompts.render(system, values),
            user=services.prompts.render(user, values),
            max_output_tokens=services.settings.max_output_tokens,
            material=dict(handoff),
        )
        text, _ = await ask_model(services, request, ctx)
        return {"text": text.strip()}

    return step


def _first_there(services: Services, name: str, otherwise: str) -> str:
    return name if services.prompts.exists(name) else otherwise
