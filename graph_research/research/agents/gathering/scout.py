"""The scout: what a search for the question itself finds, before it is planned. It asks no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.search.base import LOCAL, SearchHit
from graph_research.research.llm.phase_budget import material_chars
from graph_research.research.llm.services import Services
from graph_research.research.retrieval.excerpts import excerpt_of
from graph_research.research.retrieval.search import is_local, mixed, search_everywhere
from graph_research.research.scoring.versions import version_names, versions_in
from graph_research.text.language.tags import question_language
from graph_research.text.language.versions import highest_version, release_queries

_MOST_NAMES = 4
_OF_RELEASES = 40
"""Notes on releases are many and read alike: in PostgreSQL's manual the newest was found at places 13 and 34."""


def scout(services: Services) -> Handler:
    """Passages of the first hits, as long as a plan's prompt has room for, and the titles of further ones where only
    the library is searched; of each the versions that it names. Where the web is searched beside local documents these
    are not searched: what a plan asks is sent over the web. A library is also searched for the releases of each thing
    that the question names; the document with the highest version of it is there by its title."""

    async def find(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        settings = services.settings
        if not settings.scouting:
            return {"background": []}
        watched = mixed(services.search) and not settings.allow_local_terms_in_web_queries
        providers = [provider for provider in services.search if not watched or provider.name != LOCAL]
        question = handoff["original_query"]
        search = partial(
            search_everywhere,
            ctx=ctx,
            source_types=handoff.get("source_types") or settings.source_types,
            folders=settings.folders,
            seconds=settings.search_timeout,
            rules=settings.rules,
        )
        most = settings.scouting_titles if is_local(services.search) else settings.scouting_results
        searched = await search(providers, question, max_results=most)
        room = material_chars(services, "research", "planning", handoff.get("model_windows"))
        shown = settings.scouting_results
        hits = searched.hits[:most]
        each = (
            settings.content_chars if room is None else min(settings.content_chars, room // max(len(hits[:shown]), 1))
        )
        background = [
            _row(question, hit, excerpt_of(hit, each) if place < shown else "") for place, hit in enumerate(hits)
        ]
        library = [provider for provider in providers if provider.name == LOCAL]
        for name in version_names(question)[:_MOST_NAMES] if library else ():
            releases = [
                hit
                for query in release_queries(name, question_language(question))
                for hit in (await search(library, query, max_results=_OF_RELEASES)).hits
            ]
            background += _newest(name, [_row(question, hit) for hit in releases], background)
        return {"background": background}

    return find


def _row(question: str, hit: SearchHit, text: str = "") -> dict[str, Any]:
    folder = str(hit.metadata.get("library") or "")
    versions = versions_in(question, hit.title, hit.publisher, hit.document, folder=folder)
    return {"title": hit.title or hit.document.title, "text": text, "versions": versions}


def _newest(name: str, releases: Sequence[dict[str, Any]], known: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the documents on releases the one that names the highest version, if no document that is known names it."""
    highest = highest_version(row["versions"][name] for row in (*known, *releases) if name in row["versions"])
    if any(row["versions"].get(name) == highest for row in known):
        return []
    return [row for row in releases if row["versions"].get(name) == highest][:1]
