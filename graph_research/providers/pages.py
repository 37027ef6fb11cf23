"""Reading the page behind a search hit: fetched safely, and made a document whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from graph_research.text.document import Document

__all__ = ["Page", "PageReader"]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What stands at an address. `url` is where the redirects led; `content_type` has no parameters."""

    url: str
    content_type: str
    document: Document


class PageReader(Protocol):
    """Reads pages. Errors are those of `graph_research.providers.errors`."""

    async def read(self, url: str) -> Page: ...
