"""Each page of a run is fetched once, however many of its topics lead to it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.pages import Page, PageReader

__all__ = ["KeptPages"]

_MOST_PAGES = 1_000


class KeptPages:
    """A `PageReader` that remembers. Who asks for a page that is being read waits for it; who leaves does not end it.

    What could not be read is remembered too, unless another try may help (`ProviderUnavailable`). An async context
    manager: what is still being read when it ends is given up.
    """

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self._kept: dict[str, Page] = {}
        self._reads: dict[str, asyncio.Task[Page]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        reads = list(self._reads.values())
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)

    def keep(self, url: str, page: Page) -> None:
        """Remember a page that the run read in an earlier process."""
        if len(self._kept) < _MOST_PAGES:
            self._kept[url] = page

    async def read(self, url: str) -> Page:
        """The page, from memory where it was read before."""
        kept = self._kept.get(url)
        if kept is not None:
            return kept
        read = self._reads.get(url)
        if read is None or _is_worth_another_try(read):
            read = self._reads[url] = asyncio.create_task(self._reader.read(url))
        page = await asyncio.shield(read)
        self.keep(url, page)
        return page


def _is_worth_another_try(read: asyncio.Task[Page]) -> bool:
    return read.done() and (read.cancelled() or isinstance(read.exception(), ProviderUnavailable))
