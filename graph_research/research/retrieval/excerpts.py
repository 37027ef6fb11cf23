"""What a prompt shows of a source: its summary where it has one, else its text, the passages that were found first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.providers.search.base import Passage, SearchHit
from graph_research.research.llm.prompt_fitting import MARK, shortened
from graph_research.research.models.source import Source
from graph_research.text.document import Document

_PASSAGE_CHARS = 400
"""How much of a passage a fallback quotes."""


def reading_of(source: Source, documents: Mapping[str, Document], most_chars: int, *, to_quote: bool = False) -> str:
    """At most `most_chars` characters of a source: a summary made of it at fetch time with excerpts, else its archived
    text. `to_quote` leaves out the summary where there is no room for all, since only the rest can be quoted."""
    document = documents.get(source.id)
    content = source.content or source.snippet
    if document is None:
        return shortened(content, most_chars)
    if "excerpts" in source.metadata:
        if not to_quote or len(content) <= most_chars:
            return shortened(content, most_chars)
        if excerpts := _excerpts_of(source, most_chars):
            return excerpts
    return excerpt(document.text, source.metadata.get("passages") or (), most_chars)


def _excerpts_of(source: Source, most_chars: int) -> str:
    """The excerpts that fit, empty where none does."""
    shown = ""
    for part in source.metadata["excerpts"]:
        longer = f"{shown}{MARK}\n\n{part['text']}" if shown else str(part["text"])
        if len(longer) <= most_chars - len(MARK):
            shown = longer
    return shown and shown + MARK


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
        chars = end - start + len(MARK) + 1
        if chars <= room and not any(start < other[1] and other[0] < end for other in spans):
            spans.append((start, end))
            room -= chars
    if not spans:
        return shortened(text, most_chars)
    spans.sort()
    opening = shortened(text[: spans[0][0]], room - 1).removesuffix(MARK)
    parts = [opening] if opening.strip() else []
    parts += [text[start:end].strip() for start, end in spans]
    return f"{MARK} ".join(parts) + (MARK if spans[-1][1] < len(text) else "")


def best_passage(source: Source, document: Document) -> dict[str, Any]:
    """What the search found best in a source, as a quote: `{source_id, quote, start}`."""
    text = document.text
    passages = source.metadata.get("passages") or [[0, len(text), 0.0]]
    start, end, _ = max(passages, key=lambda passage: (passage[2], -passage[0]))
    quote = text[start:end].strip()
    if len(quote) > _PASSAGE_CHARS:
        quote = quote[:_PASSAGE_CHARS].rpartition(" ")[0] or quote[:_PASSAGE_CHARS]
    return {"source_id": source.id, "quote": quote, "start": start}


def excerpt_of(hit: SearchHit, most_chars: int) -> str:
    """What a prompt shows of a hit's document, word for word: its best passages in the order of the text, else its
    beginning; at most `most_chars` characters."""
    text = hit.document.text
    chosen: list[Passage] = []
    left = most_chars
    for passage in sorted(hit.passages, key=lambda passage: (-passage.score, passage.start)):
        length = passage.end - passage.start
        if length <= left:
            chosen.append(passage)
            left -= length + 2
    if not chosen:
        start = hit.passages[0].start if hit.passages else 0
        return text[start : start + most_chars]
    chosen.sort(key=lambda passage: passage.start)
    return "\n\n".join(text[passage.start : passage.end] for passage in chosen)
