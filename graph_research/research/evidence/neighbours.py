"""Passages of its neighbours for a sentence or cell with numbers that they state and its own passages lack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graph_research.research.evidence.citations import in_context
from graph_research.research.evidence.claim_support import CitedPassage, judge, missing_in
from graph_research.research.models.draft import Block, BlockType, Statement, StatementKind
from graph_research.text.language.quantities import figures
from graph_research.text.relevance.support import UNSUPPORTED, support


class NeighboursEvidence:
    """What the statements of a section, which is written in `language`, may also cite. `cited` reads the passages of
    some evidence ids."""

    def __init__(
        self, question: str, cited: Callable[[Iterable[str]], Sequence[CitedPassage]], language: str = ""
    ) -> None:
        self._question = question
        self._language = language
        self._cited = cited

    def applied(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks, in which a fact or an analysis whose passages lack its numbers or dates also cites the passage
        that states them, of the sentence before it in its paragraph or item or of another cell of its row. That
        passage by itself has to fit the words, and where a number is lacking no passage of its own may have one of
        that unit: it would say otherwise. A lacking name is left as it is, since it may stand in place of another."""
        return [self._block(block) for block in blocks]

    def _block(self, block: Block) -> Block:
        if block.type is BlockType.CODE:
            return block
        rows = [
            [
                self._completed(cell, context, [other for other in row if other is not cell])
                for cell, context in in_context(row, block.header, place)
            ]
            for place, row in enumerate(block.rows, 1)
        ]
        items = list(map(self._text, block.items))
        return block.model_copy(update={"rows": rows, "items": items, "sentences": self._text(block.sentences)})

    def _text(self, sentences: Sequence[Statement]) -> list[Statement]:
        before = [sentences[place - 1 : place] for place in range(len(sentences))]
        return [self._completed(one, "", above) for one, above in zip(sentences, before, strict=True)]

    def _completed(self, statement: Statement, context: str, neighbours: Sequence[Statement]) -> Statement:
        own = statement.evidence_ids
        if statement.kind not in (StatementKind.FACT, StatementKind.ANALYSIS) or not own:
            return statement
        passages = self._cited(own)
        missing = missing_in(statement, passages, question=self._question, context=context, language=self._language)
        if not missing or not all(map(figures, missing)) or self._says_otherwise(statement, missing):
            return statement
        offered = dict.fromkeys(name for row in neighbours for name in row.evidence_ids if name not in own)
        fitting = (name for name in offered if self._fits(statement, context, name))
        found = next((name for name in fitting if not self._problem(statement, context, [*own, name])), None)
        return statement.model_copy(update={"evidence_ids": [*own, found]}) if found else statement

    def _problem(self, statement: Statement, context: str, evidence_ids: Iterable[str]) -> str:
        return judge(
            statement.text,
            statement.kind,
            self._cited(evidence_ids),
            question=self._question,
            computed=statement.computed,
            judged=statement.judged,
            context=context,
            language=self._language,
        ).problem

    def _says_otherwise(self, statement: Statement, missing: Iterable[str]) -> bool:
        units = {figure.unit for written in missing for figure in figures(written)}
        own = {figure.unit for passage in self._cited(statement.evidence_ids) for figure in figures(passage.quote)}
        return not units.isdisjoint(own)

    def _fits(self, statement: Statement, context: str, evidence_id: str) -> bool:
        claim = f"{context}: {statement.text}" if context else statement.text
        return any(support(claim, [row.quote, row.title]).score >= UNSUPPORTED for row in self._cited([evidence_id]))
