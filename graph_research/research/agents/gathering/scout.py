"""The scout: what a search for the question itself finds, before it is planned. It asks no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.search.base import LOCAL
from graph_research.research.llm.phase_budget import material_chars
from graph_research.research.llm.services import Services
from graph_research.research.retrieval.excerpts import excerpt_of
from graph_research.research.retrieval.search import is_local, mixed, search_everywhere
from graph_research.research.scoring.versions import versions_in

_VERSION_CHARS = 20_000
"""How much of a document is read for versions: a longer list of releases begins with the newest."""


def scout(services: Services) -> Handler:
    """Passages of the first hits, as long as a plan's prompt has room for, and the titles of further ones where only
    the library is searched; of each the versions that it names. Where the web is searched beside local documents these
    are not searched: what a plan asks is sent over the web."""

    async def find(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        settings = services.settings
        if not settings.scouting:
            return {"background": []}
        watched = mixed(services.search) and not settings.allow_local_terms_in_web_queries
        searched = await search_everywhere(
            [provider for provider in services.search if not watched or provider.name != LOCAL],
            handoff["original_query"],
            ctx,
            max_results=settings.scouting_titles if is_local(services.search) else settings.scouting_results,
            source_types=handoff.get("source_types") or settings.source_types,
            folders=settings.folders,
            seconds=settings.search_timeout,
            rules=settings.rules,
        )
        room = material_chars(services, "research", "planning", handoff.get("model_windows"))
        most = settings.content_chars
        shown = settings.scouting_results
        each = most if room is None else min(most, room // max(len(searched.hits[:shown]), 1))
        return {
            "background": [
                {
                    "title": hit.title or hit.document.title,
                    "text": excerpt_of(hit, each) if place < shown else "",
                    "versions": versions_in(
                        handoff["original_query"], hit.title, hit.publisher, hit.document.text[:_VERSION_CHARS]
                    ),
                }
                for place, hit in enumerate(searched.hits)
            ]
        }

    return find
