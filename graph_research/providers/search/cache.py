"""Caches the answers of a search during a run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graph_research.providers.search.base import SearchHit, SearchProvider, SearchRequest


@dataclass(frozen=True, kw_only=True)
class CachedSearch:
    """A `SearchProvider` that caches the answers of `provider`, but not its errors. Equal requests wait for the first
    one; an answer with more results serves a request for fewer."""

    provider: SearchProvider
    _answers: dict[SearchRequest, tuple[int, Sequence[SearchHit]]] = field(default_factory=dict, init=False, repr=False)
    _turns: defaultdict[SearchRequest, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock), init=False, repr=False
    )

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def serves(self) -> frozenset[str]:
        return self.provider.serves

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """The answer, from the cache if possible."""
        same = replace(request, max_results=0, source_types=tuple(request.source_types), folders=tuple(request.folders))
        async with self._turns[same]:
            asked, hits = self._answers.get(same, (0, ()))
            if asked < request.max_results:
                asked, hits = request.max_results, await self.provider.search(request)
                self._answers[same] = (asked, hits)
            return hits[: request.max_results]
