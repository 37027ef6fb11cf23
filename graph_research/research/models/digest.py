"""A digest: what one long source says to one question, short enough for a prompt, its quotes with their places."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from graph_research.research.models.record import Record

DIGEST_CONTENT_TYPE: Literal["digest/v1"] = "digest/v1"
"""The `content_type` of a source whose `content` is a digest as JSON."""

MOST_SUMMARY_CHARS = 2_000
MOST_KEY_POINTS = 10
MOST_KEY_POINT_CHARS = 500
MOST_SNIPPETS = 10
MOST_SNIPPET_CHARS = 500


class EvidenceSnippet(Record):
    """A quotation: `archive[locator] == text`, to the character. `relevance_score` is the evidence formula's value, at
    most 0.631."""

    text: str = Field(min_length=1, max_length=MOST_SNIPPET_CHARS)
    locator: str = Field(pattern="^(page:[1-9][0-9]*:)?char:[0-9]+-[0-9]+$")
    relevance_score: float = Field(ge=0, le=1)


class DigestPayload(Record):
    """The digest of one source for one question.

    `query_hash` are the first 8 hex digits of the SHA-256 of the question, `source_text_hash` names the archived
    canonical text, which the locators count in. `digest_chars` counts summary, key points and snippets;
    `compression_ratio` is its share of `original_chars`, at most 1.
    """

    version: Literal["1.0"]
    content_type: Literal["digest/v1"]
    query_hash: str = Field(pattern="^[a-f0-9]{8}$")
    summary: str = Field(max_length=MOST_SUMMARY_CHARS)
    key_points: list[Annotated[str, Field(max_length=MOST_KEY_POINT_CHARS)]] = Field(max_length=MOST_KEY_POINTS)
    evidence_snippets: list[EvidenceSnippet] = Field(max_length=MOST_SNIPPETS)
    original_chars: int = Field(ge=0)
    digest_chars: int = Field(ge=0)
    compression_ratio: float = Field(ge=0, le=1)
    source_text_hash: str = Field(pattern="^sha256:[a-f0-9]{64}$")
