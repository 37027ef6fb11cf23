"""Builds search hits from the unchecked fields of a server's response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, Literal
from urllib.parse import urlsplit

from graph_research.providers.search.base import Extent, Passage, SearchHit, SearchRequest
from graph_research.providers.search.support.json_fields import line, lines, text
from graph_research.text.canonical import canonical_text
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.evidence import HIGHEST_SCORE, select_evidence
from graph_research.text.readers import READERS
from graph_research.text.readers.html import html_document

Form = Literal["text/plain", "text/markdown", "text/html"]

_URL_CHARS = 2_000
_SNIPPET_CHARS = 500
_MOST_REMEMBERED = 128  # documents; one may be a whole page
MOST_AUTHORS = 50


@dataclass(frozen=True, kw_only=True)
class RawHit:
    """A result as its server gave it; a field of type `Any` may hold any JSON value.

    `extent` says how much of the source `body` is. `relevance` is 0 to 1; None where the server gives only an order.
    """

    title: Any
    url: Any
    body: Any
    extent: Extent
    relevance: float | None = None
    form: Form = "text/plain"
    snippet: Any = ""
    authors: Iterable[Any] = ()
    publisher: Any = None
    published_at: str | None = None
    doi: str | None = None
    tier: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def make_hits(
    provider: str, request: SearchRequest, raw_hits: Iterable[RawHit | None], *, first_rank: int = 0
) -> list[SearchHit]:
    """The usable hits, at most as many as were requested. Without a relevance of its own, a hit gets the one of its
    rank: 1 for rank 0, 0.5 for rank 10."""
    hits = (
        _make_hit(provider, request.query, raw, 10 / (10 + rank) if raw.relevance is None else raw.relevance)
        for rank, raw in enumerate(raw_hits, start=first_rank)
        if raw is not None
    )
    return list(islice((hit for hit in hits if hit is not None), request.max_results))


def web_address(value: Any) -> str | None:
    """The address if it is a valid http or https URL with a host and without credentials, else None."""
    if not isinstance(value, str):
        return None
    address = value.strip()
    if not address.isprintable() or len(address) > _URL_CHARS or any(sign in address for sign in ' <>"\\'):
        return None
    try:
        parts = urlsplit(address)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    return address if host and parts.scheme.lower() in ("http", "https") and "@" not in parts.netloc else None


def words_of(value: Any) -> str:
    """A title or snippet as one line, without markup and with decoded entities."""
    written = line(value)
    if "<" not in written and "&" not in written:
        return written
    return canonical_text(html_document(f"<p>{written}</p>").text)


def _make_hit(provider: str, query: str, raw: RawHit, relevance: float) -> SearchHit | None:
    """The hit, or None without a text and an address. Without a body the extent is `NOTHING`; without an address the
    DOI's is used."""
    address = web_address(raw.url) or (f"https://doi.org/{raw.doi}" if raw.doi else None)
    document = _document(text(raw.body), raw.form)
    if address is None and not document.text:
        return None
    heading = words_of(raw.title) or document.title
    passages = find_passages(document, query)
    best = document.text[passages[0].start : passages[0].end] if passages else document.text[:_SNIPPET_CHARS]
    metadata = {name: value for name, value in raw.metadata.items() if value not in (None, "", [], ())}
    return SearchHit(
        provider=provider,
        title=heading or address or "Untitled",
        url=address,
        snippet=words_of(raw.snippet)[:_SNIPPET_CHARS] or best,
        relevance=min(max(relevance, 0.0), 1.0),
        document=replace(document, title=heading),
        passages=passages,
        tier=raw.tier,
        publisher=words_of(raw.publisher) or None,
        authors=tuple(dict.fromkeys(lines(list(raw.authors))))[:MOST_AUTHORS],
        published_at=raw.published_at,
        doi=raw.doi,
        content_type=raw.form,
        metadata={"extent": (raw.extent if document.text else Extent.NOTHING).value, **metadata},
    )


@lru_cache(maxsize=_MOST_REMEMBERED)
def _document(body: str, form: Form) -> Document:
    """Searches for parts of one question find the same texts."""
    try:
        return READERS[form](body)
    except DocumentUnreadable:
        return Document(text="")


def find_passages(document: Document, query: str) -> tuple[Passage, ...]:
    """The passages of a document that are relevant to the query, best first."""
    evidence = select_evidence(document, query) if document.text else ()
    return tuple(
        Passage(start=passage.start, end=passage.end, score=passage.score / HIGHEST_SCORE) for passage in evidence
    )
