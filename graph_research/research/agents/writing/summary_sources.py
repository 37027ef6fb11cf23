"""What a sentence of the summary or the conclusions rests on in the sections: what these cite for the same, whether
they still say it, and what they say in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from operator import itemgetter

from graph_research.research.evidence.computed import compute_in_turn
from graph_research.research.models.draft import (
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    rewritten,
    statements_of,
    under_label,
)
from graph_research.text.language.quantities import Value
from graph_research.text.language.stated import unstated
from graph_research.text.language.words import held_share, language_of, term_weights
from graph_research.text.relevance.leaning import leans_back

_LEAST_REPEATED = 0.5
"""A fact of a section gives its evidence to a sentence of whose words, by weight, it and its quotes hold so much,
the figures left out that it lacks. A sentence repeats another one where they have so much of their weight in common."""
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


def proved_sentences(sections: Iterable[DraftSection], is_proved: Callable[[Statement], bool]) -> list[Statement]:
    """The proved sentences of the sections, of their text and lists."""
    blocks = (block for section in sections for block in section.blocks if block.type is not BlockType.CODE)
    return [row for block in blocks for row in block.prose() if is_proved(row)]


def outdated(
    statements: Sequence[Statement],
    changed: Iterable[tuple[Statement, str]],
    said: Sequence[Statement],
    sections: Sequence[DraftSection],
) -> dict[str, Statement | None]:
    """By id, those of the statements that are nearer to what a section said before it was mended than to all that it
    says now: they may lack the condition for which that was `changed`, or say what was taken out. Only what cites the
    same counts, and is as near as a sentence that repeats it.

    Each with the sentence that stands in its place: `changed` has the id of that, it is among the sentences that are
    `said` in the sections, understood by itself, and with the one before it cites most of what the statement cites.
    Where there is no such sentence, a statement is None if it says what was taken out, else not outdated; nor is it
    where that sentence is on something else, or used already.
    """
    blocks = [block for section in sections for block in section.blocks]
    code = [row for block in blocks if block.type is BlockType.CODE for row in block.sentences]
    told, pairs = [*said, *code, *(_as_one(cells) for block in blocks for cells in block.rows)], list(changed)
    now = {row.id: row for row in statements_of(blocks)}
    usable = {row.id for row in said if not leans_back(row.text)}
    used = {row.text for row in statements}
    found: dict[str, Statement | None] = {}
    for row in statements:
        near = max(((_nearness(row, was), was, name) for was, name in pairs), key=itemgetter(0), default=None)
        nearest = max((_nearness(row, other) for other in told), default=0.0)
        if near is None or near[0] < _LEAST_REPEATED or near[0] <= nearest:
            continue
        _, was, name = near
        new = now.get(name, Statement(text=""))
        if name in usable and (new.text in used or _nearness(row, new) < _LEAST_RELATED):
            continue
        if name in usable and _cites_most(row, was, new):
            found[row.id] = new
            used |= {new.text}
        elif _says_what_was_taken_out(row, was, new):
            found[row.id] = None
    return found


def _cites_most(row: Statement, was: Statement, new: Statement) -> bool:
    """Whether a sentence, with the one that it stands in the place of, cites most of what a row cites: else that is on
    more."""
    cited = {*was.evidence_ids, *new.evidence_ids}
    return 2 * len(cited.intersection(row.evidence_ids)) >= len(set(row.evidence_ids))


def _says_what_was_taken_out(row: Statement, was: Statement, new: Statement) -> bool:
    taken = term_weights(was.text).keys() - term_weights(new.text).keys()
    return not taken.isdisjoint(term_weights(row.text))


def with_stand_ins(blocks: Sequence[Block], said: Iterable[Statement], lost: Set[str]) -> list[Block]:
    """The blocks of the summary, in whose lists an item that is `lost` whole has given way to the sentence that is
    `said` in a section, understood by itself and cites most of the same, at least half of it, if there is one: else the
    summary would say nothing of a part of the question that a section answers."""
    used = {row.text for row in statements_of(blocks)}
    known = [row for row in said if row.text not in used and not leans_back(row.text)]

    def standing(item: list[Statement]) -> list[Statement]:
        cited = {name for row in item for name in row.evidence_ids}
        best = max(known, key=lambda row: len(cited.intersection(row.evidence_ids)), default=None)
        is_lost = lost >= {row.id for row in item}
        if not (best and is_lost and 2 * len(cited.intersection(best.evidence_ids)) >= len(cited) > 0):
            return item
        known.remove(best)
        return under_label(item, [best])

    return [block.model_copy(update={"items": list(map(standing, block.items))}) for block in blocks]


def _as_one(cells: Sequence[Statement]) -> Statement:
    """What a row of a table says."""
    cited = dict.fromkeys(name for cell in cells for name in cell.evidence_ids)
    return Statement(text=" ".join(cell.text for cell in cells), evidence_ids=list(cited))


def _nearness(one: Statement, other: Statement) -> float:
    """The share of the weight of their words that two statements have in common, as a geometric mean of both, of those
    that cite the same."""
    if set(one.evidence_ids).isdisjoint(other.evidence_ids):
        return 0.0
    own, theirs = term_weights(one.text), term_weights(other.text)
    return sqrt(held_share(own, theirs) * held_share(theirs, own))


def _computed(statement: Statement, computing: Iterable[Statement], quotes: Mapping[str, str]) -> Statement:
    """The statement, with the evidence of the nearest one of a section that states a figure which its own evidence
    lacks, and what of its computation and its judged numbers gives that figure."""
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
    nearest = _giving_only(nearest, [figure for figure in lacking if _gives(nearest, figure, quotes)], quotes)
    judged = nearest.judged if statement.kind is StatementKind.ANALYSIS else []
    return statement.model_copy(
        update={
            "computed": nearest.computed,
            "evidence_ids": list(dict.fromkeys([*statement.evidence_ids, *nearest.evidence_ids])),
            "judged": list(dict.fromkeys([*statement.judged, *judged])),
        }
    )


def _giving_only(statement: Statement, wanted: Sequence[Value], quotes: Mapping[str, str]) -> Statement:
    """The statement with what of its computation gives these figures, and the judged numbers that stand in that."""
    for name in ("computed", "judged"):
        for entry in getattr(statement, name):
            fewer = statement.model_copy(update={name: [one for one in getattr(statement, name) if one != entry]})
            is_used = name == "judged" and not unstated(entry, statement.computed)
            if not is_used and all(_gives(fewer, figure, quotes) for figure in wanted):
                statement = fewer
    return statement


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
