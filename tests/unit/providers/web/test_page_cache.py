"""A page is fetched once a run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from graph_research.providers.errors import FetchRefused, ProviderUnavailable
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import Page
from graph_research.text.document import Document

URL = "https://example.org/a"


class Shelf:
    """Pages by address; `failures` are raised first, one a read. `opened` lets reads go on."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.read_urls: list[str] = []
        self.opened = asyncio.Event()
        self.opened.set()

    async def read(self, url: str) -> Page:
        self.read_urls.append(url)
        await self.opened.wait()
        if self.failures:
            raise self.failures.pop(0)
        return Page(url=url, content_type="text/html", document=Document(text=f"the page at {url}"))


async def test_two_topics_that_lead_to_one_page_fetch_it_once() -> None:
    shelf = Shelf()
    async with KeptPages(shelf) as pages:
        shelf.opened.clear()
        reads = [asyncio.create_task(pages.read(URL)) for _ in range(2)]
        await asyncio.sleep(0)
        shelf.opened.set()
        assert {page.document.text for page in await asyncio.gather(*reads)} == {f"the page at {URL}"}
        await pages.read(URL)

    assert shelf.read_urls == [URL]


async def test_the_time_of_reading_a_pdf_is_told_once() -> None:
    class OnePdf:
        async def read(self, url: str) -> Page:
            return Page(url=url, content_type="application/pdf", document=Document(text="It opened."), pdf_seconds=1.25)

    async with KeptPages(OnePdf()) as pages:
        both = await asyncio.gather(pages.read(URL), pages.read(URL))
        assert [page.pdf_seconds for page in [*both, await pages.read(URL)]] == [1.25, None, None]


async def test_who_leaves_does_not_end_the_read_of_the_others() -> None:
    shelf = Shelf()
    async with KeptPages(shelf) as pages:
        shelf.opened.clear()
        leaving, staying = (asyncio.create_task(pages.read(URL)) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.sleep(0)
        shelf.opened.set()
        assert (await staying).url == URL

    assert shelf.read_urls == [URL]


async def test_a_page_that_was_out_of_reach_is_tried_again_and_a_refused_one_is_not() -> None:
    shelf = Shelf(ProviderUnavailable("later", provider="fetch"), FetchRefused("never", provider="fetch"))
    async with KeptPages(shelf) as pages:
        with pytest.raises(ProviderUnavailable):
            await pages.read(URL)
        for _ in range(2):
            with pytest.raises(FetchRefused):
                await pages.read(URL)

    assert len(shelf.read_urls) == 2


class Moved(Shelf):
    """Every address leads to `URL`."""

    async def read(self, url: str) -> Page:
        return replace(await super().read(url), url=URL)


async def test_a_page_that_another_address_led_to_is_not_read_again() -> None:
    shelf = Moved()
    async with KeptPages(shelf) as pages:
        await pages.read("https://example.org/old")
        await pages.read(URL)

    assert shelf.read_urls == ["https://example.org/old"]


@dataclass(frozen=True)
class Recorded:
    """A call of the journal."""

    kind: str
    status: str
    request: Any
    answer: Any


async def test_what_an_earlier_process_read_is_not_fetched() -> None:
    shelf = Shelf()
    document = Document(text="as it was", title="A")
    answer = {"url": URL, "content_type": "text/html", "text": document.text, "layout": document.layout()}
    calls = [
        Recorded("model", "answered", {}, {"text": "x"}),
        Recorded("fetch", "lost", {"url": f"{URL}b"}, None),
        Recorded("fetch", "answered", {"url": URL}, answer),
    ]
    async with KeptPages(shelf) as pages:
        pages.keep_recorded(calls)

        assert (await pages.read(URL)).document == document
        assert (await pages.read(f"{URL}b")).document.text == f"the page at {URL}b"

    assert shelf.read_urls == [f"{URL}b"]


async def test_a_read_that_is_under_way_at_the_end_is_given_up() -> None:
    shelf = Shelf()
    async with KeptPages(shelf) as pages:
        shelf.opened.clear()
        waiting = asyncio.create_task(pages.read(URL))
        await asyncio.sleep(0)

    with pytest.raises(asyncio.CancelledError):
        await waiting
