"""Drafts: evidence that exists, text with marks, and the report's numbers."""

from __future__ import annotations

import pytest

from graph_research.research.models.draft import (
    Block,
    BlockType,
    Draft,
    DraftSection,
    Statement,
    StatementKind,
    stored_draft,
)
from graph_research.research.report.draft import (
    checked_draft,
    draft_markdown,
    report_metadata,
    with_chosen_operands,
    with_evidence_of_rows,
    with_evidence_of_settings,
)
from graph_research.research.report.labels.languages import labels_for

DRAFT = Draft(
    summary=[Block(sentences=[Statement(text="It opened in 2016.", evidence_ids=["ev-1", "ev-9", "ev-1"])])],
    sections=[
        DraftSection(
            heading="Two\nlines",
            blocks=[
                Block(
                    sentences=[
                        Statement(text="It cost 4 million.", evidence_ids=["ev-8"]),
                        Statement(text="More follows.", kind=StatementKind.TRANSITION),
                    ]
                ),
                Block(
                    type=BlockType.TABLE,
                    header=["Year", "Cost"],
                    rows=[[Statement(text="2016"), Statement(text="4 | 5", evidence_ids=["ev-2", "ev-7"])]],
                ),
            ],
        ),
        DraftSection(
            heading="Below",
            level=2,
            blocks=[
                Block(type=BlockType.LIST, items=[[Statement(text="One."), Statement(text="Two.")]]),
                Block(type=BlockType.CODE, language="sql", sentences=[Statement(text="a;", evidence_ids=["ev-1"])]),
            ],
        ),
    ],
    more=[Statement(text="A quote.", evidence_ids=["ev-2"], kind=StatementKind.QUOTE)],
)


@pytest.mark.requirement("B25")
def test_ids_that_do_not_exist_are_taken_out_and_counted_and_the_statement_stays() -> None:
    draft, fabricated = checked_draft(DRAFT, {"ev-1", "ev-2"})
    assert fabricated == 3
    assert [(one.text, one.evidence_ids) for one in draft.statements()] == [
        ("It opened in 2016.", ["ev-1"]),
        ("It cost 4 million.", []),
        ("More follows.", []),
        ("2016", []),
        ("4 | 5", ["ev-2"]),
        ("One.", []),
        ("Two.", []),
        ("a;", ["ev-1"]),
        ("A quote.", ["ev-2"]),
    ]
    assert draft.sections[0].heading == "Two lines"


def test_the_text_carries_the_evidence_behind_each_statement() -> None:
    draft, _ = checked_draft(DRAFT, {"ev-1", "ev-2"})
    assert draft_markdown("When?\nAnd why?", draft, labels_for("en")) == (
        "# When? And why?\n\n"
        "## Short answer\n\nIt opened in 2016. [ev-1]\n\n"
        "## Two lines\n\nIt cost 4 million. More follows.\n\n"
        "| Year | Cost |\n| --- | --- |\n| 2016 | 4 / 5 [ev-2] |\n\n"
        "### Below\n\n- One. Two.\n\n```sql\na;\n``` [ev-1]\n\n"
        "## More evidence\n\n- A quote. [ev-2]\n"
    )


def test_a_report_that_found_nothing_says_what_was_searched() -> None:
    draft = Draft(found=False, searched=["a", "b"], summary=[Block(sentences=[Statement(text="Nothing was found.")])])
    assert "## Not found" in draft_markdown("Q", draft, labels_for("en"))
    assert "Searched for: a; b\n" in draft_markdown("Q", draft, labels_for("en"))


@pytest.mark.requirement("2.8")
def test_the_numbers_count_sections_words_citations_and_levels() -> None:
    draft, fabricated = checked_draft(DRAFT, {"ev-1", "ev-2"})
    findings = [{"confidence": level} for level in ("confirmed", "high", "medium", "low", "speculation")]
    assert report_metadata(draft, "one two three", findings, fabricated=fabricated, iteration=2) == {
        "sections": ["Two lines", "Below"],
        "word_count": 3,
        "citations_count": 4,
        "confidence_summary": {"high": 2, "medium": 1, "low": 2},
        "fabricated_citations": 3,
        "iteration": 2,
    }


def test_the_draft_of_a_run_without_blocks_keeps_every_statement() -> None:
    quote = {"text": "It opened in 2016.", "evidence_ids": ["ev-1"], "kind": "quote"}
    lead = {"text": "First the dates.", "evidence_ids": [], "kind": "connective"}
    fact = {"text": "It cost 4 million.", "evidence_ids": ["ev-2"], "kind": "fact"}
    rows = {"summary": [quote], "sections": [{"heading": "Dates", "statements": [lead, fact]}], "more": [quote, lead]}
    draft = stored_draft(rows)
    kinds = [StatementKind.QUOTE, StatementKind.TRANSITION, StatementKind.FACT, StatementKind.QUOTE]
    assert [row.kind for row in draft.statements()] == [*kinds, StatementKind.TRANSITION]
    assert [row.evidence_ids for row in draft.statements()] == [["ev-1"], [], ["ev-2"], ["ev-1"], []]
    assert stored_draft(DRAFT.to_json()) == DRAFT
    assert stored_draft({}) == Draft()


def test_an_analysis_computes_with_what_another_of_its_section_sets_by_judgement() -> None:
    chosen = Statement(text="Take 5 ms for each write.", kind=StatementKind.ANALYSIS, judged=["5 ms"])
    waiting = Statement(text="At 80 % a write waits 20 ms.", kind=StatementKind.ANALYSIS, computed=["5 * 4"])
    other = Statement(text="At 7 clients all wait.", kind=StatementKind.ANALYSIS, computed=["7 * 3"])
    fact = Statement(text="It takes 10 ms.", computed=["5 * 2"])
    [block] = with_chosen_operands([Block(sentences=[chosen, waiting, other, fact])], {})
    assert [row.judged for row in block.sentences] == [["5 ms"], ["5 ms"], [], []]


def test_an_analysis_has_of_the_numbers_that_others_set_only_those_that_it_computes_with() -> None:
    quotes = {"ev-1": "A table is vacuumed after 50 rows plus a fraction of 0.2 of its rows."}
    shown = Statement(
        text="Take 1 ms, 50 ms or 50 clients at 50 %.",
        kind=StatementKind.ANALYSIS,
        judged=["1 ms", "50 ms", "50", "50 %"],
    )
    waiting = Statement(
        text="At 80 % a write waits 4 times as long.",
        kind=StatementKind.ANALYSIS,
        computed=["0.8 / (1 - 0.8)"],
        judged=["80 %"],
    )
    dead = Statement(
        text="In a table of 900 rows these are 230.",
        kind=StatementKind.ANALYSIS,
        evidence_ids=["ev-1"],
        computed=["50 + 0.2 * 900"],
        judged=["900"],
    )
    rate = Statement(text="At 50 ms that is 20 a second.", kind=StatementKind.ANALYSIS, computed=["1000 / 50"])
    label = Statement(text="50 ms", kind=StatementKind.ANALYSIS, judged=["50 ms"])
    cell = Statement(text="20 a second", kind=StatementKind.ANALYSIS, evidence_ids=["ev-1"], computed=["1000 / 50"])
    table = Block(type=BlockType.TABLE, header=["Lock held", "Writes"], rows=[[label, cell]])
    prose, cells = with_chosen_operands([Block(sentences=[shown, waiting, dead, rate]), table], quotes)
    assert [row.judged for row in prose.sentences[1:]] == [["80 %"], ["900"], ["50 ms"]]
    assert [row.judged for row in cells.rows[0]] == [["50 ms"], []]


def test_a_cell_rests_on_the_cell_beside_it_that_states_its_figure() -> None:
    quotes = {"ev-1": "The default is typically 100 connections.", "ev-2": "Use a pool.", "ev-3": "It has 90 gates."}
    label = Statement(text="max_connections", kind=StatementKind.TRANSITION)
    default = Statement(text="typically 100", evidence_ids=["ev-1"])
    value = Statement(text="100, behind a pool", evidence_ids=["ev-2"])
    other = Statement(text="90, behind a pool", evidence_ids=["ev-2"])
    unproved = Statement(text="90 gates", evidence_ids=["ev-2"])
    rows = [[label, default, value], [label, default, other], [label, unproved, other]]
    [block] = with_evidence_of_rows([Block(type=BlockType.TABLE, header=["", "Default", "Value"], rows=rows)], quotes)
    assert [row[2].evidence_ids for row in block.rows] == [["ev-2", "ev-1"], ["ev-2"], ["ev-2"]]


def test_a_block_to_copy_rests_on_a_passage_for_each_of_its_settings_that_one_names() -> None:
    quotes = {
        "ev-1": "The default of sync_mode is full.",
        "ev-2": "A lock_wait of 5 s bounds the wait.",
        "ev-3": "For lock_wait the maker recommends 5 s.",
        "ev-4": "With read_only = on nothing is written.",
    }
    code = Statement(text="sync_mode = full\nlock_wait = 5\nidle_limit = 9", evidence_ids=["ev-1"])
    told = Statement(text="Waits are bounded.", evidence_ids=["ev-3"])
    blocks = [Block(type=BlockType.CODE, sentences=[code], language="ini"), Block(sentences=[told])]
    block, prose = with_evidence_of_settings(blocks, quotes)
    assert block.sentences[0].evidence_ids == ["ev-1", "ev-3"]
    assert prose.sentences == [told]
    assert with_evidence_of_settings(blocks[:1], quotes)[0].sentences[0].evidence_ids == ["ev-1", "ev-2"]
    early = {"ev-0": "A longer lock_wait frees nobody.", **quotes}
    assert with_evidence_of_settings(blocks[:1], early)[0].sentences[0].evidence_ids == ["ev-1", "ev-2"], "its value"
