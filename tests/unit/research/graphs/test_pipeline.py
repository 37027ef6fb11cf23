"""The short graph: decomposition, retrieval, scoring, synthesis."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from graph_research.graph.events import Note
from graph_research.providers.llm.base import ModelRequest
from graph_research.research.agents.decomposer import decomposer
from tests.support.research.harness import WRITING, Bench, PlainContext, make_services

GRAPHS = Path(__file__).parents[4] / "graphs"
QUESTION = "What is known of the Tarn plant?"


def claims(request: ModelRequest) -> dict[str, Any]:
    """A claim extractor that finds one claim, by the sources' places in the list."""
    sources = request.material["sources"]
    places = {row["url"]: place for place, row in enumerate(sources)}
    opening = places["https://tarn.gov/opening"]
    return {
        "claims": [
            {
                "text": "The plant opened in March 2016.",
                "supportingIndices": [opening, places["https://tarn.example/blog"], 99],
                "contradictingIndices": [places["https://reuters.com/tarn-cost"], opening],
                "evidence": [{"source_id": sources[opening]["id"], "quote": "The Tarn plant opened in March 2016."}],
            }
        ]
    }


def script(**changes: Any) -> dict[str, Any]:
    return {
        "decomposer": [{"questions": ["1. opening of the plant", "2) cost of the plant", "Opening of the plant"]}],
        "claim_extractor": [claims],
        **WRITING,
        **changes,
    }


@pytest.mark.requirement("18.1")
async def test_four_stages_lead_from_the_question_to_a_report() -> None:
    bench = Bench(script(), graph="pipeline")
    result = await bench.run()
    assert result.status == "completed"
    assert result.state["phase"] == "synthesis"
    assert await bench.nodes() == ["decompose", "retrieve", "summarize", "score", "synthesize"]
    assert not bench.model.asked("comparer"), "the short way does without"
    assert [row["query"] for row in result.state["sub_queries"]] == [
        QUESTION,
        "opening of the plant",
        "cost of the plant",
    ]
    assert {row["status"] for row in result.state["sub_queries"]} == {"completed"}
    [claim] = result.state["claims"]
    composite = {row["id"]: row["score"]["composite"] for row in result.state["sources"]}
    strength = sum(composite[one] for one in claim["support"]) / 2
    assert claim["support_strength"] == pytest.approx(strength)
    assert claim["confidence"] == pytest.approx(min(strength + 0.10, 1) - 0.15)
    assert result.state["confidence"]["confidence"] == pytest.approx(claim["confidence"] * 3 / 10)
    assert result.state["evidence"][0]["id"] in result.state["report"]


@pytest.mark.requirement("17.3", "18.1")
async def test_questions_and_claims_may_be_bare_lists() -> None:
    def bare(request: ModelRequest) -> str:
        return json.dumps(claims(request)["claims"])

    questions = json.dumps(["opening of the plant", "cost of the plant"])
    bench = Bench(script(decomposer=[questions], claim_extractor=[bare]), graph="pipeline")
    state = (await bench.run()).state
    assert [row["query"] for row in state["sub_queries"]] == [
        QUESTION,
        "opening of the plant",
        "cost of the plant",
    ]
    assert [row["text"] for row in state["claims"]] == ["The plant opened in March 2016."]
    assert not [row for row in state["degraded"] if row["agent"] in ("decomposer", "claim_extractor")]


async def test_each_stage_tells_how_far_the_run_is() -> None:
    bench = Bench(script(), graph="pipeline")
    await bench.run()
    notes = [event for event in await bench.store.events("run-1") if isinstance(event, Note)]
    told = [(note.data["stage"], note.data["progress"]) for note in notes if note.name == "research:progress"]
    assert told[0] == ("decomposition", 0.25)
    assert max(progress for stage, progress in told if stage == "retrieval") == 0.5
    assert told[-2:] == [("scoring", 0.75), ("synthesis", 1.0)]


@pytest.mark.requirement("18.1")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1.opening of the plant", "opening of the plant"),
        ("2)opening of the plant", "opening of the plant"),
        ("3 - opening of the plant", "opening of the plant"),
        ("- 4: opening of the plant", "opening of the plant"),
        ("**5.** opening of the plant", "opening of the plant"),
        ("Q6: opening of the plant", "opening of the plant"),
        ("７．opening of the plant", "opening of the plant"),
        ("8、opening of the plant", "opening of the plant"),
        ("2.x against 3.x of the plant", "2.x against 3.x of the plant"),
        ("1:n relations of the plant", "1:n relations of the plant"),
        ("1. 2. Weltkrieg", "2. Weltkrieg"),
        ("3.5 mm screws of the plant", "3.5 mm screws of the plant"),
        ("10 - 20 km around the plant", "10 - 20 km around the plant"),
        ("24-hour service of the plant", "24-hour service of the plant"),
        ("-5 degrees at the plant", "-5 degrees at the plant"),
        ("2016 opening of the plant", "2016 opening of the plant"),
    ],
)
async def test_a_question_is_asked_without_its_number_in_a_list(written: str, meant: str) -> None:
    model = make_services({"decomposer": [{"questions": [written]}]})
    output = await decomposer(model)({"original_query": QUESTION}, PlainContext())
    assert [row["query"] for row in output["sub_queries"]] == [QUESTION, meant]


@pytest.mark.requirement("18.1")
@pytest.mark.parametrize("reply", ["no list here", {"error": "refused"}])
async def test_a_decomposition_that_fails_leaves_the_question_itself(reply: Any) -> None:
    bench = Bench(script(decomposer=[reply], claim_extractor=[{"claims": []}]), graph="pipeline")
    state = (await bench.run()).state
    assert [row["query"] for row in state["sub_queries"]] == [QUESTION]
    assert state["degraded"][0]["agent"] == "decomposer"


@pytest.mark.requirement("18.1", "B23")
async def test_at_most_eight_questions_are_searched() -> None:
    questions = [f"question number {n} about the plant" for n in range(20)]
    bench = Bench(script(decomposer=[{"questions": questions}], claim_extractor=[{"claims": []}]), graph="pipeline")
    assert len((await bench.run()).state["sub_queries"]) == 8


@pytest.mark.requirement("17.3", "18.3")
async def test_the_synthesis_is_shown_numbered_sources_with_addresses_and_claims_with_their_confidence() -> None:
    bench = Bench(script(), graph="pipeline")
    state = (await bench.run()).state
    [claim], [request] = state["claims"], bench.model.asked("section_writer")
    assert (len(claim["support"]), len(claim["against"]), claim["contradiction"]) == (2, 1, True)
    assert not {*claim["support"]} & {*claim["against"]}
    scored = f"{claim['level']}, a source contradicts it"
    assert f"- The plant opened in March 2016. ({scored}; ev-" in request.user
    overall = round(100 * state["confidence"]["confidence"])
    assert f"Confidence of the research as a whole: {overall} %;" in request.user
    [opening] = [row for row in state["sources"] if row["url"] == "https://tarn.gov/opening"]
    assert f"source 1: {opening['id'][:8]}, Opening, County, https://tarn.gov/opening" in request.user
    assert [row["role"] for row in state["usage"]].count("report") >= 1
    assert state["report"]


@pytest.mark.requirement("18.3")
async def test_a_synthesis_that_fails_leaves_a_placeholder_and_all_that_was_scored() -> None:
    bench = Bench(script(outliner=[{"error": "refused", "message": "no quota"}]), graph="pipeline")
    result = await bench.run()
    assert result.status == "completed"
    assert result.state["report"].startswith("## Synthesis failed")
    assert "no quota" in result.state["metadata"]["synthesis_error"]
    assert len(result.state["claims"]) == 1


@pytest.mark.requirement("17.4")
async def test_a_claim_that_is_given_twice_keeps_what_each_has_for_and_against_it() -> None:
    selected = [
        {"text": "The Tarn plant opened in March 2016.", "supportingIndices": [0], "contradictingIndices": [1]},
        {"text": "The Tarn  plant opened in March 2016.", "supportingIndices": [2], "contradictingIndices": []},
    ]
    bench = Bench(script(claim_extractor=[{"claims": selected}]), graph="pipeline")
    state = (await bench.run()).state
    [claim] = [row for row in state["claims"] if row["text"] == "The Tarn plant opened in March 2016."]
    places = [row["id"] for row in state["sources"]]
    assert {places[0], places[2]} <= set(claim["support"])
    assert claim["against"] == [places[1]]
    assert claim["contradiction"]


async def test_a_search_that_fails_is_recorded_and_the_others_count() -> None:
    bench = Bench(script(decomposer=[{"questions": ["the web is down", "opening and cost"]}]), graph="pipeline")
    state = (await bench.run()).state
    assert [row["status"] for row in state["sub_queries"]] == ["completed", "failed", "completed"]
    assert [row["query"] for row in state["search_failures"]] == ["the web is down"]


@pytest.mark.requirement("2.7", "B10")
async def test_without_token_management_the_claim_extractor_sees_1000_characters_a_source() -> None:
    bench = Bench(script(), graph="pipeline", settings={"token_management_enabled": False, "content_chars": 30})
    result = await bench.run()
    [request] = bench.model.asked("claim_extractor")
    assert all(len(row["content"]) <= 30 for row in request.material["sources"])
    assert result.state["metadata"]["token_limit_retries"] == 0


@pytest.mark.parametrize("name", sorted(file.stem for file in GRAPHS.glob("*.yaml")))
def test_no_condition_of_a_comprehension_goes_through_another_list(name: str) -> None:
    """A run with a hundred sources and some hundred quotations would go beyond what an expression may do."""
    text = " ".join((GRAPHS / f"{name}.yaml").read_text().split())
    assert not re.search(r" for \w+ in [^\[\]]* if [^\[\]]*\[[^\[\]]* for ", text)


@pytest.mark.parametrize("name", sorted(file.stem for file in GRAPHS.glob("*.yaml")))
def test_no_edge_of_a_node_goes_on_after_the_end_of_the_whole_graphs_time(name: str) -> None:
    graph = yaml.load((GRAPHS / f"{name}.yaml").read_text(), yaml.BaseLoader)
    own = [
        edge
        for edge in graph["edges"]
        if edge["from"] != "*" and "timeout" in edge.get("on", ()) and "seconds" in graph.get("limits", {})
    ]
    assert [edge.get("when") for edge in own] == ['error.type != "GraphTimeout"'] * len(own)
