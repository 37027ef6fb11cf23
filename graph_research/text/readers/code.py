"""Source code and data in text form become a document: blocks of lines, words as they are written."""

from __future__ import annotations

import orjson

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.deferred_patterns import deferred
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.separated import records_document

_BLOCK_LINES = 40
_LONG_LINE_CHARS = 2_000  # nobody writes such lines by hand
_MOST_IN_LONG_LINES = 0.5  # of the characters; a file may carry an image or a key as text
_LEAST_WORDS = 0.5  # of the characters in long lines; a line may hold a paragraph
_WORD = deferred(r"[\u3040-\u9fff]+|(?<!\S)[^\W\d_]+[,.;:!?]*(?!\S)")


def code_document(source: str) -> Document:
    """Lines between blank ones are one block of code, of at most 40 lines; each line is a place. Lists of objects in
    JSON are tables.

    Raises `DocumentUnreadable` for what a program made for programs: code without line breaks, such as a minified
    script or the index of a search. JSON without line breaks is data, and is read.
    """
    if (records := records_document(source)) is not None:
        return records
    lines = source.splitlines()
    if _is_generated(lines):
        raise DocumentUnreadable("generated or minified: no sentences")
    builder = DocumentBuilder()
    group: list[tuple[int, str]] = []
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip():
            group.append((number, line))
        if group and (not line.strip() or len(group) == _BLOCK_LINES):
            builder.add_placed_lines("code", group)
            group = []
    return builder.document()


def _is_generated(lines: list[str]) -> bool:
    long = [line for line in lines if len(line) > _LONG_LINE_CHARS]
    chars = sum(map(len, long))
    if chars <= _MOST_IN_LONG_LINES * sum(map(len, lines)) or _is_json("\n".join(lines)) or all(map(_is_json, long)):
        return False
    return sum(len(word) for line in long for word in _WORD.findall(line)) < _LEAST_WORDS * chars


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
