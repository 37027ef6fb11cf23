"""What works on this machine and what is missing: the checks of `doctor`, and what this version can do at all."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from graph_research.app.diagnostics.providers import (
    ProviderHealth,
    check_providers,
    name_of_model,
    providers_of,
    with_names,
)
from graph_research.app.graphs import GraphFormat
from graph_research.app.library import count_documents, pdf_child_works, unread_files
from graph_research.app.store import open_store
from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.mcp_servers import build_mcp, mcp_names
from graph_research.app.wiring.models import MODELS, build_router
from graph_research.app.wiring.search import build_searches, select_searches, serves_of
from graph_research.app.workspace import Workspace
from graph_research.errors import GraphResearchError
from graph_research.providers.http.client import Http
from graph_research.providers.llm.catalog import default_models, default_roles, why_default
from graph_research.providers.llm.model_data import listed_prices, listed_windows
from graph_research.providers.search.base import LOCAL
from graph_research.providers.search.mcp.pins import HomePins
from graph_research.research.models.phase import PHASES
from graph_research.research.report.formats import REPORT_FORMATS
from graph_research.settings.config import ROLES
from graph_research.text.readers import FORMATS
from graph_research.text.wording import counted

_OLDEST_PYTHON = (3, 11)
_ENOUGH_BYTES = 200_000_000
_NAMED_FILES = 3


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at; `optional` is one that the main job does without.

    Of a provider, `kind` is `model` or `search`; `configured` says whether it has what it needs, `reachable` whether
    anybody answered (None: not asked), `latency_ms` after how many milliseconds, and `adds` what it, or the key that it
    does without, would add. The `kind` of everything else is `machine`.
    """

    name: str
    ok: bool
    text: str
    optional: bool = False
    kind: str = "machine"
    configured: bool | None = None
    reachable: bool | None = None
    latency_ms: int | None = None
    adds: str = ""


async def examine(
    workspace: Workspace, *, names: Sequence[str] = (), network: bool = True, http: Http | None = None
) -> list[Check]:
    """Every check, in the order in which they are shown. Providers are looked for all at once, each for a few seconds;
    without `network` none is, and `http` takes the place of the real one. With `names` these providers alone, each of
    which has to work. `NoProvider` for a name of none."""
    async with open_clients(workspace) as opened:
        clients = opened if http is None else replace(opened, http=http)
        providers = providers_of(workspace, sorted({spec for specs in _specs(workspace).values() for spec in specs}))
        if names:
            named = await check_providers(with_names(workspace, names, providers), clients, network=network)
            return [replace(_provider(checked), optional=False) for checked in named]
        every = await check_providers(providers, clients, network=network)
    health = {checked.provider.name: checked for checked in every}
    return [
        _python(),
        _full_text_search(),
        _room(workspace),
        await _store(workspace),
        await _index(workspace),
        await _pdf(),
        _pages(workspace),
        await _models(workspace, health),
        await _searches(workspace, health),
        *map(_provider, health.values()),
    ]


async def accept(workspace: Workspace, name: str) -> list[Mapping[str, Any]]:
    """Pin the tools of the MCP server `mcp:NAME` as they are now, and return their definitions, which are the server's
    own words. `NoProvider` and `ProviderError`s say what is in the way."""
    async with AsyncExitStack() as closing:
        search = build_mcp(workspace, name, closing, pins=HomePins(workspace.home, accept_new=True))
        return list(await search.tools())


def capabilities(workspace: Workspace) -> dict[str, Any]:
    """Models, roles, searches, report formats, graphs and jobs, as plain JSON."""
    settings = workspace.settings
    own = {name: dict(rates) for name, rates in settings.model_price_overrides.items()}
    searches = workspace.searches
    served = (LOCAL, *searches.names, *mcp_names(workspace))
    return {
        "models": {name: f"{spec.usage}: {spec.summary}; needs {spec.needs}" for name, spec in MODELS.items()},
        "roles": role_models(workspace),
        "windows": {**listed_windows(), **settings.model_context_overrides},
        "prices": {**{name: asdict(price) for name, price in listed_prices().items()}, **own},
        "search": dict(searches.kinds),
        "search_serves": {name: sorted(serves_of(name, workspace)) for name in served},
        "search_keys": {spec.name: list(spec.keys) for spec in searches.specs if spec.keys},
        "mcp_servers": list(settings.mcp_servers),
        "report_formats": list(REPORT_FORMATS),
        "graph_formats": list(GraphFormat),
        "document_formats": [one.suffixes[0].removeprefix(".") for one in FORMATS.values() if one.suffixes],
        "graphs": workspace.definitions.graphs.names(),
        "jobs": {
            "at_once": settings.research_max_concurrency,
            "model_call_seconds": settings.model_timeout or settings.job_model_timeout,
        },
    }


def role_models(workspace: Workspace) -> dict[str, str]:
    """The models behind each role as they are configured now, in fallback order."""
    return {role: ", ".join(specs) for role, specs in _specs(workspace).items()}


def _specs(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """The model specs behind each role."""
    named = workspace.settings.default_provider
    default = named or default_models(workspace.environ)
    own = workspace.configuration.role_specs()
    own = {**default_roles(workspace.environ, own.get("research") or named), **own}
    phases = {phase: own[phase] for phase in PHASES if phase in own}
    return {**{role: own.get(role, default) for role in ROLES}, **phases}


def _provider(health: ProviderHealth) -> Check:
    provider, result = health.provider, health.result
    more = f"{'would add' if provider.lacks else 'more with'} {provider.adds}" if provider.adds else provider.text
    said = [*provider.lacks, result.text if result else "", more]
    return Check(
        name=provider.name,
        ok=health.works,
        text="; ".join(text for text in said if text),
        optional=True,
        kind=provider.kind,
        configured=not provider.lacks,
        reachable=result.reachable if result else None,
        latency_ms=result.latency_ms if result else None,
        adds=provider.adds,
    )


def _python() -> Check:
    version = platform.python_version()
    return Check(name="Python", ok=sys.version_info >= _OLDEST_PYTHON, text=f"{version} (3.11 or newer is needed)")


def _full_text_search() -> Check:
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    ok = "ENABLE_FTS5" in options
    return Check(name="SQLite", ok=ok, text=f"{sqlite3.sqlite_version}, FTS5 {'there' if ok else 'not compiled in'}")


def _room(workspace: Workspace) -> Check:
    """What is read only is enough to look at runs; where the home can be written, what is left is space."""
    status = os.statvfs(workspace.home.path)
    free = status.f_bavail * status.f_frsize
    room = f"{free // 1_000_000:,} MB free" if os.access(workspace.home.path, os.W_OK) else "can only be read"
    return Check(name="data home", ok=free > _ENOUGH_BYTES, text=f"{workspace.home.path}, {room}")


async def _store(workspace: Workspace) -> Check:
    try:
        async with open_store(workspace.home) as store:
            count = len(await store.run_rows(None, None))
    except GraphResearchError as error:
        return Check(name="run store", ok=False, text=str(error))
    where = "the database" if workspace.home.database else workspace.home.runs_db
    return Check(name="run store", ok=True, text=f"{where}, runs: {count}")


async def _index(workspace: Workspace) -> Check:
    try:
        count, unread = await count_documents(workspace), await unread_files(workspace)
    except GraphResearchError as error:
        return Check(name="library index", ok=False, text=str(error))
    text = f"{count} documents" if count else "empty; add folders to search your own documents"
    if unread:
        named = "; ".join(f"{row.path}: {row.reason}" for row in unread[:_NAMED_FILES])
        more = f"; and {len(unread) - _NAMED_FILES} more" if len(unread) > _NAMED_FILES else ""
        text += f"; {counted(len(unread), 'file')} not read, or only in part: {named}{more}"
    return Check(name="library index", ok=count > 0, text=text, optional=True)


async def _models(workspace: Workspace, health: Mapping[str, ProviderHealth]) -> Check:
    """Whether every role has a model that answers or was not asked."""
    settings, own = workspace.settings, workspace.configuration.role_specs()
    try:
        async with open_clients(workspace) as clients:
            build_router(settings.default_provider or default_models(workspace.environ), own, clients)
    except GraphResearchError as error:
        return Check(name="models", ok=False, text=str(error))
    specs = _specs(workspace)
    mute = [role for role, serving in specs.items() if not any(_works(name_of_model(spec), health) for spec in serving)]
    text = "; ".join(sorted(set(role_models(workspace).values())))
    if why := (None if settings.default_provider else why_default(workspace.environ)):
        text = f"{text} ({why})"
    if mute:
        text = f"no model answers for {', '.join(mute)}: {text}"
    return Check(name="models", ok=not mute, text=text)


async def _searches(workspace: Workspace, health: Mapping[str, ProviderHealth]) -> Check:
    """Whether a run that names no search has one that answers or was not asked."""
    settings = workspace.settings
    try:
        chosen = await select_searches(workspace, settings.search_providers, settings.library)
        async with open_clients(workspace) as clients:
            build_searches(workspace, chosen.names, settings.library, clients)
    except GraphResearchError as error:
        return Check(name="search", ok=False, text=str(error))
    names = ", ".join(chosen.names)
    text = f"{names}; left out: {', '.join(chosen.skipped)}" if chosen.skipped else names
    answers = any(_works(name, health) for name in chosen.names)
    by_default = not settings.search_providers and set(chosen.names) <= set(workspace.searches.keyless)
    return Check(name="search", ok=answers, text=text if answers else f"none answers: {text}", optional=by_default)


def _works(name: str, health: Mapping[str, ProviderHealth]) -> bool:
    return name not in health or health[name].works


async def _pdf() -> Check:
    ok = await pdf_child_works()
    return Check(name="PDF", ok=ok, text="read in a limited child process" if ok else "the child process fails")


def _pages(workspace: Workspace) -> Check:
    """How pages behind results are read. No host is asked, since their hosts are not known yet."""
    settings = workspace.settings
    if not settings.follow_links and not settings.fetch_pdfs:
        return Check(name="pages", ok=True, text="not read, since follow_links is off; results count as they come")
    by = "Tavily" if settings.tavily_extract and workspace.environ.get("TAVILY_API_KEY") else "this program"
    own = f", and of your own hosts {', '.join(settings.fetch_allow_hosts)}" if settings.fetch_allow_hosts else ""
    what = "behind" if settings.follow_links else "only PDFs behind"
    return Check(name="pages", ok=True, text=f"{what} results are read by {by}, of public hosts{own}")
