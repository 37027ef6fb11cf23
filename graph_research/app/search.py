"""Search providers by name: `local`, `scripted:FILE`, and a plain word on those this version does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_research.app.library import Indexing, add_folders, open_library, require_documents
from graph_research.app.outside import Outside
from graph_research.app.workspace import Workspace
from graph_research.providers.errors import NoProvider
from graph_research.providers.search.base import SOURCE_TYPES, SearchProvider
from graph_research.providers.search.local import Library, LocalSearch
from graph_research.providers.search.scripted import ScriptedSearch

__all__ = ["SEARCH_KINDS", "Searches", "build_searches", "serves_of"]

SEARCH_KINDS: Mapping[str, str] = {
    "local": "the local library: md, txt, html and pdf",
    "scripted": "scripted:FILE answers from a JSON file, for tests and your own graphs",
}
"""Every kind that can be built, and what it is."""

SERVES: Mapping[str, frozenset[str]] = {"local": SOURCE_TYPES, "scripted": SOURCE_TYPES}
"""By kind, the source types that it has."""

_LATER = ("tavily", "google", "semantic_scholar", "arxiv", "wikipedia", "openalex", "searxng", "mcp")


@dataclass(frozen=True, kw_only=True)
class Searches:
    """The providers of a run. `library` is the local one's, None where `local` is not among them."""

    providers: tuple[SearchProvider, ...]
    library: Library | None
    folders: tuple[Path, ...]

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


def build_searches(
    workspace: Workspace,
    names: Sequence[str],
    folders: Sequence[str],
    outside: Outside,  # noqa: ARG001 -- searches over HTTP are built with it
) -> Searches:
    """The providers that `names` mean, in that order; `folders` confine `local`. `NoProvider` names what is wrong."""
    if not names:
        raise NoProvider("no search provider is configured", help="use --search local, or set search_providers")
    resolved = tuple((workspace.folder / folder).resolve() for folder in folders)
    library = open_library(workspace) if "local" in names else None
    providers = tuple(_build(name, library, resolved) for name in dict.fromkeys(names))
    return Searches(providers=providers, library=library, folders=resolved)


def serves_of(kind: str) -> frozenset[str]:
    """The source types of a kind of search, without building one."""
    return SERVES.get(kind, SOURCE_TYPES)


def _build(name: str, library: Library | None, folders: Sequence[Path]) -> SearchProvider:
    kind, _, rest = name.partition(":")
    if library is not None and name == "local":
        return LocalSearch(library, folders=folders)
    if kind == "scripted" and rest:
        return ScriptedSearch.from_file(Path(rest))
    if kind in _LATER:
        raise NoProvider(f"search {kind!r} is not available in this version", help="use local or scripted:FILE")
    if kind == "scripted":
        raise NoProvider(f"search {name!r} names no file", help="write it as scripted:FILE")
    near = difflib.get_close_matches(kind, SEARCH_KINDS, n=1)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    raise NoProvider(f"no search provider {name[:80]!r}", help=f"{hint}use local or scripted:FILE")
