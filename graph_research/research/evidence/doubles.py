"""Sentences of a report's sections that may tell what another place tells from the same evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement, StatementKind
from graph_research.text.bm25 import rarer_more
from graph_research.text.language.words import held_share, language_of, whole_word_weights

_LEAST_SHARED = 0.6
"""A sentence of which another place has so much, by weight and by rarity in the report, may be told there, too. No
share is so large that code could leave the sentence out: one with 0.8 gave the advice that the other's facts led to."""
_STATING = (StatementKind.FACT, StatementKind.ANALYSIS)


@dataclass(frozen=True)
class Telling:
    """A sentence or the row of a table: the numbers of its `section` and of its `place` there, as prompts show them,
    and its statements."""

    section: int
    place: int
    statements: tuple[Statement, ...]
    text: str

    @property
    def evidence_ids(self) -> frozenset[str]:
        """What its statements cite."""
        return frozenset(name for row in self.statements for name in row.evidence_ids)


def doubles(sections: Sequence[DraftSection]) -> list[tuple[Telling, Telling]]:
    """The sentences of which the sentence or row of another section, or a row of their own, has most words and some
    evidence, each with the nearest, in their order; a pair once. The heading of a section counts as said in each of its
    sentences."""
    told = [row for number, section in enumerate(sections, 1) for row in _tellings(section, number)]
    words = [_words(row.text) for row in told]
    holding = Counter(term for weights in words for term in weights)
    headings = [_words(section.heading).keys() for section in sections]
    found: list[tuple[Telling, Telling]] = []
    for row, own in zip(told, words, strict=True):
        if len(row.statements) > 1 or row.statements[0].kind not in _STATING:
            continue
        weights = rarer_more(own, holding, len(told))
        shares = [
            (held_share(weights, held.keys() | headings[other.section - 1]), other)
            for other, held in zip(told, words, strict=True)
            if row.evidence_ids & other.evidence_ids and (other.section != row.section or len(other.statements) > 1)
        ]
        share, nearest = max(shares, key=lambda pair: pair[0], default=(0.0, row))
        if share >= _LEAST_SHARED and (nearest, row) not in found:
            found.append((row, nearest))
    return found


def _tellings(section: DraftSection, number: int) -> Iterator[Telling]:
    lines = (line for block in section.blocks for line in _lines(block))
    return (Telling(number, place, *line) for place, line in enumerate(lines, 1) if line[1])


def _lines(block: Block) -> Iterator[tuple[tuple[Statement, ...], str]]:
    """The rows and sentences of a block as prompts number them, with their text; a block of code has none here."""
    if block.type is BlockType.TABLE:
        for cells in filter(None, block.rows):
            said = (f"{title} {cell.text}" for title, cell in zip(block.header, cells, strict=False))
            yield tuple(cells), f"{block.caption}: {'; '.join(said)}"
    else:
        yield from (((row,), "" if block.type is BlockType.CODE else row.text) for row in block.statements())


def _words(text: str) -> Mapping[str, float]:
    return whole_word_weights(text, language_of(text))
