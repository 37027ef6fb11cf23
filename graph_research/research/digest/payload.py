"""Digests as the text of a source: written, read back, and shown in a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pydantic import ValidationError

from graph_research.research.models.digest import (
    DIGEST_CONTENT_TYPE,
    MOST_KEY_POINT_CHARS,
    MOST_KEY_POINTS,
    MOST_SUMMARY_CHARS,
    DigestPayload,
    EvidenceSnippet,
)
from graph_research.research.models.source import Source


def query_hash(question: str) -> str:
    """The first 8 hex digits of the question's SHA-256, white space folded."""
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:8]


def make_payload(
    summary: str,
    key_points: Sequence[str],
    snippets: Sequence[EvidenceSnippet],
    *,
    question: str,
    original_chars: int,
    source_text_hash: str,
) -> DigestPayload:
    """A digest within the limits of its schema: a summary or key point that is too long loses its end. Key points
    beyond the tenth are left out, and those with which the digest would be longer than half of the text. Snippets are
    never changed."""
    summary = _within(summary, MOST_SUMMARY_CHARS)
    chars = len(summary) + sum(len(snippet.text) for snippet in snippets)
    points: list[str] = []
    for point in filter(None, (_within(raw, MOST_KEY_POINT_CHARS) for raw in key_points)):
        if len(points) < MOST_KEY_POINTS and chars + len(point) <= original_chars // 2:
            points.append(point)
            chars += len(point)
    return DigestPayload(
        version="1.0",
        content_type=DIGEST_CONTENT_TYPE,
        query_hash=query_hash(question),
        summary=summary,
        key_points=points,
        evidence_snippets=list(snippets),
        original_chars=original_chars,
        digest_chars=chars,
        compression_ratio=round(min(chars / max(original_chars, 1), 1.0), 4),
        source_text_hash=source_text_hash,
    )


def serialize_payload(payload: DigestPayload) -> str:
    """The digest as JSON, checked against its schema's limits again."""
    return DigestPayload.model_validate(payload.to_json()).model_dump_json()


def deserialize_payload(content: str | None) -> DigestPayload | None:
    """The digest in a source's `content`; None where it holds none or an invalid one."""
    try:
        return DigestPayload.model_validate_json(content or "")
    except ValidationError:
        return None


def digest_of(source: Source) -> DigestPayload | None:
    """The source's digest, None where it has none."""
    return deserialize_payload(source.content) if source.is_digest else None


def rendered(payload: DigestPayload, *, to_quote: bool = False) -> str:
    """The digest as a prompt shows it; `to_quote` puts what may be quoted first and leaves out nothing."""
    told = [f"Summary, not to be quoted: {payload.summary}"]
    if payload.key_points:
        told += ["Key points, not to be quoted:", *(f"- {point}" for point in payload.key_points)]
    quoted = ["Evidence, word for word:", *(snippet.text for snippet in payload.evidence_snippets)]
    parts = (quoted, told) if to_quote else (told, quoted)
    return "\n\n".join("\n".join(lines) for lines in parts if len(lines) > 1 or lines is told)


def _within(text: str, most_chars: int) -> str:
    text = " ".join(text.split())
    if len(text) <= most_chars:
        return text
    head = text[: most_chars - 1]
    return (head.rpartition(" ")[0] or head).rstrip() + "…"
