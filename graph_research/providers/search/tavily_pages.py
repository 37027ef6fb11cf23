"""Reads pages with Tavily's extractor instead of fetching them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph_research.providers.errors import ProviderError
from graph_research.providers.search.tavily import TavilySearch
from graph_research.providers.web.page_reader import Page, PageReader
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.markdown import markdown_document


@dataclass(frozen=True, kw_only=True)
class TavilyPages:
    """Asks Tavily for a page, and `otherwise` if Tavily cannot read it or fails."""

    tavily: TavilySearch
    otherwise: PageReader

    async def read(self, url: str) -> Page:
        """The page in Tavily's Markdown, else as `otherwise` reads it."""
        try:
            text = (await self.tavily.extract([url])).get(url, "")
            document = replace(markdown_document(text), places=())  # lines of Tavily's text, not of the page
        except (ProviderError, DocumentUnreadable):
            return await self.otherwise.read(url)
        if not document.text:
            return await self.otherwise.read(url)
        return Page(url=url, content_type="text/markdown", document=document)
