"""Sentences that tell of both sides of a contradiction cite both, before a model judges them."""

from __future__ import annotations

from graph_research.research.evidence.told_sides import with_told_sides
from graph_research.research.models.draft import Block, BlockType, Statement, StatementKind, statements_of
from graph_research.research.models.evidence import Contradiction, Evidence, Side
from graph_research.research.models.source import Source
from tests.support.research import finished_research as study

AUDIT, REPORT = study.COST_AUDIT["id"], study.COST_REPORT["id"]
COSTS = Contradiction(
    id="con-0123456789",
    kind="number",
    topic="cost",
    sides=[Side(value="1.61", evidence_ids=[AUDIT]), Side(value="1.37", evidence_ids=[REPORT])],
)
BOTH = "The lagoon's construction came to 1.61 billion euros; the annual report has 1.37 billion."
ONE = "The construction cost of the tidal lagoon reached 1.61 billion euros."


def cited_by(text: str, kind: StatementKind = StatementKind.FACT, block: BlockType = BlockType.PARAGRAPH) -> list[str]:
    statement = Statement(text=text, kind=kind, evidence_ids=[AUDIT])
    where = {"rows": [[statement]], "header": ["Cost"]} if block is BlockType.TABLE else {"sentences": [statement]}
    evidence = {row["id"]: Evidence.model_validate(row) for row in (study.COST_AUDIT, study.COST_REPORT)}
    sources = {row["id"]: Source.model_validate(row) for row in study.SOURCES}
    blocks = with_told_sides([Block(type=block, **where)], [COSTS], evidence, sources)
    [written] = statements_of(blocks)
    assert written.text == text
    return written.evidence_ids


def test_a_fact_that_tells_of_both_sides_of_a_contradiction_and_cites_one_cites_both() -> None:
    assert cited_by(BOTH) == [AUDIT, REPORT]


def test_a_fact_that_tells_of_one_side_cites_that_side_alone() -> None:
    assert cited_by(ONE) == [AUDIT]


def test_what_an_analysis_or_a_cell_rests_on_is_its_writers_to_say() -> None:
    assert cited_by(BOTH, StatementKind.ANALYSIS) == cited_by(BOTH, block=BlockType.TABLE) == [AUDIT]
