"""A call for which the limits of a run leave no room: whichever agent makes it, the research is completed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.errors import BudgetReached
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.models.draft import DraftSection, StatementKind
from graph_research.text.readers.markdown import markdown_document
from tests.support.research.harness import FISH_GAP, OPENED, Bench, hit, research_script

REFUSED = BudgetReached("gathering ended early, to keep within 9 tokens", provider="budget")
NOTED = {"notes": [{"text": "It cost more each year.", "sources": [1]}], "findings": [], "limits": []}
EVERYBODY = (
    "clarifier",
    "planner",
    "supervisor",
    "reflector",
    "analyzer",
    "outliner",
    "section_writer",
    "editor",
    "verifier",
    "refiner",
)


def script_without(*refused: str) -> dict[str, Any]:
    """A research with a second round in which these agents are refused each call."""
    script = research_script(analyzer=[{"findings": [OPENED], "gaps": [FISH_GAP]}])
    return script | {agent: [REFUSED] for agent in refused}


@pytest.mark.parametrize("agent", EVERYBODY)
async def test_a_research_is_completed_without_any_agent(agent: str) -> None:
    result = await Bench(script_without(agent)).run(max_iterations=2)
    assert result.status == "completed"
    assert result.state["report"]
    fallen = [row for row in result.state["degraded"] if row.get("kind") == DegradationKind.FALLBACK]
    assert fallen == []


async def test_a_research_is_completed_without_all_of_them() -> None:
    question = "When was the opening of the Tarn plant?"
    result = await Bench(script_without(*EVERYBODY)).run(max_iterations=2, question=question)
    assert result.status == "completed"
    assert "opened in March 2016" in result.state["report"]


async def test_facts_that_nobody_may_verify_are_passed_on() -> None:
    facts = [await stated(*refused) for refused in ((), ("verifier",))]
    assert facts[0] == facts[1] != set()


async def stated(*refused: str) -> set[str]:
    """What a report states as facts."""
    state = (await Bench(script_without(*refused)).run(max_iterations=1)).state
    sections = [DraftSection.model_validate(row) for row in state["draft"]["sections"]]
    sentences = [row for section in sections for row in section.statements()]
    return {row.text for row in sentences if row.kind is StatementKind.FACT}


async def test_less_is_read_where_the_budget_has_no_room_for_all() -> None:
    long = "".join(f"In {year} the Tarn plant cost {year} euros a day.\n\n" for year in range(1500, 1900))
    found = hit("The Tarn plant opened in 2016.", url="https://tarn.gov/long", title="Opening")
    whole = replace(found, document=markdown_document(long), passages=())
    script = research_script(extractor=[REFUSED, REFUSED, NOTED])
    settings = {"fetch_time_summarization": False, "topic_chars": 12_000}
    single = Bench(script, search=lambda request: [whole], condensing=True, settings=settings)
    result = await single.run(max_iterations=1)
    sizes = [len(request.material["sources"][0]["text"]) for request in single.model.asked("extractor")][:3]
    assert [round(size / 1_000) for size in sizes] == [12, 6, 3]
    assert not [row for row in result.state["degraded"] if row["agent"] == "extractor"]
