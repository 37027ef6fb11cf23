"""Readers of documents: one for each media type, found by it or by a file's suffix. PDFs need a `PdfExtractor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graph_research.text.document import Document
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document

__all__ = ["MEDIA_TYPES", "PDF", "READERS", "SUFFIXES"]

PDF = "application/pdf"
READERS: Mapping[str, Callable[[str], Document]] = {
    "text/plain": plain_document,
    "text/markdown": markdown_document,
    "text/html": html_document,
    "application/xhtml+xml": html_document,
}
"""By media type, what makes a document of a text; `DocumentUnreadable` where it cannot be read."""

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "text/markdown": (".md", ".markdown"),
    "text/plain": (".txt", ".text"),
    "text/html": (".html", ".htm", ".xhtml"),
    PDF: (".pdf",),
}
"""By media type, the suffixes in lower case of files that are read as such."""

MEDIA_TYPES: Mapping[str, str] = {suffix: media for media, suffixes in SUFFIXES.items() for suffix in suffixes}
