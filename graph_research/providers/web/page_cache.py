"""Caches the pages of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.statuses import CallStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.web.fetcher import Validators
from graph_research.providers.web.page_reader import Page, PageReader
from graph_research.text.document import Document

_MOST_PAGES = 1_000


class KeptPages(AbstractAsyncContextManager["KeptPages"]):
    """A `PageCache` that reads each page once. Concurrent requests for a page share one read, which survives the
    cancellation of a requester; who asked first gets it with the time that it took.

    Errors are cached too, except `ProviderUnavailable`. An async context manager that cancels unfinished reads.
    """

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self._kept: dict[str, Page] = {}
        self._reads: dict[str, asyncio.Task[Page]] = {}

    async def __aexit__(self, *error: object) -> None:
        reads = list(self._reads.values())
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)

    def emptied(self) -> KeptPages:
        """An empty cache over the same reader."""
        return KeptPages(self._reader)

    def keep_recorded(self, calls: Iterable[CallRecord]) -> None:
        """Cache the pages that the run read in earlier processes, from its recorded calls of the kind `fetch`."""
        for call in calls:
            if call.kind == CallKind.FETCH and call.status == CallStatus.ANSWERED:
                answer = call.answer
                page = Page(
                    url=answer["url"],
                    content_type=answer["content_type"],
                    document=Document.from_layout(answer["text"], answer["layout"]),
                    bytes_hash=answer.get("bytes_hash"),
                    validators=Validators.of(answer.get("validators") or {}),
                )
                self.keep(call.request["url"], page)

    def keep(self, url: str, page: Page) -> None:
        """Cache a page under the address that was asked for and under the one that it led to."""
        for address in (url, page.url):
            if len(self._kept) < _MOST_PAGES:
                self._kept.setdefault(address, page)

    def is_kept(self, url: str) -> bool:
        """Whether the page is cached."""
        return url in self._kept

    async def read(self, url: str) -> Page:
        """The page, from the cache if possible."""
        kept = self._kept.get(url)
        if kept is not None:
            return kept
        read = self._reads.get(url)
        is_first = read is None or _is_worth_another_try(read)
        if read is None or is_first:
            read = self._reads[url] = asyncio.create_task(self._reader.read(url))
        page = await asyncio.shield(read)
        again = replace(page, pdf_seconds=None)
        self.keep(url, again)
        return page if is_first else again


def _is_worth_another_try(read: asyncio.Task[Page]) -> bool:
    return read.done() and (read.cancelled() or isinstance(read.exception(), ProviderUnavailable))
