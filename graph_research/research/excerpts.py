"""What a prompt shows of a source: its summary where it has one, else its text, the passages that were found first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.fitting import MARK, shortened
from graph_research.research.models.source import Source
from graph_research.text.document import Document

__all__ = ["excerpt", "reading_of"]


def reading_of(source: Source, documents: Mapping[str, Document], most_chars: int) -> str:
    """At most `most_chars` characters of a source: a summary made of it at fetch time, else its archived text."""
    document = documents.get(source.id)
    if document is None or "excerpts" in source.metadata:
        return shortened(source.content or source.snippet, most_chars)
    return excerpt(document.text, source.metadata.get("passages") or (), most_chars)


def excerpt(text: str, passages: Sequence[Sequence[Any]], most_chars: int) -> str:
    """The text in at most `most_chars` characters: whole, or its best passages in their order with its beginning.

    `passages` are `[start, end, score]`. What is shown stands in the text word for word; a mark shows where some is
    left out.
    """
    if len(text) <= most_chars:
        return text
    spans: list[tuple[int, int]] = []
    room = most_chars
    for start, end, _ in sorted(passages, key=lambda passage: (-passage[2], passage[0])):
        taken = end - start + len(MARK) + 1
        if taken <= room and not any(start < other[1] and other[0] < end for other in spans):
            spans.append((start, end))
            room -= taken
    if not spans:
        return shortened(text, most_chars)
    spans.sort()
    opening = shortened(text[: spans[0][0]], room - 1).removesuffix(MARK)
    parts = [opening] if opening.strip() else []
    parts += [text[start:end].strip() for start, end in spans]
    return f"{MARK} ".join(parts) + (MARK if spans[-1][1] < len(text) else "")
