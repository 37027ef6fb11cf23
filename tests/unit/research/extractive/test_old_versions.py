"""What a superseded source says ranks behind its newer version, and is no short answer beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.sections import outline
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.extractive.sources import outdated_rows
from graph_research.text.readers.markdown import markdown_document
from tests.support.research.extractive_sources import written

OLD = "# Aquaro P200 manual, version 1\n\nThe filter of the Aquaro P200 must be cleaned every 12 months.\n"
NEW = (
    "# Aquaro P200 manual, version 2\n\nThe Aquaro P200 is a heat pump for houses with underfloor heating.\n\n"
    "The filter of the Aquaro P200 must be cleaned every 6 months.\n"
)
DATES = ("March 2023", "May 2023", "June 2025")
QUESTION = "How often must the filter of the Aquaro P200 be cleaned?"


def handoff(superseded: str | None, texts: tuple[str, ...] = (OLD, NEW)) -> dict[str, Any]:
    material = {**written(texts), "question": QUESTION}
    if superseded is not None:
        material["sources"][0]["metadata"] = {"superseded": superseded}
    return material


def test_the_newer_version_answers_alone() -> None:
    assert {group.lead.source_id for group in short_answer(analyze(handoff("s1")))} == {"s1"}


def test_sections_quote_the_current_source_first() -> None:
    analysis = analyze(handoff("s1"))
    leads = [group.lead.source_id for section in outline(analysis, (900, 900), {}) for group in section.groups]
    assert leads == sorted(leads, reverse=True)


@pytest.mark.parametrize(
    ("question", "answering"),
    [
        ("How often must the filter of the Aquaro P200 be cleaned by version 1 of its manual?", {"s0"}),
        ("How often must the filter of the Aquaro P200 be cleaned by version 2 of its manual?", {"s1"}),
        ("How often must the filter be cleaned by version 1 and by version 2 of the manual?", {"s0", "s1"}),
        ("How often must the filter of the Aquaro P200 be cleaned 1 year after version 3?", {"s1"}),
    ],
)
def test_the_version_that_the_question_names_answers(question: str, answering: set[str]) -> None:
    groups = short_answer(analyze({**handoff("s1"), "question": question}))
    assert {group.lead.source_id for group in groups} == answering


def test_the_newest_of_the_named_year_answers() -> None:
    texts = [NEW.replace("version 2", date).replace("6 months", f"{n} months") for n, date in enumerate(DATES, start=2)]
    material = handoff(None, tuple(texts))
    for source, newer in zip(material["sources"], ("s1", "s2"), strict=False):
        source["metadata"] = {"superseded": newer}
    groups = short_answer(analyze({**material, "question": f"{QUESTION[:-1]} in 2023?"}))
    assert {group.lead.source_id for group in groups} == {"s1"}


def test_an_old_version_does_not_contradict_its_newer_one() -> None:
    texts = tuple(f"# Aquaro P200 fees\n\nA cleaned filter of the Aquaro P200 costs {fee} euros.\n" for fee in (20, 35))
    assert analyze(handoff(None, texts)).conflicts
    assert not analyze(handoff("s1", texts)).conflicts


def test_an_old_version_answers_where_no_newer_one_was_found() -> None:
    assert [group.lead.source_id for group in short_answer(analyze(handoff("", (OLD,))))] == ["s0"]


def test_what_a_mail_quotes_of_an_earlier_one_ranks_behind_it_and_is_no_answer_beside_it() -> None:
    said = "Our account number at ClearCycle is 11093."
    reply = "The number of your account at ClearCycle from October on is 20718."
    document = markdown_document(f"# Account\n\n> {said}\n\n{reply}\n")
    earlier = tuple(block._replace(level=int(block.kind == "quote")) for block in document.blocks)
    material = {**written([""]), "question": "What is our account number at ClearCycle?"}
    for read, answers in ((document, [said, reply]), (replace(document, blocks=earlier), [reply])):
        analysis = analyze({**material, "documents": {"s0": read}})
        assert [group.lead.text for group in short_answer(analysis)] == answers
        assert [group.lead.text for group in analysis.groups] == [*answers, *({said, reply} - {*answers})]


BERTHS = "## {}\n\n| Berth | Monthly fee (EUR) |\n|---|---|\n| Pontoon A | {} |\n| Mooring | {} |\n\n"
FEES = "# Harbour fees\n\n" + BERTHS.format(2022, 140, 60) + BERTHS.format(2023, 150, 61) + BERTHS.format(2024, 162, 62)


@pytest.mark.parametrize(
    ("question", "fees"),
    [
        ("What is the monthly fee for pontoon A?", ["162"]),
        ("What was the monthly fee for pontoon A in 2023?", ["150"]),
        ("What is the monthly fee for a mooring?", ["62"]),
    ],
)
def test_of_tables_of_several_years_in_one_document_the_newest_answers(question: str, fees: list[str]) -> None:
    groups = short_answer(analyze({**written([FEES]), "question": question}))
    assert [group.lead.text.rsplit(" ", 1)[1] for group in groups] == fees


def test_a_row_that_no_newer_table_has_is_not_old() -> None:
    page = markdown_document(FEES + "## 2025\n\n| Berth | Yearly fee (EUR) |\n|---|---|\n| Pontoon A | 900 |\n")
    old = [page.rows[start] for start in sorted(outdated_rows(page, "What is the fee?"))]
    assert old == [("Pontoon A", "140"), ("Mooring", "60"), ("Pontoon A", "150"), ("Mooring", "61")]
    assert [page.rows[start] for start in sorted(outdated_rows(page, "What was the fee in 2022?"))] == old[2:]
