"""What a prompt shows of a source: its text where that fits, else the passages found with what stands around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from graph_research.providers.search.base import Passage, SearchHit
from graph_research.research.digest.payload import digest_of, rendered
from graph_research.research.llm.prompt_fitting import MARK, shortened
from graph_research.research.models.source import Source
from graph_research.text.document import Document

_MOST_GROWTH = 12
"""How many blocks are added on each side of a passage at most."""

_LEAST_OPENING_CHARS = 80

_Span = tuple[int, int]


def reading_of(
    source: Source,
    documents: Mapping[str, Document],
    most_chars: int,
    *,
    passages: Sequence[Sequence[Any]] = (),
    to_quote: bool = False,
) -> str:
    """At most `most_chars` characters of a source: its digest where it has one that is shorter than its text; else its
    archived text where that fits; else its summary with excerpts, where one was made; else `passages`, or those that
    its search found, with headings and surroundings. `to_quote` leaves out the summary where there is no room for all,
    and puts a digest's quotations first, since only the rest can be quoted."""
    document = documents.get(source.id)
    digest = digest_of(source)
    if digest is not None:
        text = rendered(digest, to_quote=to_quote)
        if document is not None and len(document.text) <= min(len(text), most_chars):
            return document.text
        return shortened(text, most_chars)
    content = source.content or source.snippet
    if document is None:
        return shortened(content, most_chars)
    if len(document.text) <= most_chars:
        return document.text
    if "excerpts" in source.metadata:
        if not to_quote or len(content) <= most_chars:
            return shortened(content, most_chars)
        if excerpts := _excerpts_of(source, most_chars):
            return excerpts
    return excerpt(document, passages or source.metadata.get("passages") or (), most_chars)


def fair_share(lengths: Iterable[int], most_chars: int) -> int:
    """The longest length to which texts of these `lengths` are cut so that all of them together are at most
    `most_chars` long: short ones stay whole, and the longer ones share what these leave."""
    room, ordered = most_chars, sorted(lengths)
    for place, length in enumerate(ordered):
        share = room // (len(ordered) - place)
        if length > share:
            return share
        room -= length
    return most_chars


def _excerpts_of(source: Source, most_chars: int) -> str:
    """The excerpts that fit, empty where none does."""
    shown = ""
    for part in source.metadata["excerpts"]:
        longer = f"{shown}{MARK}\n\n{part['text']}" if shown else str(part["text"])
        if len(longer) <= most_chars - len(MARK):
            shown = longer
    return shown and shown + MARK


def excerpt(document: Document, passages: Sequence[Sequence[Any]], most_chars: int) -> str:
    """The text in at most `most_chars` characters: whole, or its best passages in their order, each with its heading
    and as much of what stands around it as there is room for.

    `passages` are `[start, end, score]`. What is shown stands in the text word for word; a mark shows where some is
    left out.
    """
    text = document.text
    if len(text) <= most_chars:
        return text
    shown = _Shown(document, most_chars - len(MARK))
    ordered = sorted(passages, key=lambda passage: (-passage[2], passage[0]))
    for place, (start, end, _) in enumerate(ordered):
        if not shown.add_headed(start, end) and not place:  # a part of the best passage tells more than the next ones
            shown.add_headed(start, start + len(shortened(text[start:end], shown.room - 1).removesuffix(MARK)))
    begin = next((block.start for block in document.blocks if block.kind != "boilerplate"), 0)  # behind a page's menus
    if not shown.spans:
        return shortened(text[begin:], most_chars)
    shown.add_surroundings()
    parts = [text[start:end].strip() for start, end in shown.spans]
    first, last = shown.spans[0][0], shown.spans[-1][1]
    if first > begin and shown.room >= _LEAST_OPENING_CHARS and (opening := shortened(text[begin:first], shown.room)):
        parts.insert(0, opening.removesuffix(MARK))
    return f"{MARK} ".join(parts) + (MARK if last < len(text) else "")


class _Shown:
    """The spans of a text that are shown, in order and apart from each other, and how many characters are left."""

    def __init__(self, document: Document, room: int) -> None:
        self.spans: list[_Span] = []
        self.room = room
        self._document = document
        self._blocks = [block for block in document.blocks if block.kind != "boilerplate"]
        self._best: list[_Span] = []

    def add_headed(self, start: int, end: int) -> bool:
        """Show a passage with the nearest heading above it, where there is room for both: without its question an
        answer says little. Where a heading alone is longer than the room, the passage without it."""
        headings = [block for block in self._blocks if block.kind == "heading" and block.start < start]
        before = self.spans, self.room, list(self._best)
        if not self.add(start, end):
            return False
        if not headings or self.add(headings[-1].start, headings[-1].end, is_best=False):
            return True
        if before[0]:
            self.spans, self.room, self._best = before
        return not before[0]

    def add(self, start: int, end: int, *, is_best: bool = True) -> bool:
        """Show `text[start:end]` too, where there is room for what of it is not shown yet; one that `is_best` with
        what stands around it."""
        near = [span for span in self.spans if span[0] <= end + 1 and start <= span[1] + 1]
        joined = (min([start, *(span[0] for span in near)]), max([end, *(span[1] for span in near)]))
        spans = sorted([*(span for span in self.spans if span not in near), joined])
        room = self.room + _cost(self.spans) - _cost(spans)
        if room < 0:
            return False
        if is_best and not near:
            self._best.append((start, end))
        self.spans, self.room = spans, room
        return True

    def add_surroundings(self) -> None:
        """Blocks after and before the passages in turn, the best passage's first, until the room is used up."""
        growing = [place for start, end in self._best if (place := self._places(start, end)) is not None]
        for _ in range(_MOST_GROWTH):
            growing = [grown for first, last in growing if (grown := self._grown(first, last)) is not None]

    def _places(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last block that a passage touches."""
        touched = [n for n, block in enumerate(self._blocks) if block.start < end and start < block.end]
        return (touched[0], touched[-1]) if touched else None

    def _grown(self, first: int, last: int) -> tuple[int, int] | None:
        """The blocks from `first` to `last` and one more on each side, as far as there is room; None without any."""
        blocks = self._blocks
        whole = self.add(blocks[first].start, blocks[last].end)
        after = last + 1 < len(blocks) and self.add(blocks[last].start, blocks[last + 1].end)
        before = first > 0 and self.add(blocks[first - 1].start, blocks[first].end)
        return (first - before, last + after) if whole and (after or before) else None


def _cost(spans: Sequence[_Span]) -> int:
    """The characters that showing these spans takes, the marks between them included."""
    gaps = sum(start > end for (_, end), (start, _) in pairwise([(0, 0), *spans]))
    return sum(end - start for start, end in spans) + (len(MARK) + 1) * gaps


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
