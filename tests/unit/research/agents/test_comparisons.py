"""What a verifier is shown of what the run says elsewhere about the things that a statement names."""

from __future__ import annotations

from typing import Any

from graph_research.research.agents.writing.comparisons import SaidElsewhere, checked_units, decisions, told_lines
from graph_research.research.models.draft import DraftSection, Statement
from graph_research.research.writing_functions import edited_parts, statement_batches

KNOWN = "At full pace Larch always saves its ledger from the outage."
EXTRA = "Larch at extra pace also flushes the folder of the ledger, for an entry closely followed by an outage."
OTHERS = [
    "The harbour closes at six in the evening.",
    "Ferries burn more fuel at twenty knots.",
    "A crew of nine serves the crossing by night.",
]


def statement(text: str, kind: str = "fact", *evidence: str) -> dict[str, Any]:
    return {"text": text, "kind": kind, "evidence_ids": list(evidence or ["ev-0000000001"])}


def paragraph(*sentences: dict[str, Any]) -> dict[str, Any]:
    return {"type": "paragraph", "sentences": list(sentences)}


def table(header: list[str], *rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "table", "caption": "Pace", "header": header, "rows": list(rows)}


def section(name: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"sec-{name}", "heading": name, "blocks": list(blocks)}


def topic(*notes: str) -> dict[str, Any]:
    return {"compressed_findings": "\n".join(f"- {note} [1]" for note in notes)}


def beside(*sections: dict[str, Any], findings: list[dict[str, Any]], notes: list[str]) -> dict[str, list[str]]:
    """What each statement of the first section is compared with, by its text."""
    said = SaidElsewhere(findings, [topic(*notes)], map(DraftSection.model_validate, sections))
    rows = [row for batch in statement_batches(sections[:1], [], []) for row in batch]
    given = [{**row, "id": Statement.model_validate(row).id} for row in rows if row["kind"] != "transition"]
    texts = {row["id"]: row["text"] for row in given}
    return {texts[name]: [one.text for one in found] for name, found in said.beside(checked_units(given)).items()}


def test_what_says_that_something_was_not_found_tells_nothing() -> None:
    label, found, unknown = statement("Schema"), statement("a sequence of steps"), statement("not found", "limit")
    own = section(
        "Change",
        table(["", "Larch", "Alder"], [label, found, unknown], [statement("Locks"), unknown, unknown]),
        paragraph(statement("What others meet was not found.", "limit"), statement("A table is copied.")),
    )
    assert list(told_lines([DraftSection.model_validate(own)])) == ["Schema: a sequence of steps", "A table is copied."]


def test_what_is_said_of_all_cases_is_compared_with_what_was_noted_and_the_report_leaves_out() -> None:
    always = statement("Larch at full pace always saves the ledger from an outage.")
    plain = statement("Larch at full pace saves the ledger from an outage.")
    found = beside(section("A", paragraph(always, plain)), findings=[], notes=[*OTHERS, f"{KNOWN} {EXTRA}"])
    assert found == {always["text"]: [EXTRA]}


def test_a_finding_that_the_statement_cites_is_not_shown_again() -> None:
    always = statement("Larch at full pace always saves the ledger from an outage.", "fact", "ev-1")
    other = {"content": EXTRA, "evidence_ids": ["ev-2"]}
    known = {"content": EXTRA.replace("also", "further"), "evidence_ids": ["ev-1"]}
    found = beside(section("A", paragraph(always)), findings=[known, other], notes=OTHERS)
    assert found == {always["text"]: [EXTRA]}


def test_a_name_of_several_words_counts_as_one_of_the_words_that_two_texts_share() -> None:
    always = statement("LarchStoreSQL always flushes its folder.")
    note = "LarchStoreSQL is no toy."
    assert beside(section("A", paragraph(always)), findings=[], notes=[*OTHERS, note, "Larch has oars."]) == {}


def test_the_first_row_of_a_table_is_compared_as_a_whole_and_a_column_of_defaults_in_each_row() -> None:
    rows = [
        [statement("Larch, full pace", "transition"), statement("ledger kept"), statement("kept at an outage")],
        [statement("Larch, low pace", "transition"), statement("ledger lost"), statement("lost at an outage")],
    ]
    by_case = beside(section("A", table(["Setting", "Crash", "Outage"], *rows)), findings=[], notes=[*OTHERS, EXTRA])
    assert by_case == {"ledger kept": [EXTRA]}
    by_default = beside(section("A", table(["Setting", "Default", "Loss"], *rows)), findings=[], notes=[*OTHERS, EXTRA])
    assert by_default == {"ledger kept": [EXTRA], "ledger lost": [EXTRA]}


def test_the_editor_is_read_beside_what_the_sections_decide_and_infer_from_the_same() -> None:
    rule = table(
        ["Condition", "Choice", "Reason"],
        [
            statement("Data by tenant", "transition"),
            statement("one file each", "analysis", "ev-rule"),
            statement("one writer"),
        ],
        [statement("Otherwise", "transition"), statement("a server", "analysis"), statement("many writers")],
    )
    rates = table(["Ship", "Fuel"], [statement("Night", "transition"), statement("9,200 euros", "analysis", "ev-fuel")])
    own = statement("Begin with the lock before reads that lead to writes.", "analysis", "ev-lock")
    other = statement("Fuel decides.", "analysis", "ev-fuel")
    sections = [DraftSection.model_validate(section("Choice", rule, rates, paragraph(own, other)))]
    [part] = edited_parts([], [paragraph(statement("Keep reads out of writes.", "analysis", "ev-lock", "ev-rule"))])
    said = list(DraftSection.model_validate(part).statements())
    [row] = decisions(sections, said)
    table_lines = ["Condition | Choice | Reason", "Data by tenant | one file each | one writer"]
    assert row == {"where": "Choice", "lines": [*table_lines, "Otherwise | a server | many writers", own["text"]]}
