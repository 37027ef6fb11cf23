"""Limits that are reached do not end a research: it is completed with less, and its report says with what."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest

from tests.support.cli.cli_process import User, wait_until
from tests.support.cli.cli_user import QUESTION, make_user
from tests.unit.cli.test_plan_and_guide import CLEAR, PLAN

LENGTHY = "Whether to go on was weighed. " * 600
"""About 4,500 tokens."""


def going_on(*queries: str) -> list[dict[str, Any]]:
    """Reflections that take many tokens and always want another search."""
    return [
        {"continue_searching": True, "research_complete": False, "rationale": LENGTHY, "refined_query": query}
        for query in queries
    ]


WASTEFUL = {
    "clarifier": [CLEAR],
    "planner": [PLAN],
    "reflector": going_on(
        "tide mill gates", "tide mill wheels", "tide mill ponds", "tide mill monks", "tide mill grain"
    ),
    "*": ["{}"],
}


def research(user: User, run_id: str, script: dict[str, Any], *options: str, **more: Any) -> Any:
    spec = user.script(f"{run_id}.json", script)
    asked = ["run", QUESTION, "--library", "library", "--llm", spec, "--run-id", run_id, "--out", run_id]
    return user.run(*asked, *options, **more)


def limitations(user: User, run_id: str) -> str:
    return " ".join(json.loads((user.folder / run_id / "report.json").read_text())["limitations"])


def test_a_token_budget_ends_gathering_early_and_the_report_says_so(user: User) -> None:
    done = research(user, "dear", WASTEFUL, "--max-tokens", "28000", "--json").json
    assert done["status"] == "completed"
    usage = user.run("status", "dear", "--json").json["usage"]
    assert 10_000 < sum(row["input_tokens"] + row["output_tokens"] for row in usage) <= 28_000
    assert "gathering ended early, to keep within 28,000 tokens" in done["saved"]
    said = limitations(user, "dear")
    assert "To keep within 28,000 tokens: a shorter report than was asked for; fewer sub-questions" in said
    assert "; gathering ended early" in said
    assert "No model gave a usable answer, so a fallback was used, for: reflector" not in said
    assert user.run("verify", "dear", "--json").json["invalid"] == 0
    assert user.run("replay", "dear", "--json").json["identical"] is True


def test_the_end_of_the_run_says_what_was_saved_on(user: User) -> None:
    said = research(user, "dear", WASTEFUL, "--max-tokens", "28000").err
    assert "limits: gathering ended early, to keep within 28,000 tokens" in said


def test_a_budget_in_money_does_the_same(user: User) -> None:
    price = '"spent.json" = {input = 10.0, output = 10.0}'
    user.write("home/config.toml", f"[research.model_price_overrides]\n{price}\n")
    done = research(user, "spent", WASTEFUL, "--max-cost", "0.25", "--json").json
    assert done["status"] == "completed"
    assert "gathering ended early, to keep within 0.25 USD" in done["saved"]


def test_a_budget_that_is_large_enough_leaves_nothing_out(user: User) -> None:
    script = {**WASTEFUL, "reflector": ["{}"]}
    assert research(user, "rich", script, "--max-tokens", "2000000", "--json").json["status"] == "completed"
    assert "To keep within" not in limitations(user, "rich")


@pytest.fixture(scope="module")
def limit(tmp_path_factory: pytest.TempPathFactory) -> int:
    """A time limit in seconds: several times what the research takes on this machine where no model is slow."""
    user, began = make_user(tmp_path_factory.mktemp("quick")), time.monotonic()
    research(user, "quick", {**WASTEFUL, "reflector": ["{}"]})
    return max(6, math.ceil(4 * (time.monotonic() - began)))


@pytest.mark.parametrize("slow", ["planner", "reflector", "analyzer"])
def test_a_time_limit_leads_to_a_report_in_time(user: User, slow: str, limit: int) -> None:
    script = {**WASTEFUL, "reflector": ["{}"], slow: [{"delay_seconds": 3_600, "text": "{}"}]}
    done = research(user, "late", script, "--timeout", str(limit), "--json").json
    assert done["status"] == "completed"
    assert done["statistics"]["wall_seconds"] < limit
    assert f"To keep within {limit} s: " in limitations(user, "late")
    assert user.run("replay", "late", "--json").json["identical"] is True


@pytest.mark.requirement("5.4", "6.2", "B39")
def test_a_run_that_finds_nothing_before_its_time_is_over_times_out_and_can_be_resumed(user: User, limit: int) -> None:
    hits = [{"url": f"https://{n}.example/", "title": "Tide mills", "text": f"Mill {n} stores water."} for n in "abc"]
    slow = user.write("web.json", json.dumps([{"hits": hits, "delay_seconds": 3_600}]))
    script = {**WASTEFUL, "reflector": ["{}"]}
    found = ["--search", "scripted:web.json"]
    ended = user.run(
        *("run", QUESTION, "--llm", user.script("late.json", script), "--run-id", "late", *found),
        *("--timeout", str(limit), "--json"),
        expect=3,
    )
    assert (ended.json["status"], ended.json["cause"]) == ("aborted", "timeout")
    assert ended.json["metadata"]["timeout"] is True
    assert ended.json["metadata"]["abort_phase"] == "gathering"
    assert f"the time limit of {limit} s is over" in ended.err
    assert user.run("replay", "late", "--json").json["identical"] is True
    slow.write_text(json.dumps([{"hits": hits}]))
    done = user.run("resume", "late", "--timeout", str(10 * limit), "--json").json
    assert done["status"] == "completed"
    assert "Mill a stores water." in user.run("report", "late", "--format", "md").out


@pytest.mark.parametrize(
    ("option", "least"), [(("--max-tokens", "10"), "--max-tokens 24000"), (("--timeout", "0.1"), "--timeout 3")]
)
def test_a_limit_too_small_for_any_report_is_refused_with_the_least_that_works(
    user: User, option: tuple[str, str], least: str
) -> None:
    refused = research(user, "tiny", WASTEFUL, *option, expect=2).err
    assert "too little for any report" in refused
    assert least in refused
    assert user.run("list", "--json").json == []


@pytest.mark.requirement("14.2", "B11")
def test_a_step_whose_prompt_fits_no_window_is_named_with_what_to_do(user: User) -> None:
    script = {**WASTEFUL, "reflector": ["{}"], "planner": [{"error": "context_exceeded"}]}
    said = research(user, "narrow", script).err
    assert "planner: the prompt fits the window of no model of this role; use a model with a larger window" in said
    assert "set this one's in model_context_overrides" in said


def test_without_a_model_no_budget_is_too_small(user: User) -> None:
    asked = ["run", QUESTION, "--library", "library", "--llm", "extractive", "--run-id", "free", "--max-tokens", "1"]
    assert user.run(*asked, "--json").json["status"] == "completed"


GAPS = {
    "findings": [],
    "gaps": [{"description": "How do fish fare?", "suggested_queries": ["fish at tide mills"], "priority": 1}],
    "quality_updates": [],
}


def test_a_further_round_begins_only_while_there_is_room_for_it(user: User) -> None:
    script = {**WASTEFUL, "analyzer": [{"delay_seconds": 0, "json": GAPS}]}
    done = research(user, "rounds", script, "--max-tokens", "26000", "--json").json
    assert (done["status"], done["iterations"]) == ("completed", 1)
    assert "no further round was made, to keep within 26,000 tokens" in done["saved"], done["saved"]
    assert user.run("replay", "rounds", "--json").json["identical"] is True


def test_a_run_that_was_killed_goes_on_within_what_is_left(user: User) -> None:
    spec = user.script("killed.json", {**WASTEFUL, "planner": [{"delay_seconds": 60, "text": "{}"}]})
    asked = ["run", QUESTION, "--library", "library", "--llm", spec, "--run-id", "killed", "--max-tokens", "28000"]
    log = user.home / "audit" / "killed.jsonl"
    with user.start(*asked) as process:
        wait_until(lambda: log.exists() and '"path":"plan"' in log.read_text())
        process.kill()
        process.finish()
    user.script("killed.json", WASTEFUL)
    done = user.run("resume", "killed", "--json").json
    assert done["status"] == "completed"
    assert "gathering ended early, to keep within 28,000 tokens" in done["saved"]
    assert user.run("replay", "killed", "--json").json["identical"] is True


def test_a_fork_with_more_to_spend_does_what_was_left_out(user: User) -> None:
    research(user, "dear", WASTEFUL, "--max-tokens", "28000")
    planned = next(row["step"] for row in user.run("history", "dear", "--json").json if row["node"] == "plan")
    fork = ("fork", "dear", "--step", str(planned), "--max-tokens", "2000000", "--run-id", "rich", "--json")
    done = user.run(*fork).json
    assert done["status"] == "completed"
    assert not any("gathering ended early" in words for words in done["saved"])
    assert user.run("replay", "rich", "--json").json["identical"] is True
