"""The model answers every agent with what fits the agent's schema, and refuses those it does not know."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_research.app.definitions import schema_resolver
from graph_research.graph.values.json_schema import Contract
from graph_research.providers.errors import ProviderRefused
from graph_research.providers.llm.base import ModelRequest
from graph_research.research.extractive import analyzer, planner, reviews, synthesizer
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.research.report.labels.languages import labels_for
from tests.support.research.extractive_sources import PLANTED, analysed, demo_material, written

GAP = {"id": "gap-1", "description": "No passage found on “eels”.", "priority": 1, "addressed": False}


AGENTS = [
    "analyzer",
    "claim_extractor",
    "clarifier",
    "decomposer",
    "planner",
    "refiner",
    "reflector",
    "supervisor",
    "synthesizer",
]


@pytest.fixture(scope="module")
def materials() -> dict[str, dict[str, Any]]:
    demo = demo_material()
    return {
        "analyzer": demo,
        "claim_extractor": demo,
        "clarifier": {"question": PLANTED["question"]},
        "decomposer": {"question": PLANTED["question"]},
        "planner": {"question": PLANTED["question"], "max_sub_queries": 5, "background": []},
        "refiner": {"gaps": [GAP], "sub_queries": [], "remaining_iterations": 1},
        "reflector": {
            "question": "q",
            "sub_query": "Alder Dam eels",
            "queries": ["Alder Dam eels"],
            "source_count": 1,
            "searches_left": 2,
        },
        "supervisor": {
            "phase": "gathering",
            "gate": {"valid": False, "issues": ["few"], "quality_score": 3.0},
        },
        "synthesizer": analysed(demo, analyzer.find(demo)),
    }


async def ask(agent: str, material: dict[str, Any]) -> dict[str, Any]:
    reply = await ExtractiveModel().complete(
        ModelRequest(agent=agent, role="research", system="", user="", material=material)
    )
    answer: dict[str, Any] = json.loads(reply.text)
    return answer


@pytest.mark.parametrize("agent", AGENTS)
async def test_the_answer_fits_the_agents_schema(agent: str, materials: dict[str, dict[str, Any]]) -> None:
    resolver = schema_resolver()
    name = "draft" if agent == "synthesizer" else f"{agent}.answer"
    found = resolver.find(name)
    assert found is not None
    Contract(json.loads(found[0]), name, resolver).check(await ask(agent, materials[agent]), agent)


async def test_an_agent_of_a_users_own_graph_is_refused_with_a_way_out() -> None:
    with pytest.raises(ProviderRefused, match="translator") as refused:
        await ask("translator", {})
    assert "choose a language model" in refused.value.help


@pytest.mark.requirement("7.1")
async def test_a_question_without_content_is_asked_back() -> None:
    answer = await ask("clarifier", {"question": "??"})
    assert answer["need_clarification"] is True
    assert answer["question"]


async def test_a_question_is_restated_with_its_parts() -> None:
    answer = await ask("clarifier", {"question": "What did the Alder Dam cost?"})
    assert answer["need_clarification"] is False
    assert "Alder Dam" in answer["verification"]
    assert "cost" in answer["verification"]


async def test_the_supervisor_never_asks_for_the_same_again(materials: dict[str, dict[str, Any]]) -> None:
    answer = await ask("supervisor", materials["supervisor"])
    assert answer["action"] == "proceed"
    assert answer["quality_assessment"] == {"score": 3.0, "strengths": [], "weaknesses": ["few"]}


async def test_claims_name_the_sources_for_and_against_by_position() -> None:
    handoff = written(["The Alder Dam has 14 gates in its wall.", "The Alder Dam has 16 gates in its wall."])
    handoff["question"] = "How many gates does the Alder Dam have?"
    answer = await ask("claim_extractor", handoff)
    claims = {row["text"]: (row["supportingIndices"], row["contradictingIndices"]) for row in answer["claims"]}
    assert claims["The Alder Dam has 14 gates in its wall."] == ([0], [1])


@pytest.mark.requirement("2.2")
def test_the_plan_has_the_question_then_its_parts_and_no_overlap() -> None:
    plan = planner.plan({"question": PLANTED["question"], "max_sub_queries": 5})
    queries = [row["query"] for row in plan["sub_queries"]]
    assert 2 <= len(queries) <= 5
    assert queries[0] == PLANTED["question"]
    assert all(query.startswith("Marrow Bay tidal lagoon") for query in queries[1:])
    assert any("construction cost" in query for query in queries)
    assert [row["priority"] for row in plan["sub_queries"]] == list(range(1, len(queries) + 1))
    assert 2 <= plan["research_brief"].count(". ") + 1 <= 3


@pytest.mark.parametrize("question", ["x", "?", "CO2", "z" * 50_000, "wort " * 9_000])
def test_a_plan_is_made_for_any_question(question: str) -> None:
    rows = planner.plan({"question": question, "max_sub_queries": 5})["sub_queries"]
    assert rows
    assert all(0 < len(row["query"]) <= 1_000 for row in rows)


def reflected(sub_query: str, *queries: str, searches_left: int = 2) -> dict[str, Any]:
    return reviews.reflect(
        {
            "question": "Do eels pass the Alder Dam?",
            "sub_query": sub_query,
            "queries": [sub_query, *queries],
            "source_count": 5,
            "searches_left": searches_left,
        }
    )


def test_things_that_a_sub_query_joins_are_each_asked_on_their_own() -> None:
    joined = "Alder Dam eels, turbines"
    first = reflected(joined)
    second = reflected(joined, "Alder Dam eels", searches_left=1)
    done = reflected(joined, "Alder Dam eels", "Alder Dam turbines", searches_left=0)
    assert (first["refined_query"], second["refined_query"]) == ("Alder Dam eels", "Alder Dam turbines")
    assert (done["refined_query"], done["research_complete"]) == (None, True)


def test_one_search_is_enough_for_a_sub_query_of_one_thing() -> None:
    only = reflected("Alder Dam eels")
    assert (only["refined_query"], only["continue_searching"], only["research_complete"]) == (None, False, True)


def test_each_thing_that_is_compared_is_searched() -> None:
    plan = planner.plan({"question": "Which is longer, the Alder Dam or the Brindle Weir?"})
    queries = [row["query"] for row in plan["sub_queries"]]
    assert any("Alder Dam" in query and "Brindle" not in query for query in queries)
    assert any("Brindle Weir" in query and "Alder" not in query for query in queries)


def test_another_round_needs_a_query_that_was_not_asked_and_a_round_left() -> None:
    gap = {**GAP, "suggested_queries": ["Alder Dam eels", "eels of the Alder"]}
    asked = [{"query": "eels Alder Dam"}]
    fresh = reviews.refine({"gaps": [gap], "sub_queries": asked, "remaining_iterations": 1})
    assert fresh["iteration_recommendation"]["should_iterate"] is True
    assert [row["query"] for row in fresh["gap_analysis"][0]["follow_up_queries"]] == ["eels of the Alder"]
    late = reviews.refine({"gaps": [gap], "sub_queries": asked, "remaining_iterations": 0})
    assert late["iteration_recommendation"]["should_iterate"] is False
    stale = reviews.refine(
        {"gaps": [{**GAP, "suggested_queries": ["Alder Dam eels"]}], "sub_queries": asked, "remaining_iterations": 2}
    )
    assert (stale["gap_analysis"][0]["addressable"], stale["iteration_recommendation"]["should_iterate"]) == (
        False,
        False,
    )


def test_without_sources_the_report_says_that_nothing_is_near() -> None:
    handoff = {"question": "What did the Alder Dam cost?", "sources": [], "documents": {}, "sub_queries": []}
    answer = analyzer.find(handoff)
    assert answer["findings"] == []
    assert [gap["priority"] for gap in answer["gaps"]] == [1]


def test_a_question_without_a_word_of_the_sources_shows_what_was_come_upon() -> None:
    handoff = written(["The Alder Dam has 14 gates.", "Eels pass at night."])
    handoff["question"] = "Was kostet die Lagune?"
    answer = analyzer.find(handoff)
    assert [row["content"] for row in answer["findings"]] == ["The Alder Dam has 14 gates.", "Eels pass at night."]
    assert {row["confidence"] for row in answer["findings"]} == {"speculation"}
    draft = synthesizer.answer(analysed(handoff, answer))
    assert draft["found"] is False
    assert draft["summary"][0]["sentences"][0]["text"].startswith(
        "Keine Stelle der Quellen hat ein Wort mit der Frage gemeinsam."
    )


def test_what_shares_a_common_word_only_is_not_shown_as_near_to_a_question_about_something_else() -> None:
    handoff = {
        **written(["The world of the Alder Dam is small."]),
        "question": "Who won the football world cup of 1998?",
    }
    draft = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))
    said = [row["text"] for block in draft["summary"] for row in block["sentences"]]
    assert said == ["No passage in the sources is near the question."]


def test_further_evidence_does_not_repeat_the_short_answer() -> None:
    handoff = {**written(["The Alder Dam has 14 gates."]), "question": "How many gates has the Alder Dam?"}
    draft = synthesizer.answer(analysed(handoff, analyzer.find(handoff)))
    assert (draft["found"], draft["sections"]) == (True, [])


NOT_LISTED: tuple[dict[str, Any], ...] = ({"nature": "scope"}, {"settled": True})


@pytest.mark.parametrize(("changes", "is_listed"), [({}, True), *((row, False) for row in NOT_LISTED)])
def test_the_short_answer_leads_to_the_contradictions_that_the_report_lists(
    changes: dict[str, Any], is_listed: bool
) -> None:
    texts = ["The Alder Dam has 14 gates.", "The Alder Dam has 16 gates."]
    material = {**written(texts), "question": "How many gates has the Alder Dam?"}
    handoff = analysed(material, analyzer.find(material))
    [conflict] = handoff["contradictions"]
    draft = synthesizer.answer({**handoff, "contradictions": [{**conflict, **changes}]})
    said = [row["text"] for block in draft["summary"] for row in block["sentences"]]
    assert (labels_for("en").disputed_values in said) == is_listed


@pytest.mark.parametrize(
    ("question", "wider"),
    [
        ("how do beavers build lodges?", "beavers lodges overview"),
        ("What is bolting?", "bolting overview"),
        ("Combien l'école paie-t-elle par an ?", "école paie vue d'ensemble"),
    ],
)
def test_a_question_without_a_name_is_widened_by_its_rarest_words(question: str, wider: str) -> None:
    assert [row["query"] for row in planner.plan({"question": question})["sub_queries"]] == [question, wider]
