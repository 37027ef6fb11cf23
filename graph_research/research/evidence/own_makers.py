"""Cells about one of several compared things that cite what the maker of another one says of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from graph_research.research.evidence.citations import in_context
from graph_research.research.models.draft import Block, Statement
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.source import Source
from graph_research.research.scoring.tiers import is_maker
from graph_research.research.scoring.versions import version_names


class OwnMakers:
    """What a cell about one of the things that a question names, by its row, column or words, cites of the others'
    makers: passages that name the thing, and all where it has none of its own maker."""

    def __init__(self, question: str, evidence: Iterable[Evidence], sources: Mapping[str, Source]) -> None:
        self._names = version_names(question)
        known = [row for row in evidence if row.source_id in sources]
        self._quotes = {row.id: row.quote for row in known}
        self._makers = {
            row.id: [thing for thing in self._names if is_maker(sources[row.source_id].publisher, [thing])]
            for row in known
        }

    def applied(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks, whose tables no longer have such citations. What a sentence is about its words do not tell: it
        compares, or goes on about another thing without its name."""
        return [self._table(block) for block in blocks]

    def _table(self, block: Block) -> Block:
        rows = [
            [
                self._own(cell, f"{row[0].text} {context} {cell.text}")
                for cell, context in in_context(row, block.header, n)
            ]
            for n, row in enumerate(block.rows, 1)
        ]
        return block.model_copy(update={"rows": rows})

    def _own(self, statement: Statement, about: str) -> Statement:
        named = _named(self._names, about)
        if len(named) != 1:
            return statement
        kept = [name for name in statement.evidence_ids if not self._is_of_others(name, named[0])]
        is_own = any(named[0] in self._makers.get(name, ()) for name in kept)
        return statement.model_copy(update={"evidence_ids": kept}) if is_own else statement

    def _is_of_others(self, evidence_id: str, thing: str) -> bool:
        makers = self._makers.get(evidence_id, ())
        return bool(makers) and thing not in makers and not _named([thing], self._quotes[evidence_id])


def _named(things: Collection[str], text: str) -> list[str]:
    return [thing for thing in things if thing.casefold() in text.casefold()]
