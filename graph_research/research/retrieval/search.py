"""One query to every search provider that serves it, through the journal; what each found, and who failed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from graph_research.graph.context import Context
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import ProviderError, ProviderUnavailable
from graph_research.providers.http.telemetry import request_purpose
from graph_research.providers.search.base import LOCAL, Passage, SearchHit, SearchProvider, SearchRequest
from graph_research.research.retrieval.query_privacy import LimitedQuery, PublicWords
from graph_research.research.retrieval.rank_fusion import fuse
from graph_research.research.source_rules import ExcludedSource, SourceRules, sift
from graph_research.text.document import Document

_HEAD = ("provider", "title", "url", "snippet", "relevance")
_TAIL = ("tier", "publisher", "authors", "published_at", "doi", "content_type", "metadata")
"""Fields of a hit before and after its document, in the order in which they are recorded."""

_WISHES = ("language", "allow_domains", "deny_domains", "first_day", "last_day")
"""Fields of a request that are recorded where they are not empty."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """`lists` holds the hits of each provider that answered, in the configured order; `failures` as the state keeps
    them. `asked` and `skipped` are names: skipped are those that serve none of the source types, and those to which
    nothing of the query may be sent. `withheld` are the words that were taken out of what was sent over the web,
    `excluded` the hits that the source rules do not allow."""

    lists: tuple[tuple[SearchHit, ...], ...]
    failures: tuple[dict[str, str], ...]
    errors: tuple[ProviderError, ...]
    asked: tuple[str, ...]
    skipped: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    excluded: tuple[ExcludedSource, ...] = ()

    @property
    def all_failed(self) -> bool:
        return not self.lists

    @property
    def hits(self) -> tuple[SearchHit, ...]:
        """Every document once, best first."""
        return tuple(document.hit for document in fuse(self.lists))


async def search_everywhere(
    providers: Sequence[SearchProvider],
    query: str,
    ctx: Context,
    *,
    max_results: int,
    source_types: Sequence[str],
    folders: Sequence[str] = (),
    language: str = "",
    seconds: float = 60.0,
    public: PublicWords | None = None,
    most_over_web: int | None = None,
    rules: SourceRules | None = None,
) -> Searched:
    """Ask all providers that serve one of `source_types` at once, each for at most `seconds`. One that fails is
    recorded; the others' hits count.

    Where `public` is given, providers other than `local` are sent only its words. `most_over_web` is asked of them
    instead of `max_results`. `language` is that of the question, in which `local` gives pages. Where `rules` exclude
    sources, providers without an allowed kind are not asked, and twice as many results are asked for.
    """
    ruled = rules or SourceRules()
    allowed = [provider for provider in providers if not ruled.source_kinds or ruled.kinds_of(provider)]
    serving, skipped = routed(allowed, source_types)
    skipped = (*(provider.name for provider in providers if provider not in allowed), *skipped)
    limited = LimitedQuery(query=query) if public is None else public.limited(query)
    asked = [provider for provider in serving if provider.name == LOCAL or limited.query]
    wishes = _wishes(ruled, source_types)
    times = 2 if ruled.excludes else 1
    requests = [
        SearchRequest(query=query, max_results=times * max_results, folders=tuple(folders), language=language, **wishes)
        if provider.name == LOCAL
        else SearchRequest(query=limited.query, max_results=times * (most_over_web or max_results), **wishes)
        for provider in asked
    ]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_ask(provider, request, ctx, seconds))
            for provider, request in zip(asked, requests, strict=True)
        ]
    answers = [task.result() for task in tasks]
    errors = [(place, answer) for place, answer in enumerate(answers) if isinstance(answer, ProviderError)]
    over_web = any(provider.name != LOCAL for provider in serving)
    sifted = [sift(answer, ruled) for answer in answers if not isinstance(answer, ProviderError)]
    return Searched(
        lists=tuple(hits for hits, _ in sifted),
        excluded=tuple(excluded for _, left_out in sifted for excluded in left_out),
        failures=tuple(_failure(asked[place].name, requests[place].query, error) for place, error in errors),
        errors=tuple(error for _, error in errors),
        asked=tuple(provider.name for provider in asked),
        skipped=(*skipped, *(provider.name for provider in serving if provider not in asked)),
        withheld=limited.withheld if over_web else (),
    )


def _wishes(rules: SourceRules, source_types: Sequence[str]) -> dict[str, Any]:
    """The fields of a request that the rules fill, and its source types: those that the rules allow, or all where they
    allow none of them."""
    kinds = [kind for kind in source_types if not rules.source_kinds or kind in rules.source_kinds]
    return {
        "source_types": tuple(kinds or source_types),
        "allow_domains": rules.allow_domains,
        "deny_domains": rules.deny_domains,
        "first_day": rules.first_day,
        "last_day": rules.last_day,
    }


def mixed(providers: Sequence[SearchProvider]) -> bool:
    """Whether local documents are searched beside something else, so that words of the documents could get into queries
    over the web."""
    names = {provider.name for provider in providers}
    return LOCAL in names and len(names) > 1


def is_local(providers: Sequence[SearchProvider]) -> bool:
    """Whether only the library on this machine is searched."""
    return {provider.name for provider in providers} == {LOCAL}


def routed(
    providers: Sequence[SearchProvider], source_types: Sequence[str]
) -> tuple[list[SearchProvider], tuple[str, ...]]:
    """The providers that serve one of the types, and the names of the others. Where none does, all are asked: what
    they have is better than nothing."""
    wanted = frozenset(source_types)
    serving = [provider for provider in providers if provider.serves & wanted]
    if not serving:
        return list(providers), ()
    return serving, tuple(provider.name for provider in providers if not provider.serves & wanted)


async def _ask(
    provider: SearchProvider, request: SearchRequest, ctx: Context, seconds: float
) -> list[SearchHit] | ProviderError:
    recorded = {
        "provider": provider.name,
        "query": request.query,
        "max_results": request.max_results,
        "source_types": list(request.source_types),
        "folders": list(request.folders),
        **{name: value for name in _WISHES if (value := getattr(request, name))},
    }
    try:
        answer = await ctx.call(CallKind.SEARCH.value, recorded, partial(_search, provider, request, seconds))
    except ProviderError as error:
        return error
    return [_hit(row) for row in answer]


async def _search(provider: SearchProvider, request: SearchRequest, seconds: float) -> list[dict[str, Any]]:
    try:
        async with asyncio.timeout(seconds):
            with request_purpose("search"):
                return [_row(hit) for hit in await provider.search(request)]
    except TimeoutError as error:
        raise ProviderUnavailable(
            f"{provider.name} took longer than {seconds:g} seconds",
            provider=provider.name,
            help="raise search_timeout, or leave this provider out",
        ) from error


def _failure(provider: str, query: str, error: ProviderError) -> dict[str, str]:
    return {"query": query, "provider": provider, "error": type(error).__name__, "message": str(error)}


def _row(hit: SearchHit) -> dict[str, Any]:
    """The hit as it is recorded: its layout as a text, of which a run keeps one however often the document is found."""
    document = {
        "text": hit.document.text,
        "layout": orjson.dumps(hit.document.layout()).decode(),
        "passages": [[passage.start, passage.end, passage.score] for passage in hit.passages],
    }
    head, tail = ({name: getattr(hit, name) for name in names} for names in (_HEAD, _TAIL))
    return {**head, **document, **tail, "authors": list(hit.authors)}


def _hit(row: Mapping[str, Any]) -> SearchHit:
    facts = {name: row[name] for name in (*_HEAD, *_TAIL)}
    return SearchHit(
        **facts | {"authors": tuple(row["authors"]), "metadata": dict(row["metadata"])},
        document=Document.from_layout(row["text"], orjson.loads(row["layout"])),
        passages=tuple(Passage(start=start, end=end, score=score) for start, end, score in row["passages"]),
    )
