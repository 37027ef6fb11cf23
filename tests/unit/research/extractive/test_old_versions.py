"""What a superseded source says ranks behind its newer version, and is no short answer beside it."""

from __future__ import annotations

from typing import Any

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.sections import outline
from graph_research.research.extractive.short_answer import short_answer
from tests.support.research.extractive_sources import written

OLD = "# Aquaro P200 manual, version 1\n\nThe filter of the Aquaro P200 must be cleaned every 12 months.\n"
NEW = (
    "# Aquaro P200 manual, version 2\n\nThe Aquaro P200 is a heat pump for houses with underfloor heating.\n\n"
    "The filter of the Aquaro P200 must be cleaned every 6 months.\n"
)
QUESTION = "How often must the filter of the Aquaro P200 be cleaned?"


def handoff(superseded: str | None, texts: tuple[str, ...] = (OLD, NEW)) -> dict[str, Any]:
    material = {**written(texts), "question": QUESTION}
    if superseded is not None:
        material["sources"][0]["metadata"] = {"superseded": superseded}
    return material


def test_the_newer_version_answers_alone() -> None:
    assert {group.lead.source_id for group in short_answer(analyze(handoff("s1"))).groups} == {"s1"}


def test_sections_quote_the_current_source_first() -> None:
    analysis = analyze(handoff("s1"))
    leads = [group.lead.source_id for section in outline(analysis, (900, 900), {}) for group in section.groups]
    assert leads == sorted(leads, reverse=True)


def test_an_old_version_answers_where_no_newer_one_was_found() -> None:
    assert [group.lead.source_id for group in short_answer(analyze(handoff("", (OLD,)))).groups] == ["s0"]
