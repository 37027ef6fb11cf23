"""What a library tells: counts of an indexing, its folders, documents and passages found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graph_research.providers.search.base import Passage
from graph_research.text.document import Document
from graph_research.text.readers import media_type_of

UNSUPPORTED = "unsupported file type"
NOT_IN_WORDS = f"{UNSUPPORTED}: its name does not tell what it is, and its content is no text in words"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A file that could not be indexed, or with `partly` one of which only a part was: its path as it was found, and
    why. A member of an archive has the archive's path before its own."""

    path: str
    reason: str
    partly: bool = False

    @property
    def unsupported(self) -> bool:
        """Whether files of its type are not read at all."""
        return self.reason in (UNSUPPORTED, NOT_IN_WORDS) and media_type_of(self.path) is None

    def to_json(self) -> dict[str, str]:
        return {"path": self.path, "reason": self.reason}


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What an `add` did, in documents; `failed` files are not in the index, `partly` read ones not wholly."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: Sequence[Failure] = ()
    partly: Sequence[Failure] = ()

    def to_json(self) -> dict[str, Any]:
        """Four counts, and `failed` and `partly` as `[{path, reason}]`."""
        lists = {"failed": self.failed, "partly": self.partly}
        return {**asdict(self), **{name: [one.to_json() for one in some] for name, some in lists.items()}}


@dataclass(frozen=True, kw_only=True)
class FolderRecord:
    """A folder (or single file) that was added, how many of its documents are indexed, and how many of its files are
    not read, or only in part."""

    path: str
    documents: int
    unread: int = 0
    partly: int = 0


@dataclass(frozen=True, kw_only=True)
class DocumentFacts:
    """What is known of a document besides its text; `url` is its path relative to the folder that was added, `library`
    the name of that folder. `superseded` is the URL of a newer version in it, empty where the document says itself that
    it is superseded. `page` is its path without a language where translations of it lie in the folder, without its
    suffix where it lies there in other formats, else None. `bytes_hash` is the SHA-256 of its file, in hex."""

    source_id: str
    url: str
    title: str
    content_type: str
    tier: str | None = None
    publisher: str | None = None
    authors: Sequence[str] = ()
    published_at: str | None = None
    doi: str | None = None
    licence: str | None = None
    library: str = ""
    superseded: str | None = None
    page: str | None = None
    bytes_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class IndexedFile:
    """The file of an indexed document, and the folder (or file) that was added; `member` is the document's path in it
    where the file is an archive, else empty."""

    source_id: str
    root: Path
    path: Path
    member: str

    @property
    def url(self) -> str:
        """The URL of the document in an index to which the file was added by itself."""
        return f"{self.path.name}/{self.member}" if self.member else self.path.name


@dataclass(frozen=True, kw_only=True)
class FoundDocument:
    """A document with its best passages, best first. `relevance` is 0 to 1, and that of its best passage: which share
    of the question's weight the best passage of the search carries, and as much less as this one is worth less.
    `translations` are the URLs of the same page in other languages or formats."""

    facts: DocumentFacts
    document: Document
    relevance: float
    passages: Sequence[Passage]
    translations: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class PassageHit:
    """One passage: `text` stands at `locator` in the canonical text of the document at `path` (relative), and at
    in words, in its file; empty where the file has pages or no places. `translations` are the paths of the same page in
    other languages."""

    source_id: str
    title: str
    path: str
    locator: str
    text: str
    score: float
    place: str = ""
    superseded: str | None = None
    translations: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
