"""Sentences of a document, by offset; none goes across a block."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from sentencex import get_sentence_boundaries

from graph_research.text.document import BlockKind, Document

__all__ = ["PROSE", "Sentence", "sentence_spans", "sentences"]

# Blocks that are written in sentences.
PROSE: Collection[BlockKind] = frozenset({"paragraph", "item", "quote"})

# Abbreviations that the splitter takes for the end of a sentence before a digit, a small letter or a name.
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\[“\"])(?:approx|ca|cf|ch|chap|dept|ed|eds|eq|eqs|esp|est|fig|figs|incl|max|min|no|nos|op|para|pp?|pt|ref|refs"
    r"|resp|sec|sect|seq|tab|vol|vols|vs|v|e\.g|i\.e|et al|[A-Z])\.$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d\.$")
_TITLES = re.compile(r"(?:^|[\s(\[“\"])(?:Mr|Mrs|Ms|Dr|Prof|St|Sen|Rep|Gov|Gen|Col|Capt|Rev|Hon|Sr|Jr|e\.g|i\.e|cf)\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`document.text[start:end]`, without white space around it, in `document.blocks[block]`."""

    start: int
    end: int
    block: int


def sentences(
    document: Document, kinds: Collection[BlockKind] = PROSE, *, language: str = "en"
) -> tuple[Sentence, ...]:
    """The sentences of the blocks of these kinds, in order; each character of such a block but spaces is in one."""
    return tuple(
        Sentence(start, end, number)
        for number, block in enumerate(document.blocks)
        if block.kind in kinds
        for start, end in sentence_spans(document.text, block.start, block.end, language=language)
    )


def sentence_spans(text: str, start: int = 0, end: int | None = None, *, language: str = "en") -> list[tuple[int, int]]:
    """`(start, end)` of each sentence in `text[start:end]`, which is one block; offsets are those of `text`."""
    part = text[start:end]
    spans: list[tuple[int, int]] = []
    for boundary in get_sentence_boundaries(language, part):
        first, last = boundary["start_index"], boundary["end_index"]
        if spans and not _is_end(part, spans[-1][0], first):
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return [(start + first, start + last) for first, last in (_stripped(part, *span) for span in spans) if first < last]


def _is_end(text: str, start: int, boundary: int) -> bool:
    """Whether the sentence that began at `start` may end at `boundary`, where the splitter wants another to begin."""
    before, after = text[start:boundary].rstrip(), text[boundary:].lstrip()
    if not after:
        return False
    spaced = text[boundary - 1].isspace() or text[boundary].isspace()
    if not spaced and after[0].isalnum():
        return False
    if _TITLES.search(before):
        return False
    goes_on = after[0].islower() or after[0].isdigit()
    return not (goes_on and (_ABBREVIATED.search(before) or (after[0].islower() and _NUMBERED.search(before))))


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
