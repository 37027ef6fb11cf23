"""Readers of documents: `formats.py` is their registry by media type and suffix; a format that is not text is read in
the limited child process of `foreign/`."""

from __future__ import annotations

from graph_research.text.readers.formats import FORMATS, MEDIA_TYPES, PDF, READERS, media_type_of

__all__ = ["FORMATS", "MEDIA_TYPES", "PDF", "READERS", "media_type_of"]
