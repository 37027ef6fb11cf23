"""What works on this machine and what is missing: the checks of `doctor`, and what this version can do at all."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from dataclasses import asdict, dataclass
from typing import Any

from graph_research.app.bibliography import BIBLIOGRAPHY_FORMATS
from graph_research.app.library import count_documents, pdf_child_works
from graph_research.app.models import MODEL_KINDS, build_router, default_models, default_roles
from graph_research.app.outside import open_outside
from graph_research.app.search import SEARCH_KINDS, build_searches, select_searches
from graph_research.app.store import open_store
from graph_research.app.workspace import Workspace
from graph_research.config import KEYS, ROLES, keys_present
from graph_research.errors import GraphResearchError

__all__ = ["Check", "capabilities", "examine"]

_OLDEST_PYTHON = (3, 11)
_ENOUGH_BYTES = 200_000_000


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at; `optional` is one that the main job does without."""

    name: str
    ok: bool
    text: str
    optional: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def examine(workspace: Workspace) -> list[Check]:
    """Every check, in the order in which they are shown."""
    return [
        _python(),
        _full_text_search(),
        _room(workspace),
        await _store(workspace),
        await _index(workspace),
        await _models(workspace),
        await _searches(workspace),
        await _pdf(),
        *_keys(workspace),
    ]


def capabilities(workspace: Workspace) -> dict[str, Any]:
    """Models, roles, searches, report formats and graphs, as `capabilities --json` prints them."""
    return {
        "models": dict(MODEL_KINDS),
        "roles": role_models(workspace),
        "search": dict(SEARCH_KINDS),
        "report_formats": ["md", "html", "json", *BIBLIOGRAPHY_FORMATS],
        "graph_formats": ["mermaid", "dot", "svg", "json"],
        "document_formats": ["md", "txt", "html", "pdf"],
        "graphs": workspace.graphs.names(),
    }


def role_models(workspace: Workspace) -> dict[str, str]:
    """The models behind each role as they are configured now, in fallback order."""
    named = workspace.settings.default_provider
    default = named or default_models(workspace.environ)
    own = {**({} if named else default_roles(workspace.environ)), **workspace.configuration.role_specs()}
    return {role: ", ".join(own.get(role, default)) for role in ROLES}


def _python() -> Check:
    version = platform.python_version()
    return Check(name="Python", ok=sys.version_info >= _OLDEST_PYTHON, text=f"{version} (3.11 or newer is needed)")


def _full_text_search() -> Check:
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    ok = "ENABLE_FTS5" in options
    return Check(name="SQLite", ok=ok, text=f"{sqlite3.sqlite_version}, FTS5 {'there' if ok else 'not compiled in'}")


def _room(workspace: Workspace) -> Check:
    """The home was made and written to when the workspace was opened; what is left is space."""
    status = os.statvfs(workspace.home.path)
    free = status.f_bavail * status.f_frsize
    return Check(
        name="data home", ok=free > _ENOUGH_BYTES, text=f"{workspace.home.path}, {free // 1_000_000:,} MB free"
    )


async def _store(workspace: Workspace) -> Check:
    try:
        async with open_store(workspace.home) as store:
            count = len(await store.runs())
    except GraphResearchError as error:
        return Check(name="run store", ok=False, text=str(error))
    return Check(name="run store", ok=True, text=f"{workspace.home.runs_db}, runs: {count}")


async def _index(workspace: Workspace) -> Check:
    try:
        count = await count_documents(workspace)
    except GraphResearchError as error:
        return Check(name="library index", ok=False, text=str(error))
    text = f"{count} documents" if count else "empty; fill it with: graph-research library add FOLDER"
    return Check(name="library index", ok=count > 0, text=text, optional=True)


async def _models(workspace: Workspace) -> Check:
    settings, own = workspace.settings, workspace.configuration.role_specs()
    try:
        async with open_outside(workspace) as outside:
            build_router(settings.default_provider or default_models(workspace.environ), own, outside)
    except GraphResearchError as error:
        return Check(name="models", ok=False, text=str(error))
    named = sorted(set(role_models(workspace).values()))
    return Check(name="models", ok=True, text="; ".join(named))


async def _searches(workspace: Workspace) -> Check:
    settings = workspace.settings
    try:
        chosen = await select_searches(workspace, settings.search_providers, settings.library)
        async with open_outside(workspace) as outside:
            build_searches(workspace, chosen.names, settings.library, outside)
    except GraphResearchError as error:
        return Check(name="search", ok=False, text=str(error))
    told = ", ".join(chosen.names) or "nothing yet; name --library DIR, or a search without a key: --search wikipedia"
    text = f"{told}; left out: {', '.join(chosen.skipped)}" if chosen.skipped else told
    return Check(name="search", ok=bool(chosen.names), text=text, optional=not chosen.names)


async def _pdf() -> Check:
    ok = await pdf_child_works()
    return Check(name="PDF", ok=ok, text="read in a limited child process" if ok else "the child process fails")


def _keys(workspace: Workspace) -> list[Check]:
    present = keys_present(workspace.environ)
    return [
        Check(
            name=name,
            ok=present[name],
            text=f"{'set' if present[name] else 'not set'}; for {adds}",
            optional=True,
        )
        for name, adds in KEYS.items()
    ]
