"""Source code and data in text form become a document: blocks of lines, words as they are written."""

from __future__ import annotations

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document

_BLOCK_LINES = 40


def code_document(source: str) -> Document:
    """Lines between blank ones are one block of code, of at most 40 lines; each line is a place."""
    builder = DocumentBuilder()
    group: list[tuple[int, str]] = []
    for number, line in enumerate([*source.splitlines(), ""], start=1):
        if line.strip():
            group.append((number, line))
        if group and (not line.strip() or len(group) == _BLOCK_LINES):
            builder.add_placed_lines("code", group)
            group = []
    return builder.document()
