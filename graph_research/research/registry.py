"""Every `run:` name of the research graphs, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graph_research.errors import GraphResearchError
from graph_research.graph.context import Context
from graph_research.graph.registry import Handler, Prompter
from graph_research.providers.errors import ContextExceeded, ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.telemetry import HttpEvent, Listener, current_purpose, listen
from graph_research.research.agents.analyzer import analyzer
from graph_research.research.agents.claim_extractor import claim_extractor
from graph_research.research.agents.clarifier import clarifier
from graph_research.research.agents.comparer import comparer
from graph_research.research.agents.decomposer import decomposer
from graph_research.research.agents.digestor import digestor
from graph_research.research.agents.gathering.extractor import extractor
from graph_research.research.agents.gathering.gatherer import gatherer, rules_of
from graph_research.research.agents.gathering.reflector import reflector
from graph_research.research.agents.gathering.scout import scout
from graph_research.research.agents.gathering.source_summarizer import source_summarizer
from graph_research.research.agents.plan_adopter import plan_adopter
from graph_research.research.agents.planner import planner
from graph_research.research.agents.prompt_node import prompt_step
from graph_research.research.agents.quote_prover import quote_prover
from graph_research.research.agents.refiner import refiner
from graph_research.research.agents.supervisor import dispatcher, iteration_decider, supervisor
from graph_research.research.agents.synthesizer import synthesizer
from graph_research.research.agents.writing.assembler import assembler
from graph_research.research.agents.writing.editor import editor
from graph_research.research.agents.writing.outliner import outliner
from graph_research.research.agents.writing.section_mender import section_mender
from graph_research.research.agents.writing.section_writer import section_writer
from graph_research.research.agents.writing.verifier import verifier
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import AnswerUnreadable
from graph_research.research.llm.usage import counting, usage_rows
from graph_research.research.revision.archive_lookup import archive_lookup
from graph_research.text.errors import DocumentUnreadable

_MAKERS: Mapping[str, Callable[[Services], Handler]] = {
    "adopt_plan": plan_adopter,
    "analyzer": analyzer,
    "assembler": assembler,
    "claim_extractor": claim_extractor,
    "clarifier": clarifier,
    "comparer": comparer,
    "decide_iteration": iteration_decider,
    "decomposer": decomposer,
    "digestor": digestor,
    "dispatch": dispatcher,
    "editor": editor,
    "look_up": archive_lookup,
    "outliner": outliner,
    "extractor": extractor,
    "planner": planner,
    "prove_quotes": quote_prover,
    "refiner": refiner,
    "reflector": reflector,
    "scout": scout,
    "search": gatherer,
    "section_mender": section_mender,
    "section_writer": section_writer,
    "source_summarizer": source_summarizer,
    "supervisor": supervisor,
    "synthesizer": synthesizer,
    "verifier": verifier,
}


class ResearchFailed(GraphResearchError):
    """A graph says that the research cannot go on, such as sources without a single finding."""


RESEARCH_ERRORS: tuple[type[Exception], ...] = (
    AnswerUnreadable,
    ContextExceeded,
    DocumentUnreadable,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    ResearchFailed,
)
"""What handlers raise: the names that `retry.on` of a graph may hold."""


HANDOFF_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {"search": rules_of}
"""By handler, what raises `UserMistake` for constants of a handoff that it would refuse."""


def research_handlers(services: Services) -> dict[str, Handler]:
    """By the name that a graph uses. A handoff's `progress` is emitted as the note `research:progress` at the end, and
    failures on the wire that do not end a request as `wire:retried` and the like. Each output has `usage`."""
    made = {name: _announcing(maker(services)) for name, maker in _MAKERS.items()}
    return {**made, "give_up": give_up}


def research_prompter(services: Services) -> Prompter:
    """What runs the `prompt:` nodes of a graph. Each output has `usage`, like a handler's, unless the node's schema
    has a property of that name or allows no other properties."""
    step = prompt_step(services)

    async def announce(
        prompt: str, role: str, handoff: Mapping[str, Any], schema: Mapping[str, Any] | None, ctx: Context
    ) -> Mapping[str, Any]:
        with listen(_noting(ctx)), counting() as answers:
            output = await step(prompt, role, handoff, schema, ctx)
        is_closed = schema is not None and schema.get("additionalProperties") is False
        if is_closed or "usage" in ((schema or {}).get("properties") or {}):
            return output
        return {**output, "usage": usage_rows(answers, ctx.path)}

    return announce


async def give_up(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:  # noqa: ARG001 -- a handler's arguments
    """End the research with `message`. Always raises `ResearchFailed`."""
    raise ResearchFailed(handoff["message"], help="see the run's decisions and search failures for why")


def _announcing(handler: Handler) -> Handler:
    async def announce(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        with listen(_noting(ctx)), counting() as answers:
            output = await handler(handoff, ctx)
        progress = handoff.get("progress")
        if progress:
            ctx.emit("research:progress", stage=progress["stage"], progress=progress["progress"])
        return {**output, "usage": usage_rows(answers, ctx.path)}

    return announce


def _noting(ctx: Context) -> Listener:
    """Incidents are stored while the request lasts, with what it was for: it may last for minutes."""

    async def note(incident: HttpEvent) -> None:
        ctx.emit(f"wire:{incident.type}", **incident.to_json(), **current_purpose())
        await ctx.flush()

    return note
