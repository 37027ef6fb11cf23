"""What the verifier and the mender of a report are shown beside a sentence, and what becomes of their answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.llm.base import ModelRequest
from graph_research.research.agents.writing.further_passages import NearPassages
from graph_research.research.agents.writing.section_text import answered_blocks, placed
from graph_research.research.evidence.claim_support import Status
from graph_research.research.graph_functions import unsettled
from graph_research.research.models.draft import Block, BlockType, Draft, DraftSection, Statement
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.ids import finding_id
from graph_research.research.models.source import Source
from graph_research.research.report.documents.markdown import render_markdown
from graph_research.research.report.model import Report
from graph_research.research.revision.sentences import edited_draft, sentence_name, without_evidence
from graph_research.research.writing_functions import newly_told
from graph_research.text.document import text_hash
from graph_research.text.readers.markdown import markdown_document
from tests.support.research.harness import Bench
from tests.support.research.strong_model import (
    BUSY,
    FULL,
    LARCH_RATE,
    LOCK,
    NORMAL,
    STANDBY,
    STORES,
    Row,
    Writer,
    paragraph,
    source_id,
)
from tests.unit.research.graphs.test_inconsistencies import place_of

EXCEPTION = "In the mode called shared a reader of Larch may block the writer for the time of a checkpoint."
DENIAL = "A reader of Larch never blocks the writer."
CALM = "Readers do not block the writer."
LARCH = "https://larch.example/locks"
TITLE, TEXT = STORES.pages[LARCH]
CONTRADICTED = replace(
    STORES, pages={**STORES.pages, LARCH: (TITLE, f"{TEXT} {'The rest is about logs. ' * 20}\n\n{EXCEPTION}")}
)


async def report_of(bench: Bench) -> tuple[Report, Mapping[str, Any]]:
    result = await bench.run(question=STORES.question, max_iterations=1)
    assert result.status == "completed", result
    return await bench.report(result.state), result.state


def adding(make: Callable[[Writer], Row]) -> Callable[[ModelRequest], Row]:
    """A section writer with a block more in the section on settings."""

    def write(request: ModelRequest) -> Row:
        answer = CONTRADICTED.section(request)
        if request.material["section"]["heading"] != "How to set it up":
            return answer
        writer = Writer({}, dict(CONTRADICTED._texts()))
        block = make(writer)
        asked = [{**row, "key": f"x{row['key']}"} for row in writer.asked]
        for row in block["sentences"]:
            row["evidence_ids"] = [f"x{name}" for name in row["evidence_ids"]]
        return {"blocks": [*answer["blocks"], block], "quotes": [*answer["quotes"], *asked]}

    return write


def bench_of(make: Callable[[Writer], Row], **changes: Any) -> Bench:
    study = CONTRADICTED
    return Bench(study.script(section_writer=[adding(make)], **changes), search=study.search)


def objecting(
    text: str, reason: str, *, times: int = 99, verdict: str = "not", says: str = ""
) -> Callable[[ModelRequest], Row]:
    """A verifier that objects to one text so many times."""
    left = [times]

    def verify(request: ModelRequest) -> Row:
        verdicts = []
        for row in request.material["statements"]:
            wrong = row["text"] == text and left[0] > 0
            left[0] -= wrong
            said = {"verdict": verdict, "reason": reason, "says": says} if wrong else {"verdict": "supported"}
            verdicts.append({"n": row["n"], **said})
        return {"verdicts": verdicts}

    return verify


def omitting(text: str, times: int) -> Callable[[ModelRequest], Row]:
    """A verifier that says nothing of one text so many times."""
    left = [times]

    def verify(request: ModelRequest) -> Row:
        verdicts = []
        for row in request.material["statements"]:
            if row["text"] == text and left[0] > 0:
                left[0] -= 1
            else:
                verdicts.append({"n": row["n"], "verdict": "supported", "reason": ""})
        return {"verdicts": verdicts}

    return verify


def denial(write: Writer) -> Row:
    return paragraph(write.fact(DENIAL, CALM))


async def test_the_verifier_sees_an_exception_that_a_sentence_without_one_does_not_cite() -> None:
    bench = bench_of(denial)
    await report_of(bench)
    [request] = [row for row in bench.model.asked("verifier") if DENIAL in row.user]
    [statement] = [row for row in request.material["statements"] if row["text"] == DENIAL]
    others = {row["id"]: row["text"] for row in request.material["passages"] if row["id"] in statement["others"]}
    assert any(EXCEPTION in text for text in others.values())
    names = {row["id"]: row["name"] for row in request.material["passages"]}
    assert f"compare with {', '.join(names[one] for one in statement['others'])}" in request.user
    assert not set(statement["others"]) & set(statement["evidence_ids"])
    [plain] = [row for row in request.material["statements"] if row["text"] == "single rows"] or [{"others": []}]
    assert plain["others"] == []


async def test_a_passage_is_shown_once_where_one_sentence_cites_it_and_another_is_compared_with_it() -> None:
    def both(write: Writer) -> Row:
        return paragraph(write.fact(DENIAL, CALM), write.fact("One mode blocks.", EXCEPTION))

    bench = bench_of(both, verifier=[objecting(DENIAL, "one mode blocks")])
    await report_of(bench)
    for request in (*bench.model.asked("verifier"), *bench.model.asked("section_mender")):
        shown = [row["id"] for row in request.material["passages"]]
        assert len(shown) == len(set(shown))


async def test_the_mender_may_cite_what_the_program_found_near_a_failing_sentence() -> None:
    mended = "A reader of Larch may block the writer for the time of a checkpoint in the mode called shared."

    def mends(request: ModelRequest) -> Row:
        name = next(row["id"] for row in request.material["passages"] if EXCEPTION in row["quote"])
        return {"sentences": [{"n": 1, "action": "rewrite", "text": mended, "evidence_ids": [name]}]}

    bench = bench_of(denial, verifier=[objecting(DENIAL, "one mode blocks")], section_mender=[mends])
    report, state = await report_of(bench)
    [row] = [row for row in report.statements() if row.text == mended]
    assert row.status is Status.VERIFIED
    assert any(EXCEPTION in citation.quote for citation in report.citations if citation.id in row.citations)
    assert state["report_metadata"]["fabricated_citations"] == 0


async def test_the_mender_sees_the_exception_that_a_guarantee_was_read_beside() -> None:
    guarantee, told = (
        "Nothing blocks the writer.",
        "In the mode called shared a reader may block the writer for a while.",
    )
    study = replace(
        STORES, pages={**STORES.pages, LARCH: (TITLE, f"{TEXT} {'The rest is about logs. ' * 20}\n\n{told}")}
    )
    shown: list[str] = []

    def mends(request: ModelRequest) -> Row:
        shown.extend(row["quote"] for row in request.material["passages"])
        return {"sentences": [{"n": 1, "action": "drop"}]}

    script = study.script(
        section_writer=[adding(lambda write: paragraph(write.fact(guarantee, CALM)))],
        verifier=[objecting(guarantee, "wrong")],
        section_mender=[mends],
    )
    await report_of(Bench(script, search=study.search))
    assert any(told in quote for quote in shown)


async def test_the_mender_sees_what_an_objection_names_and_of_the_section_the_block_of_the_sentence() -> None:
    bench = bench_of(denial, verifier=[objecting(DENIAL, "a standby typically follows within a second")])
    await report_of(bench)
    [request] = [row for row in bench.model.asked("section_mender") if DENIAL in row.user]
    assert any(STANDBY in row["quote"] for row in request.material["passages"])
    [part] = [row for row in request.material["parts"] if DENIAL in row["text"]]
    assert part["text"] == DENIAL


KEEPS = {"sentences": [{"n": 1, "action": "keep", "reason": "the passage says: do not block"}]}


@pytest.mark.parametrize("times", [1, 99])
async def test_a_sentence_that_the_mender_keeps_is_read_again_with_its_answer(times: int) -> None:
    bench = bench_of(denial, verifier=[objecting(DENIAL, "one mode blocks", times=times)], section_mender=[KEEPS])
    report, _ = await report_of(bench)
    again = bench.model.asked("verifier")[-1]
    assert "the writer keeps it: the passage says: do not block" in again.user
    [row] = [row for row in report.statements() if row.text == DENIAL]
    assert row.status is (Status.VERIFIED if times == 1 else Status.UNSUPPORTED)


async def test_an_objection_of_the_program_stays_where_the_mender_keeps_the_sentence() -> None:
    text = "Larch allows 7 write transactions at a time for each database file."
    bench = bench_of(lambda write: paragraph(write.fact(text, LOCK)), section_mender=[KEEPS])
    report, _ = await report_of(bench)
    [row] = [row for row in report.statements() if row.text == text]
    assert (row.status, row.problem) == (Status.UNSUPPORTED, "not in the cited quotes: 7")


CODE = "sync = full\n\n# no wait is without end; judgement: 5 s\nbusy_wait = 5000"


async def test_each_line_of_a_block_to_copy_gets_a_verdict() -> None:
    def block(write: Writer) -> Row:
        return {"type": "code", "language": "ini", "sentences": [write.analysis(CODE, FULL, BUSY)]}

    bench = bench_of(block, verifier=[objecting("busy_wait = 5000", "it is given in seconds")], section_mender=["No."])
    await report_of(bench)
    [request] = [row for row in bench.model.asked("verifier") if "busy_wait = 5000" in row.user]
    lines = [row["text"] for row in request.material["statements"] if row["is_code"]]
    assert lines[-3:] == ["sync = full", "# no wait is without end; judgement: 5 s", "busy_wait = 5000"]
    asked = bench.model.asked("section_mender")[0]
    assert "busy_wait = 5000: it is given in seconds" in asked.user


async def test_a_block_to_copy_that_fails_once_a_note_has_changed_it_is_printed_as_it_was() -> None:
    line = "fairness = none"

    def block(write: Writer) -> Row:
        return {"type": "code", "language": "ini", "sentences": [write.analysis("sync = full", FULL)]}

    def writes(request: ModelRequest) -> Row:
        answer = adding(block)(request)
        for given in answer["blocks"]:
            if given["type"] == "table" and answer["blocks"][-1]["type"] == "code":
                given["rows"].append({**given["rows"][0], "label": "fairness"})
        return answer

    def mends(request: ModelRequest) -> Row:
        [noted] = [row for row in request.material["failing"] if "no block of the section sets" in row["reason"]]
        said = {"text": f"{noted['text']}\n{line}", "kind": "analysis", "evidence_ids": noted["evidence_ids"]}
        return {"sentences": [{"n": noted["n"], "action": "rewrite", **said}]}

    study = CONTRADICTED
    objects = [objecting(line, "no passage names it")]
    bench = Bench(study.script(section_writer=[writes], verifier=objects, section_mender=[mends]), search=study.search)
    report, _ = await report_of(bench)
    assert line in "".join(request.user for request in bench.model.asked("verifier"))
    blocks = [block for section in report.sections for block in section.blocks if block.type is BlockType.CODE]
    assert [row.text for block in blocks for row in block.sentences] == ["sync = full"] * 2


async def test_a_block_to_copy_is_printed_without_the_line_that_fails() -> None:
    def block(write: Writer) -> Row:
        return {"type": "code", "language": "ini", "sentences": [write.analysis("sync = full\nlock = row", FULL)]}

    bench = bench_of(block, verifier=[objecting("lock = row", "no passage names it")], section_mender=["No."])
    report, _ = await report_of(bench)
    blocks = [block for section in report.sections for block in section.blocks if block.type is BlockType.CODE]
    assert [(row.text, row.status) for row in blocks[-1].sentences] == [("sync = full", Status.ANALYSIS)]


async def test_a_number_that_the_writer_judges_stands_where_it_is_named() -> None:
    text = "As a rule of thumb act when full flushes take 50 % of the time."

    def judged(write: Writer) -> Row:
        named = {**write.analysis(text, FULL, NORMAL), "judged": ["50 %"]}
        return paragraph(named, write.analysis("As a rule of thumb act at 60 %.", FULL))

    bench = bench_of(judged, section_mender=["No."])
    report, _ = await report_of(bench)
    [row] = [row for row in report.statements() if "rule of thumb" in row.text]
    assert (row.text, row.status, row.judged) == (text, Status.ANALYSIS, ["50 %"])
    assert "the writer's judgement: 50 %" in "".join(request.user for request in bench.model.asked("verifier"))


@pytest.mark.parametrize(("times", "status"), [(1, Status.VERIFIED), (2, Status.CITED)])
async def test_a_sentence_that_the_verifier_leaves_out_is_asked_once_more_and_else_cited(
    times: int, status: Status
) -> None:
    bench = bench_of(denial, verifier=[omitting(DENIAL, times)], section_mender=["No."])
    report, _ = await report_of(bench)
    asked = [request for request in bench.model.asked("verifier") if DENIAL in request.user]
    assert [row["text"] for row in asked[1].material["statements"]] == [DENIAL]
    cited = {name for row in asked[1].material["statements"] for name in (*row["evidence_ids"], *row["others"])}
    assert {row["id"] for row in asked[1].material["passages"]} == cited
    assert len(asked) == 2
    assert [row.status for row in report.statements() if row.text == DENIAL] == [status]


@pytest.mark.parametrize(("times", "verdicts"), [(1, ["supported"]), (2, [])])
async def test_a_block_of_which_the_verifier_leaves_out_a_line_is_no_verified_block(
    times: int, verdicts: list[str]
) -> None:
    def block(write: Writer) -> Row:
        return {"type": "code", "language": "ini", "sentences": [write.analysis("sync = full\nlock = row", FULL)]}

    bench = bench_of(block, verifier=[omitting("lock = row", times)], section_mender=["No."])
    _, state = await report_of(bench)
    asked = [request for request in bench.model.asked("verifier") if "lock = row" in request.user]
    assert [row["text"] for row in asked[1].material["statements"]] == ["sync = full", "lock = row"]
    draft = Draft.model_validate(state["draft"])
    names = [row.id for row in draft.statements() if "lock = row" in row.text]
    assert [row["verdict"] for row in state["statement_verdicts"] if row["id"] in names] == verdicts


async def test_analysis_of_which_the_verifier_finds_all_stated_is_printed_as_a_fact() -> None:
    text = "A reader is no reason for the writer to wait."

    def verifies(request: ModelRequest) -> Row:
        rows = request.material["statements"]
        return {
            "verdicts": [{"n": row["n"], "verdict": "stated" if row["text"] == text else "supported"} for row in rows]
        }

    bench = bench_of(lambda write: paragraph(write.analysis(text, CALM)), verifier=[verifies])
    report, _ = await report_of(bench)
    [row] = [row for row in report.statements() if row.text == text]
    assert (row.kind, row.status) == ("analysis", Status.VERIFIED)
    assert re.search(rf"{re.escape(text)} \[\d\]", render_markdown(report))


async def test_the_label_of_a_row_may_have_a_threshold_that_the_writer_judges() -> None:
    judged, new = "Flushes busy for 50 % of the time", "Flushes busy for 60 % of the time"
    labels = [judged, new]

    def writes(request: ModelRequest) -> Row:
        answer = CONTRADICTED.section(request)
        for block in answer["blocks"]:
            if block["type"] == "table":
                for row, more in zip(block["rows"], ({"judged": ["50 %"]}, {}), strict=False):
                    row |= {"label": labels.pop(0), **more}
        return answer

    study = CONTRADICTED
    bench = Bench(study.script(section_writer=[writes], section_mender=["No."]), search=study.search)
    report, _ = await report_of(bench)
    found = [row for label in (judged, new) for row in report.statements() if row.text == label]
    assert [(row.status, row.judged) for row in found] == [(Status.ANALYSIS, ["50 %"]), (Status.UNSUPPORTED, [])]
    assert found[0].citations and found[1].problem == "states what it may not: 60 %"
    assert f"| {judged} <analysis, judged: 50 %> [ev-" in bench.model.asked("editor")[0].user


async def test_a_limit_of_a_section_that_a_row_of_another_answers_is_left_out() -> None:
    limits = ["Who waits was not found.", "Who is fair was not found."]

    def more(write: Writer) -> Row:
        return paragraph(write.analysis("So choose with care.", FULL), *map(write.limit, limits))

    def edits(request: ModelRequest) -> Row:
        texts = [row["text"] for row in request.material["sections"]]
        places = [re.findall(rf"\((\d+\.\d+)\) {re.escape(limit)}", texts[2])[0] for limit in limits]
        row = re.findall(r"\((\d+\.\d+)\) \| Second writer", texts[0])[0]
        answered = [
            {"limit": places[0], "place": row},
            {"limit": places[1], "place": "9.9"},
            {"limit": row, "place": row},
        ]
        return {**STORES.edit(request), "answered_limits": answered}

    report, _ = await report_of(bench_of(more, editor=[edits]))
    texts = [row.text for row in report.statements()]
    assert (limits[0] in texts, limits[1] in texts) == (False, True)


def test_rows_in_which_nothing_was_found_are_left_out() -> None:
    cell, limit = {"text": "a file", "kind": "fact", "evidence_ids": ["ev-0123456789"]}, {"text": "?", "kind": "limit"}
    rows = [{"label": "Lock", "cells": [cell, limit]}, {"label": "Fair", "cells": [limit, limit]}]
    [block] = answered_blocks([{"type": "table", "header": ["", "A", "B"], "rows": rows}])
    assert [row[0].text for row in block.rows] == ["Lock"]
    assert answered_blocks([{"type": "table", "header": ["", "A", "B"], "rows": rows[1:]}]) == []


def test_code_that_is_given_line_by_line_is_one_block_to_copy() -> None:
    lines = [
        {"text": "a = 1", "kind": "fact", "evidence_ids": ["ev-0123456789"]},
        {"text": "b = 5  # judgement", "kind": "analysis", "evidence_ids": ["ev-0123456789"], "judged": ["5"]},
    ]
    [block] = answered_blocks([{"type": "code", "language": "ini", "sentences": lines}])
    [code] = block.sentences
    assert (code.text, code.kind, code.judged) == ("a = 1\nb = 5  # judgement", "analysis", ["5"])
    assert code.evidence_ids == ["ev-0123456789"]
    [alone] = answered_blocks([{"type": "code", "sentences": lines[:1]}])[0].sentences
    assert alone.kind == "fact"


async def test_the_words_of_tables_and_blocks_are_not_scaled_with_the_rest() -> None:
    def outline(request: ModelRequest) -> Row:
        rows = STORES.outline(request)["sections"]
        sizes = [(1000, 0), (1000, 0), (400, 300)]
        return {
            "sections": [
                {**row, "words": words, "layout_words": laid_out}
                for row, (words, laid_out) in zip(rows, sizes, strict=True)
            ]
        }

    bench = bench_of(denial, outliner=[outline])
    await report_of(bench)
    asked = {
        row.material["section"]["heading"]: row.material["section"]["words"]
        for row in bench.model.asked("section_writer")
    }
    [outlined] = bench.model.asked("outliner")
    room = outlined.material["section_words"]
    assert f"All sections together have about {room} words" in outlined.user
    assert abs(sum(asked.values()) - room) <= 30
    assert asked["How to set it up"] > 300
    setup = next(row.user for row in bench.model.asked("section_writer") if "Heading: How to set it up" in row.user)
    assert f"{asked['How to set it up']} words at most, 300 of them in its tables and code." in setup
    assert asked["Who waits for whom"] == asked["What the figures say"] < 700


async def test_rules_for_tables_and_blocks_go_to_the_writers_of_sections_that_may_have_some() -> None:
    def outline(request: ModelRequest) -> Row:
        rows = STORES.outline(request)["sections"]
        without, planned, unsaid = rows
        return {"sections": [{**without, "layout_words": 0}, {**planned, "layout_words": 100}, unsaid]}

    bench = bench_of(denial, outliner=[outline])
    await report_of(bench)
    by_heading = {row.material["section"]["heading"]: row for row in bench.model.asked("section_writer")}
    ruled = {heading: "at most 12 rows" in row.system for heading, row in by_heading.items()}
    assert ruled == {"Who waits for whom": False, "What the figures say": True, "How to set it up": True}
    assert "A table that needs more" not in by_heading["Who waits for whom"].user


async def test_findings_that_the_analyzer_calls_the_same_are_joined_unless_their_numbers_differ() -> None:
    study = STORES
    [analysis] = study.script()["analyzer"]
    contents = ["Larch writes 180 rows each second.", "Each second Larch wrote 180 rows.", "Larch wrote 190 rows."]
    rate = next(row for row in analysis["findings"] if "180" in row["content"])
    findings = [{**rate, "content": content} for content in contents]
    ids = [finding_id(content) for content in contents]
    bench = bench_of(denial, analyzer=[{**analysis, "findings": findings, "same": [[*ids, ids[0], "fi-0"]]}])
    _, state = await report_of(bench)
    assert [row["content"] for row in state["findings"]] == [contents[0], contents[2]]


async def test_a_contradiction_that_writers_tell_of_is_listed_once_and_starts_no_round_where_it_is_settled() -> None:
    def write(request: ModelRequest) -> Row:
        answer = CONTRADICTED.section(request)
        source = next(row["id"] for row in request.material["sources"] if row["title"] == TITLE)
        asked = [{"key": key, "source_id": source, "quote": quote} for key, quote in (("c1", CALM), ("c2", EXCEPTION))]
        sides = [{"value": value, "evidence_ids": [key]} for value, key in (("no", "c1"), ("in shared mode", "c2"))]
        made_up = {
            "topic": "Nothing",
            "sides": [{"value": "a", "evidence_ids": ["c1"]}, {"value": "b", "evidence_ids": ["c9"]}],
        }
        told = {
            "topic": f"Whether readers block, {request.material['section']['heading']}",
            "settled": True,
            "sides": sides,
        }
        return {**answer, "quotes": [*answer["quotes"], *asked], "contradictions": [told, made_up]}

    bench = Bench(CONTRADICTED.script(section_writer=[write]), search=CONTRADICTED.search)
    report, state = await report_of(bench)
    [conflict] = [row for row in state["contradictions"] if row["topic"].startswith("Whether readers block")]
    assert conflict["settled"]
    assert "Nothing" not in {row["topic"] for row in state["contradictions"]}
    [told] = [row for row in report.contradictions if row.id == conflict["id"]]
    assert [side.value for side in told.sides] == ["no", "in shared mode"]
    assert unsettled([conflict], []) == []
    assert unsettled([{**conflict, "settled": False}], []) != []


def test_a_known_contradiction_that_a_section_settles_is_settled_and_stays_one() -> None:
    def conflict(name: str, *ids: str, settled: bool = False) -> dict[str, Any]:
        sides = [{"value": one, "evidence_ids": [one]} for one in ids]
        row = {"id": f"con-000000000{name}", "kind": "number", "topic": name, "sides": sides, "settled": settled}
        return Contradiction.model_validate(row).to_json()

    known = [conflict("1", "a", "b"), conflict("2", "c", "d")]
    told = [
        conflict("3", "b", "a", settled=True),
        conflict("4", "c", "d"),
        conflict("5", "a", "c"),
        conflict("6", "a", "c"),
        {**conflict("7", "e", "f", settled=True), "topic": "2"},
    ]
    changed = newly_told(known, [{"contradictions": told[:2]}, {"contradictions": told[2:]}])
    assert changed == [{**known[0], "settled": True}, told[2], {**known[1], "settled": True}]


def cells_of(*rows: tuple[str, str]) -> list[Block]:
    cells = [[Statement(text=text) for text in row] for row in rows]
    return [Block(type=BlockType.TABLE, header=["Setting", "Default"], rows=cells)]


def test_equal_cells_are_told_apart_by_row_and_column_and_keep_their_name_where_they_move() -> None:
    before = placed(cells_of(("lock_wait", "off"), ("idle_wait", "off"), ("idle_wait", "off")), "s1")
    after = placed(cells_of(("read_wait", "off"), ("idle_wait", "off"), ("lock_wait", "off")), "s1")
    ids, later = ([row[1].id for row in blocks[0].rows] for blocks in (before, after))
    assert len(set(ids)) == 3
    assert (later[1], later[2]) == (ids[1], ids[0])
    assert later[0] not in ids


def test_a_place_is_no_part_of_the_name_of_a_statement_without_one() -> None:
    statement = Statement(text="Larch locks files.", evidence_ids=["ev-0123456789"])
    assert statement.id == "st-6b9fd914f8"
    assert statement.model_copy(update={"place": "s1"}).id != statement.id


def test_of_two_equal_cells_the_one_that_is_named_is_edited() -> None:
    draft = Draft(sections=[DraftSection(heading="h", blocks=placed(cells_of(("a", "off"), ("b", "off")), "s1"))])
    second = draft.sections[0].blocks[0].rows[1][1]
    edited = edited_draft(draft, "off", "on", drop=False, place=second.place)
    assert [row[1].text for row in edited.sections[0].blocks[0].rows] == ["off", "on"]
    left = without_evidence(draft, {}, (), [sentence_name("off", second.place)])
    assert [row[1].text for row in left.sections[0].blocks[0].rows] == ["off"]


@pytest.mark.parametrize(
    ("verdict", "says", "printed"),
    [
        ("partly", "In the test with `Larch` it did not block.", True),
        ("partly", "In the test of 1907 it did not block.", False),
        ("partly", "", False),
        ("not", "In the test with Larch it did not block.", False),
    ],
)
async def test_what_the_passages_bear_out_of_a_sentence_takes_its_place_where_code_agrees(
    verdict: str, says: str, printed: bool
) -> None:
    bench = bench_of(
        lambda write: paragraph(write.fact(CALM, CALM), write.fact(DENIAL, CALM)),
        section_mender=[lambda request: {"sentences": [{"n": 1, "action": "keep", "reason": "It says so."}]}],
        verifier=[objecting(DENIAL, "not of every mode", verdict=verdict, says=says)],
    )
    report, _ = await report_of(bench)
    statuses = {row.text: row.status for row in report.statements()}
    corrected = says.replace("`", "")
    assert statuses.get(corrected) is (Status.VERIFIED if printed else None)
    assert statuses.get(DENIAL) is (None if printed else Status.UNSUPPORTED)
    assert not any("left out" in row for row in report.limitations)


async def test_what_takes_the_place_of_a_sentence_may_cite_a_passage_that_the_verifier_compared_it_with() -> None:
    limit = "In the mode called shared a reader of Larch may block the writer for 40 seconds."
    says = "A reader of Larch blocks the writer for 40 seconds in shared mode, else never."
    pages = {**STORES.pages, "https://larch.example/modes": ("Modes of Larch", limit)}
    script = replace(STORES, pages=pages).script(
        section_writer=[adding(denial)],
        verifier=[objecting(DENIAL, "not in each mode", verdict="partly", says=says)],
        section_mender=[{"sentences": [{"n": 1, "action": "keep", "reason": "It says so."}]}],
    )
    report, _ = await report_of(Bench(script, search=replace(STORES, pages=pages).search))
    [row] = [row for row in report.statements() if row.text == says]
    assert (row.status, row.problem) == (Status.VERIFIED, "")
    cited = {citation.id: citation.quote for citation in report.citations}
    assert [cited[name] for name in row.citations] == [CALM, limit]


UNFOUND = "Whether a reader of Larch may block the writer was not found."


async def test_a_limit_is_looked_up_in_all_sources_and_answered_from_the_passage_that_is_near() -> None:
    answer = "A reader may, in the mode called shared."

    def mends(request: ModelRequest) -> Row:
        [limit] = request.material["failing"]
        assert (limit["text"], limit["kind"]) == (UNFOUND, "limit")
        name = next(row["id"] for row in request.material["passages"] if EXCEPTION in row["quote"])
        said = {"text": answer.replace("shared", "`shared`"), "kind": "fact", "evidence_ids": [name]}
        return {"sentences": [{"n": 1, "action": "rewrite", **said}]}

    bench = bench_of(lambda write: paragraph(write.fact(CALM, CALM), write.limit(UNFOUND)), section_mender=[mends])
    report, _ = await report_of(bench)
    statuses = {row.text: row.status for row in report.statements()}
    assert statuses[answer] is Status.VERIFIED
    assert UNFOUND not in statuses


async def test_a_limit_is_looked_up_by_the_words_in_which_the_editor_seeks_it() -> None:
    vague = "What waits was not found."

    def edits(request: ModelRequest) -> Row:
        place = next(
            found[1]
            for section in request.material["sections"]
            if (found := re.search(rf"\((\d+\.\d+)\) {re.escape(vague)}", section["text"]))
        )
        what = "reader in shared mode may block the writer of Larch"
        return {**STORES.edit(request), "missing": [{"place": place, "what": what}]}

    def mends(request: ModelRequest) -> Row:
        [limit] = request.material["failing"]
        assert limit["text"] == vague and request.material["missing"] == []
        name = next(row["id"] for row in request.material["passages"] if EXCEPTION in row["quote"])
        said = {"text": "A reader may, in the mode called shared.", "kind": "fact", "evidence_ids": [name]}
        return {"sentences": [{"n": 1, "action": "rewrite", **said}]}

    bench = bench_of(
        lambda write: paragraph(write.fact(CALM, CALM), write.limit(vague)), editor=[edits], section_mender=[mends]
    )
    report, _ = await report_of(bench)
    texts = [row.text for row in report.statements()]
    assert "A reader may, in the mode called shared." in texts and vague not in texts


@pytest.mark.parametrize("verdict", ["supported", "not"])
async def test_an_open_question_that_a_mended_limit_answers_is_closed_where_the_answer_holds(verdict: str) -> None:
    asked = ["May a reader of Larch block the writer?", "What does a licence of Larch cost?"]
    answer = "A reader may, in the mode called shared."
    [analysis] = STORES.script()["analyzer"]
    gaps = [{"description": text, "suggested_queries": [text], "priority": 1} for text in asked]

    def mends(request: ModelRequest) -> Row:
        assert [row["description"] for row in request.material["gaps"]] == asked
        assert f"1. {asked[0]}\n2. {asked[1]}" in request.user and "answers: " in request.system
        name = next(row["id"] for row in request.material["passages"] if EXCEPTION in row["quote"])
        said = {"text": answer.replace("shared", "`shared`"), "kind": "fact", "evidence_ids": [name]}
        return {"sentences": [{"n": 1, "action": "rewrite", **said, "answers": [{"gap": 1}, {"gap": 7}]}]}

    bench = bench_of(
        lambda write: paragraph(write.fact(CALM, CALM), write.limit(UNFOUND)),
        analyzer=[{**analysis, "gaps": gaps}],
        section_mender=[mends],
        verifier=[objecting(answer, "no", times=99 * (verdict == "not"))],
    )
    report, _ = await report_of(bench)
    left = asked[1:] if verdict == "supported" else asked
    assert {row.description for row in report.gaps if not row.addressed} == set(left)


@pytest.mark.parametrize("holds", [True, False])
async def test_what_a_sentence_leaves_of_an_open_question_holds_for_the_one_that_it_was_rewritten_to(
    holds: bool,
) -> None:
    asked, left = "What do readers and licences of Larch cost the writer?", "What do licences of Larch cost?"
    rewritten = "Readers do not block the writer of Larch."
    [analysis] = STORES.script()["analyzer"]

    def edits(request: ModelRequest) -> Row:
        place = next(
            found[1]
            for section in request.material["sections"]
            if (found := re.search(rf"\((\d+\.\d+)\) {re.escape(DENIAL)}", section["text"]))
        )
        return {**STORES.edit(request), "answered_gaps": [{"gap": 1, "place": place, "left": left}]}

    def verifies(request: ModelRequest) -> Row:
        wrong = {DENIAL, *([] if holds else [rewritten])}
        rows = [(row["n"], row["text"] in wrong) for row in request.material["statements"]]
        return {"verdicts": [{"n": n, "verdict": "not" if no else "supported", "reason": "no" * no} for n, no in rows]}

    def mends(request: ModelRequest) -> Row:
        [failing] = request.material["failing"]
        said = {"text": rewritten, "kind": "fact", "evidence_ids": failing["evidence_ids"]}
        return {"sentences": [{"n": 1, "action": "rewrite", **said}]}

    bench = bench_of(
        denial,
        analyzer=[{**analysis, "gaps": [{"description": asked, "suggested_queries": [asked], "priority": 1}]}],
        editor=[edits],
        section_mender=[mends],
        verifier=[verifies],
    )
    report, _ = await report_of(bench)
    assert {row.description for row in report.gaps if not row.addressed} == {left if holds else asked}


@pytest.mark.parametrize("open_still", ["", "What does a second licence of Larch cost?"])
async def test_what_the_editor_leaves_of_an_open_question_is_shown_to_the_mender_whose_addition_answers_it(
    open_still: str,
) -> None:
    asked, left = "What do readers and licences of Larch cost the writer?", "What do licences of Larch cost?"
    added = "Readers do not block the writer."
    [analysis] = STORES.script()["analyzer"]

    def edits(request: ModelRequest) -> Row:
        answer = STORES.edit(request)
        missing = [{"place": place_of(CALM, request), "what": "whether readers block the writer"}]
        answered = [{"gap": 1, "place": place_of(CALM, request), "left": left}]
        return {**answer, "missing": missing, "answered_gaps": answered}

    def mends(request: ModelRequest) -> Row:
        assert [row["description"] for row in request.material["gaps"]] == [left]
        said = {"text": added, "kind": "fact", "evidence_ids": [request.material["missing"][0]["passages"][0]]}
        return {"sentences": [], "added": [{"n": 1, "sentences": [said], "answers": [{"gap": 1, "left": open_still}]}]}

    bench = bench_of(
        lambda write: paragraph(write.fact(CALM, CALM)),
        analyzer=[{**analysis, "gaps": [{"description": asked, "suggested_queries": [asked], "priority": 1}]}],
        editor=[edits],
        section_mender=[mends],
    )
    report, _ = await report_of(bench)
    assert added in {row.text for row in report.statements()}
    assert [row.description for row in report.gaps if not row.addressed] == [open_still] * bool(open_still)


async def test_a_limit_that_no_passage_is_near_is_printed_without_a_call() -> None:
    limit = "Prices of licences in Bolivia were not found."
    bench = bench_of(lambda write: paragraph(write.fact(CALM, CALM), write.limit(limit)))
    report, _ = await report_of(bench)
    assert bench.model.asked("section_mender") == []
    assert limit in [row.text for row in report.statements()]


async def test_advice_behind_a_limit_needs_no_passage() -> None:
    limit, advice = "Prices of licences in Bolivia were not found.", "Plan to buy one for each writer."
    bench = bench_of(lambda write: paragraph(write.fact(CALM, CALM), write.limit(limit), write.analysis(advice)))
    report, _ = await report_of(bench)
    assert bench.model.asked("section_mender") == []
    assert {row.text: row.status for row in report.statements()}[advice] is Status.ANALYSIS


LOST = "a commit may be lost when power fails"
KEPT = "the file stays consistent"


@pytest.mark.parametrize("again", ["supported", "not"])
async def test_a_cell_that_does_not_answer_its_column_is_written_anew_where_that_holds(again: str) -> None:
    def verifies(request: ModelRequest) -> Row:
        verdicts = [
            {"n": row["n"], "verdict": again if row["text"] == KEPT else "supported", "reason": ""}
            for row in request.material["statements"]
        ]
        for row, verdict in zip(request.material["statements"], verdicts, strict=True):
            if row["text"] == LOST:
                verdict |= {"misplaced": True, "reason": "what stays of the file"}
            if row["is_code"]:
                verdict |= {"misplaced": True, "reason": "no cell"}
        return {"verdicts": verdicts}

    def mends(request: ModelRequest) -> Row:
        [row] = request.material["failing"]
        assert f"{LOST}\nObjection: It does not answer its column: What is kept; what stays of the file" in request.user
        return {"sentences": [{"n": 1, "action": "rewrite", "text": KEPT, "evidence_ids": row["evidence_ids"]}]}

    bench = bench_of(lambda write: paragraph(write.fact(CALM, CALM)), verifier=[verifies], section_mender=[mends])
    report, _ = await report_of(bench)
    cells = {
        cell.text: cell.status
        for section in report.sections
        for block in section.blocks
        for row in block.rows
        for cell in row
    }
    assert {text for text in cells if text in (LOST, KEPT)} == {KEPT if again == "supported" else LOST}
    assert cells.get(KEPT, Status.VERIFIED) is cells.get(LOST, Status.VERIFIED) is Status.VERIFIED


async def test_for_a_cell_that_does_not_answer_its_column_its_row_and_column_are_looked_up() -> None:
    wrong = "some buffers of the folder are read once by the harbour master"
    told = "A low spin_wait has the cost that the processor is busy for nothing."
    pages = {**STORES.pages, LARCH: (TITLE, f"{TEXT} {'The rest is about logs. ' * 20}\n\n{told}")}
    study = replace(STORES, pages=pages)
    shown: list[str] = []

    def table(write: Writer) -> Row:
        cell = write.fact(wrong, CALM)
        rows = [{"label": "spin_wait", "cells": [{**cell, "evidence_ids": [f"x{cell['evidence_ids'][0]}"]}]}]
        return {"type": "table", "header": ["Setting", "Cost of a low value"], "rows": rows, "sentences": []}

    def verifies(request: ModelRequest) -> Row:
        rows = request.material["statements"]
        judged = [{"n": row["n"], "verdict": "supported", "misplaced": row["text"] == wrong} for row in rows]
        return {"verdicts": judged}

    def mends(request: ModelRequest) -> Row:
        shown.extend(row["quote"] for row in request.material["passages"])
        return {"sentences": [{"n": 1, "action": "keep"}]}

    script = study.script(section_writer=[adding(table)], verifier=[verifies], section_mender=[mends])
    await report_of(Bench(script, search=study.search))
    assert any(told in quote for quote in shown)


async def test_a_cell_in_which_nothing_was_found_says_so_once() -> None:
    def table(write: Writer) -> Row:
        cells = [write.fact("40 s", CALM), {"text": "not found in Bolivia", "kind": "limit"}]
        rows = [{"label": "spin_wait", "cells": cells}]
        return {"type": "table", "header": ["Setting", "Value", "Default"], "rows": rows, "sentences": []}

    report, _ = await report_of(bench_of(table))
    markdown = render_markdown(report)
    assert markdown.count("not found in Bolivia") == 1
    [row] = [line for line in markdown.splitlines() if "spin_wait" in line]
    assert row.endswith("| not found in Bolivia |")


async def test_what_is_missing_behind_a_row_is_added_though_a_cell_of_it_was_not_found() -> None:
    what = "reader in shared mode may block the writer of Larch"

    def table(write: Writer) -> Row:
        cells = [write.fact("40 s", CALM), {"text": "not found in Bolivia", "kind": "limit"}]
        rows = [{"label": "spin_wait", "cells": cells}]
        return {"type": "table", "header": ["Setting", "Value", "Default"], "rows": rows, "sentences": []}

    def edits(request: ModelRequest) -> Row:
        shown = "\n".join(row["text"] for row in request.material["sections"])
        [place] = re.findall(r"^\((\d+\.\d+)\) \| spin_wait", shown, re.MULTILINE)
        missing = [{"place": place, "what": what}, {"place": f"{place}.3", "what": f"{what}, in Bolivia"}]
        return {**STORES.edit(request), "missing": missing}

    bench = bench_of(table, editor=[edits], section_mender=[lambda request: {"sentences": []}])
    await report_of(bench)
    [asked] = bench.model.asked("section_mender")
    assert [(row["what"], row["after"]) for row in asked.material["missing"]] == [(what, "spin_wait")]
    assert "not found in Bolivia" in [row["text"] for row in asked.material["failing"]]


MANUAL = f"""# Settings

lock_wait (integer)

lock_wait (integer) Sets how long a writer waits. {"It is read when a store opens. " * 20}The default is 40 seconds.

busy_wait (integer)

busy_wait (integer) Sets how long Larch tries. At most lock_wait is used. {"It is read. " * 30}The default is 7 seconds.
"""


async def test_the_mender_is_shown_the_quote_of_another_sentence_that_holds_what_is_missing() -> None:
    wrong = "Readers of Larch seldom wait."

    def both(write: Writer) -> Row:
        return paragraph(write.fact(wrong, CALM), write.fact(LARCH_RATE, LARCH_RATE))

    def mends(request: ModelRequest) -> Row:
        assert LARCH_RATE in [row["quote"] for row in request.material["passages"]]
        return {"sentences": []}

    bench = bench_of(both, verifier=[objecting(wrong, "no test: wrote 180 rows, 8 clients")], section_mender=[mends])
    await report_of(bench)
    assert bench.model.asked("section_mender")


def near_in(manual: str) -> NearPassages:
    source = Source(
        id="src-0123456789", title="Settings of Larch", archive_hash=text_hash(manual), characters=len(manual)
    )
    return NearPassages({source.id: source}, {source.id: markdown_document(manual)}, "How is Larch set up?")


def test_a_value_at_the_end_of_a_definition_is_near_a_cell_that_asks_for_it() -> None:
    near = near_in(MANUAL)
    found = [near.evidence[name].quote for name in near.lacking("lock_wait, Default not found", "Settings", [])]
    assert found[0].startswith("lock_wait (integer) Sets how long")
    assert found[0].endswith("The default is 40 seconds.")
    assert near.bearing("Prices of licences in Bolivia were not found.", []) == []


FACTS = """
PRAGMA size_limit

The log is overwritten and not truncated, so that it keeps its greatest size between checkpoints.

Its size is given in bytes. The default is -1, which means that no limit is set.

PRAGMA page_count

Vacuum starts when the threshold of 50 tuples is reached in a table.

A second write of Larch that upgrades its snapshot gets STORE_BUSY and begins its transaction again.

Larch is small, and its first version is from the year of the flood.
"""


@pytest.mark.parametrize(
    ("limit", "context", "passage"),
    [
        ("Nor were pool sizes, the threshold of vacuum, or prices of licences.", "", "threshold of 50 tuples"),
        ("size_limit, Default not found", "64 MB, by judgement. Settings of Larch", "The default is -1"),
        (
            "Write after a snapshot, Larch not found",
            "STORE_BUSY; begins its transaction again. Who waits for whom",
            "upgrades its snapshot gets STORE_BUSY",
        ),
        ("Die Preise der Lizenzen wurden nicht gefunden.", "", None),
        ("Prices of licences, Larch not found", "7 euros a page. What it costs", None),
    ],
)
def test_what_a_limit_names_is_looked_up_thing_by_thing_and_a_cell_with_its_row(
    limit: str, context: str, passage: str | None
) -> None:
    near = near_in(FACTS)
    found = [near.evidence[name].quote for name in near.lacking(limit, context, [])]
    assert not any("flood" in quote for quote in found)
    assert any(passage in quote for quote in found) if passage else not found


@pytest.mark.parametrize(
    ("limit", "is_told_of"),
    [
        ("lock_wait, Default not found", True),
        ("What happens to a second updater was not found.", True),
        ("How Larch replays its log was not found.", False),
        ("How many of these statements write was not found.", False),
    ],
)
def test_a_passage_bears_on_a_limit_only_with_its_rarest_word(limit: str, is_told_of: bool) -> None:
    more = """
A second updater of a row waits for the first. Larch keeps a log of what it writes.

Larch reads its log when a store opens. Two statements may write to one log of Larch.
"""
    assert bool(near_in(MANUAL + more).bearing(limit, [])) is is_told_of


LOCKS = """
Once BEGIN EARLY succeeds, no STORE_BUSY follows until the COMMIT.

A COMMIT might also end in STORE_BUSY where another process has an open read connection.

Larch never returns STORE_BUSY for a COMMIT of one process, but always for one of two.

A client of Larch can sleep for as long as it wants to.
"""


@pytest.mark.parametrize(
    ("text", "context", "found"),
    [
        ("BEGIN EARLY with a timeout; then no STORE_BUSY follows through COMMIT", "STORE_BUSY, What to do", True),
        ("There is never a STORE_BUSY for the COMMIT.", "", True),
        ("A COMMIT ends in STORE_BUSY now and then.", "", False),
        ("No key is ever read by a client of Larch.", "", False),
    ],
)
def test_a_guarantee_is_read_beside_the_sentence_of_a_source_that_tells_of_an_exception(
    text: str, context: str, found: bool
) -> None:
    near = near_in(LOCKS)
    told = "A COMMIT might also end in STORE_BUSY where another process has an open read connection."
    passages = [near.evidence[name].quote for name in near.limiting(text, context, [])]
    assert passages == ([told] if found else [])


def bench_with_note(noted: str, **changes: Any) -> Bench:
    """A bench whose extractor notes this of the source with the exception, and finds nothing."""

    def extract(request: ModelRequest) -> Row:
        holding = [n for n, row in enumerate(request.material["sources"], 1) if EXCEPTION in row["text"]]
        notes = [{"text": noted, "sources": holding}] if holding else []
        return {"notes": notes, "findings": [], "limits": []}

    bench = bench_of(denial, extractor=[extract], **changes)
    return replace(bench, condensing=True, settings={"fetch_time_summarization": False})


async def test_a_guarantee_is_read_beside_the_sources_where_a_note_says_more_too() -> None:
    bench = bench_with_note("A reader of Larch blocks the writer of a shared folder.")
    await report_of(bench)
    [request] = [row for row in bench.model.asked("verifier") if DENIAL in row.user]
    [statement] = [row for row in request.material["statements"] if row["text"] == DENIAL]
    assert statement["compares"]
    others = {row["id"]: row["text"] for row in request.material["passages"] if row["id"] in statement["others"]}
    assert any(EXCEPTION in text for text in others.values())


@pytest.mark.parametrize(("value", "is_kept"), [("it may for a checkpoint", True), ("it may for 7 seconds", False)])
async def test_the_side_of_a_contradiction_may_be_a_note_if_a_passage_says_it(value: str, is_kept: bool) -> None:
    noted = "Shared mode: a reader of Larch may block its writer during a checkpoint."
    calm = {"source_id": source_id(LARCH, CONTRADICTED.pages[LARCH][1]), "quote": CALM}
    sides = [
        {"value": "never", "evidence": [calm]},
        {"value": value, "evidence": [{"source_id": "notes of sq-1-1", "quote": noted}]},
    ]
    told = {"kind": "statement", "topic": "Whether a reader of Larch blocks the writer", "sides": sides}
    [analysis] = STORES.script()["analyzer"]
    bench = bench_with_note(noted, analyzer=[{**analysis, "contradictions": [told]}])
    report, state = await report_of(bench)
    assert all(noted in request.user for request in bench.model.asked("analyzer"))
    quotes = {row["id"]: row["quote"] for row in state["evidence"]}
    found = [row for row in report.contradictions if row.topic == told["topic"]]
    assert [[[quotes[one] for one in side.evidence_ids] for side in row.sides] for row in found] == (
        [[[CALM], [EXCEPTION]]] if is_kept else []
    )


def test_a_condition_with_a_threshold_that_the_writer_judges_rests_on_what_its_row_cites() -> None:
    cell = {"text": "a server", "kind": "fact", "evidence_ids": ["ev-0123456789"]}
    row = {"label": "Writes take more than half of the time", "judged": ["half"], "cells": [cell]}
    plain = {"label": "Writes take turns", "cells": [cell]}
    [block] = answered_blocks([{"type": "table", "header": ["Condition", "Choice"], "rows": [row, plain]}])
    assert [cells[0].evidence_ids for cells in block.rows] == [["ev-0123456789"], []]
