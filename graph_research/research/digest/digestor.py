"""Making one digest: summary and key points by a model, evidence by code, all of the archived text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from graph_research.research.digest.eligibility import DigestOptions
from graph_research.research.digest.payload import make_payload
from graph_research.research.models.digest import (
    MOST_SNIPPET_CHARS,
    MOST_SNIPPETS,
    DigestPayload,
    EvidenceSnippet,
)
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.evidence import select_evidence
from graph_research.text.locators import make_locator


@dataclass(frozen=True, kw_only=True)
class Condensed:
    """What a model says a source says: the level KEY_POINTS of a text."""

    summary: str
    key_points: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class DigestResult:
    """A digest, whether the cache had it, and how long it took, in milliseconds."""

    payload: DigestPayload
    cache_hit: bool
    duration_ms: int


Summarize = Callable[[Source, Document], Awaitable[Condensed]]


async def make_digest(
    source: Source, document: Document, question: str, options: DigestOptions, summarize: Summarize
) -> DigestPayload:
    """The digest of `document`. Raises what `summarize` raises; nothing partial is left behind then."""
    snippets = _snippets(document, question, options)
    condensed = await summarize(source, document)
    return make_payload(
        condensed.summary,
        condensed.key_points,
        snippets,
        question=question,
        original_chars=len(document.text),
        source_text_hash=source.archive_hash,
    )


def _snippets(document: Document, question: str, options: DigestOptions) -> list[EvidenceSnippet]:
    """The best evidence, best first, each an exact slice with its place."""
    if not options.include_evidence:
        return []
    chosen = select_evidence(
        document,
        question,
        max_snippets=min(options.max_evidence_snippets, MOST_SNIPPETS),
        max_chars=min(options.evidence_max_chars, MOST_SNIPPET_CHARS),
    )
    return [
        EvidenceSnippet(
            text=document.text[snippet.start : snippet.end],
            locator=make_locator(document, snippet.start, snippet.end),
            relevance_score=round(snippet.score, 4),
        )
        for snippet in chosen
    ]
