"""A graph's `prompt:` node: a template and a model role make a whole step, with no Python of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from graph_research.graph.context import Context
from graph_research.graph.registry import Prompter, Resolver, TemplateName
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.source import Source
from graph_research.text.document import Document

_GENERAL_SYSTEM = "_partials/step"


def prompt_step(services: Services) -> Prompter:
    """Render `NAME/system` (or a general one) and `NAME/user` (or `NAME`) with the handoff, and ask the role's model.

    With an output schema the answer is read, checked and repaired like an agent's, and an answer that never fits is
    the node's error. Sources in the handoff bring their archived texts along for models that read data instead of
    prose. Without a schema the output is `{"text": …}`.
    """

    async def step(
        prompt: str, role: str, handoff: Mapping[str, Any], schema: Mapping[str, Any] | None, ctx: Context
    ) -> Mapping[str, Any]:
        system, user = _templates(services.prompts, prompt)
        agent = Agent(name=prompt, role=role or "research", system_prompt=system, user_prompt=user)
        if schema is None:
            return {"text": await agent.text(services, handoff, ctx)}
        contract = services.schemas.contract(schema, f"output of {ctx.node}")
        local = {"documents": await _documents(handoff, ctx)}
        return (await agent.call(services, handoff, ctx, local=local, contract=contract)).output

    return step


def template_names(prompts: Resolver, prompt: str) -> list[TemplateName]:
    """What the templates of a step take from its handoff; nothing where it has none. `TemplateInvalid` for one that
    cannot be read."""
    renderer = PromptRenderer(prompts)
    templates = [name for name in _templates(renderer, prompt) if renderer.exists(name)]
    return [each for template in templates for each in renderer.names(template) if each.name != "schema"]


async def _documents(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Document]:
    """The archived texts of the handoff's `sources`, for models that read data; empty where it has none."""
    rows = handoff.get("sources")
    if not isinstance(rows, list):
        return {}
    try:
        sources = [Source.model_validate(row) for row in rows]
    except ValidationError:
        return {}
    return await read_documents(sources, ctx)


def _templates(prompts: PromptRenderer, prompt: str) -> tuple[str, str]:
    """Of the system and of the user message."""
    pairs = ((f"{prompt}/system", _GENERAL_SYSTEM), (f"{prompt}/user", prompt))
    system, user = (name if prompts.exists(name) else otherwise for name, otherwise in pairs)
    return system, user
