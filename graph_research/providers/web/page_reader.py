"""Reading the page behind a search hit: fetched safely, and made a document whatever its format."""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from graph_research.providers.errors import FetchRefused
from graph_research.providers.web.fetcher import Fetched, Validators
from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers import PDF, READERS
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.limits import Limits
from graph_research.text.readers.plain import plain_document


@dataclass(frozen=True, kw_only=True)
class Page:
    """What stands at an address. `url` is where the redirects led, `moved_to` where those led that hold for good, empty
    without one; `content_type` has no parameters."""

    url: str
    content_type: str
    document: Document
    bytes_hash: str | None = None
    """`sha256:` and the hex digest of the bytes that were fetched; None where they are not known."""
    pdf_seconds: float | None = None
    """How long reading the PDF took, once it was fetched; None for other pages."""
    pdf_peak_bytes: int = 0
    """The most memory that the process which reads PDFs has taken so far."""
    moved_to: str = ""
    validators: Validators = field(default_factory=Validators)


class PageReader(Protocol):
    """Reads pages. Errors are those of `graph_research.providers.errors`."""

    async def read(self, url: str) -> Page: ...


class PageCache(PageReader, Protocol):
    """Reads pages, and knows those that it has read already."""

    def is_kept(self, url: str) -> bool:
        """Whether `read` returns the page without asking anyone for it."""
        ...


class Fetching(Protocol):
    """Gets the bytes of a page, as `Fetcher` does."""

    async def fetch(self, url: str) -> Fetched: ...


class WebPages(AbstractAsyncContextManager["WebPages"]):
    """Pages of the web: HTML, text and Markdown, and with `pdfs` PDFs too, read in the limited child process.

    An async context manager: the child ends with it.
    """

    def __init__(self, fetcher: Fetching, *, pdfs: bool = False, pdf_limits: Limits | None = None) -> None:
        self._fetcher = fetcher
        self._pdfs = pdfs
        self._reader = LimitedReader(pdf_limits)

    async def __aexit__(self, *error: object) -> None:
        await self._reader.__aexit__(None, None, None)

    async def read(self, url: str) -> Page:
        """The page as a document. `FetchRefused` where there is nothing to read in it."""
        fetched = await self._fetcher.fetch(url)
        began = time.monotonic()
        try:
            document = await self._document(fetched)
        except DocumentUnreadable as error:
            raise FetchRefused(f"{fetched.final_url} cannot be read: {error.message}", provider="fetch") from error
        if not document.text:
            raise FetchRefused(f"{fetched.final_url} has no text", provider="fetch")
        is_pdf = fetched.content_type == PDF
        return Page(
            url=fetched.final_url,
            content_type=fetched.content_type,
            document=document,
            bytes_hash=f"sha256:{hashlib.sha256(fetched.body).hexdigest()}",
            pdf_seconds=time.monotonic() - began if is_pdf else None,
            pdf_peak_bytes=self._reader.peak_bytes if is_pdf else 0,
            moved_to=fetched.moved_to,
            validators=fetched.validators,
        )

    async def _document(self, fetched: Fetched) -> Document:
        if fetched.content_type != PDF:
            read = READERS.get(fetched.content_type, plain_document)
            return await asyncio.to_thread(lambda: read(decode(fetched.body, fetched.charset)))
        if not self._pdfs:
            raise DocumentUnreadable("it is a PDF, which is read only with the setting fetch_pdfs")
        return await self._reader.document(fetched.body, PDF)
