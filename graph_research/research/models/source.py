"""A source: one document found, archived by hash, scored on four dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field

from graph_research.research.models.digest import DIGEST_CONTENT_TYPE
from graph_research.research.models.record import Record, schema_field

_WORD_OR_YEAR = re.compile(r"(?<![^\W_])(?:[^\W\d_]{2,}|\d{4})(?![^\W_])")


class Tier(StrEnum):
    """Credibility of a source, best first."""

    PRIMARY_SOURCE = "PRIMARY_SOURCE"
    AUTHORITATIVE = "AUTHORITATIVE"
    SECONDARY = "SECONDARY"
    UNVERIFIED = "UNVERIFIED"
    FLAGGED = "FLAGGED"


class Quality(StrEnum):
    """How good a source is for this question; set by tier at gathering, updated by the analyzer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    UNKNOWN = "unknown"


class RetrievalMethod(StrEnum):
    """Where a source was retrieved from: the user's documents, or a search outside."""

    RAG = "rag"
    WEB = "web"


class SourceScore(Record):
    """The four dimensions and their weighted sum, each 0 to 1, but `authority` 0 to 100."""

    authority: float = 0.0
    recency: float = 0.5
    relevance: float = 0.0
    credibility: float = 0.3
    composite: float = 0.0


class Source(Record):
    """A document that a search returned.

    `archive_hash` names its canonical text in the run's store, `layout_hash` the side table of its blocks and pages
    (`text.document.Document.layout`). `id` is `src-` and 10 hex digits derived from the URL, or from the text where
    there is none, so that the same document has the same id in every run. `content` is what a model is shown of
    it, a digest as JSON where `is_digest`; quotes are taken from the archive, never from it. `metadata.bytes_hash` is
    the hash of the file or page as it was read, where these bytes are known.
    """

    id: str = schema_field(pattern="^src-[0-9a-f]{10}$")
    sub_query_id: str = ""
    title: str = ""
    url: str | None = None
    snippet: str = ""
    content: str | None = None
    content_type: str = "text/plain"
    quality: Quality = Quality.UNKNOWN
    tier: Tier = Tier.UNVERIFIED
    score: SourceScore = Field(default_factory=SourceScore)
    authors: list[str] = Field(default_factory=list)
    publisher: str | None = None
    published_at: str | None = None
    retrieved_at: str | None = None
    doi: str | None = None
    provider: str = ""
    retrieval_method: RetrievalMethod = RetrievalMethod.WEB
    iteration: int = 1
    archive_hash: str = schema_field(pattern="^sha256:[0-9a-f]{64}$")
    layout_hash: str | None = None
    characters: int = 0
    fidelity: str = "full"
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_digest(self) -> bool:
        """Whether `content` is a digest as JSON instead of the source's own words."""
        return self.content_type == DIGEST_CONTENT_TYPE

    @property
    def subject(self) -> str:
        """What the title tells of the subject; where the path stands in its place, the words of the file's name and a
        year: `scan0412` and `scan0413` may tell of one thing."""
        if self.title != self.url:
            return self.title
        return " ".join(_WORD_OR_YEAR.findall(PurePosixPath(self.title).stem))

    @property
    def page(self) -> str:
        """What the versions of a page in several languages or formats have in common: its library and path without
        language or suffix; the source's id where no other version is known."""
        page = self.metadata.get("page")
        return self.id if page is None else f"{self.folder or ''}/{page}"

    @property
    def published_on(self) -> str | None:
        """The date of publication, as far as it is known, without the time of day."""
        return self.published_at.partition("T")[0] if self.published_at else None

    @property
    def folder(self) -> str | None:
        """The name of the folder of the library that a local document was found in."""
        return self.metadata.get("library")

    @property
    def media_type(self) -> str:
        """The media type of the document, also where `content` is a digest."""
        return str(self.metadata["media_type"]) if self.is_digest else self.content_type


def folders_apart(sources: Iterable[Source]) -> dict[str, str]:
    """The folder that each local source was found in, by the source's id, where they are of several: titles such as
    "FAQ" and the files' paths below the folders do not tell one product's manual from the other's."""
    folders = {source.id: source.folder for source in sources if source.folder}
    return folders if len(set(folders.values())) > 1 else {}
