"""What a newcomer sees first: the demo question over the demo library, answered without a language model."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graph_research.research.extractive import analyzer, synthesizer
from tests.support.research.extractive_sources import PLANTED, analysed, demo_documents, demo_material


@pytest.fixture(scope="module")
def analysis() -> dict[str, Any]:
    return analyzer.find(demo_material())


@pytest.fixture(scope="module")
def handoff(analysis: dict[str, Any]) -> dict[str, Any]:
    return analysed(demo_material(), analysis)


@pytest.fixture(scope="module")
def draft(handoff: dict[str, Any]) -> dict[str, Any]:
    return synthesizer.answer(handoff)


def statements_of(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The statements of a draft's blocks, which are paragraphs and lists."""
    return [s for block in blocks for group in (block["sentences"], *block["items"]) for s in group]


def in_sections(draft: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of all sections."""
    return [s for section in draft["sections"] for s in statements_of(section["blocks"])]


def sides(contradiction: dict[str, Any]) -> set[tuple[str, str]]:
    """File and value of every piece of evidence."""
    return {(quote["source_id"], side["value"]) for side in contradiction["sides"] for quote in side["evidence"]}


@pytest.mark.parametrize("planted", PLANTED["disagreements"], ids=lambda planted: planted["topic"])
def test_every_planted_disagreement_is_found_with_all_its_sides(
    analysis: dict[str, Any], planted: dict[str, Any]
) -> None:
    wanted = {(side["file"], side["value"]) for side in planted["sides"]}
    assert any(wanted <= sides(found) for found in analysis["contradictions"])


def test_a_sentence_that_is_quoted_with_the_one_beside_it_is_one_piece_of_evidence(analysis: dict[str, Any]) -> None:
    found = {quote["quote"] for row in analysis["findings"] for quote in row["evidence"]}
    disputed = {quote["quote"] for row in analysis["contradictions"] for s in row["sides"] for quote in s["evidence"]}
    assert not [one for one in disputed if any(one != other and one in other for other in found)]


def test_nothing_else_is_called_a_contradiction(analysis: dict[str, Any]) -> None:
    assert len(analysis["contradictions"]) == len(PLANTED["disagreements"])


def test_sections_stand_under_the_parts_of_the_question_and_have_several_quotations_of_a_source_each(
    draft: dict[str, Any], handoff: dict[str, Any]
) -> None:
    parts = [section["heading"] for section in draft["sections"] if section["level"] == 1]
    assert parts[0] == "What capacity from how many turbines" and len(parts) == 5
    titles = {document.title for document in demo_documents().values()}
    source = {row["id"]: row["source_id"] for row in handoff["evidence"]}
    for section in (section for section in draft["sections"] if section["level"] == 2):
        assert any(section["heading"].startswith(title) for title in titles), section["heading"]
        quotes = statements_of(section["blocks"])
        assert len(quotes) >= 3 and len({source[row["evidence_ids"][0]] for row in quotes}) == 1
    assert any(" › " in section["heading"] for section in draft["sections"]), "what all quotations stand under"
    assert draft["more"] == []


def test_the_short_answer_covers_each_part_of_the_question(draft: dict[str, Any], handoff: dict[str, Any]) -> None:
    quotes = [statement["text"] for statement in statements_of(draft["summary"]) if statement["kind"] == "quote"]
    for value in ("240 mega", "16 bulb turbines", "households", "construction cost", "smolt mortality", "mudflat"):
        assert any(value in quote for quote in quotes), value
    assert len(quotes) == 6


def test_every_quote_is_word_for_word_its_first_evidence(draft: dict[str, Any], handoff: dict[str, Any]) -> None:
    quotes = {row["id"]: row["quote"] for row in handoff["evidence"]}
    for statement in (*statements_of(draft["summary"]), *in_sections(draft), *draft["more"]):
        if statement["kind"] == "quote":
            assert quotes[statement["evidence_ids"][0]] == statement["text"]
        else:
            assert statement["kind"] in ("transition", "limit") and statement["evidence_ids"] == []


def test_at_least_six_sources_are_cited_and_neither_nonsense_nor_boilerplate(
    draft: dict[str, Any], handoff: dict[str, Any]
) -> None:
    source = {row["id"]: row["source_id"] for row in handoff["evidence"]}
    cited = {source[key] for s in in_sections(draft) for key in s["evidence_ids"]}
    assert len(cited) >= 6
    assert not cited & {"community/lagoon-exposed.html", "press/privacy-notice.html", "press/site-map.html"}


def test_no_sentence_stands_on_the_page_twice(draft: dict[str, Any]) -> None:
    texts = [s["text"] for s in (*in_sections(draft), *draft["more"])]
    assert len(texts) == len(set(texts))


def test_another_lagoon_is_not_quoted_in_the_short_answer(draft: dict[str, Any]) -> None:
    assert not [s for s in statements_of(draft["summary"]) if "Skerrow" in s["text"]]


def test_what_two_authorities_agree_on_is_high_and_one_origin_never_is(analysis: dict[str, Any]) -> None:
    publisher = {row["id"]: row["publisher"] for row in demo_material()["sources"]}
    high = [row for row in analysis["findings"] if row["confidence"] == "high"]
    assert any("240 megawatts" in row["content"] for row in high)
    assert all(len({publisher[source_id] for source_id in row["source_ids"]}) > 1 for row in high)


def test_sources_that_say_nothing_of_the_question_become_low(analysis: dict[str, Any]) -> None:
    low = {row["source_id"] for row in analysis["quality_updates"]}
    assert {"press/privacy-notice.html", "press/site-map.html"} <= low
    assert "official/annual-report-2021.pdf" not in low


def test_twice_the_same_material_gives_the_same_answer(analysis: dict[str, Any], draft: dict[str, Any]) -> None:
    again = analyzer.find(demo_material())
    assert again == analysis
    assert synthesizer.answer(analysed(demo_material(), again)) == draft


def test_a_question_about_something_else_is_not_answered() -> None:
    handoff = demo_material("Which opera did Rossini write in 1816?")
    draft = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))
    assert draft["found"] is False
    assert draft["sections"] == []
    assert statements_of(draft["summary"])[0]["kind"] == "limit"
    assert draft["searched"]


def test_what_is_asked_of_a_known_subject_and_stands_nowhere_is_named() -> None:
    handoff = demo_material("Are there sharks near the Marrow Bay tidal lagoon?")
    answer = analyzer.find(handoff)
    draft = synthesizer.answer(analysed(handoff, answer))
    limits = [s["text"] for s in statements_of(draft["summary"]) if s["kind"] == "limit"]
    assert limits == [gap["description"] for gap in answer["gaps"]] == ["No passage found on “sharks”."]


def test_the_section_of_a_part_that_is_not_answered_says_so_before_its_quotations() -> None:
    handoff = demo_material("How much did the Marrow Bay tidal lagoon cost and are there sharks near the lagoon?")
    draft = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))
    first = {section["heading"]: statements_of(section["blocks"])[0] for section in draft["sections"]}
    said = {heading: row["text"] for heading, row in first.items() if row["kind"] == "limit"}
    assert said == {"Are there sharks near the lagoon": "No passage found on “sharks”."}


def test_the_near_duplicate_is_cited_beside_the_better_source() -> None:
    handoff = demo_material("How much will the repairs of turbine 7 cost and who pays for the repairs?")
    answer = analyzer.find(handoff)
    merged = next(row for row in answer["findings"] if re.search(r"8\.3 million", row["content"]))
    assert merged["source_ids"] == [
        "press/courier-turbine-failure-2019.html",
        "press/evening-post-turbine-failure-2019.html",
    ]


def words_at(length: str) -> tuple[int, int]:
    """Words and quotations of the sections of a report of this length."""
    material = {**demo_material(), "report_options": {"length": length}}
    made = synthesizer.answer({**analysed(material, analyzer.find(material)), "report_options": {"length": length}})
    quotes = in_sections(made)
    assert len({quote["text"] for quote in quotes}) == len(quotes), "nothing is said twice to fill up"
    return sum(len(quote["text"].split()) for quote in quotes), len(quotes)


def test_a_longer_report_shows_more_of_the_evidence_and_a_shorter_one_less() -> None:
    few, usual, many = words_at("200"), words_at("standard"), words_at("long")
    assert 120 <= few[0] <= 240
    assert few[1] * 2 < usual[1] < many[1] / 2


def test_the_short_answer_to_a_question_for_a_date_leads_with_it() -> None:
    material = demo_material("When did Marrow Bay start operation?")
    first = statements_of(synthesizer.answer(analysed(material, analyzer.find(material)))["summary"])[0]
    assert "began commercial operation on 14 March 2016" in first["text"]
