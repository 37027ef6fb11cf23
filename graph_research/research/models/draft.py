"""The draft of a report: sections of blocks of sentences with evidence ids, before code numbers and proves them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator, Field

from graph_research.research.models.inline_marks import marked
from graph_research.research.models.record import Record, schema_field


class StatementKind(StrEnum):
    """What a sentence may be.

    `quote` stands in its evidence word for word, `fact` is the writer's own sentence about what its evidence says.
    `analysis` compares, infers, judges or recommends; its evidence is what it rests on. `transition` asserts nothing.
    `limit` says what this research did not find or could not read. `user` is what the user put in place of a sentence
    of the finished report; no model writes it.
    """

    QUOTE = "quote"
    FACT = "fact"
    ANALYSIS = "analysis"
    TRANSITION = "transition"
    LIMIT = "limit"
    USER = "user"


def is_checked_by_code(kind: StatementKind | str, *, in_table: bool) -> bool:
    """Whether code alone checks a statement: a quote, a limit, since no passage shows that something was not found, and
    the label of a row."""
    return kind in (StatementKind.QUOTE, StatementKind.LIMIT) or (in_table and kind == StatementKind.TRANSITION)


def _listed(value: object) -> object:
    """The list of a single value, which runs of earlier versions stored as text."""
    return [value] * bool(value) if isinstance(value, str) else value


JudgedValues = Annotated[list[str], BeforeValidator(_listed)]
"""The numbers that a writer sets by judgement."""


class Statement(Record):
    """One sentence, or the text of a table's cell or of a block of code, with the evidence it rests on.

    The first id of a quote is the one quoted; further ids are other sources that say the same ("also in"). `computed`
    are arithmetic expressions over numbers of the evidence, such as `1.61 - 1.34`, whose values the text states.
    `judged` are the numbers of an analysis that its writer sets by judgement, each as the text has it: "50 %". `place`
    tells it from others that read the same, as `placed` sets it; empty where nothing did. `code` and `strong` are the
    stretches of the text that are set as code and in bold (`inline_marks.py`); the id does not depend on them.
    """

    text: str
    kind: StatementKind = StatementKind.FACT
    evidence_ids: list[str] = Field(default_factory=list)
    computed: list[str] = Field(default_factory=list)
    judged: JudgedValues = Field(default_factory=list)
    place: str = ""
    code: list[str] = Field(default_factory=list)
    strong: list[str] = Field(default_factory=list)

    @property
    def marked(self) -> str:
        """The text with the marks of what is set as code and in bold."""
        return marked(self.text, self.code, self.strong)

    @property
    def id(self) -> str:
        """`st-` and 10 hex digits derived from kind, text, evidence, computation, judged numbers and place."""
        judged = ["", *self.judged] if self.judged else []
        place = ["", "", self.place] if self.place else []
        said = [self.kind, " ".join(self.text.split()), *self.evidence_ids]
        whole = "\x1f".join([*said, "", *self.computed, *judged, *place])
        return f"st-{hashlib.sha256(whole.encode()).hexdigest()[:10]}"


class BlockType(StrEnum):
    """How the sentences of a block are laid out."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    QUOTE = "quote"
    CODE = "code"


AnyStatement = TypeVar("AnyStatement", bound=Record)


class BlockOf(Record, Generic[AnyStatement]):
    """A block of a draft, or of a report, whose statements are cited."""

    type: BlockType = BlockType.PARAGRAPH
    sentences: list[AnyStatement] = Field(default_factory=list)
    items: list[list[AnyStatement]] = Field(default_factory=list)
    ordered: bool = False
    header: list[str] = Field(default_factory=list)
    rows: list[list[AnyStatement]] = Field(default_factory=list)
    caption: str = ""
    language: str = ""

    def prose(self) -> Iterator[AnyStatement]:
        """Every sentence outside tables, in reading order."""
        yield from self.sentences
        for item in self.items:
            yield from item

    def statements(self) -> Iterator[AnyStatement]:
        """Every sentence and cell, in reading order."""
        yield from self.prose()
        for cells in self.rows:
            yield from cells


class Block(BlockOf[Statement]):
    """A paragraph (`sentences`), a list (`items` of sentences, `ordered` or not), a table (`header` and `rows` of
    cells, with a `caption`), or a quotation or code (one of `sentences`; code in `language`, with a `caption`)."""


class Writer(StrEnum):
    """Who wrote a section: a language model, or code that selects quotations."""

    MODEL = "model"
    EXTRACTIVE = "extractive"


class DraftSection(Record):
    """A heading of level 1 to 3 and its blocks in order. `id` is the outline's, empty where there was none."""

    heading: str
    level: int = schema_field(1, minimum=1, maximum=3)
    blocks: list[Block] = Field(default_factory=list)
    id: str = ""
    writer: Writer = Writer.MODEL

    def statements(self) -> Iterator[Statement]:
        """Every sentence and cell, in reading order."""
        return statements_of(self.blocks)


class Draft(Record):
    """What the writer gives.

    `title` stands in place of the question, which may be long; empty where no model gave one. `notice` is shown as a
    banner above everything (how the text was made). `found` is false where the best evidence misses most of the
    question; then `summary` holds the nearest passages and `searched` says what was looked for.
    `more` is evidence that did not fit on the page; `conclusions` end the report. `left_out` counts the sentences that
    it lacks because they failed a check. `not_answered` are parts of the question without a section, each with the
    reason, and what the conclusions say was not found.
    """

    title: str = ""
    notice: str = ""
    found: bool = True
    searched: list[str] = Field(default_factory=list)
    summary: list[Block] = Field(default_factory=list)
    sections: list[DraftSection] = Field(default_factory=list)
    conclusions: list[Block] = Field(default_factory=list)
    more: list[Statement] = Field(default_factory=list)
    left_out: int = schema_field(0, minimum=0)
    not_answered: list[str] = Field(default_factory=list)

    def statements(self) -> Iterator[Statement]:
        """Every sentence and cell, in reading order."""
        yield from statements_of(self.summary)
        for section in self.sections:
            yield from section.statements()
        yield from statements_of(self.conclusions)
        yield from self.more


def words_of(blocks: Iterable[Block]) -> int:
    """How many words the blocks have; a language without spaces counts two characters a word."""
    texts = [statement.text for statement in statements_of(blocks)]
    return sum(len(text.split()) if text.isascii() or " " in text else len(text) // 2 for text in texts)


def stored_draft(row: Mapping[str, Any]) -> Draft:
    """The draft of a stored run. One of a run before version 2 of the report has lists of statements in place of
    blocks, and calls a transition `connective`."""
    parts = [
        row.get("summary"),
        row.get("conclusions"),
        *(part.get("statements") for part in row.get("sections") or []),
    ]
    if not any(part and "text" in part[0] for part in parts):
        return Draft.model_validate(row)
    sections = [
        {"heading": part["heading"], "blocks": _stored_blocks(part.get("statements") or [])}
        for part in row.get("sections") or []
    ]
    summary, conclusions = (_stored_blocks(row.get(name) or []) for name in ("summary", "conclusions"))
    more = list(map(_stored_statement, row.get("more") or []))
    return Draft.model_validate(
        {**row, "summary": summary, "sections": sections, "conclusions": conclusions, "more": more}
    )


def _stored_blocks(rows: Iterable[Mapping[str, Any]]) -> list[Block]:
    return paragraphs_of(list(map(_stored_statement, rows)))


def _stored_statement(row: Mapping[str, Any]) -> Statement:
    kind = StatementKind.TRANSITION if row.get("kind") == "connective" else row.get("kind", StatementKind.FACT)
    return Statement.model_validate({**row, "kind": kind})


class VerdictWord(StrEnum):
    """What a verifier says of a sentence and its evidence."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT = "not"


STATEMENTS_OF_A_BATCH = 50
"""So many statements are shown to a verifier at once at most; a smaller window shows fewer of their passages."""


class StatementVerdict(Record):
    """A verifier's judgement of one statement; `id` is the statement's, `model` who judged. `stated` says of an
    analysis that its passages state all of it, so that it infers nothing."""

    id: str = schema_field(pattern="^st-[0-9a-f]{10}$")
    verdict: VerdictWord
    reason: str = ""
    model: str = ""
    stated: bool = False


def statements_of(blocks: Iterable[BlockOf[AnyStatement]]) -> Iterator[AnyStatement]:
    """Every sentence and cell of the blocks, in reading order."""
    for block in blocks:
        yield from block.statements()


def rewritten(blocks: Iterable[Block], change: Callable[[Statement], Statement | None]) -> list[Block]:
    """The blocks with each statement as `change` gives it. What it drops (None) is left out, in a table replaced by a
    dash; items and blocks without a statement go, and rows that lose all but their label. What a paragraph or an item
    is about, by the words in bold that it begins with, stays while it says anything."""
    changed = [
        block.model_copy(
            update={
                "sentences": _kept(block.sentences, change),
                "items": [item for group in block.items if (item := _kept(group, change))],
                "rows": [kept for row in block.rows if (kept := _kept_row(row, change))],
            }
        )
        for block in blocks
    ]
    return [block for block in changed if any(row != EMPTY_CELL for row in block.statements())]


def without_statements(blocks: Iterable[Block], ids: Collection[str]) -> list[Block]:
    """The blocks `rewritten` without the statements of these ids."""
    return rewritten(blocks, lambda row: None if row.id in ids else row)


def _kept(statements: Sequence[Statement], change: Callable[[Statement], Statement | None]) -> list[Statement]:
    return under_label(statements, [kept for statement in statements if (kept := change(statement)) is not None])


def under_label(before: Sequence[Statement], statements: Sequence[Statement]) -> list[Statement]:
    """The statements behind the label that those `before` them began with, unless they have one; none where only a
    label is left. The label is a statement of its own, so that the others keep their ids; where the first of them
    begins with the same words, these are in bold again."""
    label = label_of(before[0]) if before else None
    if all(map(is_label, statements)):
        return []
    first, *others = statements
    if label is None or label_of(first) or first.kind is StatementKind.USER:
        return list(statements)
    if not first.text.startswith(label.text):
        return [label, *statements]
    marks = {"code": list(dict.fromkeys([*label.code, *first.code])), "strong": [label.text, *first.strong]}
    return [first.model_copy(update=marks), *others]


def label_of(statement: Statement) -> Statement | None:
    """What a sentence begins with in bold before a colon ("**Order of waiting:** ..."), as a transition, which asserts
    nothing; none where that has a digit, which could be a figure."""
    labels = (f"{strong}{end}" for strong in statement.strong for end in ("", *_COLONS))
    text = next((label for label in labels if label.endswith(_COLONS) and statement.text.startswith(label)), "")
    if not text or any(map(str.isdigit, text)):
        return None
    code = [name for name in statement.code if name in text]
    return Statement(text=text, kind=StatementKind.TRANSITION, place=statement.place, code=code, strong=[text])


def is_label(statement: Statement) -> bool:
    """Whether a statement is the label of those behind it, and nothing else."""
    label = label_of(statement)
    return label is not None and label.text == statement.text and statement.kind is StatementKind.TRANSITION


def _kept_row(row: list[Statement], change: Callable[[Statement], Statement | None]) -> list[Statement]:
    kept = [change(cell) or EMPTY_CELL for cell in row]
    return kept if kept == row or any(cell != EMPTY_CELL for cell in kept[1:] or kept) else []


_COLONS = (":", "：")

EMPTY_CELL = Statement(text="–", kind=StatementKind.TRANSITION)
"""Stands in a table where a cell was left out."""


def paragraphs_of(statements: Sequence[Statement]) -> list[Block]:
    """Statements as blocks: a run of quotes as a list of one quote an item, other runs as a paragraph."""
    blocks: list[Block] = []
    for statement in statements:
        is_quote = statement.kind is StatementKind.QUOTE
        last = blocks[-1] if blocks else None
        if is_quote and last and last.type is BlockType.LIST:
            blocks[-1] = last.model_copy(update={"items": [*last.items, [statement]]})
        elif is_quote:
            blocks.append(Block(type=BlockType.LIST, items=[[statement]]))
        elif last and last.type is BlockType.PARAGRAPH:
            blocks[-1] = last.model_copy(update={"sentences": [*last.sentences, statement]})
        else:
            blocks.append(Block(sentences=[statement]))
    return blocks
