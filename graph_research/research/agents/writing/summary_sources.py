"""What a sentence of the summary or the conclusions rests on in the sections: what these cite for the same, and whether
they still say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

from graph_research.research.evidence.computed import compute_in_turn
from graph_research.research.models.draft import (
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    rewritten,
    statements_of,
)
from graph_research.text.language.quantities import Value
from graph_research.text.language.stated import unstated
from graph_research.text.language.words import held_share, language_of, term_weights

_LEAST_REPEATED = 0.5
"""A fact of a section gives its evidence to a sentence of whose words, by weight, it and its quotes hold so much,
the figures left out that it lacks."""
_LEAST_RELATED = 0.3
"""Evidence with none of a sentence's words stays, where a fact that cites it holds so much of them."""


@dataclass(frozen=True)
class _Fact:
    """A fact of a section, with its row's label and column, and the quotes that it cites."""

    text: str
    evidence_ids: Sequence[str]
    quotes: Sequence[str]

    @cached_property
    def terms(self) -> Mapping[str, float]:
        return term_weights("\n".join([self.text, *self.quotes]))


def with_sources_of_sections(
    blocks: Iterable[Block], sections: Iterable[DraftSection], quotes: Mapping[str, str]
) -> list[Block]:
    """The blocks, in which a number that a section computes is computed as there, and each fact cites what a section
    cites for the figures that its own evidence lacks, and no longer cites what has none of its words; `quotes` are
    those of all evidence by id. Of a section all counts but blocks to copy, which compute for many lines. A fact that
    would lose all its evidence is left as it is. What else an analysis rests on is its writer's to say."""
    told = [block for section in sections for block in section.blocks if block.type is not BlockType.CODE]
    computing = [row for row in statements_of(told) if row.computed]
    facts = [fact for block in told for fact in _facts(block, quotes)]

    def change(statement: Statement) -> Statement:
        statement = _computed(statement, computing, quotes)
        if statement.kind is not StatementKind.FACT or not statement.evidence_ids:
            return statement
        ids = [*statement.evidence_ids, *_lacking(statement, facts, quotes)]
        related = [name for name in ids if _is_related(name, statement.text, facts, quotes)]
        return statement.model_copy(update={"evidence_ids": list(dict.fromkeys(related or ids))})

    return rewritten(blocks, change)


def outdated(
    statements: Iterable[Statement], changed: Iterable[tuple[Statement, Statement | None]], told: Sequence[Statement]
) -> dict[str, Statement | None]:
    """By id, those of the statements that are nearer to what a section said before it was mended than to all that is
    `told` now, with what took the place of that: they may lack the condition for which it was `changed`, or say what
    was taken out. Only what cites the same counts, and is as near as a sentence that repeats it."""
    pairs = list(changed)
    found: dict[str, Statement | None] = {}
    for row in statements:
        before, now = max(
            ((_nearness(row, was), now) for was, now in pairs), key=lambda pair: pair[0], default=(0, None)
        )
        if before >= _LEAST_REPEATED and before > max((_nearness(row, other) for other in told), default=0.0):
            found[row.id] = now
    return found


def _nearness(one: Statement, other: Statement) -> float:
    """The share of the weight of their words that two statements have in common, as a geometric mean of both, of those
    that cite the same."""
    if set(one.evidence_ids).isdisjoint(other.evidence_ids):
        return 0.0
    own, theirs = term_weights(one.text), term_weights(other.text)
    return sqrt(held_share(own, theirs) * held_share(theirs, own))


def _computed(statement: Statement, computing: Iterable[Statement], quotes: Mapping[str, str]) -> Statement:
    """The statement, with the computation, the evidence and the judged numbers of the nearest one of a section that
    states a figure which its own evidence lacks."""
    own = [*(quotes.get(name, "") for name in statement.evidence_ids), *statement.judged]
    lacking = unstated(statement.text, own)
    if statement.kind not in (StatementKind.FACT, StatementKind.ANALYSIS) or statement.computed or not lacking:
        return statement
    weights = term_weights(_without(statement.text, lacking))
    giving = [
        (held_share(weights, term_weights(row.text)), row)
        for row in computing
        if any(_gives(row, figure, quotes) for figure in lacking)
    ]
    share, nearest = max(giving, key=lambda row: row[0], default=(0.0, statement))
    if share < _LEAST_RELATED:
        return statement
    judged = nearest.judged if statement.kind is StatementKind.ANALYSIS else []
    return statement.model_copy(
        update={
            "computed": list(nearest.computed),
            "evidence_ids": list(dict.fromkeys([*statement.evidence_ids, *nearest.evidence_ids])),
            "judged": list(dict.fromkeys([*statement.judged, *judged])),
        }
    )


def _gives(statement: Statement, figure: Value, quotes: Mapping[str, str]) -> bool:
    """Whether a number is what a statement computes."""
    held = [quotes.get(name, "") for name in statement.evidence_ids]
    return any(one.gives(figure) for one in compute_in_turn(statement.computed, held, statement.judged))


def _facts(block: Block, quotes: Mapping[str, str]) -> Iterable[_Fact]:
    named = [("", row) for row in block.prose()]
    for cells in block.rows:
        named += [(f"{cells[0].text} {head}", cell) for head, cell in zip(block.header, cells, strict=False)]
    return [
        _Fact(f"{under} {row.text}".strip(), row.evidence_ids, [quotes.get(name, "") for name in row.evidence_ids])
        for under, row in named
        if row.kind in (StatementKind.FACT, StatementKind.QUOTE) and row.evidence_ids
    ]


def _lacking(statement: Statement, facts: Iterable[_Fact], quotes: Mapping[str, str]) -> Sequence[str]:
    """The evidence of the nearest fact that states every figure which a sentence's own evidence lacks."""
    own = [quotes.get(name, "") for name in statement.evidence_ids]
    lacking = unstated(statement.text, own)
    if statement.computed or not lacking:
        return ()
    weights = term_weights(_without(statement.text, lacking))
    near = [(held_share(weights, fact.terms), fact) for fact in facts]
    giving = [
        (share, fact)
        for share, fact in near
        if share >= _LEAST_REPEATED and not unstated(statement.text, [*own, *fact.quotes])
    ]
    return max(giving, key=lambda row: row[0])[1].evidence_ids if giving else ()


def _without(text: str, values: Iterable[Value]) -> str:
    for value in sorted(values, key=lambda value: -value.start):
        text = text[: value.start] + text[value.end :]
    return text


def _is_related(name: str, text: str, facts: Iterable[_Fact], quotes: Mapping[str, str]) -> bool:
    quote, weights = quotes.get(name, ""), term_weights(text)
    if language_of(quote) != language_of(text) or held_share(weights, term_weights(quote)) > 0.0:
        return True
    return any(name in fact.evidence_ids and held_share(weights, fact.terms) >= _LEAST_RELATED for fact in facts)
