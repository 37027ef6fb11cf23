"""Search providers by name, and which of them a run gets that names none: what has documents, what has its key."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from graph_research.app.library import Indexing, add_folders, count_documents, open_library, require_documents
from graph_research.app.request import GraphRequest, ResearchRequest
from graph_research.app.wiring.clients import Clients
from graph_research.app.wiring.mcp_servers import MCP, build_mcp, check_mcp, unset_of_mcp
from graph_research.app.workspace import Workspace
from graph_research.providers.errors import NoProvider
from graph_research.providers.http.client import Peer
from graph_research.providers.search.arxiv import ArxivSearch, arxiv_peer
from graph_research.providers.search.base import SOURCE_TYPES, SearchProvider
from graph_research.providers.search.cache import CachedSearch
from graph_research.providers.search.crossref import CrossrefSearch, crossref_peer
from graph_research.providers.search.google import GoogleSearch, google_peer
from graph_research.providers.search.local import Library, LocalSearch
from graph_research.providers.search.openalex import OpenAlexSearch, openalex_peer
from graph_research.providers.search.pubmed import PubmedSearch, pubmed_peer
from graph_research.providers.search.scripted import ScriptedSearch, SearchScriptInvalid
from graph_research.providers.search.searxng import SearxngSearch, searxng_peer
from graph_research.providers.search.semantic_scholar import SemanticScholarSearch, semantic_scholar_peer
from graph_research.providers.search.tavily import TavilyOptions, TavilySearch, tavily_peer
from graph_research.providers.search.wikipedia import WikipediaSearch, wikipedia_peer
from graph_research.settings.config import SettingInvalid, Settings

__all__ = [
    "SEARCH_KINDS",
    "SEARCH_NEEDS",
    "Searches",
    "Selection",
    "build_searches",
    "select_searches",
    "serves_of",
    "with_searches",
]

SEARCH_KINDS: Mapping[str, str] = {
    "local": "the local library: md, txt, html and pdf",
    "web": "tavily and google, as far as their keys are set, and semantic_scholar",
    "tavily": "the web and news, with the pages' texts; TAVILY_API_KEY",
    "google": "the web, by snippet, for old customers (Google takes no new ones, and ends it on 2027-01-01); "
    "GOOGLE_API_KEY and GOOGLE_CSE_ID",
    "semantic_scholar": "papers of all fields; works without SEMANTIC_SCHOLAR_API_KEY, more slowly",
    "arxiv": "preprints; no key",
    "openalex": "scholarly works of all fields; no key, ten times as many searches a day with OPENALEX_API_KEY",
    "crossref": "whatever has a DOI; no key",
    "pubmed": "medicine and the life sciences; no key, faster with NCBI_API_KEY",
    "wikipedia": "the encyclopedia, whole articles; no key",
    "searxng": "your own SearXNG server, by its address in searxng_url; no key",
    "mcp": "mcp:NAME, the search tool of an MCP server of the setting mcp_servers; what its server needs",
    "scripted": "scripted:FILE answers from a JSON file, for tests and your own graphs",
}
"""Every kind that can be named, and what it is."""

SEARCH_NEEDS: Mapping[str, tuple[str, ...]] = {
    "tavily": ("TAVILY_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GOOGLE_CSE_ID"),
}
"""The keys without which a kind cannot be asked at all."""

SERVES: Mapping[str, frozenset[str]] = {
    "tavily": TavilySearch.serves,
    "google": GoogleSearch.serves,
    "semantic_scholar": SemanticScholarSearch.serves,
    "arxiv": ArxivSearch.serves,
    "openalex": OpenAlexSearch.serves,
    "crossref": CrossrefSearch.serves,
    "pubmed": PubmedSearch.serves,
    "wikipedia": WikipediaSearch.serves,
}
"""By kind, the source types that it has; a kind that is not here has them all."""

_WEB = ("tavily", "google", "semantic_scholar")
_WEB_KEYS: Mapping[str, tuple[str, ...]] = {**SEARCH_NEEDS, "semantic_scholar": ("SEMANTIC_SCHOLAR_API_KEY",)}
_KEYLESS = "wikipedia, openalex, arxiv, crossref, pubmed, semantic_scholar"

_ATTEMPTS = 3
_TRY_SECONDS = 20.0
_ALL_TRIES_SECONDS = 60.0
_Request = TypeVar("_Request", ResearchRequest, GraphRequest)


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
        kept = (one if one.name == "local" else CachedSearch(provider=one) for one in self.providers)
        return replace(self, providers=tuple(kept))

    async def prepare(self, workspace: Workspace, *, index: bool, on_index: Indexing | None = None) -> None:
        """Index the folders that the run names, unless it goes on with one that did, and see that there is something
        to search. `NoProvider`, `LibraryMissing`, `LibraryEmpty`, `CatalogInvalid`."""
        if not self.providers:
            raise _nothing_to_search()
        if self.library is None or not index:
            return
        if self.folders:
            counts = await add_folders(workspace, self.folders, on_index)
            if counts.failed and on_index is not None:
                on_index.unreadable(counts.failed)
        await require_documents(self.library, self.folders)


async def with_searches(workspace: Workspace, request: _Request) -> _Request:
    """The request of a new run with the searches that it means, kept with the run so that it goes on with the same."""
    chosen = await select_searches(workspace, request.search, request.library)
    return replace(request, search=chosen.names, skipped=chosen.skipped)


async def select_searches(workspace: Workspace, names: Sequence[str], folders: Sequence[str]) -> Selection:
    """What a new run searches.

    Named searches that lack their key are left out where another remains, else `NoProvider` is raised. Without names:
    `local` alone where `folders` are given; else `local`, if the index has documents, and of the web's searches those
    whose key is set. Of a run that searches nowhere the names are empty; only one that needs a search is refused.
    """
    _check_rates(workspace.settings.search_rate_limits)
    if not names:
        return Selection(names=("local",)) if folders else await _automatic(workspace)
    lacking = {name: _lacking(workspace, name) for name in _spelled_out(workspace, names)}
    usable = tuple(name for name, without in lacking.items() if not without)
    skipped = tuple(_left_out(name, without) for name, without in lacking.items() if without)
    if not usable:
        raise NoProvider(
            f"no search can be used: {'; '.join(skipped)}",
            help=f"set what is missing, or name a search that needs no key: {_KEYLESS}, or local",
        )
    return Selection(names=usable, skipped=skipped)


def build_searches(workspace: Workspace, names: Sequence[str], folders: Sequence[str], clients: Clients) -> Searches:
    """The providers that `names` mean, in that order; `folders` confine `local`. `NoProvider` names what is wrong."""
    resolved = tuple((workspace.folder / folder).resolve() for folder in folders)
    library = open_library(workspace) if "local" in names else None
    providers = tuple(_build(workspace, name, library, resolved, clients) for name in dict.fromkeys(names))
    return Searches(providers=providers, library=library, folders=resolved)


def serves_of(name: str, settings: Settings) -> frozenset[str]:
    """The source types of a search, without building one."""
    server = settings.mcp_servers.get(name.removeprefix(f"{MCP}:"))
    if name.startswith(f"{MCP}:") and server is not None:
        return frozenset(server.serves)
    return SERVES.get(name, SOURCE_TYPES)


async def _automatic(workspace: Workspace) -> Selection:
    local = ("local",) if await count_documents(workspace) else ()
    without = {name: _unset(workspace, _WEB_KEYS[name]) for name in _WEB}
    return Selection(
        names=(*local, *(name for name in _WEB if not without[name])),
        skipped=tuple(_left_out(name, keys) for name, keys in without.items() if keys),
    )


def _spelled_out(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Each name once, `web` as what it stands for. `NoProvider` names one that is none."""
    spelled = [one for name in names for one in (_WEB if name == "web" else (name,))]
    for name in spelled:
        _check(workspace, name)
    return list(dict.fromkeys(spelled))


def _check(workspace: Workspace, name: str) -> None:
    kind, _, rest = name.partition(":")
    if kind == MCP:
        check_mcp(workspace, name)
        return
    if kind == "scripted" and not rest:
        raise NoProvider(f"search {name!r} names no file", help="write it as scripted:FILE")
    if (kind in SEARCH_KINDS and not rest) or kind == "scripted":
        return
    near = difflib.get_close_matches(kind, SEARCH_KINDS, n=1)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    known = ", ".join(one for one in SEARCH_KINDS if one not in (MCP, "scripted"))
    raise NoProvider(f"no search provider {name[:80]!r}", help=f"{hint}use {known}, mcp:NAME or scripted:FILE")


def _check_rates(rates: Mapping[str, float]) -> None:
    for name in rates:
        if name not in _OVER_HTTP:
            raise SettingInvalid(
                f"setting search_rate_limits: no search {name[:80]!r} is asked over the network",
                help=f"name one of {', '.join(_OVER_HTTP)}",
            )


def _lacking(workspace: Workspace, name: str) -> tuple[str, ...]:
    """What a search cannot be used without and does not have: keys, or a setting."""
    if name.startswith(f"{MCP}:"):
        return unset_of_mcp(workspace, name)
    if name == "searxng":
        return () if workspace.settings.searxng_url else ("searxng_url",)
    return _unset(workspace, SEARCH_NEEDS.get(name, ()))


def _unset(workspace: Workspace, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if not workspace.environ.get(key))


def _left_out(name: str, lacking: Sequence[str]) -> str:
    return f"{name} ({' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not set)"


def _nothing_to_search() -> NoProvider:
    return NoProvider(
        "there is nothing to search: the library is empty, and no web search has its key",
        help=(
            "name a folder of documents with --library DIR; or a search that needs no key, such as --search wikipedia "
            f"({_KEYLESS}); or set TAVILY_API_KEY"
        ),
    )


def _build(
    workspace: Workspace, name: str, library: Library | None, folders: Sequence[Path], clients: Clients
) -> SearchProvider:
    _check(workspace, name)
    kind, _, rest = name.partition(":")
    if library is not None and name == "local":
        return LocalSearch(library, folders=folders)
    if kind == MCP:
        return build_mcp(workspace, name, clients.closing)
    if kind == "scripted":
        return _scripted(Path(rest))
    return _OVER_HTTP[kind](clients)


def _scripted(path: Path) -> SearchProvider:
    try:
        return ScriptedSearch.from_file(path)
    except SearchScriptInvalid as error:
        error.message = f"--search or search_providers: {error.message}"
        raise


def _tavily(clients: Clients) -> SearchProvider:
    settings = clients.settings
    options = TavilyOptions(
        search_depth=settings.tavily_search_depth,
        include_raw_content=settings.tavily_include_raw_content,
        include_domains=settings.tavily_include_domains,
        exclude_domains=settings.tavily_exclude_domains,
        time_range=settings.tavily_time_range,
    )
    peer = tavily_peer(_key(clients, "tavily", "TAVILY_API_KEY"))
    return TavilySearch(http=clients.http, peer=_paced(peer, settings), options=options)


def _google(clients: Clients) -> SearchProvider:
    keys = [_key(clients, "google", name) for name in SEARCH_NEEDS["google"]]
    peer = _paced(google_peer(*keys), clients.settings)
    return GoogleSearch(http=clients.http, peer=peer, date_restrict=clients.settings.google_date_restrict)


def _semantic_scholar(clients: Clients) -> SearchProvider:
    peer = semantic_scholar_peer(clients.key("SEMANTIC_SCHOLAR_API_KEY"), contact=clients.settings.contact_email)
    return SemanticScholarSearch(http=clients.http, peer=_paced(peer, clients.settings))


def _arxiv(clients: Clients) -> SearchProvider:
    peer = arxiv_peer(contact=clients.settings.contact_email)
    return ArxivSearch(http=clients.http, peer=_paced(peer, clients.settings))


def _openalex(clients: Clients) -> SearchProvider:
    peer = openalex_peer(clients.key("OPENALEX_API_KEY"), contact=clients.settings.contact_email)
    return OpenAlexSearch(http=clients.http, peer=_paced(peer, clients.settings))


def _crossref(clients: Clients) -> SearchProvider:
    peer = crossref_peer(contact=clients.settings.contact_email)
    return CrossrefSearch(http=clients.http, peer=_paced(peer, clients.settings))


def _pubmed(clients: Clients) -> SearchProvider:
    peer = pubmed_peer(clients.key("NCBI_API_KEY"), contact=clients.settings.contact_email)
    return PubmedSearch(http=clients.http, peer=_paced(peer, clients.settings))


def _wikipedia(clients: Clients) -> SearchProvider:
    language = clients.settings.wikipedia_language
    peer = wikipedia_peer(language, contact=clients.settings.contact_email)
    return WikipediaSearch(http=clients.http, peer=_paced(peer, clients.settings), language=language)


def _searxng(clients: Clients) -> SearchProvider:
    if clients.settings.searxng_url is None:
        raise NoProvider("search searxng: searxng_url is not set", help="set it to your server's address")
    return SearxngSearch(http=clients.http, peer=_paced(searxng_peer(clients.settings.searxng_url), clients.settings))


_OVER_HTTP: Mapping[str, Callable[[Clients], SearchProvider]] = {
    "tavily": _tavily,
    "google": _google,
    "semantic_scholar": _semantic_scholar,
    "arxiv": _arxiv,
    "openalex": _openalex,
    "crossref": _crossref,
    "pubmed": _pubmed,
    "wikipedia": _wikipedia,
    "searxng": _searxng,
}


def _key(clients: Clients, name: str, variable: str) -> str:
    """The value of a key. A run that goes on needs the searches that it began with, so that none is left out here."""
    value = clients.key(variable)
    if value is None:
        raise NoProvider(f"search {name}: {variable} is not set", help=f"set {variable} in the environment")
    return value


def _paced(peer: Peer, settings: Settings) -> Peer:
    """The peer at the pace that the user set, if they did. The other searches' results wait for it, so not for long."""
    return replace(
        peer,
        per_second=settings.search_rate_limits.get(peer.name, peer.per_second),
        attempts=_ATTEMPTS,
        timeout_seconds=_TRY_SECONDS,
        budget_seconds=_ALL_TRIES_SECONDS,
    )
