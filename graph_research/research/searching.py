"""One query to every search provider, through the journal: hits in a fixed order, failures kept beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.graph.context import Context
from graph_research.providers.errors import ProviderError
from graph_research.providers.search.base import Passage, SearchHit, SearchProvider, SearchRequest
from graph_research.text.document import Document

__all__ = ["FoundHit", "Searched", "search_everywhere"]


@dataclass(frozen=True, kw_only=True)
class FoundHit:
    """A hit as it came out of the journal."""

    hit: SearchHit

    @property
    def title(self) -> str:
        return self.hit.title or self.hit.document.title

    def shown(self, most_chars: int) -> str:
        """What a model is shown of the document, word for word: its best passages in the order of the text, else its
        beginning; at most `most_chars` characters."""
        text = self.hit.document.text
        chosen: list[Passage] = []
        left = most_chars
        for passage in sorted(self.hit.passages, key=lambda passage: (-passage.score, passage.start)):
            length = passage.end - passage.start
            if length <= left:
                chosen.append(passage)
                left -= length + 2
        if not chosen:
            start = self.hit.passages[0].start if self.hit.passages else 0
            return text[start : start + most_chars]
        return "\n\n".join(text[one.start : one.end] for one in sorted(chosen, key=lambda passage: passage.start))


@dataclass(frozen=True, kw_only=True)
class Searched:
    """`hits` by provider in the configured order, each provider's in its own; `failures` as the state keeps them."""

    hits: tuple[FoundHit, ...]
    failures: tuple[dict[str, str], ...]
    errors: tuple[ProviderError, ...]
    asked: int

    @property
    def all_failed(self) -> bool:
        return len(self.errors) == self.asked


async def search_everywhere(
    providers: Sequence[SearchProvider],
    query: str,
    ctx: Context,
    *,
    max_results: int,
    source_types: Sequence[str],
    folders: Sequence[str] = (),
) -> Searched:
    """Ask all providers at once. A provider that fails is recorded; the others' hits count."""
    request = SearchRequest(
        query=query, max_results=max_results, source_types=tuple(source_types), folders=tuple(folders)
    )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_ask(provider, request, ctx)) for provider in providers]
    answers = [task.result() for task in tasks]
    errors = [(providers[i].name, answer) for i, answer in enumerate(answers) if isinstance(answer, ProviderError)]
    return Searched(
        hits=tuple(hit for answer in answers if not isinstance(answer, ProviderError) for hit in answer),
        failures=tuple(_failure(name, query, error) for name, error in errors),
        errors=tuple(error for _, error in errors),
        asked=len(providers),
    )


async def _ask(provider: SearchProvider, request: SearchRequest, ctx: Context) -> list[FoundHit] | ProviderError:
    recorded = {
        "provider": provider.name,
        "query": request.query,
        "max_results": request.max_results,
        "source_types": list(request.source_types),
        "folders": list(request.folders),
    }
    try:
        answer = await ctx.call("search", recorded, _searching(provider, request))
    except ProviderError as error:
        return error
    return [FoundHit(hit=_hit(row)) for row in answer]


def _searching(provider: SearchProvider, request: SearchRequest) -> Callable[[], Awaitable[list[dict[str, Any]]]]:
    async def search() -> list[dict[str, Any]]:
        return [_row(hit) for hit in await provider.search(request)]

    return search


def _failure(provider: str, query: str, error: ProviderError) -> dict[str, str]:
    return {"query": query, "provider": provider, "error": type(error).__name__, "message": str(error)}


def _row(hit: SearchHit) -> dict[str, Any]:
    return {
        "provider": hit.provider,
        "title": hit.title,
        "url": hit.url,
        "snippet": hit.snippet,
        "relevance": hit.relevance,
        "text": hit.document.text,
        "layout": hit.document.layout(),
        "passages": [[passage.start, passage.end, passage.score] for passage in hit.passages],
        "tier": hit.tier,
        "publisher": hit.publisher,
        "authors": list(hit.authors),
        "published_at": hit.published_at,
        "doi": hit.doi,
        "content_type": hit.content_type,
        "metadata": hit.metadata,
    }


def _hit(row: Mapping[str, Any]) -> SearchHit:
    return SearchHit(
        provider=row["provider"],
        title=row["title"],
        url=row["url"],
        snippet=row["snippet"],
        relevance=row["relevance"],
        document=Document.from_layout(row["text"], row["layout"]),
        passages=tuple(Passage(start=start, end=end, score=score) for start, end, score in row["passages"]),
        tier=row["tier"],
        publisher=row["publisher"],
        authors=tuple(row["authors"]),
        published_at=row["published_at"],
        doi=row["doi"],
        content_type=row["content_type"],
        metadata=dict(row["metadata"]),
    )
