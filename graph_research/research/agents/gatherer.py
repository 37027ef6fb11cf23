"""The gatherer: one search over all providers becomes archived, scored sources. It asks no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import ProviderError, ProviderUnavailable
from graph_research.providers.search.base import SearchHit
from graph_research.research.models.source import Source, Tier
from graph_research.research.scoring.source import score_source
from graph_research.research.scoring.tiers import preliminary_quality, tier_of_address
from graph_research.research.searching import FoundHit, Searched, search_everywhere
from graph_research.research.services import Services
from graph_research.text.document import source_id

__all__ = ["gatherer"]

_ALONE = {"sub_query": {"id": "sq-1-1"}, "iteration": 1, "max_sources_per_query": 5}


def gatherer(services: Services) -> Handler:
    """Search once for `query`. Raises when every provider failed: then the graph marks the sub-query as failed.

    `query` alone is enough; without a `sub_query` it is its own, and at most 5 sources are kept.
    """

    async def search(given: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        handoff = {**_ALONE, **given}
        searched = await search_everywhere(
            services.search,
            handoff["query"],
            ctx,
            max_results=handoff["max_sources_per_query"],
            source_types=handoff.get("source_types") or services.settings.source_types,
            folders=services.settings.folders,
        )
        if searched.all_failed:
            raise _nobody_answered(handoff["query"], searched)
        fresh, duplicates = _distinct(searched.hits, handoff.get("known") or ())
        kept = fresh[: handoff["max_sources_per_query"]]
        now = ctx.now()
        sources = [_source(found, handoff, ctx, now, services.settings.content_chars) for found in kept]
        return {
            "sub_query_id": handoff["sub_query"]["id"],
            "sources": [source.to_json() for source in sources],
            "stats": {
                "queries_executed": searched.asked - len(searched.errors),
                "queries_failed": len(searched.errors),
                "sources_collected": len(sources),
                "duplicates_skipped": duplicates,
            },
            "failures": [{"sub_query_id": handoff["sub_query"]["id"], **failure} for failure in searched.failures],
        }

    return search


def _nobody_answered(query: str, searched: Searched) -> ProviderError:
    told = "; ".join(f"{failure['provider']}: {failure['message']}" for failure in searched.failures)
    retry = any(isinstance(error, ProviderUnavailable) for error in searched.errors)
    return (ProviderUnavailable if retry else ProviderError)(
        f'no search provider answered "{query[:80]}": {told or "none is configured"}',
        provider="search",
        help="see `graph-research doctor`",
    )


def _distinct(hits: Sequence[FoundHit], known: Sequence[Mapping[str, Any]]) -> tuple[list[FoundHit], int]:
    """The hits by relevance without those whose address or text is known or came before, and how many were left out."""
    urls = {row["url"] for row in known if row["url"]}
    texts = {row["archive_hash"] for row in known}
    fresh: list[FoundHit] = []
    ranked = sorted(enumerate(hits), key=lambda pair: (-pair[1].hit.relevance, pair[0]))
    for _, found in ranked:
        hit = found.hit
        if not hit.document.text.strip():
            continue
        if (hit.url and hit.url in urls) or hit.document.hash in texts:
            continue
        urls.add(hit.url or "")
        texts.add(hit.document.hash)
        fresh.append(found)
    return fresh, len(hits) - len(fresh)


def _source(found: FoundHit, handoff: Mapping[str, Any], ctx: Context, now: datetime, content_chars: int) -> Source:
    """The hit as a source, its text and layout archived with the node's commit."""
    hit = found.hit
    tier = _tier(hit)
    return Source(
        id=source_id(hit.url, hit.document.text),
        sub_query_id=handoff["sub_query"]["id"],
        title=found.title or hit.url or "Untitled",
        url=hit.url,
        snippet=hit.snippet,
        content=found.shown(content_chars),
        content_type=hit.content_type,
        quality=preliminary_quality(tier),
        tier=tier,
        score=score_source(tier=tier, relevance=hit.relevance, published_at=hit.published_at, now=now),
        authors=list(hit.authors),
        publisher=hit.publisher,
        published_at=hit.published_at,
        retrieved_at=now.isoformat(),
        doi=hit.doi,
        provider=hit.provider,
        iteration=handoff["iteration"],
        archive_hash=ctx.put_text(hit.document.text),
        layout_hash=ctx.put_text(orjson.dumps(hit.document.layout()).decode()),
        characters=len(hit.document.text),
        metadata={
            **hit.metadata,
            "passages": [[passage.start, passage.end, passage.score] for passage in hit.passages],
        },
    )


def _tier(hit: SearchHit) -> Tier:
    """What the provider knows, else what the address suggests; never the document's own words (decision B31)."""
    if hit.tier is not None and hit.tier in Tier.__members__:
        return Tier(hit.tier)
    return tier_of_address(hit.url)
