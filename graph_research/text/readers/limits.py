"""What a document may take at most, and what a reader makes of a file."""

from __future__ import annotations

from dataclasses import dataclass

from graph_research.text.document import Document


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one file. `unpacked_bytes` bounds the parts of a compressed file, all together; `pages` counts slides
    and sheets too."""

    bytes: int = 10 * 1024 * 1024
    unpacked_bytes: int = 100 * 1024 * 1024
    pages: int = 500
    chars: int = 500_000
    seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """A document of a file, or why there is none. `name` is its path in an archive, empty for the file itself."""

    name: str = ""
    media_type: str = ""
    document: Document | None = None
    error: str = ""
