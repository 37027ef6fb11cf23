"""The interface to a search provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from graph_research.text.document import Document

LOCAL = "local"
"""The provider whose texts are the user's own; what it is asked stays on this machine."""
MCP = "mcp"
SCRIPTED = "scripted"
"""What stands before the colon of a search that names an MCP server, or a file with answers."""

SOURCE_TYPES = frozenset({"web", "academic", "news"})
"""The kinds of sources that a sub-query may ask for."""


class Extent(StrEnum):
    """How much of a source the document of a hit is, the most first."""

    FULL = "full"
    ABSTRACT = "abstract"
    SNIPPET = "snippet"
    NOTHING = "nothing"
    """Only its page has a text."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """One query. `folders` confines `local` to these added folders (empty: the whole index); of pages in several
    languages it finds the version in `language` (ISO 639-1; empty: the query's own).

    The other fields are wishes that a provider follows where its server can: only or no hosts of these domains, and
    the first and last day of publication in ISO 8601. The caller checks the hits.
    """

    query: str
    max_results: int = 5
    source_types: Sequence[str] = ("web",)
    folders: Sequence[str] = ()
    language: str = ""
    allow_domains: Sequence[str] = ()
    deny_domains: Sequence[str] = ()
    first_day: str | None = None
    last_day: str | None = None


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A stretch of a document's canonical text: `document.text[start:end]`; `score` is 0 to 1 within one search."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, kw_only=True)
class SearchHit:
    """One document of a search result.

    `relevance` is 0 to 1. `document` holds the whole canonical text, or the snippet's where the provider gives no
    more. `tier` is a value of `graph_research.research.models.source.Tier` where the provider knows it (the user's
    `library.toml`, a journal index), else None. Dates are ISO 8601: a year, a year and month, a day or a moment.

    What `metadata` may hold: `extent` (an `Extent`; without it the document is whole), `pdf_url`, `cited_by` (a count),
    `page` (what the document has in common with its translations and other formats), and the provider's own values.
    """

    provider: str
    title: str
    url: str | None
    snippet: str
    relevance: float
    document: Document
    passages: Sequence[Passage] = ()
    tier: str | None = None
    publisher: str | None = None
    authors: Sequence[str] = ()
    published_at: str | None = None
    doi: str | None = None
    content_type: str = "text/plain"
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def extent(self) -> Extent:
        """How much of the source `document` is; `NOTHING` for an extent that is not known."""
        named = self.metadata.get("extent", Extent.FULL)
        return Extent(named) if named in list(Extent) else Extent.NOTHING


class SearchProvider(Protocol):
    """A source of documents. Errors are those of `graph_research.providers.errors`.

    `serves` are the `SOURCE_TYPES` that it has; a query that asks for none of them is not sent to it.
    """

    @property
    def name(self) -> str: ...

    @property
    def serves(self) -> frozenset[str]: ...

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]: ...


def provider_name(search: str) -> str:
    """The provider's name in the name of a search: without the path for `scripted:FILE`."""
    return "scripted" if search.startswith("scripted:") else search
