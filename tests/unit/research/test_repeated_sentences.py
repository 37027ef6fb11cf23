"""Sentences that another place of the report tells: which code shows the editor, and when they are left out."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.evidence.doubles import doubles
from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement, StatementKind
from graph_research.research.writing_functions import judged_repetitions, without_repeated

WAITS = "Larch lets one transaction write to a file, and the second waits for its lock."
ADVICE = "Begin with a write lock, so that the second transaction of Larch waits for the lock of the file."
TIDES = "Ferries wait for the tide."


def said(text: str, *evidence_ids: str, kind: StatementKind = StatementKind.FACT) -> Statement:
    return Statement(text=text, kind=kind, evidence_ids=list(evidence_ids))


def section(heading: str, *sentences: Statement, table: list[list[Statement]] | None = None) -> DraftSection:
    blocks = [Block(sentences=list(sentences))]
    if table:
        blocks.append(Block(type=BlockType.TABLE, header=["Store", "Second writer"], rows=table))
    return DraftSection(heading=heading, blocks=blocks)


def places(*sections: DraftSection) -> list[str]:
    return [f"{a.section}.{a.place} = {b.section}.{b.place}" for a, b in doubles(sections)]


def test_a_pair_shares_evidence_and_most_of_the_words_of_a_fact_or_an_analysis_once() -> None:
    inferred = said("So the second transaction waits for its lock.", "ev-1", kind=StatementKind.ANALYSIS)
    other = section("Locks", said(TIDES, "ev-2"), said(WAITS, "ev-1"))
    assert places(section("Writers", said(WAITS, "ev-1"), inferred), other) == ["1.1 = 2.2", "1.2 = 2.2"]
    assert places(section("Writers", said(WAITS, "ev-3")), other) == []
    assert places(section("Writers", said("One writer.", "ev-1", kind=StatementKind.LIMIT)), other) == []


def test_a_sentence_may_be_told_by_a_row_of_its_own_section_and_not_by_a_sentence_of_it() -> None:
    row = [said("Larch", kind=StatementKind.TRANSITION), said("waits for the lock of the file", "ev-1")]
    told = said("The second writer of Larch waits for the lock.", "ev-1")
    assert places(section("Locks", said(TIDES, "ev-2"), told, table=[row])) == ["1.2 = 1.3"]
    assert places(section("Locks", told, said("The second writer of Larch waits.", "ev-1"))) == []


def left(repeated: list[tuple[str, str]], **depends: list[Any]) -> list[str]:
    """The texts that are left of three sentences where each pair's first is told by its second."""
    part = section("Locks", said("a"), said("b"), said("c"))
    ids = {row.text: row.id for row in part.statements()}
    rows = [{"statements": [ids[cut]], "told": [ids[told]]} for cut, told in repeated]
    lists: dict[str, list[Any]] = {key: [] for key in ("checks", "verdicts", "inconsistencies", "missing", "answered")}
    [kept] = without_repeated([part.to_json()], judged_repetitions([part.to_json()], rows, **{**lists, **depends}))
    return [row.text for row in DraftSection.model_validate(kept).statements()]


@pytest.mark.parametrize(
    ("told_kind", "is_settled", "expected"),
    [
        (StatementKind.FACT, True, ["They differ.", "So the newer holds."]),
        (StatementKind.FACT, False, ["They differ."]),
        (StatementKind.ANALYSIS, True, ["They differ."]),
    ],
)
def test_the_sentence_that_alone_settles_a_contradiction_is_not_left_out(
    told_kind: StatementKind, is_settled: bool, expected: list[str]
) -> None:
    told = said("They differ.", "ev-1", "ev-2", kind=told_kind)
    settling = said("So the newer holds.", "ev-1", "ev-2", kind=StatementKind.ANALYSIS)
    sides = [{"evidence_ids": ["ev-1"]}, {"evidence_ids": ["ev-2", "ev-3"]}]
    sections = [section("Locks", told, settling).to_json()]
    rows = [{"statements": [settling.id], "told": [told.id]}]
    conflicts = [{"sides": sides, "settled": is_settled}]
    [kept] = without_repeated(sections, judged_repetitions(sections, rows, [], [], [], [], [], conflicts))
    assert [row.text for row in DraftSection.model_validate(kept).statements()] == expected


def test_the_only_sentence_that_names_a_setting_is_no_repetition() -> None:
    waits = said("Set `quiet_lock`, and the second writer waits.").model_copy(update={"code": ["quiet_lock"]})
    told = said("The second writer waits.")
    for rest, expected in ((["The default is 5."], "it alone names something"), (["quiet_lock = 5"], "")):
        part = section("Locks", waits, told, *map(said, rest))
        rows = [{"statements": [waits.id], "told": [told.id], "kept": ""}]
        [judged] = judged_repetitions([part.to_json()], rows, [], [], [], [], [])
        assert judged["kept"] == expected


CELL = {"statements": ["st-cell"], "kept": "it is a cell, a block to copy or the beginning of a section"}


def name(text: str) -> str:
    return said(text).id


def test_a_sentence_is_left_out_where_the_place_that_tells_the_same_stays() -> None:
    assert left([("a", "b")]) == ["b", "c"]
    assert left([("a", "b"), ("b", "a"), ("b", "c")]) == ["b", "c"]
    assert left([("a", "b"), ("c", "b"), ("b", "a")]) == ["b"]


@pytest.mark.parametrize(
    ("depends", "expected"),
    [
        ({"missing": [{"after": name("a")}]}, "abc"),
        ({"answered": [{"statements": [name("a")]}]}, "abc"),
        ({"inconsistencies": [{"change": [name("c")], "against": [name("a")]}]}, "bc"),
        ({"inconsistencies": [{"change": [name("b")], "against": []}]}, "abc"),
        ({"inconsistencies": [{"change": [name("a")], "against": []}]}, "bc"),
        ({"checks": [{"id": name("b"), "problem": "a number that no passage has"}]}, "abc"),
        ({"verdicts": [{"id": name(text), "verdict": "not"} for text in "ab"]}, "bc"),
    ],
)
def test_it_stays_where_something_depends_on_it_or_it_holds_and_the_other_place_fails(
    depends: dict[str, list[Any]], expected: str
) -> None:
    assert left([("a", "b")], **depends) == list(expected)


def test_why_a_repetition_stays_is_recorded() -> None:
    part = section("Locks", said("a"), said("b"))
    rows = [{"statements": [name("a")], "told": [name("b")], "kept": ""}, {**CELL, "told": [name("b")]}]
    [stays, cell] = judged_repetitions([part.to_json()], rows, [{"id": name("b"), "problem": "no"}], [], [], [], [])
    assert stays["kept"] == "the place that tells the same fails a check"
    assert cell == {**CELL, "told": [name("b")]}


def test_a_row_that_is_cut_takes_its_line_in_the_block_to_copy_along_and_stays_where_something_depends_on_it() -> None:
    labels = [said(text, kind=StatementKind.TRANSITION) for text in ("sync", "lock_wait")]
    table = [[label, said(f"value of {label.text}", "ev-1")] for label in labels]
    code = Block(type=BlockType.CODE, sentences=[said("sync = full\nlock_wait = 5", "ev-1")])
    part = section("Set-up", said(WAITS), table=table)
    part = part.model_copy(update={"blocks": [*part.blocks, code]})
    cut = [{"statements": [cell.id for cell in table[1]], "told": []}]
    nothing: dict[str, list[Any]] = {key: [] for key in ("checks", "verdicts", "inconsistencies", "answered")}

    def shorter(missing: list[dict[str, str]]) -> DraftSection:
        judged = judged_repetitions([part.to_json()], cut, missing=missing, **nothing)
        return DraftSection.model_validate(without_repeated([part.to_json()], judged)[0])

    assert [row.text for row in shorter([]).statements()] == [WAITS, "sync", "value of sync", "sync = full"]
    assert shorter([{"after": table[1][0].id}]) == part
