"""Time travel at the command line: a step shown, two runs compared, a fork driven to its report, a run replayed."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

from graph_research.app.request import RunRequest
from graph_research.app.store import metadata_of
from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
from graph_research.graph.loader import load_graph
from graph_research.graph.runtime import Runtime
from tests.support.cli.cli_process import Done, User


def test_a_step_is_shown_with_its_state_and_one_value_by_its_path(researcher: User) -> None:
    steps = researcher.run("history", "tides", "--json").json
    plan = next(step for step in steps if step["node"] == "plan")
    moment = researcher.run("show", "tides", "--step", str(plan["step"]), "--json").json
    assert (moment["node"], moment["hash"]) == ("plan", plan["hash"])
    assert moment["state"]["sub_queries"][0]["id"] == "sq-1-1"
    query = moment["state"]["sub_queries"][0]["query"]
    for path in ("sub_queries.0.query", "sub_queries[0].query", "sub_queries.sq-1-1.query"):
        assert researcher.run("show", "tides", "--step", str(plan["step"]), "--path", path).out.strip() == query
    assert f"step {plan['step']}: plan" in researcher.run("show", "tides", "--step", str(plan["step"])).out
    inside = next(step for step in steps if step["node"] == "gather[0]/search")
    assert "sub_query" in researcher.run("show", "tides", "--step", str(inside["step"]), "--json").json["state"]
    assert "no step 999" in researcher.run("show", "tides", "--step", "999", expect=2).err
    nowhere = researcher.run("show", "tides", "--step", "1", "--path", "sub_query", expect=2)
    assert "has no 'sub_query'" in nowhere.err


def test_a_run_is_replayed_without_its_library(researcher: User) -> None:
    replayed: Done = researcher.run("replay", "tides", "--json")
    assert set(replayed.json) >= {"steps", "identical", "first_difference"}
    assert replayed.json["identical"] is True
    assert replayed.json["steps"] == len(researcher.run("history", "tides", "--json").json)
    assert "identical" in researcher.run("replay", "tides").out
    assert "there is no run" in researcher.run("replay", "nobody", expect=2).err


def test_two_moments_of_a_run_are_compared_and_that_is_no_failure(researcher: User) -> None:
    same = researcher.run("diff", "tides", "tides", "--json").json
    assert (same["state"], same["claims"], same["calls"]["only_new"]) == ([], [], [])
    steps = researcher.run("history", "tides", "--json").json
    plan = next(step["step"] for step in steps if step["node"] == "plan")
    grown = researcher.run("diff", f"tides@{plan}", "tides", "--json").json
    assert {change["path"].partition(".")[0] for change in grown["state"]} >= {"sources", "findings", "report"}
    assert grown["calls"]["only_old"] == []
    assert len(grown["calls"]["only_new"]) > 3
    text = researcher.run("diff", f"tides@{plan}", "tides").out
    assert "sources: " in text
    assert "+ gather[0]/search search: " in text
    assert "not RUN_ID@STEP" in researcher.run("diff", "tides@x", "tides", expect=2).err


def test_a_fork_runs_on_with_an_edited_state_and_writes_its_own_report(researcher: User, tmp_path: Path) -> None:
    shutil.copytree(researcher.home, tmp_path / "home")
    shutil.copytree(researcher.folder / "library", tmp_path / "library")
    traveller = User(folder=tmp_path, home=tmp_path / "home")
    steps = traveller.run("history", "tides", "--json").json
    clarify = next(step["step"] for step in steps if step["node"] == "clarify")
    fork = ("fork", "tides", "--step", str(clarify), "--set", "max_sub_queries=1", "--run-id", "shorter")
    done = traveller.run(*fork, "--out", "shorter", "--json")
    assert (done.json["run_id"], done.json["parent"], done.json["status"]) == ("shorter", "tides", "completed")
    report = json.loads((tmp_path / "shorter" / "report.json").read_text())
    assert report["question"] == done.json["question"]
    last = max(step["step"] for step in traveller.run("history", "shorter", "--json").json)
    assert len(traveller.run("show", "shorter", "--step", str(last), "--path", "sub_queries", "--json").json) == 1
    assert traveller.run("replay", "shorter", "--json").json["identical"] is True
    assert traveller.run("verify", "shorter", "--json").json["invalid"] == 0
    assert "exists" in traveller.run(*fork, expect=2).err


def test_what_cannot_be_forked_is_refused_with_a_remedy(researcher: User) -> None:
    for arguments, words in [
        (("--step", "999"), "no step 999"),
        (("--step", "1", "--set", "n"), "not PATH=JSON"),
        (("--step", "1", "--set", "max_iterations=many"), "is not valid JSON"),
        (("--step", "1", "--set", "max_iterations=0"), "cannot be set"),
        (("--step", "1", "--set", "nothing=1"), 'no channel "nothing"'),
        (("--step", "1", "--role", "poet=extractive"), "no model role 'poet'"),
        (("--step", "1", "--graph", "nowhere"), "no graph 'nowhere'"),
    ]:
        assert words in researcher.run("fork", "tides", *arguments, expect=2).err
    assert [run["run_id"] for run in researcher.run("list", "--json").json] == ["tides"]


def test_a_run_is_replayed_with_the_settings_it_was_made_with(user: User) -> None:
    hits = [{"text": "The tidal lagoon has 16 turbines.", "url": "https://example.org/lagoon"}]
    (user.folder / "web.json").write_text(json.dumps([{"hits": hits}]))
    user.run("run", "How many turbines has the tidal lagoon?", "--search", "scripted:web.json", "--run-id", "made")
    (user.home / "config.toml").write_text("[research]\nfollow_links = false\n")
    assert user.run("replay", "made", "--json").json["identical"] is True


def test_a_replay_of_a_run_of_an_older_version_says_so_and_what_to_do(user: User) -> None:
    async def recorded() -> None:
        async def retired(handoff: object, context: object) -> dict[str, object]:
            return {}

        text = 'graph: older\nversion: "1"\nstate: {}\nstart: a\nnodes: {a: {run: retired}, z: {end: completed}}\n'
        graph = load_graph("older.yaml", text=text + "edges: [{from: a, to: z}]\n", handlers={"retired": retired})
        store = SqliteCheckpointer(user.home / "runs.db")
        request = RunRequest(graph="older")
        await Runtime(graph, checkpointer=store).run({}, run_id="old", metadata=metadata_of(request))
        await store.close()

    user.home.mkdir(mode=0o700, exist_ok=True)
    asyncio.run(recorded())
    said = user.run("replay", "old", expect=2).err
    assert "run old was recorded with another version of the graph 'older'" in said
    assert "no handler" in said
    assert "replay it with the version of graph-research that made it, or ask its question in a new run" in said
