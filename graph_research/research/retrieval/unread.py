"""What a run has read of a text, and the rest of it: a later reading shows only what no earlier one showed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graph_research.research.llm.prompt_fitting import MARK, own_chars
from graph_research.research.models.fidelity import FidelityRecord
from graph_research.research.models.source import Source
from graph_research.research.retrieval.fidelity import record_shown
from graph_research.text.document import Block, Document
from graph_research.text.sentences import sentence_spans

_READ_SPANS = "read_spans"

Span = tuple[int, int]


def read_spans(source: Source) -> list[Span]:
    """The stretches of a source's text that the run has read, in order; none for one that was read whole or not at
    all."""
    return [(start, end) for start, end in source.metadata.get(_READ_SPANS) or ()]


def without_passages(source: Source) -> Source:
    """The source without places in its whole text, since a part of it is read."""
    known = {name: value for name, value in source.metadata.items() if name not in ("passages", "excerpts")}
    return source.model_copy(update={"metadata": known})


def record_read(
    sources: Sequence[Source],
    shown: Mapping[str, str],
    documents: Mapping[str, Document],
    earlier: Mapping[str, Sequence[Span]],
    iteration: int,
) -> tuple[list[Source], list[FidelityRecord]]:
    """The sources of which a reading showed the texts `shown`, by their ids, or less than before, and a record of each
    of how much of it this reading and the `earlier` ones showed."""
    spans = {
        source.id: merged([*earlier.get(source.id, ()), *spans_of(documents[source.id], shown.get(source.id, ""))])
        for source in sources
    }
    chars = {
        source.id: sum(end - start for start, end in spans[source.id])
        if earlier.get(source.id)
        else own_chars(shown.get(source.id, ""))
        for source in sources
    }
    marked, records = record_shown(sources, chars, phase="gathering", iteration=iteration)
    now = {source.id: source for source in (*sources, *marked)}
    changed = [
        _with_spans(source, spans[source.id]) if source.metadata.get("shown_share", 1.0) < 1.0 else source
        for source in now.values()
    ]
    return [source for source, before in zip(changed, sources, strict=True) if source != before], records


def _with_spans(source: Source, spans: Sequence[Span]) -> Source:
    return source.model_copy(update={"metadata": {**source.metadata, _READ_SPANS: [list(span) for span in spans]}})


def merged(spans: Iterable[Span]) -> list[Span]:
    """The stretches in order, those that touch or overlap as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def spans_of(document: Document, shown: str) -> list[Span]:
    """Where the parts of a text that was shown with marks between them stand in a document."""
    spans: list[Span] = []
    for part in filter(None, map(str.strip, shown.split(MARK.strip()))):
        start = document.text.find(part, spans[-1][1] if spans else 0)
        if start < 0:
            start = document.text.find(part)
        if start >= 0:
            spans.append((start, start + len(part)))
    return merged(spans)


def unread_part(document: Document, spans: Sequence[Span]) -> Document:
    """The blocks of a document of which these stretches hold less than half, with the headings above them and a mark
    for what was read between them; of a document without blocks its sentences."""
    blocks = document.blocks or [
        Block("paragraph", *span) for span in sentence_spans(document.text, 0, len(document.text))
    ]
    kept: list[Block] = []
    path: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            path = [outer for outer in path if outer.level < block.level] + [block]
        elif 2 * _overlap(block, spans) < block.end - block.start:
            kept += [*path, block]
            path = []
    return _of_blocks(document, kept)


def _of_blocks(document: Document, kept: Sequence[Block]) -> Document:
    text = ""
    blocks: list[Block] = []
    for number, block in enumerate(kept):
        between = document.text[kept[number - 1].end : block.start] if number else ""
        text += f"{MARK} " if between.strip() else between
        blocks.append(block._replace(start=len(text), end=len(text) + block.end - block.start))
        text += document.text[block.start : block.end]
    return Document(text=text, blocks=tuple(blocks), title=document.title, language=document.language)


def _overlap(block: Block, spans: Sequence[Span]) -> int:
    return sum(max(0, min(end, block.end) - max(start, block.start)) for start, end in spans)
