"""Rows of a source's table are quoted as a table, each cell a piece of the row that is proved."""

from __future__ import annotations

import pytest

from graph_research.research.evidence.claim_support import CitedPassage, Status, judge
from graph_research.research.extractive import analyzer, synthesizer
from graph_research.research.extractive.analysis import Group, Quote, analyze
from graph_research.research.extractive.sections import outline
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.extractive.tables import quotations
from graph_research.research.models.draft import BlockType, StatementKind
from graph_research.text.readers.html import html_document
from graph_research.text.readers.separated import separated_document
from tests.support.research.extractive_sources import analysed, written

PAGE = """<h2>Limits</h2><p>Some limits can be lowered.</p><table>
<tr><th>Limit</th><th>Default</th><th>Largest</th></tr>
<tr><td>Length of a row</td><td>1,000,000,000</td><td>2,147,483,645</td></tr>
<tr><td>Columns</td><td>2,000</td><td></td></tr>
<tr><td colspan=3>Attached databases have a limit of their own.</td></tr></table>"""
DOCUMENT = html_document(PAGE)


def group(text: str) -> Group:
    start = DOCUMENT.text.index(text)
    lead = Quote(source_id="s", start=start, end=start + len(text), text=text, heading="Limits", title="")
    return Group(lead=lead)


ROWS = ["Columns 2,000", "Length of a row 1,000,000,000 2,147,483,645"]
LINES = ["Some limits can be lowered.", "Attached databases have a limit of their own."]


def test_rows_of_a_table_stand_in_one_table_under_its_header_and_other_quotations_in_a_list() -> None:
    groups = [group(text) for text in (LINES[0], ROWS[0], ROWS[1], LINES[1])]
    listed, table = quotations(groups, {g: ["ev-1"] for g in groups}, {"s": DOCUMENT})
    assert [item[0].text for item in listed.items] == LINES
    assert (table.type, table.caption, table.header) == (BlockType.TABLE, "Limits", ["Limit", "Default", "Largest"])
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["Length of a row", "1,000,000,000", "2,147,483,645"],
        ["Columns", "2,000", "–"],
    ]


def test_the_table_of_the_first_group_stands_first() -> None:
    groups = [group(text) for text in (ROWS[0], LINES[0])]
    blocks = quotations(groups, {g: ["ev-1"] for g in groups}, {"s": DOCUMENT})
    assert [block.type for block in blocks] == [BlockType.TABLE, BlockType.LIST]


def test_a_cell_is_proved_where_its_row_has_it_and_only_a_cell_may_quote_a_piece() -> None:
    passage = CitedPassage(number=1, quote=ROWS[1], valid=True)

    def status(text: str, context: str) -> Status:
        return judge(text, StatementKind.QUOTE, [passage], question="", context=context).status

    assert status("1,000,000,000", "Length of a row, Default") is Status.PROVED
    assert status("1,000,000", "Length of a row, Default") is Status.UNSUPPORTED
    assert status("1,000,000,000", "") is Status.UNSUPPORTED


def test_a_small_table_is_quoted_whole_and_a_header_never_alone() -> None:
    table = "| Limit | Default | Largest |\n|---|---|---|\n| Length of a row | 1,000,000,000 | 2,147,483,645 |\n"
    page = f"# Limits\n\nSome limits can be lowered.\n\n{table}| Columns | 2,000 | 32,767 |\n"
    material = {**written([page]), "question": "What is the largest length of a row?"}
    quoted = [row.lead.text for row in analyze(material).groups]
    assert {ROWS[1], "Columns 2,000 32,767"} <= set(quoted)
    assert "Limit Default Largest" not in quoted


def test_the_rows_of_a_table_stand_in_one_section() -> None:
    rows = "".join(f"| {name} affinity | {size} units |\n" for name, size in (("Text", 7), ("Real", 9), ("Blob", 31)))
    page = f"# Affinity\n\nThe affinity of a column has units.\n\n| Affinity | Units |\n|---|---|\n{rows}"
    material = written([page])
    analysis = analyze({**material, "question": "Which affinity has which units?"})
    sections = [
        [group for group in section.groups if group.lead.table > 0]
        for section in outline(analysis, (900, 900), material["documents"])
    ]
    assert [len(groups) for groups in sections if groups] == [3]


def test_the_short_answer_gives_the_row_that_is_asked_for_under_its_header() -> None:
    page = "# Sales\n\n| Year | Pumps sold |\n|---|---|\n| 2022 | 12.5 |\n| 2023 | 18.2 |\n| 2024 | 15.9 |\n"
    handoff = {**written([page]), "question": "How many pumps were sold in 2023?"}
    (table,) = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))["summary"]
    assert table["header"] == ["Year", "Pumps sold"]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [["2023", "18.2"]]


HUTS = """# Huts

| Hut | Beds | Price in francs | Lowest night in °C | Inspected |
|---|---|---|---|---|
| Arbel | 48 | 42.5 | -4 | 2024-05-02 |
| Gelbwand | 72 | 55 | -11.5 | 2022-09-12 |
| Rossboden | 110 | 38 | 2 | 2023-06-30 |
| All huts | 230 |  |  |  |
"""


@pytest.mark.parametrize(
    ("question", "huts"),
    [
        ("Which hut has the most beds?", ["Rossboden"]),
        ("Which of the huts has the fewest beds?", ["Arbel"]),
        ("Which hut is the cheapest?", ["Rossboden"]),
        ("Which hut is the most expensive?", ["Gelbwand"]),
        ("Which hut had the lowest night?", ["Gelbwand"]),
    ],
)
def test_the_short_answer_to_a_superlative_is_the_row_with_that_value(question: str, huts: list[str]) -> None:
    others = "# House rules of the huts\n\nBeds of a hut are reserved online. The most beds have two blankets.\n"
    handoff = {**written([HUTS, others]), "question": question}
    (table,) = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))["summary"]
    assert [row[0]["text"] for row in table["rows"]] == huts


def test_the_rows_that_complete_a_table_are_not_taken_for_the_one_that_is_asked_for() -> None:
    wells = "# Wells\n\n| Well | Drilled |\n|---|---|\n| Birkenau | 1954 |\n| Hasengrund | 1931 |\n| Lohe | 2009 |\n"
    handoff = {**written([wells]), "question": "Which well is the oldest?"}
    (table,) = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))["summary"]
    assert [row[0]["text"] for row in table["rows"]] == ["Hasengrund"]


FLOWS = """# River

| Flow (m³/s) | Who may row |
|---|---|
| 0 to 50 | all |
| 51 to 150 | Eights |
| above 150 | no one |
"""


@pytest.mark.parametrize(
    ("page", "question", "cells"),
    [
        (FLOWS, "Who may row at a flow of 130 m³/s?", [["51 to 150", "Eights"]]),
        (
            "# Boats\n\n| Boat | Length |\n|---|---|\n| Tern | 7 m |\n| Auk | 9 m |\n",
            "Which boat is the longest?",
            [["Auk", "9 m"]],
        ),
    ],
)
def test_a_row_that_is_asked_for_by_a_value_is_alone_though_it_is_made_of_names_or_its_header_says_more(
    page: str, question: str, cells: list[list[str]]
) -> None:
    handoff = {
        **written([page, "# Row\n\nWho may row? Rowing on the river is for all who swim."]),
        "question": question,
    }
    (table,) = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))["summary"]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == cells


def test_a_row_that_a_question_names_is_quoted_alone_though_a_table_of_names_tells_no_language() -> None:
    rows = "| Blütenhonig | 4,50 € | 7,60 € |\n| Waldhonig | 5,90 € | 10,20 € |\n| Lindenhonig | 5,30 € | 9,10 € |\n"
    page = f"| Sorte | 250-g-Glas | 500-g-Glas |\n|---|---|---|\n{rows}"
    others = [f"# Markt {number}\n\nWaldhonig, Stand {number}.\n" for number in range(2)]
    handoff = {**written([page, *others]), "question": "Was kostet ein 500-g-Glas Waldhonig?"}
    table, *_ = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))["summary"]
    assert [row[0]["text"] for row in table["rows"]] == ["Waldhonig"]


def test_no_row_answers_a_superlative_of_what_no_column_tells() -> None:
    material = {**written([HUTS]), "question": "Which hut has the most showers?"}
    assert not any(group.lead.extreme for group in analyze(material).groups)


def test_the_short_answer_gives_every_row_where_only_the_header_has_words_of_the_question() -> None:
    rows = "| Travel | 24,000 | 26,750 |\n| Fuel | 118,000 | 109,300 |\n| Repairs | 31,000 | 40,120 |\n"
    page = f"# Figures\n\n| Cost centre | Budget | Spent |\n|---|---|---|\n{rows}"
    handoff = {**written([page]), "question": "Which cost centres spent more than their budget?"}
    (table,) = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))["summary"]
    assert [row[0]["text"] for row in table["rows"]] == ["Travel", "Fuel", "Repairs"]


def test_a_small_table_at_the_start_of_a_text_is_quoted_with_all_of_its_rows_and_the_one_that_ranks_best() -> None:
    months = [("January", 212), ("April", 171), ("May", 160), ("June", 131), ("July", 118)]
    rows = "".join(f"| {month} | {level} |\n" for month, level in months)
    levels = f"| Month | Well level |\n|---|---|\n{rows}"
    rules = "# Rules\n\nBelow a well level of 130 no sprinkler runs in July, whatever the month before was like.\n"
    material = {**written([levels, rules]), "question": "What was the well level in July?"}
    [groups] = [section.groups for section in outline(analyze(material), (900, 900), material["documents"])]
    quoted = [group.lead.text for group in groups]
    assert [f"{month} {level}" for month, level in months if f"{month} {level}" not in quoted] == []


def test_where_nothing_answers_the_row_that_is_asked_for_is_shown_under_its_header() -> None:
    table = "| Month | Cars | Passengers |\n|---|---|---|\n| April | 6890 | 15200 |\n| July | 12440 | 31870 |\n"
    rules = "# Rules\n\nPassengers stay outside their cars for the whole crossing. Horses are led.\n"
    handoff = {**written([f"# Traffic\n\n{table}", rules]), "question": "How many passengers crossed in July?"}
    draft = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))
    assert draft["found"] is False
    [shown] = [block for block in draft["summary"] if block["rows"]]
    assert shown["header"] == ["Month", "Cars", "Passengers"]
    assert [[cell["text"] for cell in row] for row in shown["rows"]] == [["July", "12440", "31870"]]


RULES = (
    "# Leave\n\nLeave is requested in writing at least six weeks ahead.\n\n"
    "| Service | Days | | Bonus |\n| --- | --- | --- | --- |\n| | Nurses | Reception | |\n"
    "| apprentice | 25 | 24 | none |\n| master | 30 | 29 | 80 |\n"
)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many days of leave do nurses have, by service?", ["apprentice 25 24 none", "master 30 29 80"]),
        ("How many days of leave do master nurses have?", ["master 30 29 80"]),
    ],
)
def test_a_question_that_names_columns_and_no_row_is_answered_by_the_rows(question: str, rows: list[str]) -> None:
    analysis = analyze({**written([RULES]), "question": question})
    assert [group.lead.text for group in short_answer(analysis)] == rows
    assert not {"Service Days Bonus", "Nurses Reception"} & {group.lead.text for group in analysis.groups}


def test_a_document_without_a_title_is_about_what_its_files_name_says() -> None:
    table = separated_document("Number,Customer,Weight in kg\nQ-1,Larkhill,184\nQ-2,Dunmore,725\n")
    material = {**written([""]), "documents": {"s0": table}, "question": "Which parcel was the heaviest?"}
    assert not analyze(material).found
    material["sources"][0]["url"] = "lists/parcels-2025.csv"
    assert [group.lead.text for group in short_answer(analyze(material))] == ["Q-2 Dunmore 725"]
