"""Sections of a report without a language model: by part of the question, then by source."""

from __future__ import annotations

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.sections import Section, outline
from graph_research.research.models.report_options import LENGTHS
from tests.support.research.extractive_sources import written

MANUAL = """# Ferry manual

## Boats

The Alder ferry has two boats. Each boat of the Alder ferry carries 90 people. The boats of the ferry are green.
The ferry sells boat models. A boat of the Alder ferry is washed on Mondays.

## Fares

A crossing with the Alder ferry costs 4 crowns. Children cross with the Alder ferry for 2 crowns.
"""
TIMES = "# Timetable\n\nThe first crossing of the Alder ferry is at seven. In winter no crossing is made at night.\n"


def sections(question: str, asked: tuple[int, int] = LENGTHS["standard"]) -> list[Section]:
    material = {**written([MANUAL, TIMES]), "question": question}
    return outline(analyze(material), asked, material["documents"])


def test_a_source_with_several_quotations_has_a_heading_its_title_with_what_all_of_them_stand_under() -> None:
    lead, manual = sections("Which boats has the Alder ferry?")
    assert (lead.heading, manual.heading) == ("", "Ferry manual")
    starts = [group.lead.start for group in manual.groups]
    assert len(starts) >= 3 and starts == sorted(starts)


def test_the_best_quotation_and_those_of_sources_with_few_stand_first_and_have_no_heading() -> None:
    lead, *_ = sections("What does a crossing with the Alder ferry cost?")
    assert lead.heading == "" and lead.groups[0].lead.text.endswith("costs 4 crowns.")
    assert {group.lead.source_id for group in lead.groups} == {"s0", "s1"}


def test_sections_follow_the_parts_of_the_question() -> None:
    found = sections("How many boats has the Alder ferry, and what does a crossing cost?")
    assert [section.part for section in found] == sorted(section.part for section in found)
    assert {section.part for section in found} == {0, 1}


def test_a_shorter_report_quotes_less() -> None:
    question = "Which boats has the Alder ferry?"
    assert sum(len(row.groups) for row in sections(question, (20, 20))) < sum(
        len(row.groups) for row in sections(question)
    )


def test_a_heading_that_only_repeats_the_title_is_left_out() -> None:
    page = MANUAL.replace("# Ferry manual", "# 3. Ferry manual").replace("## Boats", "## Chapter 3 - Ferry manual")
    material = {**written([page, TIMES]), "question": "Which boats has the Alder ferry?"}
    _, manual = outline(analyze(material), LENGTHS["standard"], material["documents"])
    assert manual.heading == "3. Ferry manual"
