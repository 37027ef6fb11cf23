"""Readers of documents: `formats.py` is their registry by media type and suffix; a format that is not text is read in
the limited child process of `foreign/`."""

from __future__ import annotations

from graph_research.text.readers.formats import (
    FORMATS,
    HEAD_BYTES,
    MEDIA_TYPES,
    PDF,
    READERS,
    media_type_of,
    media_type_of_file,
)

__all__ = ["FORMATS", "HEAD_BYTES", "MEDIA_TYPES", "PDF", "READERS", "media_type_of", "media_type_of_file"]
