"""What holds for every phase: who carries it out, what each agent gets, what the supervisor measures and decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from graph_research.app.definitions import schema_resolver
from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.values.json_schema import Contract
from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.agents.gathering.scout import scout
from graph_research.research.agents.planner import planner
from graph_research.research.agents.supervisor import iteration_decider
from graph_research.research.graph_functions import (
    analysis_metrics,
    gathering_metrics,
    plan_metrics,
    refinement_metrics,
    synthesis_metrics,
)
from graph_research.research.llm.phase_budget import PHASE_SHARES, material_chars, topic_chars
from graph_research.research.models.phase import PHASES
from graph_research.settings.config import Settings
from graph_research.text.document import source_id
from graph_research.text.tokens import count_tokens
from tests.support.research.harness import (
    COST,
    DOCUMENTS,
    FISH_GAP,
    OPENED,
    Bench,
    FolderOfHits,
    PlainContext,
    hit,
    make_services,
    research_script,
    small_web,
)

SCHEMAS = schema_resolver()
GRAPHS = Path(__file__).parents[3] / "graphs"


def schema(name: str) -> dict[str, Any]:
    found = SCHEMAS.find(name)
    assert found is not None
    read: dict[str, Any] = json.loads(found[0])
    return read


def fits(name: str, value: Any) -> bool:
    try:
        Contract(schema(name), name, SCHEMAS).check(value, name)
    except HandoffInvalid:
        return False
    return True


@pytest.mark.requirement("1.7")
def test_each_phase_has_one_agent_of_its_own_and_the_supervisor_carries_out_none() -> None:
    assert {phase: spec.agent for phase, spec in PHASES.items()} == {
        "clarification": "clarifier",
        "planning": "planner",
        "gathering": "gatherer",
        "analysis": "analyzer",
        "synthesis": "synthesizer",
        "refinement": "refiner",
    }


@pytest.mark.requirement("2.1")
@pytest.mark.parametrize("agent", ["clarifier", "planner", "gatherer", "analyzer", "refiner", "supervisor"])
def test_every_agent_of_a_phase_gets_question_phase_and_iteration_from_one_on(agent: str) -> None:
    known = schema(f"{agent}.input")
    assert {"original_query", "current_phase", "iteration"} <= set(known["required"])
    assert "research_id" in known["properties"]
    assert known["properties"]["iteration"]["minimum"] == 1


@pytest.mark.requirement("2.1")
@pytest.mark.parametrize("node", ["clarify", "plan", "digest", "analyze", "refine", "review_plan", "review_synthesize"])
def test_the_graph_hands_each_agent_the_run_the_question_the_phase_and_the_iteration(node: str) -> None:
    graph = yaml.safe_load((GRAPHS / "deep_research.yaml").read_text())
    handed = graph["nodes"][node]["input"]["with"]
    assert {name: handed[name] for name in ("research_id", "original_query", "iteration")} == {
        "research_id": "research_id",
        "original_query": "question",
        "iteration": "iteration",
    }
    assert handed["current_phase"].strip('"') in PHASES


@pytest.mark.requirement("1.11")
def test_each_phase_is_measured_by_its_own_numbers() -> None:
    query = {"id": "sq-1-1", "query": "what it cost", "status": "completed"}
    source = {"id": "src-1", "quality": "high"}
    finding = {"confidence": "high", "source_ids": ["src-1"]}
    gap = {"id": "gap-1", "addressed": False}
    assert plan_metrics([query, query], "A brief.") == {"sub_query_count": 2, "has_research_brief": True}
    assert plan_metrics([query], None) == {"sub_query_count": 1, "has_research_brief": False}
    assert gathering_metrics([source], [query])["source_count"] == 1
    analysed = analysis_metrics([finding, {**finding, "confidence": "low"}], [gap], [source])
    assert (analysed["finding_count"], analysed["high_confidence_count"]) == (2, 1)
    assert synthesis_metrics("# A report") == {"has_report": True, "report_length": 10}
    assert synthesis_metrics(None) == {"has_report": False, "report_length": 0}
    refined = refinement_metrics([gap, {**gap, "addressed": True}], should_iterate=True)
    assert (refined["unaddressed_gaps"], refined["should_iterate"]) == (1, True)


@pytest.mark.requirement("1.11", "1.8")
async def test_the_evaluation_of_a_phase_has_its_numbers_and_whether_they_are_good_enough() -> None:
    state = (await Bench(research_script(analyzer=[{"findings": [OPENED], "gaps": [FISH_GAP]}])).run()).state
    evaluated = [row for row in state["decisions"] if row["action"] == "evaluate_phase"]
    evaluations = {row["inputs"]["phase"]: row["outputs"] for row in evaluated}
    for phase, names in {
        "planning": {"sub_query_count", "has_research_brief"},
        "gathering": {"source_count"},
        "analysis": {"finding_count", "high_confidence_count"},
        "synthesis": {"has_report", "report_length"},
        "refinement": {"unaddressed_gaps", "should_iterate"},
    }.items():
        assert names <= evaluations[phase].keys()
        assert isinstance(evaluations[phase]["quality_ok"], bool)


@pytest.mark.requirement("1.12", "5.3")
@pytest.mark.parametrize(
    ("gaps", "iteration", "most", "again"), [(1, 1, 3, True), (0, 1, 3, False), (2, 3, 3, False), (1, 2, 3, True)]
)
async def test_another_round_follows_exactly_while_gaps_are_open_and_rounds_are_left(
    gaps: int, iteration: int, most: int, again: bool
) -> None:
    decide = iteration_decider(make_services({}))
    handoff = {"gap_count": gaps, "iteration": iteration, "max_iterations": most}
    decided = await decide(handoff, PlainContext())  # type: ignore[arg-type]
    assert decided["should_iterate"] is again
    assert decided["next_phase"] == ("refinement" if again else "COMPLETED")
    [record] = decided["decisions"]
    assert {name: record["inputs"][name] for name in handoff} == handoff
    assert record["outputs"] == {"should_iterate": again, "next_phase": decided["next_phase"]}
    assert fits("decide_iteration", record)


@pytest.mark.requirement("1.13")
def test_a_verdict_has_one_of_four_actions_and_a_mark_of_one_to_ten() -> None:
    verdict = {
        "action": "proceed",
        "rationale": "r",
        "quality_assessment": {"score": 10, "strengths": ["s"], "weaknesses": ["w"]},
        "guidance": "g",
    }
    assert all(fits("verdict", {**verdict, "action": action}) for action in ("proceed", "retry", "iterate", "complete"))
    assert not fits("verdict", {**verdict, "action": "abort"})
    assert not fits("verdict", {**verdict, "quality_assessment": {"score": 0}})
    assert not fits("verdict", {**verdict, "quality_assessment": {"score": 11}})
    assert not fits("verdict", {key: value for key, value in verdict.items() if key != "rationale"})


@pytest.mark.requirement("2.2", "B23")
@pytest.mark.parametrize(("most", "kept"), [(5, 5), (3, 3), (8, 8)])
async def test_a_plan_has_no_more_sub_queries_than_allowed_by_priority_and_each_once(most: int, kept: int) -> None:
    rows = [{"query": f"aspect {n} of the Tarn plant", "rationale": f"r{n}", "priority": 10 - n} for n in range(10)]
    rows.append({"query": "Aspect 9 of  the Tarn plant", "rationale": "again", "priority": 1})
    plan = planner(make_services({"planner": [{"research_brief": "A brief.", "sub_queries": rows}]}, scouting=False))
    asked = {"original_query": "What is known of the Tarn plant?", "max_sub_queries": most}
    handoff = {**asked, "current_phase": "planning", "iteration": 1}
    output = await plan(handoff, PlainContext())  # type: ignore[arg-type]
    assert [row["query"] for row in output["sub_queries"]] == [f"aspect {9 - n} of the Tarn plant" for n in range(kept)]
    assert [row["priority"] for row in output["sub_queries"]] == list(range(1, kept + 1))
    assert output["sub_queries"][0]["rationale"] == "r9"
    assert output["research_brief"] == "A brief."
    assert fits("planner.input", handoff)
    assert fits("planner.output", {**output, "usage": []})
    assert not fits("planner.output", {**output, "sub_queries": []})
    assert not fits("planner.output", {**output, "sub_queries": output["sub_queries"] * 9})


@pytest.mark.requirement("B23")
async def test_eight_sub_queries_are_the_most_whatever_is_asked_for() -> None:
    rows = [{"query": f"aspect {n} of the Tarn plant", "rationale": "r", "priority": n} for n in range(1, 13)]
    plan = planner(make_services({"planner": [{"research_brief": "A brief.", "sub_queries": rows}]}, scouting=False))
    handoff = {"original_query": "What is known?", "current_phase": "planning", "iteration": 1, "max_sub_queries": 12}
    assert len((await plan(handoff, PlainContext()))["sub_queries"]) == 8  # type: ignore[arg-type]


@pytest.mark.requirement("2.5", "B41")
async def test_an_analysis_gives_findings_gaps_and_qualities_as_its_schema_says_and_asks_for_so_many_a_topic() -> None:
    source = source_id("https://tarn.gov/opening", DOCUMENTS["https://tarn.gov/opening"][0])
    answer = {
        "findings": [OPENED, COST],
        "gaps": [FISH_GAP],
        "quality_updates": [{"source_id": source, "quality": "medium"}],
    }
    bench = Bench(research_script(analyzer=[answer]))
    state = (await bench.run(max_iterations=1)).state
    assert [(row["content"], row["confidence"], len(row["source_ids"])) for row in state["findings"]] == [
        (OPENED["content"], "high", 2),
        (COST["content"], "medium", 1),
    ]
    [gap] = state["gaps"]
    assert (gap["description"], gap["suggested_queries"], gap["priority"], gap["addressed"]) == (
        FISH_GAP["description"],
        FISH_GAP["suggested_queries"],
        1,
        False,
    )
    assert next(row for row in state["sources"] if row["id"] == source)["quality"] == "medium"
    request = bench.model.asked("analyzer")[0]
    assert "2 to 5 findings for each sub-query" in request.system
    assert "1 to 3 points of the checklist" in request.system


@pytest.mark.requirement("B41")
@pytest.mark.parametrize(("chars", "findings"), [(2_000, 12), (60_000, 15), (200_000, 20)])
async def test_a_researcher_is_asked_for_findings_by_how_much_it_reads(chars: int, findings: int) -> None:
    def long(request: SearchRequest) -> list[SearchHit]:
        text = " ".join(f"The Tarn plant opened gate {n} of the plant." for n in range(chars // 40))
        return [hit(text[:chars], url="https://tarn.example/")]

    bench = Bench(
        research_script(extractor=[{"notes": [], "findings": [], "limits": []}]),
        search=long,
        condensing=True,
        settings={"topic_chars": 80_000},
    )
    await bench.run(max_iterations=1)
    system = bench.model.asked("extractor")[0].system
    assert f"5 to {findings}, fewer only where the material has little" in system
    assert "or places of one, are at odds" in system


async def test_what_is_read_of_notes_on_an_older_release_says_so_to_researcher_and_writer() -> None:
    def released(request: SearchRequest) -> list[SearchHit]:
        said = {n: f"Tarn version 2.{n} opens gate {n} of the plant at high water." for n in (1, 4)}
        return [hit(said[n], url=f"https://tarn.example/{n}", title=f"Tarn Release 2.{n}") for n in said]

    def found(request: ModelRequest) -> dict[str, Any]:
        quotes = [{"source_id": row["id"], "quote": row["text"].strip()} for row in request.material["sources"]]
        rows = [{"content": quote["quote"], "confidence": "high", "evidence": [quote]} for quote in quotes]
        return {"notes": [], "findings": rows, "limits": []}

    bench = Bench(research_script(extractor=[found]), search=released, condensing=True)
    await bench.run(question="How does Tarn open its gates?", max_iterations=1)
    for agent in ("extractor", "section_writer"):
        [request, *_] = bench.model.asked(agent)
        assert "on an older release: Tarn 2.1" in request.user
        assert "Tarn 2.4" not in request.user.partition("on an older release")[2]


@pytest.mark.requirement("13.7", "B22")
@pytest.mark.parametrize(
    ("phase", "share"), [("planning", 10), ("analysis", 40), ("synthesis", 35), ("refinement", 15)]
)
def test_each_phase_has_its_share_of_the_usable_window(phase: str, share: int) -> None:
    model = ScriptedModel({}, window_tokens=208_192)
    room = material_chars(make_services([model], report_output_tokens=8_192), "research", phase, None)
    assert room == pytest.approx(200_000 * 0.85 * share / 100 * 4, abs=4)
    assert sum(PHASE_SHARES.values()) == 1
    assert "gathering" not in PHASE_SHARES


@pytest.mark.parametrize(
    ("window", "topics", "settings", "chars"),
    [
        (8_192, 1, {}, 64_000),
        (128_192, 1, {}, 128_000),
        (128_192, 5, {}, 64_000),
        (1_000_000, 2, {}, 128_000),
        (1_000_000, 2, {"topic_chars": 80_000}, 80_000),
    ],
)
def test_what_is_read_of_a_topic_follows_the_window_up_to_a_setting(
    window: int, topics: int, settings: dict[str, int], chars: int
) -> None:
    model = ScriptedModel({}, window_tokens=window)
    services = make_services([model], roles={"compression": [model]}, report_output_tokens=8_192, **settings)
    assert topic_chars(services, topics, None) == chars


@pytest.mark.parametrize(("searched", "titles"), [("local", 4), ("web", 0)])
async def test_a_plan_for_the_library_alone_is_shown_what_else_it_has(searched: str, titles: int) -> None:
    def many(request: SearchRequest) -> list[SearchHit]:
        found = [hit(f"The plant as of Tarn version {n}.2", url=f"file:///{n}", title=f"Page {n}") for n in range(12)]
        return found[: request.max_results]

    model = ScriptedModel(research_script())
    services = make_services([model], search=[FolderOfHits(searched, many)])
    found = await scout(services)({"original_query": "What is the Tarn plant?"}, PlainContext())  # type: ignore[arg-type]
    handoff = {"original_query": "What is the Tarn plant?", "iteration": 1, "max_sub_queries": 5}
    await planner(services)({**handoff, **found}, PlainContext())  # type: ignore[arg-type]
    [request] = model.asked("planner")
    assert len(request.material["background"]) == 8
    assert request.material["titles"] == [f"Page {n}" for n in range(8, 8 + titles)]
    assert ("Only a library of documents on the user's machine is searched" in request.user) == (searched == "local")
    assert request.material["versions"] == [f"Tarn {7 + titles}.2"]


@pytest.mark.parametrize("query", ["Tarn release notes version history", "Tarn release"])
async def test_a_plan_knows_the_newest_release_that_the_library_has_a_page_on(query: str) -> None:
    def library(request: SearchRequest) -> list[SearchHit]:
        if request.query != query:
            return [hit("The plant as of Tarn version 2.1", url="file:///plant", title="The plant")]
        return [hit(f"Changes in Tarn version {n}.2", url=f"file:///{n}", title=f"Tarn release {n}") for n in (1, 4, 3)]

    model = ScriptedModel(research_script())
    services = make_services([model], search=[FolderOfHits("local", library)])
    question = {"original_query": "What is the Tarn plant?"}
    found = await scout(services)(question, PlainContext())  # type: ignore[arg-type]
    await planner(services)({**question, "iteration": 1, "max_sub_queries": 5, **found}, PlainContext())  # type: ignore[arg-type]
    [request] = model.asked("planner")
    assert request.material["versions"] == ["Tarn 4.2"]
    assert request.material["titles"] == ["Tarn release 4"]


@pytest.mark.requirement("13.7")
async def test_a_plan_is_shown_passages_within_a_tenth_of_the_window() -> None:
    def many(request: SearchRequest) -> list[SearchHit]:
        return [hit(f"Number {n} of the Tarn plant. " + "word " * 400, url=f"https://s{n}.example/") for n in range(8)]

    model = ScriptedModel(research_script(), window_tokens=12_000)
    services = make_services([model], search=[FolderOfHits("web", many)])
    found = await scout(services)({"original_query": "The Tarn plant?"}, PlainContext())  # type: ignore[arg-type]
    handoff = {"original_query": "The Tarn plant?", "current_phase": "planning", "iteration": 1, "max_sub_queries": 5}
    await planner(services)({**handoff, **found}, PlainContext())  # type: ignore[arg-type]
    shown = sum(len(row["text"]) for row in model.asked("planner")[0].material["background"])
    room = material_chars(services, "research", "planning", None)
    assert room is not None
    assert 0.8 * room < shown <= room < 8 * 1_000


@pytest.mark.requirement("13.7")
@pytest.mark.parametrize("window", [24_000, 64_000])
async def test_the_phases_of_a_run_show_no_more_than_their_shares_of_the_window(window: int) -> None:
    def long_pages(request: SearchRequest) -> list[SearchHit]:
        return [
            hit(f"{found.document.text} {'It was costly. ' * 3_000}", url=found.url)
            for found in small_web(request)
            if found.document
        ]

    gap = {"findings": [OPENED, COST], "gaps": [FISH_GAP]}
    bench = Bench(research_script(analyzer=[gap]), search=long_pages, window_tokens=window)
    state = (await bench.run(max_iterations=2)).state
    usable = (window - min(8_192, window // 4)) * 0.85
    agents_of = {
        "planning": ["planner"],
        "synthesis": ["outliner", "section_writer", "editor"],
        "refinement": ["refiner"],
    }
    for phase, agents in agents_of.items():
        prompts = [request.user for agent in agents for request in bench.model.asked(agent)]
        assert 0 < max(map(count_tokens, prompts)) <= PHASE_SHARES[phase] * usable, phase
    allocation = state["metadata"]["content_allocation"]
    assert allocation["tokens_available"] == int(PHASE_SHARES["analysis"] * usable)
    assert 0.7 < allocation["utilization"] <= 1


@pytest.mark.requirement("2.7", "B10")
async def test_without_token_management_twenty_sources_of_a_thousand_characters_are_shown() -> None:
    def many(request: SearchRequest) -> list[SearchHit]:
        return [hit(f"Number {n} " + "x" * 5_000, url=f"https://s{n}.example/") for n in range(25)]

    bench = Bench(research_script(), search=many, settings={"token_management_enabled": False})
    state = (await bench.run(max_iterations=1, max_sources_per_query=25, max_searches=1)).state
    assert len(state["sources"]) == 25
    prompt = bench.model.asked("analyzer")[0].user
    assert "Sources that nobody has read yet (20):" in prompt
    assert 20 * 900 < prompt.count("x") <= 20 * 1_000


@pytest.mark.requirement("5.1", "B35")
def test_the_defaults_of_rounds_searches_and_sources() -> None:
    defaults = Settings()
    assert (defaults.max_iterations, defaults.max_sub_queries, defaults.max_searches) == (3, 5, 3)
    assert (defaults.max_concurrent, defaults.follow_links) == (3, True)
    assert defaults.max_sources_per_query == 5
