"""Guiding a research between its phases: with a hook in Python, and with `ask` nodes in a graph."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph_research import deep_research
from graph_research.app.request import QuestionInvalid
from tests.support.cli.cli_process import NOW, User
from tests.support.cli.cli_user import QUESTION

GUIDED = str(Path(__file__).parents[4] / "examples" / "graphs" / "guided.yaml")


class Guide:
    """Wishes something of the analysis."""

    def __init__(self) -> None:
        self.phases: list[str] = []

    def on_think_pause(self, state: Mapping[str, Any], prompt: str) -> str | None:
        self.phases.append(state["current_phase"])
        return "Mind the year 1850." if state["current_phase"] == "gathering" else None


def decisions_in(file: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(file).read_text())["decisions"]
    return found


async def test_a_hook_in_python_guides_the_phase_after_it(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    guide = Guide()
    options: dict[str, Any] = {"llm": "extractive", "search": ["local"], "library": ["library"], "max_iterations": 1}
    result = await deep_research(QUESTION, **options, run_id="guided", now=NOW, environ=environ, hooks=guide)
    assert result.status == "completed"
    assert list(dict.fromkeys(guide.phases)) == ["planning", "gathering", "analysis", "synthesis"]
    assert result.report is not None
    pauses = [one["rationale"] for one in decisions_in(result.report["json"]) if one["action"] == "think_pause"]
    assert pauses.count("Guidance was given.") == 1


class WatchedEnvironment(dict[str, str]):
    """Variables of the environment, and the threads in which they are read."""

    def __init__(self, **variables: str) -> None:
        super().__init__(variables)
        self.readers: set[int] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.readers.add(threading.get_ident())
        return super().get(name, default)


async def test_the_folder_is_read_and_hashed_in_a_thread(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    environ = WatchedEnvironment(GRAPH_RESEARCH_HOME=str(user.home))
    with pytest.raises(QuestionInvalid):
        await deep_research("", environ=environ)
    assert environ.readers
    assert threading.get_ident() not in environ.readers


def test_the_guided_graph_asks_after_the_plan_and_after_the_search_and_passes_on_what_was_said(user: User) -> None:
    options = ("--graph", GUIDED, "--llm", "extractive", "--search", "local", "--library", "library")
    first = user.run("run", QUESTION, *options, "--interactive", "--run-id", "g", "--json", expect=4).json
    assert first["status"] == "awaiting_input"
    assert first["waiting_for"].startswith("Planned: ")
    second = user.run("resume", "g", "--answer", "Mind the ponds.", "--json", expect=4).json
    assert second["waiting_for"].startswith("Found: ")
    last = user.run("resume", "g", "--answer", "", "--json").json
    assert last["status"] == "completed"
    assert last["citations"] >= 2


def test_the_guided_graph_goes_on_where_nobody_is_there(user: User) -> None:
    options = ("--graph", GUIDED, "--llm", "extractive", "--search", "local", "--library", "library")
    done = user.run("run", QUESTION, *options, "--json").json
    assert done["status"] == "completed"


def test_a_phase_may_have_a_model_of_its_own_for_roles_that_have_none(user: User) -> None:
    plan = {"research_brief": "b", "sub_queries": [{"query": "x" * 12}, {"query": "y" * 12}]}
    user.write("planner.json", json.dumps({"planner": [plan]}))
    options = ("--llm", "extractive", "--search", "local", "--library", "library", "--role")
    done = user.run("run", QUESTION, *options, "planning=scripted:planner.json,extractive", "--json").json
    served = done["statistics"]["model_roles"]["research"]
    assert done["status"] == "completed"
    assert served["models"]["scripted:planner.json"] == 1
    assert served["models"]["extractive"] >= 3
    report = json.loads(Path(done["report"]["json"]).read_text())
    assert report["models"]["planning"].endswith("planner.json, extractive")
    assert report["model"].endswith("planner.json")
