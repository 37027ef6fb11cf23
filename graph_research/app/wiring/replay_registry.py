"""Models and searches that are named and never asked: with them a replay can reach nothing outside of its journal, and
a run whose key is gone can still be cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from graph_research.app.request import RunRequest, with_settings_of
from graph_research.app.wiring.models import window_tokens
from graph_research.app.wiring.search import serves_of
from graph_research.app.wiring.services import build_registry, build_services
from graph_research.app.workspace import Workspace
from graph_research.graph.errors import NodeFailed
from graph_research.graph.registry import Registry, Resolver
from graph_research.graph.state.rows import Instruction
from graph_research.providers.errors import ProviderError
from graph_research.providers.llm.base import ModelReply, ModelRequest
from graph_research.providers.llm.model_spec import EXTRACTIVE, SCRIPTED
from graph_research.providers.search.base import SearchHit, SearchRequest, provider_name
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import Page
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.services import AnswerSchemas
from graph_research.research.llm.template_sandbox import ConfinedRenderer
from graph_research.settings.config import Settings


def offline_registry(
    workspace: Workspace,
    request: RunRequest,
    *,
    prompts: Resolver | None = None,
    schemas: Resolver | None = None,
    current: bool = False,
) -> Registry:
    """What the graph of a run resolves its names from, with the run's models and searches by name alone.

    `prompts` and `schemas` are those the run was made with, and come before this workspace's; with `current` they only
    add what it lacks. Prompts that are not this workspace's own are rendered in a limited child process."""
    workspace = with_settings_of(workspace, request)
    router = ModelRouter(
        default=_named_models(request.models, workspace.settings),
        roles={role: _named_models(specs, workspace.settings) for role, specs in request.roles.items()},
    )
    names = dict.fromkeys(map(provider_name, request.search))
    folders = [str(Path(folder).resolve()) for folder in request.library]
    search = [_NamedSearch(name, serves_of(name, workspace)) for name in names]
    services = build_services(
        workspace,
        models=router,
        search=search,
        folders=folders,
        pages=KeptPages(_NoPages()),
        instructions=_no_instructions,
        allowance=_NoAllowance(),
    )
    if prompts is None or schemas is None:
        return build_registry(workspace, services)
    foreign = {name: found[0] for name in prompts.names() if (found := prompts.find(name)) is not None}
    own = workspace.definitions
    changed = any((found := own.prompts.find(name)) and found[0] != text for name, text in foreign.items())
    own_prompts = own.prompts if current or not changed else _Without(own.prompts, frozenset(foreign))
    known = _Either(own.schemas, schemas) if current else _Either(schemas, own.schemas)
    services = replace(services, prompts=ConfinedRenderer(own_prompts, foreign), schemas=AnswerSchemas(known))
    registry = build_registry(workspace, services)
    return replace(registry, schemas=known, prompts=_Either(own_prompts, prompts), template_names=None)


def recorded_failures() -> Mapping[str, Callable[[str], Exception]]:
    """Makes a provider's error again from its message, by the name of its class."""
    return {kind.__name__: partial(kind, provider="journal") for kind in _kinds(ProviderError)}


@dataclass(frozen=True)
class _Either:
    """A resolver that asks one and then the other."""

    first: Resolver
    second: Resolver

    def find(self, name: str) -> tuple[str, str] | None:
        return self.first.find(name) or self.second.find(name)

    def names(self) -> list[str]:
        return sorted({*self.first.names(), *self.second.names()})


@dataclass(frozen=True)
class _Without:
    """A resolver that does not know some names: a template never includes one of another origin."""

    inner: Resolver
    hidden: frozenset[str]

    def find(self, name: str) -> tuple[str, str] | None:
        return None if name in self.hidden else self.inner.find(name)

    def names(self) -> list[str]:
        return [name for name in self.inner.names() if name not in self.hidden]


@dataclass(frozen=True)
class _NamedModel:
    spec: str
    window_tokens: int | None = None

    @property
    def in_process(self) -> bool:
        return self.spec == EXTRACTIVE

    async def complete(self, request: ModelRequest) -> ModelReply:
        raise NodeFailed(f"{request.agent}: no model is asked here")


@dataclass(frozen=True)
class _NamedSearch:
    name: str
    serves: frozenset[str]

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        raise NodeFailed(f"nothing is searched here, and not {request.query[:80]!r}")


async def _no_instructions(run_id: str) -> Sequence[Instruction]:
    """Takes the place of the store: what the user told the run is in the journal."""
    raise NodeFailed(f"nobody tells run {run_id} anything here")


class _NoAllowance:
    """Takes the place of the budget: what it refused is in the journal."""

    def refuses_round(self) -> str | None:
        raise NodeFailed("nothing is decided here")

    def refuses_repetition(self, phase: str) -> str | None:
        raise NodeFailed(f"nothing is decided here, and not about {phase}")

    def time_to_search_is_over(self) -> str | None:
        raise NodeFailed("no time is measured here")


class _NoPages:
    """Takes the place of the web: what was read is in the journal."""

    async def read(self, url: str) -> Page:
        raise NodeFailed(f"no page is read here, and not {url[:80]!r}")


def _named_models(specs: Sequence[str], settings: Settings) -> tuple[_NamedModel, ...]:
    return tuple(_NamedModel(_model_name(spec), window_tokens(spec, settings)) for spec in specs)


def _model_name(spec: str) -> str:
    """A scripted model goes by its file's name alone, wherever the file lies."""
    kind, colon, rest = spec.partition(":")
    return f"{kind}:{Path(rest).name}" if kind == SCRIPTED and colon else spec


def _kinds(kind: type[ProviderError]) -> Iterator[type[ProviderError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)
