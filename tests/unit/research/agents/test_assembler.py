"""The assembler: what of the findings stands behind the sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graph_research.research.agents.writing.assembler import assembler
from graph_research.research.models.draft import Statement
from tests.support.research.harness import PlainContext, make_services

PIECES = [f"ev-000000000{n}" for n in range(9)]
CONTENTS = ["Cited.", "A side.", "The newest Larch is 3.1.4.", *(f"Finding {n}." for n in range(3, 9))]


async def more_of(words: int, length: str) -> list[str]:
    """What stands under "More evidence" of a report of so many words."""
    draft = await assembled([{"text": "First.", "kind": "transition"}, fact("word " * words)], length)
    return [row["text"] for row in draft["more"]]


def fact(text: str) -> dict[str, Any]:
    return {"text": text, "evidence_ids": PIECES[:1], "kind": "fact"}


def limit(text: str) -> dict[str, Any]:
    return {"text": text, "kind": "limit"}


async def assembled(
    sentences: list[dict[str, Any]],
    length: str = "1000",
    conclusions: Sequence[dict[str, Any]] = (),
    listed: Sequence[Sequence[dict[str, Any]]] = (),
    summary: Sequence[Sequence[dict[str, Any]]] = (),
    failing: Sequence[dict[str, Any]] = (),
    rewritten: Sequence[dict[str, Any]] = (),
    opening: str = "",
    **block: Any,
) -> dict[str, Any]:
    """The draft of a report with one section."""
    blocks = [{"sentences": [{**row, "place": "1"} for row in sentences]}, *([block] if block else [])]
    section = {"id": "sec-1", "heading": "What is known", "blocks": blocks}
    findings = [
        {
            "id": f"find-000000000{n}",
            "content": content,
            "confidence": "high" if n == 8 else "medium",
            "evidence_ids": PIECES[n : n + 1],
        }
        for n, content in enumerate(CONTENTS)
    ]
    handoff: dict[str, Any] = {
        "original_query": "What of Larch?",
        "iteration": 1,
        "findings": findings,
        "evidence": [{"id": name, "quote": "q"} for name in PIECES],
        "contradictions": [{"sides": [{"evidence_ids": PIECES[1:2]}, {"evidence_ids": ["ev-other"]}]}],
        "versions": ["Larch 3.1.4"],
        "report_options": {"length": length, "type": "report", "language": "en", "audience": None},
        "baseline": {"summary": [], "sections": []},
        "analysis": {},
        "by_code": False,
        "outline": [{"id": "sec-1", "heading": "What is known"}],
        "sections": [section],
        "fabricated": 0,
        "rewritten": list(rewritten),
        "not_answered": ["What Larch costs: no source tells it."],
        "found": True,
        "title": "",
        "conclusions": [{"type": "list", "items": listed} if listed else {"sentences": list(conclusions)}],
        "statement_verdicts": [],
        "openings": [{"section": "sec-1", "statement": fact(opening)}] if opening else [],
        "summary": [{"type": "list", "items": summary}] if summary else [],
        "checks": [{"id": Statement.model_validate(row).id, "problem": "it fails"} for row in failing],
    }
    output: dict[str, Any] = await assembler(make_services({}))(handoff, PlainContext())
    return {**output["draft"], "settled_limits": output["settled_limits"]}


@pytest.mark.parametrize(
    ("opening", "count"),
    [
        ("The following faults stay hidden at the defaults or survive their usual remedy.", 1),
        ("Three faults need a look at the defaults.", 2),
    ],
)
async def test_the_editors_opening_of_a_section_does_not_repeat_its_first_sentence(opening: str, count: int) -> None:
    first = fact("These faults stay hidden at first or survive their usual remedy.")
    draft = await assembled([first], opening=opening)
    assert len(draft["sections"][0]["blocks"][0]["sentences"]) == count


async def test_what_was_not_found_stands_once_in_the_text_and_in_each_row_of_a_table() -> None:
    cells = [[fact("A"), limit("not found")], [fact("B"), limit("not found")]]
    draft = await assembled(
        [
            fact("Known."),
            limit("How long a checkpoint blocks writers was not found."),
            limit("Its price was not found."),
        ],
        conclusions=[fact("So."), limit("For how long writers are blocked by a checkpoint was not found.")],
        type="table",
        header=["Name", "Size"],
        rows=cells,
    )
    prose, table = draft["sections"][0]["blocks"]
    assert [row["kind"] for row in prose["sentences"]] == ["fact", "limit", "limit"]
    assert [row["text"] for row in draft["conclusions"][0]["sentences"]] == ["So."]
    assert [row[1]["text"] for row in table["rows"]] == ["not found", "not found"]


async def test_a_limit_that_a_fact_of_the_finished_text_answers_is_left_out() -> None:
    answered, stays = (
        limit(f"How long a checkpoint {what} was not found.") for what in ("blocks writers", "of readers takes")
    )
    fact_of_it = fact("A checkpoint blocks writers for 3 ms.")
    draft = await assembled([fact_of_it, answered], conclusions=[fact("So."), answered, stays])
    assert [row["text"] for row in draft["sections"][0]["blocks"][0]["sentences"]] == [fact_of_it["text"]]
    assert [row["text"] for row in draft["conclusions"][0]["sentences"]] == ["So."]
    assert draft["not_answered"][1:] == [stays["text"]]


async def test_what_the_conclusions_say_was_not_found_is_listed_with_the_open_questions() -> None:
    about = {**limit("Order of waiters: not found."), "strong": ["Order of waiters:"]}
    whole = {**limit("Price: of Larch alone."), "strong": ["Price:"]}
    advice = [limit("Size: not found."), fact("Plan for two.")]
    draft = await assembled([fact("Known.")], listed=[[fact("So.")], [about], [whole], advice])
    assert draft["not_answered"][1:] == ["Order of waiters", "Price: of Larch alone."]
    assert [len(item) for block in draft["conclusions"] for item in block["items"]] == [1, 2]


async def test_a_limit_of_the_conclusions_stays_before_the_advice_that_rests_on_it_alone() -> None:
    advice = {"text": "Plan for two.", "kind": "analysis", "evidence_ids": []}
    for row, is_listed in ((advice, False), ({**advice, "evidence_ids": PIECES[:1]}, True)):
        draft = await assembled([fact("Known.")], conclusions=[limit("The size was not found."), row])
        assert ("The size was not found." in draft["not_answered"]) is is_listed
        assert [one["text"] for one in draft["conclusions"][0]["sentences"]][-1] == "Plan for two."


async def test_a_column_in_which_nothing_was_found_is_a_sentence_and_of_exceptions_there_need_be_none() -> None:
    empty = {"text": "–", "kind": "transition"}
    rows = [
        [fact("Full"), fact("kept"), limit("not found"), limit("none found")],
        [fact("Normal"), fact("may be lost"), limit("not found"), fact("on a battery")],
        [fact("Off"), fact("lost"), limit("not found"), empty],
    ]
    header = ["Mode", "Commits", "Price", "Exception"]
    draft = await assembled([fact("Known.")], type="table", header=header, rows=rows)
    _, table, line = draft["sections"][0]["blocks"]
    assert table["header"] == ["Mode", "Commits", "Exception"]
    assert [row[2]["text"] for row in table["rows"]] == ["–", "on a battery", "–"]
    assert [(row["text"], row["kind"]) for row in line["sentences"]] == [("Price: not found", "limit")]


async def test_what_was_not_found_in_a_column_is_said_of_each_of_its_rows() -> None:
    rows = [
        [fact("Larch"), fact("kept"), limit("no price of Larch"), limit("not found"), limit("not found")],
        [fact("Spruce"), fact("lost"), limit("no price of Spruce"), limit("not found"), limit("not found")],
    ]
    header = ["Store", "Commits", "Price", "Size", "Age"]
    draft = await assembled([fact("Known.")], type="table", header=header, rows=rows)
    said = [row["text"] for row in draft["sections"][0]["blocks"][-1]["sentences"]]
    assert said == ["Price: no price of Larch; no price of Spruce", "Size, Age: not found"]


async def test_what_was_not_found_is_said_again_where_it_says_what_to_do_without_it() -> None:
    told = limit("How long a checkpoint blocks writers was not found.")
    again = [limit("**Blocked writers:** for how long was not found for a checkpoint."), fact("Plan for a second.")]
    draft = await assembled([fact("Known."), told], listed=[again])
    assert [row["text"] for row in draft["conclusions"][0]["sentences"]] == [row["text"] for row in again]


async def test_without_a_summary_the_answer_is_what_the_section_begins_with_analysis_or_fact() -> None:
    draft = await assembled([{**fact("So one writer at a time."), "kind": "analysis"}, fact("A lock is taken.")])
    assert [[[row["text"] for row in item] for item in block["items"]] for block in draft["summary"]] == [
        [["So one writer at a time."]]
    ]
    assert draft["found"]


@pytest.mark.parametrize(
    ("cited", "sentence", "expected"),
    [
        (PIECES[:3], "Larch locks files.", ["Larch is fast.", "Larch locks files."]),
        (PIECES[2:5], "Larch locks files.", ["Larch is fast."]),
        (PIECES[:3], "This locks files.", ["Larch is fast."]),
    ],
)
async def test_where_an_item_of_the_summary_fails_the_sentence_that_cites_most_of_the_same_stands(
    cited: list[str], sentence: str, expected: list[str]
) -> None:
    holds = {**fact("Larch is fast."), "evidence_ids": PIECES[5:6]}
    fails = {**fact("Larch locks 7 files."), "evidence_ids": cited}
    told = [fact("It opens one."), {**fact(sentence), "evidence_ids": PIECES[:2]}]
    draft = await assembled(told, summary=[[holds], [fails]], failing=[fails])
    assert [row["text"] for block in draft["summary"] for item in block["items"] for row in item] == expected


KEEPS = "Larch keeps each commit after a crash."
ONLY_IF = "Larch keeps each commit after a crash only where sync is full."


@pytest.mark.parametrize(
    ("item", "now", "expected"),
    [
        (KEEPS, ONLY_IF, ONLY_IF),
        ("With full sync Larch keeps each commit after a crash.", ONLY_IF, None),
        ("Larch keeps each commit.", "", "Larch writes fast."),  # which cites the same
        ("Its price is low, and its licence is free.", ONLY_IF, None),
        ("Larch writes fast.", "", None),
        (KEEPS, "A pool of 20 connections is enough.", None),
    ],
)
async def test_a_sentence_of_the_summary_gives_way_with_the_sentence_that_it_repeats(
    item: str, now: str, expected: str | None
) -> None:
    told = [fact("Larch writes fast."), *([fact(now)] if now else [])]
    new = Statement.model_validate({**fact(now), "place": "1"}).id if now else ""
    rewritten = [{"id": new, "was": "st-0000000001", "statement": fact(KEEPS)}]
    first = [fact("Larch it is.")]
    draft = await assembled(told, summary=[first, [fact(item)]], rewritten=rewritten)
    said = [row["text"] for block in draft["summary"] for row in statements(block)]
    assert said == ["Larch it is.", item if expected is None else expected]
    assert draft["not_answered"] == ["What Larch costs: no source tells it."]


async def test_a_sentence_of_the_summary_that_holds_stays_where_the_section_still_says_what_fails() -> None:
    """That is shown as unsupported; a detail of it may fail which the summary does not repeat."""
    detailed = fact("Larch keeps each commit after a crash of the machine.")
    summary = [[fact("Larch it is.")], [fact(KEEPS)]]
    draft = await assembled(
        [fact("Larch writes fast."), detailed], summary=summary, failing=[{**detailed, "place": "1"}]
    )
    assert detailed["text"] in [row["text"] for row in draft["sections"][0]["blocks"][0]["sentences"]]
    assert [row["text"] for block in draft["summary"] for row in statements(block)] == ["Larch it is.", KEEPS]


@pytest.mark.parametrize("is_found", [True, False])
async def test_a_limit_in_whose_place_the_mender_found_something_is_settled(is_found: bool) -> None:
    now = fact("A checkpoint blocks writers for 3 ms.") if is_found else limit("How long it blocks was not found.")
    was = limit("How long a checkpoint blocks writers was not found.")
    new = Statement.model_validate({**now, "place": "1"}).id
    rewritten = [{"id": new, "was": "st-0000000001", "statement": was}]
    draft = await assembled([fact("Known."), now], rewritten=rewritten)
    assert draft["settled_limits"] == ([was["text"]] if is_found else [])


def statements(block: dict[str, Any]) -> list[dict[str, Any]]:
    return [*block["sentences"], *(row for item in block["items"] for row in item)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (500, ["Finding 8.", *(f"Finding {n}." for n in range(3, 8))]),
        (1_000, []),
        (1_500, []),
    ],
)
async def test_findings_that_no_section_cites_stand_behind_them_where_the_report_is_shorter_than_wanted(
    words: int, expected: list[str]
) -> None:
    assert await more_of(words, "1000") == expected
