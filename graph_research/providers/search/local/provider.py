"""The search provider `local`: a library behind the seam that every search has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph_research.providers.search.base import LOCAL, SOURCE_TYPES, SearchHit, SearchRequest
from graph_research.providers.search.local.library import Library
from graph_research.providers.search.local.records import FoundDocument


class LocalSearch:
    """Searches the library's index; nothing goes over a network. `folders` confine it where a request names none."""

    def __init__(self, library: Library, *, folders: Sequence[str | Path] = ()) -> None:
        self._library = library
        self._folders = tuple(folders)

    @property
    def name(self) -> str:
        return LOCAL

    @property
    def serves(self) -> frozenset[str]:
        """A library may hold sources of every kind."""
        return SOURCE_TYPES

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        found = await self._library.find(
            request.query,
            folders=tuple(request.folders) or self._folders,
            limit=request.max_results,
            language=request.language,
        )
        return [_hit(one) for one in found]


def _hit(found: FoundDocument) -> SearchHit:
    facts = found.facts
    best = found.passages[0]
    return SearchHit(
        provider=LOCAL,
        title=facts.title,
        url=facts.url,
        snippet=found.document.text[best.start : best.end],
        relevance=found.relevance,
        document=found.document,
        passages=tuple(found.passages),
        tier=facts.tier,
        publisher=facts.publisher or found.document.publisher or None,
        authors=tuple(facts.authors) or found.document.authors,
        published_at=facts.published_at,
        doi=facts.doi,
        content_type=facts.content_type,
        metadata={
            **({"library": facts.library} if facts.library else {}),
            **({"licence": facts.licence} if facts.licence else {}),
            **({"superseded": facts.superseded} if facts.superseded is not None else {}),
            **({"page": facts.page} if facts.page is not None else {}),
            "bytes_hash": f"sha256:{facts.bytes_hash}",
        },
    )
