"""The gatherer: one search over all providers becomes archived, scored sources. It asks no model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import BudgetReached, ProviderError, ProviderUnavailable
from graph_research.providers.search.base import LOCAL, Extent, SearchHit, SearchProvider
from graph_research.research.llm.services import Services
from graph_research.research.models.source import Quality, RetrievalMethod, Source, Tier
from graph_research.research.research_settings import ResearchSettings
from graph_research.research.retrieval.deduplication import Identity, Seen, canonical_url
from graph_research.research.retrieval.excerpts import excerpt_of
from graph_research.research.retrieval.page_fetch import FetchedPages, PagePolicy, fetch_pages
from graph_research.research.retrieval.query_privacy import PublicWords, word_list
from graph_research.research.retrieval.rank_fusion import FusedHit, fuse
from graph_research.research.retrieval.screening import screened
from graph_research.research.retrieval.search import Searched, mixed, search_everywhere
from graph_research.research.scoring.source import score_source
from graph_research.research.scoring.tiers import is_makers_site, preliminary_quality, tier_of_address
from graph_research.research.scoring.versions import versions_in
from graph_research.research.source_rules import ExcludedSource, SourceRules, sift
from graph_research.text.document import source_id
from graph_research.text.language.tags import question_language
from graph_research.text.relevance.query import parse

_ALONE = {"sub_query": {"id": "sq-1-1"}, "iteration": 1, "max_sources_per_query": 5}
_OF_ONE_THING = 2
"""Documents of the library that are taken for each thing that a sub-query looks for."""
_FIDELITY: Mapping[Extent, str] = {
    Extent.FULL: "full",
    Extent.ABSTRACT: "key_points",
    Extent.SNIPPET: "headline",
    Extent.NOTHING: "headline",
}
"""How much of a source is known, as a fidelity level."""


def gatherer(services: Services) -> Handler:
    """Search once for `query`. Raises when every provider failed: then the graph marks the sub-query as failed.

    At most `max_sources_per_query` sources are taken (5 without a `sub_query`), none of those in `known`, which earlier
    searches of the sub-query found. The library is also searched for each thing that the sub-query looks for, with its
    own query, and the `_OF_ONE_THING` best documents are taken for each. Where local documents may have been read, web
    queries are limited to public words.
    """

    async def search(handed: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        handoff = {**_ALONE, **handed}
        most = handoff["max_sources_per_query"]
        is_watched = _is_watched(services)
        limits = is_watched and handoff.get("local_read", True)
        rules = rules_of(handoff, services.settings.rules)
        looked_for = _looked_for(handoff, services.search)
        reading = _reading(services, most, rules)
        search_for = _searching(services, handoff, rules, ctx)
        searched = await search_for(
            services.search,
            handoff["query"],
            max_results=most + -(-most // 2),
            public=PublicWords(await _public_texts(handoff, ctx)) if limits else None,
            most_over_web=reading.most if reading else None,
        )
        if searched.all_failed:
            raise _nobody_answered(handoff["query"], searched)
        further = await _looked_up(search_for, services.search, looked_for)
        rows = handoff.get("known") or ()
        known = _seen(rows)
        fused = _unknown(fuse(searched.lists, rules.flagged_domains), known)
        followed = await fetch_pages(fused, handoff["query"], ctx, reading)
        allowed, excluded = _allowed(followed.fused, rules)
        before = [Source.model_validate(row) for row in rows]
        texts = await _texts_of_libraries(before, ctx)
        kept = screened(_distinct(allowed, known), texts)
        kept = sorted(kept, key=lambda judged: not rules.protects(judged[0].hit))
        taken = [*kept[:most], *_beside(kept[:most], further, _seen(rows), rules, texts)]
        now = ctx.now()
        sources = [
            _source(document.hit, names_only, handoff, ctx, now, services.settings, rules)
            for document, names_only in taken
        ]
        failures = (*searched.failures, *(row for one in further for row in one.failures), *followed.failures)
        return {
            "sub_query_id": handoff["sub_query"]["id"],
            "sources": [source.to_json() for source in sources],
            "stats": _stats(searched, further, taken=len(sources), distinct=len(excluded) + len(kept)),
            "failures": [{"sub_query_id": handoff["sub_query"]["id"], **failure} for failure in failures],
            "searches": [_account(handoff, searched, followed, (*searched.excluded, *excluded), looked_for)],
            "web_words": _web_words(handoff, searched, followed, ctx, limits) if is_watched else [],
        }

    return search


def rules_of(handoff: Mapping[str, Any], rules: SourceRules | None = None) -> SourceRules:
    """The rules for sources of a search: those of the settings with those of its node. Raises what they do."""
    return (rules or SourceRules()).joined(handoff.get("source_rules") or {})


def _searching(
    services: Services, handoff: Mapping[str, Any], rules: SourceRules, ctx: Context
) -> Callable[..., Coroutine[Any, Any, Searched]]:
    """`search_everywhere` for one sub-query."""
    return partial(
        search_everywhere,
        ctx=ctx,
        source_types=handoff.get("source_types") or services.settings.source_types,
        folders=services.settings.folders,
        language=question_language(handoff.get("original_query") or handoff["query"]),
        seconds=services.settings.search_timeout,
        rules=rules,
    )


def _stats(searched: Searched, further: Sequence[Searched], *, taken: int, distinct: int) -> dict[str, int]:
    """The numbers of a search that found so many `distinct` documents, of which some are `taken`."""
    return {
        "queries_executed": len(searched.asked) - len(searched.errors) + sum(len(one.lists) for one in further),
        "queries_failed": len(searched.errors),
        "sources_collected": taken,
        "duplicates_skipped": sum(map(len, searched.lists)) - distinct,
    }


def _is_watched(services: Services) -> bool:
    """Whether web queries must be kept from holding words of local documents."""
    return mixed(services.search) and not services.settings.allow_local_terms_in_web_queries


async def _public_texts(handoff: Mapping[str, Any], ctx: Context) -> list[str]:
    """The public texts of a run: the question with the user's answers in it, and the words of web results so far."""
    lists = [await ctx.get_text(text_hash) for text_hash in dict.fromkeys(handoff.get("web_words") or ())]
    return [handoff.get("original_query") or "", *lists]


def _web_words(
    handoff: Mapping[str, Any], searched: Searched, followed: FetchedPages, ctx: Context, limits: bool
) -> list[str]:
    """The words that are public by this search, stored as one text: those of its web results, and its own where it
    went out as it was. The other fields of a merged hit may come from the local library."""
    hits = [hit for hits in searched.lists for hit in hits if hit.provider != LOCAL]
    pages = [fused.hit.document for fused in followed.fused if fused.hit.provider != LOCAL]
    texts = [f"{hit.title}\n{hit.snippet}\n{hit.document.text}" for hit in hits]
    texts += [f"{page.title}\n{page.text}" for page in pages]
    if not limits:
        texts.append(handoff["query"])
    return [ctx.put_text(word_list(texts))] if texts else []


def _reading(services: Services, most: int, rules: SourceRules) -> PagePolicy | None:
    settings = services.settings
    if services.pages is None or not (settings.follow_links or settings.fetch_pdfs):
        return None
    return PagePolicy(
        pages=services.pages,
        most=2 * most,
        at_once=settings.max_concurrent,
        seconds=settings.page_timeout,
        links=settings.follow_links,
        pdfs=settings.fetch_pdfs,
        flagged=rules.flagged_domains,
    )


def _allowed(fused: Sequence[FusedHit], rules: SourceRules) -> tuple[list[FusedHit], tuple[ExcludedSource, ...]]:
    """The documents that may be used by what their pages say, and the others with their reasons."""
    hits, excluded = sift([document.hit for document in fused], rules, is_read=True)
    allowed = set(map(id, hits))
    return [document for document in fused if id(document.hit) in allowed], excluded


def _nobody_answered(query: str, searched: Searched) -> ProviderError:
    """Why no search has an answer: a limit of the run that left no room for one is itself the reason."""
    failed = [error for error in searched.errors if not isinstance(error, BudgetReached)]
    if searched.errors and not failed:
        return searched.errors[0]
    reason = "; ".join(failure["message"] for failure in searched.failures)
    if not searched.asked and searched.skipped and not searched.withheld:
        reason = "source_kinds allows none of the searches"
    if searched.withheld and not searched.asked:
        reason = "all of its words stand in local documents only, so none of them was sent over the web"
    retry = any(isinstance(error, ProviderUnavailable) for error in searched.errors)
    return (ProviderUnavailable if retry else ProviderError)(
        f'no search provider answered "{query[:80]}": {reason or "none is configured"}',
        provider="search",
        help="check the keys and addresses of the search providers",
    )


def _looked_for(handoff: Mapping[str, Any], providers: Sequence[SearchProvider]) -> list[str]:
    """What the library is searched for beside the query: all that the sub-query looks for, with its own query."""
    is_own = handoff["query"] == handoff["sub_query"].get("query")
    is_searched = any(provider.name == LOCAL for provider in providers)
    return list(handoff["sub_query"].get("look_for") or ()) if is_own and is_searched else []


async def _looked_up(
    search_for: Callable[..., Coroutine[Any, Any, Searched]], providers: Sequence[SearchProvider], texts: Sequence[str]
) -> list[Searched]:
    """What the library has on each of the texts."""
    library = [provider for provider in providers if provider.name == LOCAL]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(search_for(library, text, max_results=_OF_ONE_THING)) for text in texts]
    return [task.result() for task in tasks]


def _beside(
    taken: Sequence[tuple[FusedHit, bool]],
    further: Sequence[Searched],
    known: Seen,
    rules: SourceRules,
    texts: Sequence[tuple[str, str]],
) -> list[tuple[FusedHit, bool]]:
    """The documents of `further` searches beside those that are `taken`, in the same form, and beside the `texts` of
    libraries that are known."""
    for document, _ in taken:
        for hit in document.hits:
            known.add(Identity.of_hit(hit), hit.url or hit.document.hash)
    lists = [hits[:_OF_ONE_THING] for searched in further for hits in searched.lists]
    fused = _unknown(fuse(lists, rules.flagged_domains), known)
    held = [(document.hit.metadata.get("library") or "", document.hit.document.text) for document, _ in taken]
    return screened(_distinct(_allowed(fused, rules)[0], known), [*texts, *held])


def _seen(known: Sequence[Mapping[str, Any]]) -> Seen:
    """What earlier searches of the topic found."""
    seen = Seen()
    for row in known:
        seen.add(Identity.of_source(row), row["id"])
    return seen


def _unknown(fused: Sequence[FusedHit], seen: Seen) -> list[FusedHit]:
    """The documents that were not met before."""
    return [document for document in fused if all(seen.find(Identity.of_hit(hit)) is None for hit in document.hits)]


async def _texts_of_libraries(sources: Sequence[Source], ctx: Context) -> list[tuple[str, str]]:
    """The library and the text of each source that comes from a library."""
    return [(source.folder, await ctx.get_text(source.archive_hash)) for source in sources if source.folder]


def _distinct(fused: Sequence[FusedHit], known: Seen) -> list[FusedHit]:
    """The documents with a text, without those that turned out to be another one once their pages were read."""
    kept: list[FusedHit] = []
    for candidate in fused:
        hit = candidate.hit
        address = hit.metadata.get("read_at")
        identities = [Identity.of_hit(hit), *([Identity(url=canonical_url(address))] if address else [])]
        if not hit.document.text.strip() or any(known.find(identity, titles=False) for identity in identities):
            continue
        for identity in identities:
            known.add(identity, hit.url or hit.document.hash)
        kept.append(candidate)
    return kept


def _account(
    handoff: Mapping[str, Any],
    searched: Searched,
    followed: FetchedPages,
    excluded: Sequence[ExcludedSource],
    looked_for: Sequence[str],
) -> dict[str, Any]:
    """What one search sent to which providers, and what became of the pages, for the statistics of the report."""
    return {
        "sub_query_id": handoff["sub_query"]["id"],
        "query": handoff["query"],
        "asked": list(searched.asked),
        "skipped": list(searched.skipped),
        "withheld": list(searched.withheld),
        "pages_read": list(followed.read),
        "pages_failed": [failure["url"] for failure in followed.failures],
        "excluded": [source.to_json() for source in excluded],
        "looked_for": list(looked_for),
    }


def _source(
    hit: SearchHit,
    names_only: bool,
    handoff: Mapping[str, Any],
    ctx: Context,
    now: datetime,
    settings: ResearchSettings,
    rules: SourceRules,
) -> Source:
    """The hit as a source, its text and layout archived with the node's commit."""
    question, folder = handoff.get("original_query") or "", str(hit.metadata.get("library") or "")
    tier = _tier(hit, rules.flagged_domains, parse(question).names)
    published_at = hit.published_at or hit.document.date or None
    title = hit.title or hit.document.title or hit.url or "Untitled"
    versions = versions_in(question, title, hit.publisher, hit.document, folder=folder)
    return Source(
        id=source_id(canonical_url(hit.url) if hit.url else None, hit.document.text),
        sub_query_id=handoff["sub_query"]["id"],
        title=title,
        url=hit.url,
        snippet=hit.snippet,
        content=excerpt_of(hit, settings.content_chars),
        content_type=hit.content_type,
        quality=Quality.LOW if names_only else preliminary_quality(tier),
        tier=tier,
        score=score_source(tier=tier, relevance=hit.relevance, published_at=published_at, now=now),
        authors=list(hit.authors),
        publisher=hit.publisher,
        published_at=published_at,
        retrieved_at=now.isoformat(),
        doi=hit.doi,
        provider=hit.provider,
        retrieval_method=RetrievalMethod.RAG if hit.provider == LOCAL else RetrievalMethod.WEB,
        iteration=handoff["iteration"],
        archive_hash=ctx.put_text(hit.document.text),
        layout_hash=ctx.put_text(orjson.dumps(hit.document.layout()).decode()),
        characters=len(hit.document.text),
        fidelity=_FIDELITY[hit.extent],
        metadata={
            **hit.metadata,
            "lists_names": names_only,
            **({"versions": versions} if versions else {}),
            **({"protected": True} if rules.protects(hit) else {}),
            "passages": [[passage.start, passage.end, passage.score] for passage in hit.passages],
        },
    )


def _tier(hit: SearchHit, flagged: Collection[str], names: Collection[str]) -> Tier:
    """`FLAGGED` where the user flagged its domain, else what the provider knows, else what the address suggests, also
    that it is the site of a maker whom the question `names`; never what the document's own text says."""
    if any(tier_of_address(url, flagged) is Tier.FLAGGED for url in (hit.url, hit.metadata.get("read_at"))):
        return Tier.FLAGGED
    if hit.tier is not None and hit.tier in Tier.__members__:
        return Tier(hit.tier)
    tier = tier_of_address(hit.url)
    return Tier.AUTHORITATIVE if tier is Tier.UNVERIFIED and is_makers_site(hit.url, names) else tier
