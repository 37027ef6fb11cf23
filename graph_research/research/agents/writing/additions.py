"""What a mender adds to a written section: sentences, or a row of a table, behind the statement that they belong to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from graph_research.research.agents.writing.section_text import answered_row, answered_statement
from graph_research.research.code_blocks import repeats_default
from graph_research.research.models.draft import EMPTY_CELL, Block, BlockType, DraftSection, Statement, words_of
from graph_research.text.bm25 import rarer_more
from graph_research.text.language.words import held_share, held_weight, term_weights
from graph_research.text.relevance.leaning import leans_back

_MOST_WORDS = 110
"""A longer paragraph gets the sentences of one addition and no more: writers are asked for 70 words."""
_LEAST_ALIKE = 0.3
"""A paragraph below a table gets what is added to that if it has so much of its words, by weight: a sentence on ciphers
had 0.21 in a paragraph on proxies, one on a size of requests 0.68 in that on uploads."""
_LABEL = re.compile(r"[^.:;：。]{1,60}[:：]")


class Addition(NamedTuple):
    """The `sentences` of an answer, or the cells of a `row` with its label; `after` is the id of the statement that
    they stand behind, empty at the end of the section."""

    after: str
    sentences: list[Statement]
    row: list[Statement]


def answered_addition(after: str, answer: Mapping[str, Any], place: str) -> Addition:
    """The addition of a mender's answer, `place` being what tells its statements from others that read the same."""

    def placed(rows: Iterable[Statement]) -> list[Statement]:
        return [row.model_copy(update={"place": f"{place}.{n}"}) for n, row in enumerate(rows, 1) if row.text.strip()]

    row = answered_row(answer["row"]) if answer.get("row") else []
    return Addition(after, placed(map(answered_statement, answer.get("sentences") or [])), placed(row))


def with_additions(section: DraftSection, additions: Iterable[Addition]) -> DraftSection:
    """The section with the additions, in their order: a row in the table that it belongs to, as wide as the table and
    behind the row most alike in its label, but none of a setting that keeps its default; sentences at the end of the
    list's item that they belong to, as an item of their own only where they say what they are about ("Night fares: …");
    in the paragraph that they belong to behind their statement and what leans on that, or right behind the paragraph
    where several would make it too long and where they begin with a bold topic of their own; of any other block at the
    end of that of the paragraphs below it which has most of their words, else behind these paragraphs; several as items
    of a list. Where the statement is not there, or a row does not fit, nothing is added."""
    of_blocks: dict[int, list[Addition]] = {}
    for addition in additions:
        number = _block_of(section.blocks, addition.after)
        if number is not None:
            near = _nearest_below(section.blocks, number, addition)
            of_blocks.setdefault(number if near is None else near, []).append(addition)
    blocks: list[Block] = []
    waiting: list[Block] = []
    for number, block in enumerate(section.blocks):
        longer, *behind = _with_own(block, of_blocks.get(number, []))
        if block.type is BlockType.PARAGRAPH:
            blocks += [longer, *behind]
        else:
            blocks += [*waiting, longer]
            waiting = behind
    return section.model_copy(update={"blocks": [*blocks, *waiting]})


def _block_of(blocks: Sequence[Block], after: str) -> int | None:
    """The number of the block that has the statement, that of the last block for none."""
    if not after:
        return len(blocks) - 1 if blocks else None
    return next((n for n, block in enumerate(blocks) if _holds(block.statements(), after)), None)


def _is_row_of(block: Block, addition: Addition) -> bool:
    return block.type is BlockType.TABLE and 1 < len(addition.row) <= len(block.header)


def _nearest_below(blocks: Sequence[Block], number: int, addition: Addition) -> int | None:
    """The number of the paragraph right below a block that is none and no list, or below such a paragraph, which has
    most of the words of the sentences that are added, by weight and by rarity in these paragraphs and the rows of the
    block; None where that has few, or a row has as much, since they are on that then, and for a row of a table."""
    if blocks[number].type in (BlockType.PARAGRAPH, BlockType.LIST) or _is_row_of(blocks[number], addition):
        return None
    below = takewhile(lambda n: blocks[n].type is BlockType.PARAGRAPH, range(number + 1, len(blocks)))
    words = {n: _terms(blocks[n].sentences) for n in below}
    rows = list(map(_terms, blocks[number].rows))
    holding = Counter(term for weights in (*words.values(), *rows) for term in weights)
    said = _terms(addition.sentences)
    wanted = rarer_more(said, holding, len(words) + len(rows))
    held = {n: held_weight(wanted, weights) for n, weights in words.items()}
    nearest = max(held, key=lambda n: held[n], default=None)
    of_rows = max((held_weight(wanted, weights) for weights in rows), default=0.0)
    if nearest is None or held[nearest] <= of_rows or held_share(said, words[nearest]) < _LEAST_ALIKE:
        return None
    return nearest


def _terms(statements: Iterable[Statement]) -> Mapping[str, float]:
    return term_weights(" ".join(row.text for row in statements))


def _with_own(block: Block, additions: Sequence[Addition]) -> list[Block]:
    """The block with its additions, and the paragraph, or list, that those make which stand behind it."""
    rows = [row for row in additions if _is_row_of(block, row)]
    said = [row for row in additions if row not in rows and row.sentences]
    if rows:
        wide = [
            (_alike(block.rows, row), [*row.row, *[EMPTY_CELL] * (len(block.header) - len(row.row))])
            for row in rows
            if not repeats_default(row.row, block.header)
        ]
        block = block.model_copy(update={"rows": _inserted(block.rows, wide)})
    if block.type is BlockType.LIST:
        joined = [row for row in said if not _is_labelled(row.sentences)]
        items = [_longer(item, joined) for item in block.items]
        left = [row for row in said if not any(_holds(item, row.sentences[0].id) for item in items)]
        return [block.model_copy(update={"items": _inserted(items, [(row.after, row.sentences) for row in left])})]
    if block.type is BlockType.PARAGRAPH:
        fitting = _fitting(block.sentences, (row for row in said if not _has_topic(row.sentences)))
        block = block.model_copy(update={"sentences": _led_on(block.sentences, fitting)})
        said = [row for row in said if row not in fitting]
    if len(said) > 1:
        return [block, Block(type=BlockType.LIST, items=[row.sentences for row in said])]
    return [block, *(Block(sentences=row.sentences) for row in said)]


def _led_on(sentences: Sequence[Statement], additions: Iterable[Addition]) -> list[Statement]:
    """The sentences of a paragraph with each addition behind its statement and those that lean back on it, that of
    another block at the end."""
    ends = [n for n, _ in enumerate(sentences) if not any(leans_back(row.text) for row in sentences[n + 1 : n + 2])]
    new = []
    for addition in additions:
        named = next((n for n, row in enumerate(sentences) if row.id == addition.after), len(sentences) - 1)
        new.append((sentences[next(n for n in ends if n >= named)].id, addition.sentences))
    return [one for line in _inserted([[row] for row in sentences], new) for one in line]


def _fitting(sentences: Sequence[Statement], additions: Iterable[Addition]) -> list[Addition]:
    """The first of the additions, and those behind it with which a paragraph is not too long."""
    room = _MOST_WORDS - words_of([Block(sentences=list(sentences))])
    fitting: list[Addition] = []
    for addition in additions:
        room -= words_of([Block(sentences=addition.sentences)])
        if fitting and room < 0:
            break
        fitting.append(addition)
    return fitting


def _alike(rows: Sequence[Sequence[Statement]], addition: Addition) -> str:
    """The id of the label, among those of a table's rows, that has most of the words of a new row's, by weight and by
    rarity in the table, and all that the row has which the addition names; where that has as many, what it names."""
    labels = {row[0].id: term_weights(row[0].text) for row in rows if row}
    holding = Counter(term for weights in labels.values() for term in weights)
    wanted = rarer_more(term_weights(addition.row[0].text), holding, len(labels))
    shared = {name: held_weight(wanted, weights) for name, weights in labels.items()}
    named = next((row[0].id for row in rows if _holds(row, addition.after)), addition.after)
    there = wanted.keys() & labels.get(named, {}).keys()
    nearest = max((name for name in labels if there <= labels[name].keys()), key=shared.__getitem__, default=named)
    return nearest if shared.get(nearest, 0.0) > shared.get(named, 0.0) else addition.after


def _is_labelled(sentences: Sequence[Statement]) -> bool:
    """Whether an item says first, in a few words before a colon, what it is about."""
    return bool(sentences and _LABEL.match(sentences[0].text))


def _has_topic(sentences: Sequence[Statement]) -> bool:
    """Whether a paragraph begins with bold words, such as its topic."""
    return any(map(sentences[0].text.startswith, filter(None, sentences[0].strong)))


def _longer(item: Sequence[Statement], additions: Iterable[Addition]) -> list[Statement]:
    """An item of a list with the sentences that belong behind one of its own."""
    return [*item, *(one for row in additions if _holds(item, row.after) for one in row.sentences)]


def _inserted(lines: Sequence[list[Statement]], new: Sequence[tuple[str, list[Statement]]]) -> list[list[Statement]]:
    """The rows of a table or the items of a list, each new one behind that which has its statement, else the last."""
    found = [next((n for n, line in enumerate(lines) if _holds(line, after)), len(lines) - 1) for after, _ in new]
    behind = [[line for place, (_, line) in zip(found, new, strict=True) if place == n] for n in range(len(lines))]
    return [line for old, further in zip(lines, behind, strict=True) for line in (old, *further)]


def _holds(statements: Iterable[Statement], name: str) -> bool:
    return any(row.id == name for row in statements)
