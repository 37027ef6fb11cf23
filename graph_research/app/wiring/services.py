"""The services and the registry of a run: models, searches, prompts, schemas, handlers and functions put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from graph_research.app.workspace import Workspace
from graph_research.graph.registry import Registry
from graph_research.providers.search.base import SearchProvider
from graph_research.research.agents.prompt_node import template_names
from graph_research.research.allowance import Allowance
from graph_research.research.digest.cache import DigestCache
from graph_research.research.digest.eligibility import DigestOptions, DigestPolicy
from graph_research.research.graph_functions import research_functions
from graph_research.research.hooks import Hooks, StateReader
from graph_research.research.instructions import InstructionReader
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.llm.services import AnswerSchemas, Services
from graph_research.research.models.phase import PHASES
from graph_research.research.registry import HANDOFF_CHECKS, RESEARCH_ERRORS, research_handlers, research_prompter
from graph_research.research.research_settings import ResearchSettings
from graph_research.research.source_rules import SourceRules
from graph_research.settings.config import ROLES, Settings

if TYPE_CHECKING:
    from graph_research.providers.web.page_reader import PageCache


def source_rules(settings: Settings) -> SourceRules:
    """The rules for sources of the settings."""
    return SourceRules(**{field.name: getattr(settings, field.name) for field in fields(SourceRules)})


def build_services(
    workspace: Workspace,
    *,
    models: ModelRouter,
    search: Sequence[SearchProvider],
    folders: Sequence[str] = (),
    pages: PageCache | None = None,
    hooks: Hooks | None = None,
    read_state: StateReader | None = None,
    instructions: InstructionReader | None = None,
    allowance: Allowance | None = None,
    digests: DigestCache | None = None,
) -> Services:
    """What research handlers work with. `folders` confine the local search; empty: the whole index. `pages` reads what
    stands behind search results, `hooks` guide the run between its phases and see what `read_state` gives,
    `instructions` reads what the user told it meanwhile, `allowance` says what its limits leave room for, `digests` are
    those of earlier runs."""
    names = {field.name for field in fields(ResearchSettings)} & Settings.model_fields.keys()
    configured = {name: getattr(workspace.settings, name) for name in names}
    digest = {
        field.name: getattr(workspace.settings, f"deep_research_digest_{field.name}") for field in fields(DigestOptions)
    }
    return Services(
        models=models,
        search=tuple(search),
        pages=pages,
        hooks=hooks,
        read_state=read_state,
        instructions=instructions,
        allowance=allowance,
        digests=DigestCache() if digests is None else digests,
        prompts=PromptRenderer(workspace.definitions.prompts),
        schemas=AnswerSchemas(workspace.definitions.schemas),
        settings=ResearchSettings(
            **configured,
            digest=DigestOptions(**{**digest, "policy": DigestPolicy(digest["policy"])}),
            folders=tuple(folders),
            rules=source_rules(workspace.settings),
        ),
    )


def build_registry(workspace: Workspace, services: Services) -> Registry:
    """Everything that a graph's names may resolve to."""
    handlers = research_handlers(services)
    return Registry(
        handlers=handlers,
        read_only_handlers=handlers.keys(),
        handoff_checks=HANDOFF_CHECKS,
        functions=research_functions(),
        schemas=workspace.definitions.schemas,
        graphs=workspace.definitions.graphs,
        prompts=workspace.definitions.prompts,
        prompter=research_prompter(services),
        template_names=template_names,
        hidden=None if workspace.definitions.beside is None else workspace.definitions.hidden,
        roles=(*ROLES, *PHASES),
        errors=RESEARCH_ERRORS,
    )


def definition_registry(workspace: Workspace) -> Registry:
    """The registry for looking at definitions: every name is there, nothing is asked of a model or a search."""
    return build_registry(workspace, build_services(workspace, models=ModelRouter(default=()), search=()))
