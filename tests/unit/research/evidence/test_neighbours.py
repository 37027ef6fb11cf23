"""Statements that also cite what their neighbours cite, where that states the number that they lack."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from graph_research.research.evidence.claim_support import CitedPassage
from graph_research.research.evidence.neighbours import NeighboursEvidence
from graph_research.research.models.draft import Block, BlockType, Statement, StatementKind

QUOTES = {
    "rare": "Reducing flush_interval causes flushes to occur more often.",
    "default": "The default of flush_interval is five minutes.",
    "audit": "The audit puts the cost of the lagoon at 1.61 billion euros.",
    "company": "The company puts the cost of the lagoon at 1.37 billion euros.",
    "deal": "Northwind acquired Contoso in the spring.",
    "founded": "Fabrikam makes pumps for dams.",
}


def cited(evidence_ids: Iterable[str]) -> list[CitedPassage]:
    return [CitedPassage(number, QUOTES[name], True) for number, name in enumerate(evidence_ids, 1)]


def said(text: str, *evidence_ids: str, kind: StatementKind = StatementKind.FACT) -> Statement:
    return Statement(text=text, kind=kind, evidence_ids=list(evidence_ids))


def citations(block: Block) -> list[list[str]]:
    [changed] = NeighboursEvidence("Which settings?", cited).applied([block])
    return [row.evidence_ids for row in changed.statements()]


def row_of(header: str, *cells: Statement) -> Block:
    label = said("flush_interval", kind=StatementKind.TRANSITION)
    return Block(type=BlockType.TABLE, header=["Setting", *header.split()], rows=[[label, *cells]])


@pytest.mark.parametrize("kind", [StatementKind.FACT, StatementKind.ANALYSIS])
def test_a_cell_also_cites_the_passage_of_its_row_that_states_its_number(kind: StatementKind) -> None:
    default = said("5 minutes", "default")
    assert citations(row_of("Default Value", default, said("5min", "rare", kind=kind)))[2] == ["rare", "default"]
    assert citations(row_of("Default Value", default, said("7min", "rare", kind=kind)))[2] == ["rare"]
    assert citations(row_of("Default Value", default, said("more often", "rare", kind=kind)))[2] == ["rare"]


def test_a_sentence_also_cites_the_passage_of_the_sentence_before_it() -> None:
    sentences = [
        said("By default, it flushes every five minutes.", "default"),
        said("The flushes every 5 minutes occur more often by reducing flush_interval.", "rare"),
    ]
    for block in (Block(sentences=sentences), Block(type=BlockType.LIST, items=[sentences])):
        assert citations(block) == [["default"], ["rare", "default"]]
    apart = Block(type=BlockType.LIST, items=[sentences[:1], sentences[1:]])
    assert citations(apart) == [["default"], ["rare"]]
    assert citations(Block(sentences=sentences[::-1])) == [["rare"], ["default"]]


def test_a_number_beside_another_one_of_its_unit_is_an_error_and_no_lack() -> None:
    table = Block(
        type=BlockType.TABLE,
        header=["Figure", "Audit", "Company"],
        rows=[
            [
                said("Cost of the lagoon", kind=StatementKind.TRANSITION),
                said("1.37 billion euros", "audit"),
                said("1.61 billion euros", "company"),
            ]
        ],
    )
    assert citations(table) == [[], ["audit"], ["company"]]


def test_a_lacking_name_may_stand_in_place_of_another() -> None:
    text = "Fabrikam acquired Contoso in the spring."
    assert citations(Block(sentences=[said(QUOTES["founded"], "founded"), said(text, "deal")]))[1] == ["deal"]


def test_code_quotes_and_limits_cite_what_they_did() -> None:
    row = said("flush_interval = 5min", "rare", kind=StatementKind.ANALYSIS)
    assert citations(Block(type=BlockType.CODE, sentences=[said("x", "default"), row]))[1] == ["rare"]
    limit = said("Whether 5 minutes suffice was not found.", kind=StatementKind.LIMIT)
    assert citations(Block(sentences=[said("Five minutes.", "default"), limit]))[1] == []
