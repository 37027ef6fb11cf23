"""What the verifier and the mender of a report are shown beside a sentence, and what becomes of their answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.llm.base import ModelRequest
from graph_research.research.agents.writing.section_text import answered_blocks
from graph_research.research.evidence.claim_support import Status
from graph_research.research.graph_functions import unsettled
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.ids import finding_id
from graph_research.research.report.build import build_report
from graph_research.research.report.model import Report
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.writing_functions import newly_told
from tests.support.research.harness import Bench
from tests.support.research.strong_model import BUSY, FULL, LOCK, NORMAL, STORES, Row, Writer, paragraph

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
    texts = {name: await bench.store.text(name) for name in {row["archive_hash"] for row in result.state["sources"]}}
    return build_report(result.state, texts=texts, run=RunFacts(run_id="run-1", question="q")), result.state


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


def objecting(text: str, reason: str, *, times: int = 99) -> Callable[[ModelRequest], Row]:
    """A verifier that objects to one text so many times."""
    left = [times]

    def verify(request: ModelRequest) -> Row:
        verdicts = []
        for row in request.material["statements"]:
            wrong = row["text"] == text and left[0] > 0
            left[0] -= wrong
            verdicts.append(
                {"n": row["n"], "verdict": "not" if wrong else "supported", "reason": reason if wrong else ""}
            )
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
    assert f"compare with {', '.join(statement['others'])}" in request.user
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


async def test_a_number_that_the_writer_judges_stands_where_it_is_named() -> None:
    text = "As a rule of thumb act when full flushes take 50 % of the time."

    def judged(write: Writer) -> Row:
        named = {**write.analysis(text, FULL, NORMAL), "judged": "50 %"}
        return paragraph(named, write.analysis("As a rule of thumb act at 60 %.", FULL))

    bench = bench_of(judged, section_mender=["No."])
    report, _ = await report_of(bench)
    [row] = [row for row in report.statements() if "rule of thumb" in row.text]
    assert (row.text, row.status, row.judged) == (text, Status.ANALYSIS, "50 %")
    assert "the writer's judgement: 50 %" in "".join(request.user for request in bench.model.asked("verifier"))


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
    assert asked["How to set it up"] > 300
    assert asked["Who waits for whom"] == asked["What the figures say"] < 700


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
    ]
    changed = newly_told(known, [{"contradictions": told[:2]}, {"contradictions": told[2:]}])
    assert changed == [{**known[0], "settled": True}, told[2]]
