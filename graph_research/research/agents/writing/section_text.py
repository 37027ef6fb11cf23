"""Sections as text for prompts, and the blocks of a writer's answer as blocks of the draft."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.research.evidence.citations import in_place, without_markers
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.models.draft import (
    EMPTY_CELL,
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    rewritten,
    words_of,
)
from graph_research.research.models.inline_marks import plain_line, unmarked
from graph_research.research.models.report_options import MOST_OF_WORDS
from graph_research.research.report.labels.table import Labels

_MOST_UNFOUND = 2
"""A row or column with so many cells in which nothing was found, and no cell that states anything, tells less than
none."""
HEADER = "header"
"""The place of what the program prints below the title of the report."""
_NUMBER = re.compile(r"\d+")


def too_long(blocks: Iterable[Block], words: int, most: float = MOST_OF_WORDS) -> str:
    """What to change in blocks that have more than `most` times the words that they should; empty where they do
    not."""
    written = words_of(blocks)
    if written <= most * words:
        return ""
    return (
        f"it has {written} words: shorten it to {words} words. Drop the least useful rows and sentences, and keep the "
        "evidence of the rest."
    )


def is_shortened(before: Iterable[Block], blocks: Iterable[Block], words: int) -> bool:
    """Whether the blocks are an answer to `too_long`: not longer than those before them, and with most of the words."""
    return words / 2 <= words_of(blocks) <= words_of(before)


def length_note(
    name: str, blocks: Iterable[Block], words: int, agent: str, ctx: Context, most: float = MOST_OF_WORDS
) -> list[dict[str, Any]]:
    """The entry for the state's `degraded` channel where the blocks are `too_long`."""
    written = words_of(blocks)
    if written <= most * words:
        return []
    reason = f"{name}: {written} words, and {words} were asked for"
    return [{"node": ctx.path, "agent": agent, "reason": reason, "kind": DegradationKind.LENGTH.value}]


def answered_blocks(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The blocks of an answer; one with sentences, items and rows becomes one block of each, so that all are printed,
    and the sentences of code become one text. A row's label becomes its first cell, as a transition: it asserts
    nothing; one with numbers set by judgement is an analysis. It and a label with a number other than its row's rest on
    what the row cites. Blocks without text go, and so do sentences with evidence and rows that stand before, word for
    word: a weak model goes round in circles."""
    blocks = _without_repetitions(block for row in rows for block in _blocks(row))
    return [block for block in blocks if any(statement.text.strip() for statement in block.statements())]


def _without_repetitions(blocks: Iterable[Block]) -> Iterator[Block]:
    seen: set[tuple[str, ...]] = set()

    def is_new(*statements: Statement) -> bool:
        texts = tuple(" ".join(row.text.split()) for row in statements)
        known = texts in seen
        seen.add(texts)
        return not known

    for block in blocks:
        if block.type is BlockType.TABLE:
            yield block.model_copy(update={"rows": [row for row in block.rows if is_new(*row)]})
        elif block.type is BlockType.CODE:
            yield block
        else:
            yield from rewritten([block], lambda row: row if not row.evidence_ids or is_new(row) else None)


def answered_statement(row: Mapping[str, Any], *, is_code: bool = False) -> Statement:
    """The statement of an answer. Evidence ids in its text become its evidence, numbers in brackets are left out: no
    writer knows the report's, and sources have their own; its marks for code and bold stand beside it. The words of a
    quote and of code stay as they are."""
    statement = Statement.model_validate(row)
    if is_code or statement.kind is StatementKind.QUOTE:
        return statement
    text, marked, _ = without_markers(statement.text)
    ids = list(dict.fromkeys([*statement.evidence_ids, *marked]))
    judged = [unmarked(value).text for value in statement.judged]
    return statement.model_copy(update={**unmarked(text)._asdict(), "evidence_ids": ids, "judged": judged})


def _blocks(row: Mapping[str, Any]) -> Iterator[Block]:
    kind = BlockType(row["type"])
    alone = kind if kind in (BlockType.QUOTE, BlockType.CODE) else BlockType.PARAGRAPH
    sentences = _statements(row.get("sentences") or [], is_code=kind is BlockType.CODE)
    if kind is BlockType.CODE and len(sentences) > 1:
        sentences = [_one_code(sentences)]
    caption = plain_line(row.get("caption") or "")
    above = caption if kind is BlockType.CODE else ""
    yield Block(type=alone, sentences=sentences, language=row.get("language") or "", caption=above)
    items = [item for group in row.get("items") or [] if (item := _statements(group))]
    yield Block(type=BlockType.LIST, items=items, ordered=bool(row.get("ordered")))
    header = [plain_line(text) for text in row.get("header") or []]
    rows = [answered_row(line, place) for place, line in enumerate(row.get("rows") or [], 1)]
    yield from with_answers([_rectangular(Block(type=BlockType.TABLE, header=header, rows=rows, caption=caption))])


def _one_code(lines: Sequence[Statement]) -> Statement:
    """Code that a writer gave line by line as the one text that is copied, with what all its lines rest on."""
    is_fact = all(line.kind is StatementKind.FACT for line in lines)
    return Statement(
        text="\n".join(line.text for line in lines),
        kind=StatementKind.FACT if is_fact else StatementKind.ANALYSIS,
        evidence_ids=list(dict.fromkeys(name for line in lines for name in line.evidence_ids)),
        computed=list(dict.fromkeys(text for line in lines for text in line.computed)),
        judged=list(dict.fromkeys(text for line in lines for text in line.judged)),
    )


def _statements(rows: Sequence[Mapping[str, Any]], *, is_code: bool = False) -> list[Statement]:
    return [answered_statement(row, is_code=is_code) for row in rows if row["text"].strip()]


def answered_row(line: Mapping[str, Any], place: int = 0) -> list[Statement]:
    """The row of a table from `{label, cells, judged}` of an answer; a label that is the row's place in its table, the
    first being 1, states no number."""
    cells = [answered_statement(cell) for cell in line["cells"]]
    cited = list(dict.fromkeys(name for cell in cells for name in cell.evidence_ids))
    judged = line.get("judged") or []
    states = judged or _NUMBER.findall(line["label"]) not in ([], [str(place)])
    return [
        Statement(
            **unmarked(line["label"])._asdict(),
            kind=StatementKind.ANALYSIS if judged else StatementKind.TRANSITION,
            evidence_ids=cited if states else [],
            judged=judged,
        ),
        *cells,
    ]


def _rectangular(block: Block) -> Block:
    """The table with rows as long as its header."""
    width = max([len(block.header), *map(len, block.rows)])
    rows = [
        [*(cell if cell.text.strip() else EMPTY_CELL for cell in row), *[EMPTY_CELL] * (width - len(row))]
        for row in block.rows
    ]
    header = [*block.header, *[""] * (width - len(block.header))]
    return block.model_copy(update={"rows": rows, "header": header})


def placed(blocks: Iterable[Block], part: str) -> list[Block]:
    """The blocks with the place of each statement: the `part` of the draft, for a cell its row and column too, and a
    number where the same stands there before. A statement that only moves within them keeps its place."""
    seen: Counter[str] = Counter()

    def at(statement: Statement, context: str | None) -> Statement:
        if statement == EMPTY_CELL:
            return statement
        place = part if context is None else f"{part} / {context}"
        first = statement.model_copy(update={"place": place})
        seen[first.id] += 1
        number = seen[first.id]
        return first if number == 1 else first.model_copy(update={"place": f"{place} #{number}"})

    return [in_place(block, at) for block in blocks]


def with_answers(blocks: Iterable[Block]) -> list[Block]:
    """The blocks without the rows of tables of which two cells or more say that nothing was found and no other one
    behind the label states anything, and without tables that have no other row."""
    kept = []
    for block in blocks:
        rows = [row for row in block.rows if not _is_unfound(row[1:])]
        if rows or not block.rows:
            kept.append(block.model_copy(update={"rows": rows}))
    return kept


def _is_unfound(cells: Sequence[Statement]) -> bool:
    unfound = sum(map(_is_limit, cells))
    return unfound >= _MOST_UNFOUND and unfound + cells.count(EMPTY_CELL) == len(cells)


def with_dashes(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, in whose tables a cell that says that nothing was found is empty where another cell of its column is:
    there absence is an answer, as of exceptions."""
    changed = []
    for block in blocks:
        empty = {n for row in block.rows for n, cell in enumerate(row) if n and cell == EMPTY_CELL}
        rows = [
            [EMPTY_CELL if n in empty and _is_limit(cell) else cell for n, cell in enumerate(row)] for row in block.rows
        ]
        changed.append(block.model_copy(update={"rows": rows}))
    return changed


def without_unfound_columns(blocks: Iterable[Block], labels: Labels) -> list[Block]:
    """The blocks, of whose tables those columns are left out in which nothing was found for any row; a sentence behind
    the table says for each what its cells say, once where those of several say the same."""
    shorter: list[Block] = []
    for block in blocks:
        columns = range(1, len(block.header))
        unfound = [n for n in columns if _is_unfound([row[n] for row in block.rows])]
        if not unfound or len(unfound) == len(columns):
            shorter.append(block)
            continue
        rows = [[cell for n, cell in enumerate(row) if n not in unfound] for row in block.rows]
        header = [title for n, title in enumerate(block.header) if n not in unfound]
        shorter += [block.model_copy(update={"rows": rows, "header": header}), _in_words(block, unfound, labels)]
    return shorter


def _in_words(table: Block, columns: Iterable[int], labels: Labels) -> Block:
    """What the cells of these columns say was not found, after their names."""
    names: dict[str, list[str]] = {}
    for n in columns:
        said = dict.fromkeys(row[n].text for row in table.rows if _is_limit(row[n]))
        names.setdefault(labels.semicolon.join(said), []).append(table.header[n])
    texts = (labels.pair.format(name=labels.comma.join(of), value=said) for said, of in names.items())
    return Block(sentences=[Statement(text=text, kind=StatementKind.LIMIT) for text in texts])


def _is_limit(cell: Statement) -> bool:
    return cell.kind is StatementKind.LIMIT


def section_text(section: DraftSection, number: int | None = None, *, with_evidence: bool = True) -> str:
    """The section as a prompt shows it, the evidence ids after each sentence. With `number`, each sentence of its
    paragraphs and lists, each row of its tables and each block of code begins with `(NUMBER.PLACE)`, which `places_of`
    leads back from."""
    place = 0

    def mark() -> str:
        nonlocal place
        place += 1
        return "" if number is None else f"({number}.{place}) "

    def cited(statement: Statement) -> str:
        return _cited(statement, statement.evidence_ids if with_evidence else ())

    def line(statements: Sequence[Statement]) -> str:
        return " ".join(f"{mark()}{cited(row)}" for row in statements)

    lines = []
    for block in section.blocks:
        lines += [f"{block.caption}:"] if block.caption else []
        if block.type is BlockType.TABLE:
            lines.append(f"| {' | '.join(block.header)} |")
            for label, *cells in filter(None, block.rows):
                named = cited(label) if label.judged else label.marked
                lines.append(f"{mark()}| {' | '.join([named, *map(cited, cells)])} |")
        elif block.type is BlockType.CODE:
            lines += [f"{mark()}```{block.language}\n{cited(row)}\n```" for row in block.sentences]
        else:
            lines += [line(block.sentences)] if block.sentences else []
            lines += [f"- {line(item)}" for item in block.items]
    return "\n".join(lines)


def places_of(section: DraftSection) -> list[list[Statement]]:
    """What `section_text` numbers, the first as 1: a sentence or a block of code alone, or the cells of a row."""
    places: list[list[Statement]] = []
    for block in section.blocks:
        if block.type is BlockType.TABLE:
            places += filter(None, block.rows)
        else:
            places += [[statement] for statement in block.statements()]
    return places


def _cited(statement: Statement, evidence_ids: Iterable[str]) -> str:
    marks = "".join(f"[{name}]" for name in evidence_ids)
    named = (
        f"{statement.kind.value}, judged: {', '.join(statement.judged)}" if statement.judged else statement.kind.value
    )
    kind = "" if statement.kind in (StatementKind.FACT, StatementKind.QUOTE) else f" <{named}>"
    return f"{statement.marked}{kind}{' ' + marks if marks else ''}"
