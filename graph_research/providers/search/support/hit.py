"""One hit from the pieces a provider gave: cleaned, with a document and its passages, or nothing where it is no use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal
from urllib.parse import urlsplit

from graph_research.providers.search.base import Passage, SearchHit
from graph_research.providers.search.support.json_fields import line, lines, text
from graph_research.text.canonical import canonical_text
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.evidence import HIGHEST_SCORE, select_evidence
from graph_research.text.readers import READERS
from graph_research.text.readers.html import html_document

Extent = Literal["full", "abstract", "snippet"]
Form = Literal["text/plain", "text/markdown", "text/html"]

_URL_CHARS = 2_000
_SNIPPET_CHARS = 500
_MOST_AUTHORS = 50


def make_hit(
    *,
    provider: str,
    query: str,
    title: Any,
    url: Any,
    body: Any,
    extent: Extent,
    relevance: float,
    form: Form = "text/plain",
    snippet: Any = "",
    authors: Any = (),
    publisher: Any = None,
    published_at: str | None = None,
    doi: str | None = None,
    tier: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> SearchHit | None:
    """The hit, or None where there is neither a text to read nor an address to read it at.

    Everything but `provider` and `query` may be as strange as a server can make it. `extent` says how much of the
    source `body` is; without a body the hit's extent is `nothing`. A hit without an address gets its DOI's.
    """
    address = web_address(url) or (f"https://doi.org/{doi}" if doi else None)
    document = _document(text(body), form)
    if address is None and not document.text:
        return None
    heading = words_of(title) or document.title
    passages = _passages(document, query)
    best = document.text[passages[0].start : passages[0].end] if passages else document.text[:_SNIPPET_CHARS]
    facts = {name: value for name, value in (metadata or {}).items() if value not in (None, "", [], ())}
    return SearchHit(
        provider=provider,
        title=heading or address or "Untitled",
        url=address,
        snippet=words_of(snippet)[:_SNIPPET_CHARS] or best,
        relevance=min(max(relevance, 0.0), 1.0),
        document=replace(document, title=heading),
        passages=passages,
        tier=tier,
        publisher=words_of(publisher) or None,
        authors=tuple(dict.fromkeys(lines(list(authors))))[:_MOST_AUTHORS],
        published_at=published_at,
        doi=doi,
        content_type=form,
        metadata={"extent": extent if document.text else "nothing", **facts},
    )


def usable(hits: Iterable[SearchHit | None], most: int) -> list[SearchHit]:
    """The first `most` hits that are any; what comes after them is not even made."""
    return list(islice((hit for hit in hits if hit is not None), most))


def by_rank(rank: int) -> float:
    """The relevance of a hit whose provider tells its place alone: 1 for the first (rank 0), 0.5 for the eleventh."""
    return 10 / (10 + rank)


def web_address(value: Any) -> str | None:
    """The address if it is one of the web and can be asked for: http or https, with a host, without spaces."""
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
    """A title or snippet as one line, its markup taken out and its entities decoded."""
    written = line(value)
    if "<" not in written and "&" not in written:
        return written
    return canonical_text(html_document(f"<p>{written}</p>").text)


def _document(body: str, form: Form) -> Document:
    try:
        return READERS[form](body)
    except DocumentUnreadable:
        return Document(text="")


def _passages(document: Document, query: str) -> Sequence[Passage]:
    found = select_evidence(document, query) if document.text else ()
    return tuple(Passage(start=one.start, end=one.end, score=one.score / HIGHEST_SCORE) for one in found)
