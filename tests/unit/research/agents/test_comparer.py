"""Findings of different sources that a model of the role `verification` compares, and what the matrix makes of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.models.evidence import MOST_PAIRS
from graph_research.text.relevance.alike import alike_pairs, differs
from tests.support.research.harness import Bench, finding, one_section, research_script, small_web

SAFE = finding(
    "Fish pass the Tarn plant beside the gates.",
    ("https://fish.edu/passage", "Fish pass the Tarn plant through a channel beside the gates."),
)
GATES = finding(
    "Most of the maintenance money of the Tarn plant was spent on gates.",
    ("https://reuters.com/tarn-cost", "Most of it was spent on gates."),
)
LAGOON = finding(
    "The Tarn plant was the first lagoon.",
    ("https://tarn.gov/opening", "It was the first tidal lagoon of the county."),
)


def says(verdict: str, **more: Any) -> Any:
    def compare(request: ModelRequest) -> dict[str, Any]:
        return {"comparisons": [{"n": row["n"], "verdict": verdict, **more} for row in request.material["pairs"]]}

    return compare


def bench(verdict: str, *findings: Any, **more: Any) -> Bench:
    plan = {
        "research_brief": "Fish and cost.",
        "sub_queries": [
            {"query": "fish at the Tarn plant", "rationale": "how", "priority": 1},
            {"query": "maintenance cost of the Tarn plant", "rationale": "how much", "priority": 2},
        ],
    }
    return Bench(
        research_script(
            planner=[plan],
            analyzer=[{"findings": list(findings), "gaps": []}],
            comparer=[says(verdict, **more)],
        )
    )


async def test_a_conflict_in_other_words_becomes_a_contradiction_and_lowers_both_claims() -> None:
    made = bench("conflict", SAFE, GATES, topic="What passes", values=["fish", "money"])
    state = (await made.run(max_iterations=1)).state
    [request] = made.model.asked("comparer")
    assert "Fish pass the Tarn plant through a channel" in request.user
    [contradiction] = state["contradictions"]
    assert (contradiction["kind"], contradiction["topic"], contradiction["nature"]) == (
        "statement",
        "What passes",
        "conflict",
    )
    assert [side["value"] for side in contradiction["sides"]] == ["fish", "money"]
    assert [claim["contradiction"] for claim in state["claims"]] == [True, True]
    report = await made.report(state)
    assert all(row.refutes and not row.differs for row in report.matrix)


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"library": "tarn", "page": "cost.html"}, 0),
        ({"superseded": "https://reuters.com/tarn-cost"}, 0),
        ({"library": "tarn"}, 1),
    ],
)
async def test_versions_of_a_page_translated_or_newer_do_not_contradict_each_other(
    metadata: dict[str, str], found: int
) -> None:
    def search(request: SearchRequest) -> list[SearchHit]:
        others = [hit for hit in small_web(request) if hit.url != metadata.get("superseded")]
        newer = [hit for hit in small_web(request) if hit not in others]
        return [*(replace(hit, metadata=metadata) for hit in others), *newer]

    made = replace(bench("conflict", SAFE, GATES), search=search)
    state = (await made.run(max_iterations=1)).state
    assert len(state["contradictions"]) == len(made.model.asked("comparer")) == found


async def test_a_side_of_a_conflict_is_the_quote_that_says_its_value() -> None:
    cost = ("https://reuters.com/tarn-cost", "Maintenance of the Tarn plant cost 4.1 million in 2020.")
    gates = finding(GATES["content"], cost, ("https://reuters.com/tarn-cost", "Most of it was spent on gates."))
    made = bench("conflict", SAFE, gates, topic="What passes", values=["fish", "most was spent on gates"])
    state = (await made.run(max_iterations=1)).state
    [contradiction] = state["contradictions"]
    quotes = {row["id"]: row["quote"] for row in state["evidence"]}
    sides = [[quotes[name] for name in side["evidence_ids"]] for side in contradiction["sides"]]
    assert sides == [
        ["Fish pass the Tarn plant through a channel beside the gates."],
        ["Most of it was spent on gates."],
    ]


@pytest.mark.parametrize("verdict", ["definition", "agree", "none"])
async def test_the_matrix_shows_what_the_model_found(verdict: str) -> None:
    made = bench(verdict, SAFE, GATES)
    state = (await made.run(max_iterations=1)).state
    assert state["contradictions"] == []
    [first, second] = (await made.report(state)).matrix
    for row, other in ((first, second), (second, first)):
        [source] = [name for name in other.supports if name not in row.supports] or other.supports[:1]
        natures = [one.nature for one in row.differs if one.source == source]
        assert natures == (["definition"] if verdict == "definition" else [])
        assert (source in row.supports) is (verdict == "agree")
        assert (source in row.silent) is (verdict == "none")


@pytest.mark.parametrize(("verdict", "nature"), [("definition", "definition"), ("agree", "none")])
async def test_a_contradiction_that_was_named_gets_the_nature_that_the_model_finds(verdict: str, nature: str) -> None:
    named = {
        "kind": "statement",
        "topic": "The plant",
        "sides": [
            {"value": "lagoon", "evidence": LAGOON["evidence"]},
            {"value": "gates", "evidence": GATES["evidence"]},
        ],
    }
    made = bench(verdict, LAGOON, GATES)
    made.script["analyzer"][0]["contradictions"] = [named]  # type: ignore[index]
    state = (await made.run(max_iterations=1)).state
    [contradiction] = state["contradictions"]
    assert contradiction["nature"] == nature
    assert not any(claim["contradiction"] for claim in state["claims"])
    assert len((await made.report(state)).contradictions) == (nature != "none")
    shown = made.model.asked("section_writer")[0].material["contradictions"]
    assert len(shown) == (nature != "none")


async def test_what_the_analyzer_explains_is_not_judged_again() -> None:
    sides = [{"value": "a", "evidence": row["evidence"]} for row in (LAGOON, GATES)]
    made = bench("conflict", LAGOON, GATES)
    named = {
        "kind": "statement",
        "topic": "The plant",
        "sides": sides,
        "nature": "scope",
        "description": "Parts of it.",
    }
    made.script["analyzer"][0]["contradictions"] = [named]  # type: ignore[index]
    state = (await made.run(max_iterations=1)).state
    assert [row["nature"] for row in state["contradictions"]] == ["scope"]
    assert not made.model.asked("comparer"), "its sides are those of the two findings, too"


@pytest.mark.parametrize(
    ("verdicts", "nature"),
    [(["agree", "conflict"], "conflict"), (["agree", "scope"], "scope"), (["agree", "agree"], "none")],
)
async def test_every_side_of_a_contradiction_is_compared_with_its_first(verdicts: list[str], nature: str) -> None:
    def compare(request: ModelRequest) -> dict[str, Any]:
        pairs = zip(request.material["pairs"], verdicts, strict=True)
        return {"comparisons": [{"n": row["n"], "verdict": verdict} for row, verdict in pairs]}

    sides = [
        {"value": name, "evidence": row["evidence"]} for name, row in zip("abc", (SAFE, LAGOON, GATES), strict=True)
    ]
    made = bench("none", SAFE, LAGOON, GATES)
    made.script["analyzer"][0]["contradictions"] = [{"kind": "statement", "topic": "The plant", "sides": sides}]  # type: ignore[index]
    made.script["comparer"] = [compare]
    state = (await made.run(max_iterations=1)).state
    [contradiction] = state["contradictions"]
    assert contradiction["nature"] == nature
    [comparison] = state["comparisons"]
    assert comparison["about"] == [contradiction["id"]]


async def test_a_pair_is_compared_once_a_run_in_one_call() -> None:
    made = bench("none", SAFE, GATES)
    made.script["analyzer"][0]["gaps"] = [{"description": "When?", "suggested_queries": ["opening"]}]  # type: ignore[index]
    state = (await made.run(max_iterations=2)).state
    assert state["iteration"] == 2
    assert len(made.model.asked("comparer")) == 1
    assert len(state["comparisons"]) == 1


async def test_the_outline_is_made_meanwhile_and_the_sections_are_written_with_the_verdicts() -> None:
    made = bench("none", SAFE, GATES)

    def compare(request: ModelRequest) -> dict[str, Any]:
        return {"text": json.dumps(says("conflict", topic="What passes")(request)), "delay_seconds": 1}

    outlined = asyncio.Event()

    def outline(request: ModelRequest) -> dict[str, Any]:
        outlined.set()
        return one_section(request)

    async def until_outlined(_: float) -> None:
        await outlined.wait()

    made.script = {**made.script, "comparer": [compare], "outliner": [outline]}
    made.__post_init__()
    made.model.sleep = until_outlined
    async with asyncio.timeout(60):
        result = await made.run(max_iterations=1)
    assert result.status == "completed"
    assert made.model.asked("outliner")[0].material["contradictions"] == []
    [shown] = made.model.asked("section_writer")[0].material["contradictions"]
    assert shown["topic"] == "What passes"


async def test_a_comparer_that_fails_leaves_the_analysis_as_it_is() -> None:
    made = bench("none", SAFE, GATES)
    made.script = {**made.script, "comparer": [{"error": "refused", "message": "no"}]}
    made.__post_init__()
    result = await made.run(max_iterations=1)
    assert result.status == "completed"
    assert any(row["agent"] == "comparer" for row in result.state["degraded"])
    assert len(result.state["claims"]) == 2


async def test_a_finding_that_joins_what_others_quote_is_not_compared_nor_two_of_one_quote() -> None:
    joining = finding(
        "Fish pass the Tarn plant beside the gates, on which most of the money was spent.",
        ("https://fish.edu/passage", "Fish pass the Tarn plant through a channel beside the gates."),
        ("https://reuters.com/tarn-cost", "Most of it was spent on gates."),
    )
    made = bench("none", SAFE, GATES, joining)
    await made.run(max_iterations=1)
    [request] = made.model.asked("comparer")
    assert len(request.material["pairs"]) == 1
    assert "on which most" not in request.user

    again = finding(
        "Fish never pass the gates of the Tarn plant.",
        ("https://fish.edu/passage", "Fish pass the Tarn plant through a channel beside the gates."),
        ("https://tarn.gov/opening", "It was the first tidal lagoon of the county."),
    )
    made = bench("none", SAFE, again)
    await made.run(max_iterations=1)
    assert not made.model.asked("comparer")


def test_the_pairs_are_those_that_may_say_otherwise_and_no_more_than_asked_for() -> None:
    texts = [
        "SQLite allows one writer at a time.",
        "PostgreSQL lets several writers work at once.",
        "Only a single writer can write to an SQLite file at any time.",
        "The moon has no atmosphere.",
    ]
    assert alike_pairs(texts, MOST_PAIRS, lambda _a, _b: True) == [(0, 2)]
    assert alike_pairs(texts, MOST_PAIRS, lambda _a, _b: False) == []
    same = [f"The {name} gate of the lagoon is opened at noon." for name in ("northern", "southern", "eastern")]
    assert len(alike_pairs(same, 2, lambda _a, _b: True)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The server waits 5 seconds for the lock.", "A lock is waited for 10 seconds."),
        ("Der Server wartet auf die Sperre.", "Auf die Sperre wartet der Server nicht."),
    ],
)
def test_what_tells_that_two_texts_differ(one: str, other: str) -> None:
    assert differs(one, other) and differs(other, one)
    assert not differs(one, one)
