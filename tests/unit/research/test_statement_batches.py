"""Which statements a verifier is asked about in one call."""

from __future__ import annotations

from typing import Any

from graph_research.research.models.draft import STATEMENTS_OF_A_BATCH, DraftSection
from graph_research.research.writing_functions import statement_batches


def fact(text: str, *evidence: str, kind: str = "fact") -> dict[str, Any]:
    return {"text": text, "kind": kind, "evidence_ids": list(evidence)}


def paragraph(name: str, count: int, *evidence: str, kind: str = "fact") -> dict[str, Any]:
    return {"type": "paragraph", "sentences": [fact(f"{name} {n}.", *evidence, kind=kind) for n in range(count)]}


def table(name: str, rows: int, columns: int) -> dict[str, Any]:
    lines = [
        [fact(f"{name} {row}", kind="transition"), *(fact(f"{name} {row}.{n}", "ev-t") for n in range(columns))]
        for row in range(rows)
    ]
    return {"type": "table", "header": ["", *(str(n) for n in range(columns))], "rows": lines}


SAME = ("A1", "B2", "C2", "D1")
"""Names of sections, or blocks, each with what it cites."""


def batches(*sections: list[dict[str, Any]]) -> list[list[str]]:
    rows = [{"id": f"sec-{n}", "heading": f"Part {n}", "blocks": blocks} for n, blocks in enumerate(sections, 1)]
    return [[row["text"] for row in batch] for batch in statement_batches(rows, [], [])]


def test_a_section_is_one_batch_and_sections_that_cite_the_same_share_one_in_the_order_of_the_report() -> None:
    sections = [[paragraph(f"{name}1", 10, "ev-x"), paragraph(f"{name}2", 14, f"ev-{cited}")] for name, cited in SAME]
    one, two = batches(*sections)
    assert [text[:2] for text in one] == [*["A1"] * 10, *["A2"] * 14, *["D1"] * 10, *["D2"] * 14]
    assert [text[:2] for text in two] == [*["B1"] * 10, *["B2"] * 14, *["C1"] * 10, *["C2"] * 14]


def test_a_section_that_is_more_than_a_batch_is_parted_between_blocks_that_cite_the_same() -> None:
    blocks = [paragraph(name, 20, f"ev-{cited}") for name, cited in SAME]
    one, two = batches(blocks)
    assert [text[0] for text in one] == ["A"] * 20 + ["D"] * 20
    assert [text[0] for text in two] == ["B"] * 20 + ["C"] * 20


def test_what_code_alone_checks_takes_no_room() -> None:
    [batch] = batches([paragraph("Q", 60, "ev-1", kind="quote"), paragraph("A", STATEMENTS_OF_A_BATCH, "ev-1")])
    assert len(batch) == 60 + STATEMENTS_OF_A_BATCH


def test_a_table_is_not_parted_and_one_of_more_cells_than_a_batch_between_rows() -> None:
    whole, *_ = batches([table("T", 9, 4), *(paragraph(name, 9, "ev-p") for name in "ABCDE")])
    assert sum(text.startswith("T") for text in whole) == 45
    parts = batches([table("U", 15, 4)])
    assert [len(part) for part in parts] == [60, 15]


def test_sentences_that_a_model_judged_before_are_one_batch() -> None:
    section = {"id": "sec-1", "heading": "Part", "blocks": [paragraph("A", 90, "ev-1")]}
    statements = DraftSection.model_validate(section).statements()
    verdicts = [{"id": row.id, "verdict": "supported"} for row in statements]
    [batch] = statement_batches([section], [], verdicts)
    assert len(batch) == 90
    assert all(row["verdict"] for row in batch)


def test_a_statement_that_repeats_a_judged_one_has_its_verdict() -> None:
    section = {"id": "sec-1", "heading": "Part", "blocks": [paragraph("A", 2, "ev-1")]}
    said = [fact("A 0.", "ev-1"), fact("A 1.", "ev-2"), fact("B.", "ev-1")]
    placed = [{**row, "place": "summary"} for row in said]
    summary = {"id": "summary", "heading": "Summary", "blocks": [{"type": "paragraph", "sentences": placed}]}
    first, *_ = DraftSection.model_validate(section).statements()
    verdicts = [{"id": first.id, "verdict": "partly", "reason": "r", "model": "m"}]
    [asked, judged] = statement_batches([summary], [], verdicts, [], [section])
    assert [row["text"] for row in asked] == ["A 1.", "B."]
    [repeats, *_] = DraftSection.model_validate(summary).statements()
    assert [row["verdict"] for row in judged] == [{**verdicts[0], "id": repeats.id}]


def test_only_an_analysis_without_evidence_is_read_with_what_is_assumed_beside_it() -> None:
    wait = {**fact("5 ms", kind="analysis"), "judged": ["5 ms"]}
    waits = {"type": "table", "header": ["Load", "Wait"], "rows": [[fact("Half", kind="transition"), wait]]}
    said = [fact("Two things follow.", kind="transition"), fact("Bursts wait longer.", kind="analysis")]
    section = {"id": "sec-1", "heading": "Part", "blocks": [waits, {"type": "paragraph", "sentences": said}]}
    [batch] = statement_batches([section], [], [])
    assert [row["limit"] for row in batch[2:]] == ["", "Load\nWait\nHalf\n5 ms"]
