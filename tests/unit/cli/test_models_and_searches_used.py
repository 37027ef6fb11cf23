"""A run says which models and searches it uses before it begins, and which of them did the work when it is over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli.cli_process import User
from tests.support.network.fake_services import Faults, open_world


def test_models_searches_and_what_fell_back_are_reported_at_the_start_and_at_the_end(
    user: User, tmp_path: Path
) -> None:
    no_report = Faults(deaf_agents=frozenset({"outliner"}))
    with open_world(tmp_path / "world.log", faults=no_report) as world:
        done = user.run(
            *("run", "What does the lagoon do to salmon smolts?", "--llm", world.model),
            *("--role", f"report={world.model},extractive", "--search", "searxng,google"),
            *("--max-iterations", "1", "--out", "out", "--json"),
            environ=world.environ(),
        )

    lines = done.err.splitlines()
    assert f"models: {world.model}; report: {world.model}, else extractive" in lines
    assert "searches: searxng" in lines
    assert "searches left out: google (GOOGLE_API_KEY and GOOGLE_CSE_ID are not set)" in lines
    served = done.json["statistics"]["model_roles"]
    assert list(served["research"]["models"]) == [world.model]
    assert list(served["report"]["models"]) == ["extractive"]
    assert served["report"]["failures"][0]["model"] == world.model
    report = (user.folder / "out" / "report.md").read_text()
    name = world.model.partition("@")[0].partition(":")[2]
    assert (
        f"; report: no language model (sentences selected by code) ({name} did not answer); Searches: searxng; "
        in report
    )
    assert "@http" not in report, "no address of a model"
    assert report.count("research, reflection") == 1


def test_requests_that_were_sent_again_are_counted_by_provider_and_role(user: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "world.log", faults=Faults(first_calls=True, status=503)) as world:
        done = user.run(
            *("run", "What does the lagoon do to salmon smolts?", "--llm", world.model, "--search", "searxng"),
            *("--max-iterations", "1", "--out", "out", "--run-id", "again", "--json"),
            environ=world.environ(),
        )
        failed = [call.kind for call in world.calls() if call.status == 503]
    retries = done.json["statistics"]["retries"]
    assert set(failed) == {"model", "search"}
    assert sum(row["requests"] for row in retries) == len(failed)
    assert {(row["kind"], row["provider"]) for row in retries} == {("model", world.host), ("search", "searxng")}
    roles = {row["role"] for row in retries if row["kind"] == "model"}
    assert roles <= set(done.json["statistics"]["model_roles"])
    who = [f"model ({row['role']})" if row["kind"] == "model" else row["provider"] for row in retries]
    told = {f"{name}: {row['requests']}" for name, row in zip(who, retries, strict=True)}
    page = (user.folder / "out" / "report.html").read_text().replace("<wbr>", "")
    assert all(f"<dd>{line}</dd>" in page for line in told)
    again = next(line for line in (user.folder / "out" / "report.md").read_text().splitlines() if "Retried" in line)
    assert set(again.partition("Retried requests: ")[2].split("; ")[0].split(", ")) == told
    first = f"{retries[0]['requests']} to {retries[0]['provider']} "
    assert f"retries:   {first}(" in user.run("status", "again").out
    assert user.run("status", "again", "--json").json["retries"] == retries


def test_the_state_tells_what_each_phase_and_role_took_as_the_report_does(user: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "world.log") as world:
        model = world.model
        done = user.run(
            *("run", "What does the lagoon do to salmon smolts?", "--llm", model, "--search", "searxng"),
            *("--max-iterations", "2", "--out", "out", "--run-id", "spent", "--json"),
            environ={
                **world.environ(),
                "GRAPH_RESEARCH_MODEL_PRICE_OVERRIDES": json.dumps({model: {"input": 2, "output": 10}}),
            },
        )
    steps = user.run("history", "spent", "--json").json
    rows = user.run("show", "spent", "--step", str(steps[-1]["step"]), "--path", "usage", "--json").json
    totals = done.json["statistics"]["usage"]
    assert {(total["phase"], total["role"]) for total in totals} == {(row["phase"], row["role"]) for row in rows}
    for total in totals:
        summed = [row for row in rows if (row["phase"], row["role"]) == (total["phase"], total["role"])]
        for count in ("calls", "input_tokens", "output_tokens"):
            assert sum(row[count] for row in summed) == total[count] > 0
        assert sum(row["cost_usd"] for row in summed) == pytest.approx(total["cost_usd"])
        assert total["cost_usd"] > 0
    assert user.run("replay", "spent", "--json").json["identical"]


@pytest.mark.parametrize(
    ("agent", "retries", "ending"),
    [
        ("claim_extractor", 1, "; prompts shortened and sent again: 1."),
        ("decomposer", 0, "; the prompt could not be shortened any further."),
    ],
)
def test_a_prompt_that_a_pipeline_had_to_cut_stands_among_what_was_lost(
    user: User, agent: str, retries: int, ending: str
) -> None:
    too_long = {"error": "context_exceeded", "message": "the prompt is too long"}
    spec = user.script("small.json", {agent: [too_long, {}], "*": [{}]})
    options = ("--graph", "pipeline", "--library", "library", "--llm", spec, "--out", "out")
    done = user.run("run", "How do tide mills store water?", *options, "--json")
    assert done.json["statistics"]["token_limit_retries"] == retries
    limitations = json.loads((user.folder / "out" / "report.json").read_text())["limitations"]
    assert f"The context window of small.json was too small{ending}" in limitations


def test_searches_that_nobody_chose_are_reported_with_the_reason(user: User) -> None:
    user.run("library", "add", "library")
    done = user.run("run", "How do tide mills store water?", "--llm", "extractive", "--out", "out")
    assert "models: extractive" in done.err
    assert "searches: local (those with documents and with their keys set; --search chooses others)" in done.err
    report = (user.folder / "out" / "report.md").read_text()
    assert "Models: no language model (sentences selected by code); Searches: local files" in report
