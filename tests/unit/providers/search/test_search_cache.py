"""The search cache: what is searched again, and what is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.providers.search.cache import CachedSearch
from graph_research.text.readers.plain import plain_document


class Shelf:
    """Has a document for every place, and says what it was asked; it fails at first where it is told to."""

    name = "shelf"
    serves = frozenset({"web"})

    def __init__(self, *, fails: int = 0) -> None:
        self.fails = fails
        self.asked: list[tuple[str, int]] = []

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        self.asked.append((request.query, request.max_results))
        await asyncio.sleep(0)
        if len(self.asked) <= self.fails:
            raise ProviderUnavailable("down", provider=self.name)
        document = plain_document("A text.")
        return [
            SearchHit(provider=self.name, title=f"{n}", url=None, snippet="", relevance=1.0, document=document)
            for n in range(request.max_results)
        ]


async def titles(search: CachedSearch, query: str = "q", most: int = 5) -> list[str]:
    return [hit.title for hit in await search.search(SearchRequest(query=query, max_results=most))]


async def test_the_same_request_is_made_once_also_at_the_same_time() -> None:
    shelf = Shelf()
    search = CachedSearch(provider=shelf)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(titles(search)) for _ in range(3)]
    assert all(task.result() == list("01234") for task in tasks)
    assert await titles(search, most=3) == list("012")
    assert (shelf.asked, search.name, search.serves) == ([("q", 5)], "shelf", frozenset({"web"}))


async def test_another_query_and_more_results_are_asked_for() -> None:
    shelf = Shelf()
    search = CachedSearch(provider=shelf)
    await titles(search, "a", 2)
    await titles(search, "b", 2)
    assert len(await titles(search, "a", 4)) == 4
    assert shelf.asked == [("a", 2), ("b", 2), ("a", 4)]


async def test_a_failure_is_not_remembered() -> None:
    shelf = Shelf(fails=1)
    search = CachedSearch(provider=shelf)
    with pytest.raises(ProviderUnavailable):
        await titles(search)
    assert len(await titles(search)) == 5
