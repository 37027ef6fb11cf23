"""What providers are built with: the HTTP client, the page reader, the user's settings and keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from graph_research.providers.http.client import Http
from graph_research.settings.config import Settings

if TYPE_CHECKING:
    from graph_research.providers.web.page_cache import KeptPages


@dataclass(frozen=True, kw_only=True)
class Clients:
    """The clients of a run. `environ` holds the keys; `pages` reads the pages of search results; providers register in
    `closing` what is closed at the end of the run."""

    http: Http
    pages: KeptPages
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    closing: AsyncExitStack = field(repr=False)

    def key(self, name: str) -> str | None:
        """The value of a key's variable, None where it is unset or empty."""
        return self.environ.get(name) or None

    @asynccontextmanager
    async def of_run(self) -> AsyncIterator[Clients]:
        """The same clients for one of several runs, with an empty page cache and a `closing` of its own."""
        async with AsyncExitStack() as stack:
            pages = await stack.enter_async_context(self.pages.emptied())
            yield replace(self, pages=pages, closing=stack)
