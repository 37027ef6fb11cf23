"""Passages: stretches of whole blocks and sentences, of 600 to 1,200 characters where a search finds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graph_research.text.document import Block, Document
from graph_research.text.pages import page_end, page_of
from graph_research.text.sentences import PROSE, sentence_spans

TARGET_CHARS = 600
_MOST = 2  # times the characters that a passage has at least, where its section is long enough
_SHORT_REST = 0.25  # of these characters, a rest that goes with the passage before it, or a beginning with the next
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """`document.text[start:end]`; `heading` is the path of headings above it, outermost first, long ones cut."""

    start: int
    end: int
    heading: str = ""


def passages(document: Document, target_chars: int = TARGET_CHARS) -> tuple[PassageSpan, ...]:
    """The document's passages in order, each of about `target_chars` to twice as many characters. None holds
    boilerplate, goes across a page or a heading with a text below it, cuts a sentence, or parts a term from the
    beginning of its explanation. Only blocks longer than twice `target_chars`, and one behind a few words, are cut:
    prose between sentences, code and tables between words."""
    found: list[PassageSpan] = []
    for heading, blocks in _sections(document):
        found.extend(PassageSpan(start, end, heading) for start, end in _packed(document, blocks, target_chars))
    return tuple(found)


def _blocks(document: Document) -> tuple[Block, ...]:
    """The document's blocks; a text without any is one paragraph a page."""
    if document.blocks or not document.text:
        return document.blocks
    starts = document.pages or (0,)
    ends = [page_end(document.text, starts, number) for number in range(1, len(starts) + 1)]
    return tuple(Block("paragraph", start, end) for start, end in zip(starts, ends, strict=True) if start < end)


def _sections(document: Document) -> Iterator[tuple[str, list[Block]]]:
    """Blocks that may share a passage: up to the next heading, boilerplate or page; and headings of one rank that have
    no text below them."""
    section: list[Block] = []
    bare = document.bare_headings
    page = 0
    for block in _blocks(document):
        its_page = page_of(document.pages, block.start) if document.pages else 0
        ends = block.kind == "boilerplate" or (block.kind == "heading" and block.start not in bare)
        is_other = bool(section) and _rank(block) != _rank(section[-1])
        if section and (ends or is_other or its_page != page):
            yield _path_to(section, document), section
            section = []
        page = its_page
        if not ends:
            section.append(block)
    if section:
        yield _path_to(section, document), section


def _rank(block: Block) -> int:
    return block.level if block.kind == "heading" else 0


def _path_to(section: list[Block], document: Document) -> str:
    is_bare = section[0].kind == "heading"
    path = document.path_at(section[0].start + is_bare)
    return " > ".join(path[:-1] if is_bare else path)


def _packed(document: Document, blocks: list[Block], target_chars: int) -> list[_Span]:
    most_chars = _MOST * target_chars

    def is_short(span: _Span) -> bool:
        return span[1] - span[0] < _SHORT_REST * target_chars

    spans: list[_Span] = []
    current: _Span | None = None
    term: int | None = None
    for block, below in zip(blocks, [*blocks[1:], None], strict=True):
        if below is not None and document.term_start(below.start) == block.start:
            term = block.start  # it begins the passage of its explanation
            continue
        first, term = block.start if term is None else term, None
        if current is not None and block.end - first <= most_chars < block.end - current[0] and not is_short(current):
            spans.append(current)  # a block that fits a passage of its own is not cut
            current = None
        fits = block.end - (current[0] if current else first) <= most_chars
        units = [(block.start, block.end)] if fits else list(_units(document.text, block, most_chars))
        units[:1] = [(first, end) for _, end in units[:1]]
        for start, end in units:
            if current is not None and end - current[0] > most_chars:
                spans.append(current)
                current = None
            current = (current[0] if current else start, end)
        if current is not None and current[1] - current[0] >= target_chars:
            spans.append(current)
            current = None
    if current is not None:
        spans.append(current)
    if len(spans) > 1 and is_short(spans[-1]):  # a few words at the end of a section go with the passage before them
        spans[-2:] = [(spans[-2][0], spans[-1][1])]
    return spans


def _units(text: str, block: Block, most_chars: int) -> Iterator[_Span]:
    """What must stay whole: a sentence; of code and tables as much as a passage holds."""
    if block.kind in PROSE:
        yield from sentence_spans(text, block.start, block.end)
        return
    start = block.start
    while block.end - start > most_chars:
        space = text.rfind(" ", start + 1, start + most_chars)
        end = space if space > start else start + most_chars
        yield start, end
        start = end + (space > start)
    yield start, block.end
