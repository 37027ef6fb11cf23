"""Search providers by name, and which of them a run gets that names none: what has documents, what has its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_research.app.library import Indexing, add_folders, count_documents, open_searched_library, require_documents
from graph_research.app.request import RunRequest
from graph_research.app.wiring.mcp_servers import build_mcp, check_mcp, unset_of_mcp
from graph_research.app.workspace import Workspace
from graph_research.errors import suggestion
from graph_research.providers.clients import Clients
from graph_research.providers.errors import NoProvider
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.search.base import LOCAL, MCP, SCRIPTED, SOURCE_TYPES, SearchProvider
from graph_research.providers.search.cache import CachedSearch
from graph_research.providers.search.local import Library, LocalSearch
from graph_research.providers.search.scripted import ScriptedSearch
from graph_research.settings.config import SettingInvalid, Settings

_ATTEMPTS = 3
_TRY_SECONDS = 20.0
_ALL_TRIES_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The searches of a run by name, in their order, and those that are left out, such as
    `tavily (TAVILY_API_KEY is not set)`."""

    names: tuple[str, ...]
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Searches:
    """The providers of a run. `library` is the local one's, None where `local` is not among them."""

    providers: tuple[SearchProvider, ...]
    library: Library | None
    folders: tuple[Path, ...]

    def cached(self) -> Searches:
        """The same, but for searches over the network, which answer a request once."""
        kept = [item if item.name == LOCAL else CachedSearch(provider=item) for item in self.providers]
        return replace(self, providers=tuple(kept))

    async def prepare(self, workspace: Workspace, *, index: bool, on_index: Indexing | None = None) -> None:
        """Index the folders that the run names, unless it goes on with one that did, and see that there is something
        to search. `LibraryMissing`, `LibraryEmpty`, `CatalogInvalid`."""
        if self.library is None or not index:
            return
        if self.folders:
            counts = await add_folders(workspace, self.folders, on_index)
            if counts.failed and on_index is not None:
                on_index.unreadable(counts.failed)
        await require_documents(self.library, self.folders)


async def with_searches(workspace: Workspace, request: RunRequest) -> RunRequest:
    """The request of a new run with the searches that it means, kept with the run so that it goes on with the same."""
    chosen = await select_searches(workspace, request.search, request.library)
    return replace(request, search=chosen.names, skipped=chosen.skipped)


async def select_searches(workspace: Workspace, names: Sequence[str], folders: Sequence[str]) -> Selection:
    """What a new run searches.

    Named searches that lack their key are left out where another remains, else `NoProvider` is raised. Without names:
    `local` alone where `folders` are given; else `local`, if the index has documents, and those searches of `web`
    that lack no key. A run that has documents stays with them as long as no key of a search of `web` is set.
    """
    _check_rates(workspace)
    if not names:
        return Selection(names=(LOCAL,)) if folders else await _automatic(workspace)
    lacking = {name: lacking_of(workspace, name) for name in _spelled_out(workspace, names)}
    usable = tuple(name for name, without in lacking.items() if not without)
    skipped = tuple(_left_out(name, without) for name, without in lacking.items() if without)
    if not usable:
        keyless = ", ".join(workspace.searches.keyless)
        raise NoProvider(
            f"no search can be used: {'; '.join(skipped)}",
            help=f"set what is missing, or name a search that needs no key: {keyless}, or local",
        )
    return Selection(names=usable, skipped=skipped)


def build_searches(workspace: Workspace, names: Sequence[str], folders: Sequence[str], clients: Clients) -> Searches:
    """The providers that `names` mean, in that order; `folders` confine `local`. `NoProvider` names what is wrong."""
    resolved = tuple((workspace.folder / folder).resolve() for folder in folders)
    library = open_searched_library(workspace) if LOCAL in names else None
    providers = tuple(_build(workspace, name, library, resolved, clients) for name in dict.fromkeys(names))
    return Searches(providers=providers, library=library, folders=resolved)


def serves_of(name: str, workspace: Workspace) -> frozenset[str]:
    """The source types of a search, without building one."""
    server = workspace.settings.mcp_servers.get(name.removeprefix(f"{MCP}:"))
    if name.startswith(f"{MCP}:") and server is not None:
        return frozenset(server.serves)
    spec = workspace.searches.find(name)
    return SOURCE_TYPES if spec is None else spec.serves


def require_kinds(workspace: Workspace, names: Sequence[str]) -> None:
    """Refuse searches of which the rules for sources allow none. `NoProvider`."""
    kinds = frozenset(workspace.settings.source_kinds)
    served = [frozenset({LOCAL}) if name == LOCAL else serves_of(name, workspace) for name in names]
    if kinds and names and not any(kinds & each for each in served):
        raise NoProvider(
            f"setting source_kinds allows {', '.join(sorted(kinds))} only, and no search of the run finds that: "
            f"{', '.join(names)}",
            help="allow another kind, or name another search",
        )


async def _automatic(workspace: Workspace) -> Selection:
    web = workspace.searches.web
    missing = {spec.name: spec.missing(workspace.environ, workspace.settings) for spec in web}
    usable = tuple(name for name, lacking in missing.items() if not lacking)
    skipped = tuple(_left_out(name, lacking) for name, lacking in missing.items() if lacking)
    if not await count_documents(workspace):
        return Selection(names=usable, skipped=skipped)
    has_key = any(workspace.environ.get(key) for spec in web for key in spec.key_purposes)
    return Selection(names=(LOCAL, *usable) if has_key else (LOCAL,), skipped=skipped)


def _spelled_out(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Each name once, `web` as what it stands for. `NoProvider` for a name that is not known."""
    web = [spec.name for spec in workspace.searches.web]
    spelled = [search for name in names for search in (web if name == "web" else (name,))]
    for name in spelled:
        _check(workspace, name)
    return list(dict.fromkeys(spelled))


def _check(workspace: Workspace, name: str) -> None:
    kind, _, rest = name.partition(":")
    if kind == MCP:
        check_mcp(workspace, name)
        return
    if kind == SCRIPTED and not rest:
        raise NoProvider(f"search {name!r} names no file", help="write it as scripted:FILE")
    kinds = workspace.searches.kinds
    if (kind in kinds and not rest) or kind == SCRIPTED:
        return
    names = ", ".join(listed for listed in kinds if listed not in (MCP, SCRIPTED))
    help_text = f"{suggestion(kind, kinds)}use {names}, mcp:NAME or scripted:FILE"
    raise NoProvider(f"no search provider {name[:80]!r}", help=help_text)


def _check_rates(workspace: Workspace) -> None:
    for name in workspace.settings.search_rate_limits:
        if workspace.searches.find(name) is None:
            raise SettingInvalid(
                f"setting search_rate_limits: no search {name[:80]!r} is asked over the network",
                help=f"name one of {', '.join(workspace.searches.names)}",
            )


def lacking_of(workspace: Workspace, name: str) -> tuple[str, ...]:
    """The keys and settings that a search cannot be used without and that are not set."""
    if name.startswith(f"{MCP}:"):
        return unset_of_mcp(workspace, name)
    spec = workspace.searches.find(name)
    return () if spec is None else spec.missing(workspace.environ, workspace.settings)


def _left_out(name: str, lacking: Sequence[str]) -> str:
    return f"{name} ({' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not set)"


def _build(
    workspace: Workspace, name: str, library: Library | None, folders: Sequence[Path], clients: Clients
) -> SearchProvider:
    _check(workspace, name)
    kind, _, rest = name.partition(":")
    if library is not None and name == LOCAL:
        return LocalSearch(library, folders=folders)
    if kind == MCP:
        return build_mcp(workspace, name, clients.closing)
    if kind == SCRIPTED:
        return ScriptedSearch.from_file(Path(rest))
    spec = workspace.searches.find(kind)
    if spec is None:
        raise NoProvider(f"search {name[:80]!r} stands for several", help="name them one by one")
    if missing := spec.missing(clients.environ, clients.settings):
        raise NoProvider(f"search {_left_out(name, missing)}", help="set what is missing")
    return spec.build(clients, _paced(spec.endpoint(clients), clients.settings))


def _paced(endpoint: Endpoint, settings: Settings) -> Endpoint:
    """The peer at the pace that the user set, if they did. The other searches' results wait for it, so not for long."""
    return replace(
        endpoint,
        per_second=settings.search_rate_limits.get(endpoint.name, endpoint.per_second),
        attempts=_ATTEMPTS,
        timeout_seconds=_TRY_SECONDS,
        budget_seconds=_ALL_TRIES_SECONDS,
    )
